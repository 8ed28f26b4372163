"""SandboxFusion's classes of data sets: how a completion for a row is graded.

| class                | grading                                                                   |
|----------------------|---------------------------------------------------------------------------|
| CommonOJDataset      | a run for each test; stdout compared as theirs (`fusion-reference`)       |
| LiveCodeBenchDataset | a run or call for each test, compared as LiveCodeBench                    |
| HumanEvalDataset     | `check(candidate)` in another box than the program; rows with `tests` as |
|                      | MultiPLEDataset                                                           |
| MBPPDataset          | the statements in another box than the program                            |
| MultiPLEDataset      | the row's tests, with a mark that only their end writes                   |
| AutoEvalDataset      | one program of code and tests, which must end with 0                      |
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gradebox.eval.api.dialects.common import (
    grade_one,
    json_or_unpacked,
    json_text,
    live_problem,
    own_columns,
    tests_run,
)
from gradebox.eval.api.dialects.fusion.extraction import (
    Block,
    extract,
    without_entry_point,
)
from gradebox.eval.api.dialects.fusion.run_code import (
    COMPILED,
    case_answer,
    is_name,
    read_files,
    row_of,
    run_answer,
)
from gradebox.eval.api.dialects.programs import Asked
from gradebox.eval.common.errors import shown
from gradebox.eval.problems.formats.asserts import assert_problem
from gradebox.sandbox.errors import BadRequest

if TYPE_CHECKING:
    from gradebox.eval.api.dialects.fusion import Evaluate, Submission, Tools

STORED_BYTES = 65536  # at most, of a test's stdout and of its stderr in an answer
SHOWN_CHARS = 1000  # at most, of a passed test's input and of its output
COMPILED_S, OTHER_S, LIVE_S, AUTO_COMPILE_S = 10.0, 20.0, 6.0, 40.0
_IMPORTS = "\n".join(
    (
        "import collections, copy, datetime, functools, hashlib, heapq, itertools, math, re",
        "import statistics, string, sys",
        "from collections import *",
        "from typing import *",
    )
)


def common_oj(submission: Submission, tools: Tools) -> dict[str, Any]:
    """Grade a CommonOJDataset row."""
    config = submission.config
    if config.language is None:
        raise BadRequest("config.language must be given for CommonOJDataset")
    row = {
        "id": submission.name,
        "labels": _part(submission.row, "labels") if submission.row.get("labels") else {},
        "test": json_or_unpacked(submission.row.get("test")),
    }
    seconds = COMPILED_S if config.language in COMPILED else OTHER_S
    problem = own_columns(
        "sandboxfusion", row, id=submission.name, time_limit=config.run_timeout or seconds
    )
    return _graded(
        submission,
        tools,
        extract(submission.completion, config.language),
        config.language,
        problem,
        shows_tests=True,
        stop_on_first_failure=not config.wants("run_all_cases"),
    )


def live_code_bench(submission: Submission, tools: Tools) -> dict[str, Any]:
    """Grade a LiveCodeBenchDataset row, whose tests may be packed."""
    tests = json_or_unpacked(submission.row.get("test"))
    held = tests.get("input_output") if isinstance(tests, dict) else None
    problem = live_problem(
        submission.name,
        json_or_unpacked(held),
        time_limit=submission.config.run_timeout or LIVE_S,
    )
    block = extract(submission.completion, "python")
    return _graded(
        submission,
        tools,
        block,
        "python",
        problem,
        shows_tests=True,
        full_code=block.code,
        stop_on_first_failure=True,
    )


def human_eval(submission: Submission, tools: Tools) -> dict[str, Any]:
    """Grade a HumanEvalDataset row; without `is_freeform`, a completion continues the prompt."""
    row = submission.row
    if "tests" in row:
        return multipl_e(submission, tools)
    problem = own_columns(
        "humaneval",
        {"canonical_solution": "", **row},
        id=submission.name,
        prelude=_IMPORTS,
        time_limit=submission.config.run_timeout or OTHER_S,
    )
    block = Block("raw", "", _continued(submission.completion))
    if submission.config.wants("is_freeform"):
        block = extract(submission.completion, "python")
    return _graded(
        submission,
        tools,
        block,
        "python",
        problem,
        full_code=f"{problem['prompt']}\n{block.code}",
        test_code=str(row.get("test") or ""),
    )


def mbpp(submission: Submission, tools: Tools) -> dict[str, Any]:
    """Grade an MBPPDataset row; with `is_fewshot` only its last test counts, as with theirs."""
    tests = json_or_unpacked(submission.row.get("test_list"))
    if not isinstance(tests, list) or not all(isinstance(test, str) for test in tests):
        raise BadRequest(f"test_list is {shown(tests)}: it must be a list of statements")
    if submission.config.is_fewshot:
        tests = tests[-1:]
    answer = submission.completion.partition("[DONE]")[0]
    block = extract(answer, "python", tagged=False)
    code = without_entry_point(block.code.replace("\r", ""), "python")
    for stop in ("\nassert", '\n"""'):
        code = code.partition(stop)[0]
    seconds = submission.config.run_timeout or OTHER_S
    problem = assert_problem(submission.name, code, tests, seconds, apart=False)
    block = Block(block.kind, "python", code)
    test_code = "\n".join(tests)
    return _graded(submission, tools, block, "python", problem, full_code=code, test_code=test_code)


