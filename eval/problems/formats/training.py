"""Rows that models are trained on: DeepCoder, verl, PrimeIntellect, rStar-Coder, NeMo Gym, …

| format         | tests are in                        | --judge reference decides as   |
|----------------|-------------------------------------|--------------------------------|
| deepcoder      | tests, in four forms                | rllm                           |
| verl           | reward_model.ground_truth: inputs,  | verl's prime_code; rllm, for   |
|                | outputs; statements; forms of rllm  | its forms                      |
| prime          | verification_info.test_cases        | genesys; SYNTHETIC-2: prime-rl |
| rstar-coder    | inputs, outputs, func_name          | strict: no grader is published |
| nemo-gym       | verifier_metadata.unit_tests        | LiveCodeBench's grader         |
| sandboxfusion  | test: [{input: {stdin}, output: …}] | SandboxFusion's CommonOJ       |

verl's own reward and prime-rl's read calls alike: each line of an input is an argument in JSON.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import msgspec

from gradebox.eval.common.errors import RowError, shown
from gradebox.eval.problems.formats.livecodebench import LIVE_JUDGING, PRELUDE
from gradebox.eval.problems.formats.pairs import (
    APPS_JUDGING,
    MEMORY_MB,
    Judging,
    Tests,
    columns,
    decoded,
    loaded,
    read_tests,
)
from gradebox.eval.problems.formats.row_format import (
    Content,
    Judge,
    Row,
    RowFormat,
    assert_test,
    asserted,
    check_count,
    fields,
    is_empty,
    label,
    lower,
    of,
    statements_test,
    text,
)
from gradebox.eval.problems.row.tests import converted

# CPU seconds a test; the originals' are wall time, PrimeIntellect's 120 s are for a row
DEEPCODER_S, LIVECODEBENCH_S, PRIME_S, NEMO_GYM_S, SANDBOXFUSION_S = 12.0, 6.0, 10.0, 10.0, 10.0
RSTAR_S, STATEMENT_S = 10.0, 3.0
DEEPCODER_TESTS, VERL_TESTS = 15, 10  # the longest inputs; the first tests
_FUSION = Judging("fusion-reference", "wrapped-reference", "")
_PRIME = Judging("plain-reference", "printed-reference")
_PRIME_CODE = Judging("numbers-reference", "wrapped-reference", "\n".join(PRELUDE))
_CHECK = re.compile(r"^check\((?P<entry>(?:\w+\(\)\.)?\w+)\)\s*\Z", re.MULTILINE)


def _deepcoder(row: Row, judge: Judge) -> dict[str, Any]:
    return _rllm(loaded(row.get("tests"), "tests"), judge)


def _rllm(given: Any, judge: Judge) -> dict[str, Any]:
    """Return the columns of tests in one of rllm's forms."""
    if isinstance(given, dict) and "functional" in given:
        return _functional(given)
    tests = read_tests(given, "tests")
    live = isinstance(given, list) and bool(given) and "testtype" in given[0]
    if judge == "reference" and not live:
        tests = tests.longest(DEEPCODER_TESTS)
    return {
        **columns(tests, judge, LIVE_JUDGING if live else APPS_JUDGING),
        "time_limit": LIVECODEBENCH_S if live else DEEPCODER_S,
    }


def _functional(given: Row) -> dict[str, Any]:
    """Return the columns of a text that asserts, and ends in `check(Solution().f)`."""
    test = text(given, "functional")
    found = _CHECK.search(test)
    if test.strip() and found is None:
        raise RowError("tests.functional does not end in check(Solution().NAME)")
    entry = found["entry"] if found else ""
    tests = assert_test(test[: found.start()] if found else "", entry, [], "")
    more = {"entry_point": entry, "prelude": "\n".join(PRELUDE)}
    return asserted(tests, DEEPCODER_S, MEMORY_MB, "", **more)


def _verl(row: Row, judge: Judge) -> dict[str, Any]:
    truth = loaded(_structure(row, "reward_model").get("ground_truth"), "ground_truth")
    if not isinstance(truth, dict) or "functional" in truth:
        return _rllm(truth, judge)
    if not is_empty(truth.get("assert_case")):
        return statements(truth["assert_case"])
    tests = read_tests(truth, "ground_truth", lines=True)
    if judge == "reference":  # full marks are given for these, whatever the others do
        tests = replace(tests, pairs=tests.pairs[:VERL_TESTS])
    return {**columns(tests, judge, _PRIME_CODE), "time_limit": DEEPCODER_S}


def statements(given: Any) -> dict[str, Any]:
    """Return the columns of verl's `assert_case`: statements about the program. Raises RowError."""
    tests = [statements_test(one) for one in converted("assert_case", given, list[str])]
    return asserted(tests, STATEMENT_S, MEMORY_MB, "")


def _structure(row: Row, field: str) -> dict[str, Any]:
    """Return a struct that may be text, JSON or Python's. Raises RowError."""
    value = row.get(field)
    if isinstance(value, str):
        value = decoded(text(row, field)) if value.strip() else None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise RowError(f"{field} is {shown(value)}: it must be an object")
    return value


