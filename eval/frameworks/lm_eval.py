"""What the tasks for lm-evaluation-harness name: programs run in our sandbox (lm_eval_tasks/).

    lm_eval --include_path "$(python -m gradebox.lm_eval)" --tasks gradebox_humaneval …

Their prompts, stops and metric names are those of the harness's own tasks, so that figures compare.

    filter(responses, docs) ─ one grading call for all ─▶ programs, verdicts kept here
    metric(references, predictions) ─ the verdicts ─▶ {"pass@1": 1.0}

The harness asks for the metric doc by doc. So the filter, which gets all docs, grades.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from gradebox.eval.frameworks.code_eval import compute
from gradebox.eval.problems.formats.asserts import without_numpy
from gradebox.eval.results.statistics.intervals import defined_pass_at_k

Doc = Mapping[str, Any]
FENCE = "```"
TASKS = Path(__file__).resolve().parent / "lm_eval_tasks"
TIMEOUT_S = 3.0  # the original: of wall time
PLUS_S = 10.0  # of the tests that only HumanEval+ and MBPP+ have
_passed: dict[tuple[str, str], bool] = {}  # by program and tests


# ---- what the harness shows of a row besides its prompt, and the program in a response ----


def humaneval_tests(doc: Doc) -> str:
    """Return the tests of a HumanEval row."""
    return f"{doc['test']}\ncheck({doc['entry_point']})"


def mbpp_tests(doc: Doc) -> str:
    """Return the first three tests of an MBPP row; of an example, its answer and the stop."""
    if "is_fewshot" in doc:
        return f"{doc['code']}\n[DONE]"
    return "\n".join(doc["test_list"][:3])


def mbpp_tests_fenced(doc: Doc) -> str:
    """Return the same for prompts with fences."""
    return f"{doc['code']}\n{FENCE}" if "is_fewshot" in doc else mbpp_tests(doc)


def mbpp_first_test(doc: Doc) -> str:
    """Return the only test that the prompt of mbpp_plus_instruct has."""
    return str(doc["test_list"][0])


def mbpp_few_shot() -> list[dict[str, Any]]:
    """Return the rows 2, 3 and 4 of MBPP as examples."""
    lines = (TASKS / "mbpp_few_shot.jsonl").read_text(encoding="utf-8").splitlines()
    return [{**json.loads(line), "is_fewshot": True} for line in lines]


def humaneval_program(doc: Doc, response: str) -> str:
    """Return the program of a response that continues the prompt."""
    return f"{doc['prompt']}{response}"


def humaneval_program_fenced(doc: Doc, response: str) -> str:
    """Return the program of a response that continues the prompt in an open fence."""
    return f"{doc['prompt']}{response.partition(FENCE)[0]}"


def plain_program(doc: Doc, response: str) -> str:
    """Return the response, which is a program."""
    return response


def fenced_program(doc: Doc, response: str) -> str:
    """Return the program of a response in a fence that the prompt has opened, or of its own."""
    before, fence, after = response.partition(FENCE)
    if fence and not before.strip():  # opened again
        return after.partition("\n")[2].partition(FENCE)[0]
    return before


# ---- filters and metrics ----


def _grade(pairs: Iterable[tuple[str, str]], timeout: float) -> None:
    """Grade (program, tests) pairs in one call, but for those that are known."""
    left = [pair for pair in dict.fromkeys(pairs) if pair not in _passed]
    _, results = compute([[code] for code, _ in left], [tests for _, tests in left], [1],
                         timeout=timeout)  # fmt: skip
    for i, pair in enumerate(left):
        _passed[pair] = results[i][0][1]["passed"]


def _filter(
    build: Callable[[Doc, str], str],
    tests: Sequence[tuple[Callable[[Doc], str], float]],
    resps: Iterable[Sequence[str]],
    docs: Iterable[Doc],
) -> list[list[str]]:
    docs = list(docs)
    programs = [[build(doc, r) for r in resp] for resp, doc in zip(resps, docs, strict=True)]
    for of, timeout in tests:
        pairs = ((p, of(doc)) for doc, row in zip(docs, programs, strict=True) for p in row)
        _grade(pairs, timeout)
    return programs


def plus_tests(doc: Doc) -> str:
    """Return the tests of HumanEval+, without numpy where it is only used to compare."""
    return without_numpy(humaneval_tests(doc), "reference")


def mbpp_plus_tests(doc: Doc) -> str:
    """Return all tests of an MBPP+ row, whose asserts are its first few."""
    plus = without_numpy(doc["test"], "reference")
    lines = [*(doc.get("test_imports") or []), *doc["test_list"], plus]
    return "\n".join(lines)


humaneval = partial(_filter, humaneval_program, [(humaneval_tests, TIMEOUT_S)])
humaneval_instruct = partial(_filter, humaneval_program_fenced, [(humaneval_tests, TIMEOUT_S)])
humaneval_plus = partial(_filter, humaneval_program, [(plus_tests, PLUS_S)])
mbpp = partial(_filter, plain_program, [(mbpp_tests, TIMEOUT_S)])
mbpp_instruct = partial(_filter, fenced_program, [(mbpp_tests, TIMEOUT_S)])
mbpp_plus = partial(_filter, plain_program, [(mbpp_tests, TIMEOUT_S), (mbpp_plus_tests, PLUS_S)])
mbpp_plus_instruct = partial(
    _filter, fenced_program, [(mbpp_first_test, TIMEOUT_S), (mbpp_plus_tests, PLUS_S)]
)


def pass_at_k(
    references: Sequence[str], predictions: Sequence[Sequence[str]], k: Sequence[int] | int = 1
) -> dict[str, float]:
    """Return pass@k of one doc, for each k that it has enough programs for.

    references   its tests
    predictions  its programs
    """
    (tests,), (programs,) = references, predictions
    _grade(((program, tests) for program in programs), TIMEOUT_S)
    right = sum(_passed[program, tests] for program in programs)
    return defined_pass_at_k([(len(programs), right)], [k] if isinstance(k, int) else k)


def pass_at_1(references: Sequence[str], predictions: Sequence[Sequence[str]]) -> float:
    """Return pass@1 of one doc."""
    return pass_at_k(references, predictions)["pass@1"]


def both_passed(doc: Doc, results: Sequence[Sequence[str]], tests: str) -> dict[str, float]:
    """Return pass@1 of an MBPP+ row by the tests that the prompt shows, and by all of them."""
    return {
        "pass_at_1": pass_at_1([tests], results),
        "plus_pass_at_1": pass_at_1([mbpp_plus_tests(doc)], results),
    }


def process_plus(doc: Doc, results: Sequence[Sequence[str]]) -> dict[str, float]:
    """Return the scores of an MBPP+ row."""
    return both_passed(doc, results, mbpp_tests(doc))


def process_plus_instruct(doc: Doc, results: Sequence[Sequence[str]]) -> dict[str, float]:
    """Return the scores of an MBPP+ row whose prompt shows one test."""
    return both_passed(doc, results, mbpp_first_test(doc))