def multipl_e(submission: Submission, tools: Tools) -> dict[str, Any]:
    """Grade a MultiPLEDataset row."""
    row = {"name": submission.name, "stop_tokens": [], **submission.row}
    tokens = row["stop_tokens"]
    if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens):
        raise BadRequest(f"stop_tokens is {shown(tokens)}: it must be a list of texts")
    plain = [token for token in tokens if not token.startswith("re:")]
    problem = own_columns(
        "multipl-e",
        {**row, "stop_tokens": plain},
        id=submission.name,
        time_limit=submission.config.run_timeout or OTHER_S,
    )
    language = problem["tests_language"]
    block = Block("raw", "", submission.completion)
    if submission.config.wants("is_freeform"):
        block = extract(submission.completion, _THEIRS.get(language, ""))
    solution = {"completion": submission.completion} if block.kind == "raw" else None
    return _graded(
        submission,
        tools,
        block,
        language,
        problem,
        solution=solution,
        full_code=f"{problem['prompt']}\n{block.code}",
        test_code=str(problem["joined_tests"]),
    )


def auto_eval(submission: Submission, tools: Tools) -> dict[str, Any]:
    """Grade an AutoEvalDataset row: the code with the row's tests is one program."""
    labels, test = _part(submission.row, "labels"), _part(submission.row, "test")
    written = labels.get("programming_language")
    language = labels.get("execution_language", written)
    if not isinstance(written, str) or not isinstance(language, str) or not is_name(language):
        raise BadRequest(f"labels.execution_language is {shown(language)}: no known language")
    row = row_of(language, tools.service.programs.installed)
    test_code = test.get("code")
    if not isinstance(test_code, str):
        raise BadRequest(f"test.code is {shown(test_code)}: it must be text")
    block = extract(submission.completion, written)
    code = without_entry_point(block.code, written)
    config = submission.config
    full = _joined(repr(code) if config.wants("repr_code") else code, test_code)
    flag = secrets.token_hex(10) if config.wants("append_flag") and language == "python" else ""
    if flag:
        full += f'\n\nprint("{flag}")'
    ceilings = tools.service.programs.ceilings
    asked = Asked(
        language=row,
        code=full,
        cpu_s=config.run_timeout or min(OTHER_S, ceilings.run_cpu_time / 1000),
        compile_cpu_s=config.compile_timeout
        or min(AUTO_COMPILE_S, ceilings.compile_cpu_time / 1000),
        files=read_files(_asset(test), ceilings.files_max),
    )
    answer = run_answer(tools.service.programs.run(asked))
    passed = answer["status"] == "Success" and flag in answer["run_result"]["stdout"]
    tests = [{"passed": passed, "exec_info": answer, "test_info": None}]
    return submission.result(Block(block.kind, "", code), passed, tests, full)