def _prime(row: Row, judge: Judge) -> dict[str, Any]:
    given = loaded(_structure(row, "verification_info").get("test_cases"), "test_cases")
    how = _PRIME_CODE if isinstance(given, dict) and "inputs" in given else _PRIME
    tests = read_tests(given, "test_cases", lines=True)
    difficulty = _structure(row, "metadata").get("difficulty")
    return {
        **columns(tests, judge, how),
        "difficulty": lower(difficulty),
        "time_limit": PRIME_S,
    }


def _rstar(row: Row, _judge: Judge) -> dict[str, Any]:
    inputs, outputs = (
        converted(name, loaded(row.get(name), name) or [], list) for name in ("inputs", "outputs")
    )
    function, owner = text(row, "func_name"), text(row, "class_name")
    if function and owner not in ("", "Solution"):
        raise RowError(f"class_name is {shown(owner)}: only Solution, or a function, is called")
    names = [function] * len(inputs)
    tests = read_tests({"input": inputs, "output": outputs, "fn_name": names}, "inputs")
    return {**columns(tests, "strict", APPS_JUDGING), "time_limit": RSTAR_S}


def _nemo(row: Row, judge: Judge) -> dict[str, Any]:
    metadata = _structure(row, "verifier_metadata")
    tests = read_tests(metadata.get("unit_tests"), "unit_tests", lines=True)
    return {
        **columns(tests, judge, LIVE_JUDGING),
        "time_limit": NEMO_GYM_S,
    }


class _Streams(msgspec.Struct):
    stdin: str | None = None
    stdout: str | None = None


class _FusionTest(msgspec.Struct):
    input: _Streams
    output: _Streams


def _fusion(row: Row, judge: Judge) -> dict[str, Any]:
    labels = _structure(row, "labels")
    given = converted("test", loaded(row.get("test"), "test") or [], list[_FusionTest])
    check_count(given, "test")
    pairs = [(test.input.stdin or "", test.output.stdout) for test in given]
    return {
        **columns(Tests(tuple(pairs)), judge, _FUSION),
        "title": str(labels.get("name") or ""),
        "difficulty": lower(labels.get("difficulty")),
        "platform": lower(labels.get("source")),
        "time_limit": SANDBOXFUSION_S,
    }


def _holds(*keys: str) -> Content:
    """Return the content of a struct, or JSON or Python text of it, that has one of some keys."""

    def fits(value: Any) -> bool:
        if isinstance(value, str):
            return any(f'"{key}"' in value or f"'{key}'" in value for key in keys)
        first = value[0] if isinstance(value, (list, tuple)) else value
        return isinstance(first, dict) and any(key in first for key in keys)

    return Content(f"has no {' or '.join(keys)}", fits)


_TESTS = _holds("inputs", "input", "functional", "assert_case")
DEEPCODER = RowFormat(
    name="deepcoder",
    needs=fields("problem tests"),
    content={"tests": _TESTS},
    ids={"id": of("problem", read=lambda _: None)},
    convert=_deepcoder,
    numbered=True,
)


def _holds_tests(reward_model: Any) -> bool:
    """Return whether the ground truth of a struct, or of JSON or Python text of it, has tests."""
    if isinstance(reward_model, str):  # quotes of a text in a text are escaped
        return "ground_truth" in reward_model and _TESTS.holds(reward_model.replace("\\", ""))
    truth = reward_model.get("ground_truth") if isinstance(reward_model, dict) else None
    return not is_empty(truth) and _TESTS.holds(truth)


VERL = RowFormat(
    name="verl",
    needs=fields("data_source prompt reward_model"),
    content={
        "reward_model": Content("has a ground_truth without inputs", _holds_tests),
    },
    ids={"platform": of("data_source", read=label)},
    convert=_verl,
    numbered=True,
)
PRIME = RowFormat(
    name="prime",
    needs=fields("prompt verification_info", "problem_statement verification_info"),
    content={"verification_info": _holds("test_cases")},
    ids={"id": of("problem_id"), "platform": of("source", read=label)},
    uses=("metadata",),
    convert=_prime,
    numbered=True,
)
RSTAR_CODER = RowFormat(
    name="rstar-coder",
    needs=fields("question_id question inputs outputs"),
    content={"inputs": Content(), "outputs": Content()},
    ids={"id": of("question_id")},
    uses=("func_name", "class_name"),
    convert=_rstar,
)
NEMO_GYM = RowFormat(
    name="nemo-gym",
    needs=fields("responses_create_params verifier_metadata"),
    content={"verifier_metadata": _holds("unit_tests")},
    ids={"id": of("hash_id"), "platform": of("source", read=label)},
    convert=_nemo,
    numbered=True,
)
SANDBOXFUSION = RowFormat(
    name="sandboxfusion",
    needs=fields("id content labels test"),
    content={"test": _holds("input")},
    ids={"id": of("id")},
    convert=_fusion,
)
FORMATS = (DEEPCODER, VERL, PRIME, RSTAR_CODER, NEMO_GYM, SANDBOXFUSION)
