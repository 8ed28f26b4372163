"""Rows that models are trained on: DeepCoder, verl, PrimeIntellect, NeMo Gym, SandboxFusion.

| format         | tests are in                        | --judge reference decides as |
|----------------|-------------------------------------|------------------------------|
| deepcoder      | tests, in four forms                | rllm                         |
| verl           | reward_model.ground_truth, the same | rllm                         |
| prime          | verification_info.test_cases        | PrimeIntellect's genesys     |
| nemo-gym       | verifier_metadata.unit_tests        | LiveCodeBench's grader       |
| sandboxfusion  | test: [{input: {stdin}, output: …}] | SandboxFusion's CommonOJ     |
"""

from __future__ import annotations

import re
from typing import Any

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
    check_count,
    is_empty,
    label,
    lower,
    of,
    text,
)

# CPU seconds a test; the originals' are wall time, PrimeIntellect's 120 s are for a row
DEEPCODER_S, LIVECODEBENCH_S, PRIME_S, NEMO_GYM_S, SANDBOXFUSION_S = 12.0, 6.0, 10.0, 10.0, 10.0
DEEPCODER_TESTS = 15
_FUSION = Judging("fusion-reference", "wrapped-reference", "")
_PRIME = Judging("plain-reference", "printed-reference")
_CHECK = re.compile(r"^check\((?P<entry>(?:\w+\(\)\.)?\w+)\)\s*\Z", re.MULTILINE)


def _deepcoder(row: Row, judge: Judge) -> dict[str, Any]:
    given = loaded(row.get("tests"), "tests")
    if isinstance(given, dict) and "functional" in given:
        return {**_functional(given), "time_limit": DEEPCODER_S}
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
    return {
        "test_kind": "assert",
        "entry_point": entry,
        "prelude": "\n".join(PRELUDE),
        "memory_limit": MEMORY_MB,
        "official_tests": assert_test(test[: found.start()] if found else "", entry, [], ""),
    }


def _verl(row: Row, judge: Judge) -> dict[str, Any]:
    return _deepcoder({"tests": _structure(row, "reward_model").get("ground_truth")}, judge)


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
    tests = read_tests(_structure(row, "verification_info").get("test_cases"), "test_cases")
    difficulty = _structure(row, "metadata").get("difficulty")
    return {
        **columns(tests, judge, _PRIME),
        "difficulty": lower(difficulty),
        "time_limit": PRIME_S,
    }


def _nemo(row: Row, judge: Judge) -> dict[str, Any]:
    metadata = _structure(row, "verifier_metadata")
    tests = read_tests(_live(metadata.get("unit_tests")), "unit_tests")
    return {
        **columns(tests, judge, LIVE_JUDGING),
        "time_limit": NEMO_GYM_S,
    }


def _live(given: Any) -> Any:
    """Return calls as LiveCodeBench's tests, whose arguments are JSON, one a line."""
    given = loaded(given, "unit_tests")
    function = given.get("fn_name") if isinstance(given, dict) else None
    if not function:
        return given
    inputs, outputs = given.get("inputs"), given.get("outputs")
    if not isinstance(inputs, list) or not isinstance(outputs, list) or len(inputs) != len(outputs):
        return given  # read_tests says what is wrong
    return [
        {"input": start, "output": end, "testtype": "functional", "fn_name": function}
        if isinstance(start, str)
        else {"input": start, "output": end, "type": "function_call", "fn_name": function}
        for start, end in zip(inputs, outputs, strict=True)
    ]


def _fusion(row: Row, judge: Judge) -> dict[str, Any]:
    given = loaded(row.get("test"), "test") or []
    labels = _structure(row, "labels")
    if not isinstance(given, list):
        raise RowError(f"test is {shown(given)}: it must be a list of tests")
    check_count(given, "test")
    pairs = []
    for number, test in enumerate(given):
        if not isinstance(test, dict):
            raise RowError(f"test {number} is {shown(test)}: it must have input and output")
        start, end = test.get("input"), test.get("output")
        if not isinstance(start, dict) or not isinstance(end, dict):
            raise RowError(f"test {number} is {shown(test)}: it must have input and output")
        pairs.append((start.get("stdin") or "", end.get("stdout")))
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


_TESTS = _holds("inputs", "input", "functional")
DEEPCODER = RowFormat(
    name="deepcoder",
    needs=(frozenset({"problem", "tests"}),),
    content={"tests": _TESTS},
    ids={"id": of("problem", read=lambda _: None)},
    uses=("tests",),
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
    needs=(frozenset({"data_source", "prompt", "reward_model"}),),
    content={
        "reward_model": Content("has a ground_truth without inputs", _holds_tests),
    },
    ids={"platform": of("data_source", read=label)},
    uses=("reward_model",),
    convert=_verl,
    numbered=True,
)
PRIME = RowFormat(
    name="prime",
    needs=(
        frozenset({"prompt", "verification_info"}),
        frozenset({"problem_statement", "verification_info"}),
    ),
    content={"verification_info": _holds("test_cases")},
    ids={"id": of("problem_id"), "platform": of("source", read=label)},
    uses=("verification_info", "metadata"),
    convert=_prime,
    numbered=True,
)
NEMO_GYM = RowFormat(
    name="nemo-gym",
    needs=(frozenset({"responses_create_params", "verifier_metadata"}),),
    content={"verifier_metadata": _holds("unit_tests")},
    ids={"id": of("hash_id"), "platform": of("source", read=label)},
    uses=("verifier_metadata",),
    convert=_nemo,
    numbered=True,
)
SANDBOXFUSION = RowFormat(
    name="sandboxfusion",
    needs=(frozenset({"id", "content", "labels", "test"}),),
    content={"test": _holds("input")},
    ids={"id": of("id")},
    uses=("test", "labels"),
    convert=_fusion,
)