def of_the_server(submission: Submission, tools: Tools) -> dict[str, Any]:
    """Grade a completion for a problem of the server's own data set."""
    language = submission.config.language
    solution: dict[str, Any] = {
        "problem_id": str(submission.id),
        "completion": submission.completion,
    }
    if language is not None:
        solution["language"] = row_of(language, tools.service.programs.installed)
    every = submission.config.wants("run_all_cases")
    record = grade_one(
        tools.service,
        solution,
        None,
        tools.cancelled,
        max_stored_output=STORED_BYTES,
        stop_on_first_failure=not every,
    )
    block = extract(submission.completion, language or "python")
    return submission.result(block, record["status"] == "passed", _tests(record))


CLASSES: Mapping[str, Evaluate] = {
    "CommonOJDataset": common_oj,
    "LiveCodeBenchDataset": live_code_bench,
    "HumanEvalDataset": human_eval,
    "MBPPDataset": mbpp,
    "MultiPLEDataset": multipl_e,
    **dict.fromkeys(
        ("AutoEvalDataset", "AutoEvalV4Dataset", "AutoEvalV5Dataset", "AutoEvalV6Dataset"),
        auto_eval,
    ),
}
# How names of SandboxFusion's data sets begin → the class that they stand for.
NAMED: Mapping[str, str] = {
    "humaneval_": "HumanEvalDataset",
    "mbpp": "MBPPDataset",
    "multiple_": "MultiPLEDataset",
    "code_contests": "CommonOJDataset",
    "live_code_bench": "LiveCodeBenchDataset",
}
_THEIRS = {"c++17": "cpp", "javascript": "nodejs", "java": "java", "go": "go", "rust": "rust"}


def _graded(
    submission: Submission,
    tools: Tools,
    block: Block,
    language: str,
    problem: Mapping[str, Any],
    *,
    solution: Mapping[str, Any] | None = None,
    shows_tests: bool = False,
    full_code: str | None = None,
    test_code: str | None = None,
    **flags: Any,
) -> dict[str, Any]:
    """Grade a program and return the EvalResult; without a program, it is not accepted."""
    row = row_of(language, tools.service.programs.installed)
    if not block.code.strip():
        return submission.result(block, False, [], full_code, test_code)
    record = grade_one(
        tools.service,
        {**(solution or {"code": block.code}), "language": row},
        problem,
        tools.cancelled,
        **{"max_stored_output": STORED_BYTES, **flags},
    )
    given = problem["official_tests"] if shows_tests else None
    tests = _tests(record, given, whole=submission.config.wants("return_full_case"))
    return submission.result(block, record["status"] == "passed", tests, full_code, test_code)


def _tests(
    record: Mapping[str, Any], given: list[Mapping[str, Any]] | None = None, *, whole: bool = False
) -> list[dict[str, Any]]:
    """Return the tests that were run.

    given  the tests of the problem, for `test_info`
    whole  do not cut the inputs and outputs of passed tests
    """
    found = []
    for test in tests_run(record):
        info = None
        if given is not None:
            case = given[test["test_case_i"]]
            cut = test["passed"] is True and not whole
            stdin, stdout = (
                _cut(str(case[side] or "")) if cut else case[side] for side in ("input", "output")
            )
            info = {"input": {"stdin": stdin}, "output": {"stdout": stdout}}
        answer = case_answer(test, record)
        found.append({"passed": test["passed"] is True, "exec_info": answer, "test_info": info})
    return found


def _cut(text: str) -> str:
    if len(text) <= SHOWN_CHARS:
        return text
    half = (SHOWN_CHARS - 3) // 2
    return f"{text[:half]}...{text[-half:]}"


def _continued(completion: str) -> str:
    """Return the rest of a function: up to the first line that is not indented."""
    end = re.search(r"\n(?=\S)", completion)
    return completion[: end.start()] if end else completion


def _part(row: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a field that is an object or its JSON. Raises BadRequest, Refused."""
    value = json_text(row[name]) if isinstance(row.get(name), str) else row.get(name)
    if not isinstance(value, dict):
        raise BadRequest(f"{name} is {shown(value)}: it must be an object")
    return value


def _asset(test: Mapping[str, Any]) -> Mapping[str, Any]:
    return _part(test, "asset") if test.get("asset") else {}


def _joined(code: str, test: str) -> str:
    """Return the program of some code and its tests."""
    before, mark, after = test.partition("#<INSERT>")
    if mark:
        return before + code + after.partition("#<INSERT>")[0]
    return code.partition("if __name__ ==")[0] + "\n" + test
