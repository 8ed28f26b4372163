"""The text of a case is that which `json` writes, whatever its fields are."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import Any

import pytest

from gradebox.eval.results.case_text import case_as_json, case_text, encode
from gradebox.eval.results.record import CaseRecord
from gradebox.eval.results.records import as_json, encode_record, encoded
from testing.fakes.records import CASE, record

TEXTS = ["", 'a"b\\', "é\u2028\n\t\x00", "\ud800", "%s {0} %%"]
NUMBERS = [None, 0, -9, 2**70]
REALS = [None, 0.0, 1e-7, 1 / 3, 1e300, 5]
WORDS = [None, True, False]
OTHERS: dict[str, list[Any]] = {
    "case_type": ["generated"],
    "test_case_i": [0, 10**9],
    "passed": WORDS,
    "verdict": ["WA", "ER"],
    "score": REALS,
    "output": TEXTS,
    "expected": TEXTS,
    "error": TEXTS,
    "reason": ["sandbox_error"],
    "cpu_s": REALS,
    "wall_s": REALS,
    "memory_bytes": NUMBERS,
    "contended": [True, False],
    "exit_code": NUMBERS,
    "signal": NUMBERS,
    "stderr": TEXTS,
    "checker": [None, {"stdout": 'é"', "stderr": "", "exit_code": 3}],
    "input_bytes": [0, 10**12],
    "input_sha256": ["", "0f" * 32],
    "output_bytes": [0, 10**12],
    "output_sha256": ["", "0f" * 32],
    "transcript": [None, *TEXTS],
    "output_passed": WORDS,
    "input": [None, *TEXTS],
    "repeats": [(), ("AC", "WA")],
    "marked": ["", 'a value of type "X" é'],
}


@pytest.mark.parametrize("name", [field.name for field in fields(CaseRecord)])
def test_every_field_is_written_as_json_does(name: str) -> None:
    for value in OTHERS[name]:
        case = replace(CASE, **{name: value})
        assert case_text(case) == encode(case_as_json(case))


@pytest.mark.parametrize("name", ["score", "cpu_s", "wall_s"])
@pytest.mark.parametrize("value", [math.inf, math.nan])
def test_numbers_that_json_does_not_have_are_refused(name: str, value: float) -> None:
    with pytest.raises(ValueError, match="JSON"):
        case_text(replace(CASE, **{name: value}))


@pytest.mark.parametrize("count", [0, 1, 3])
@pytest.mark.parametrize("origin", [{}, {"judge": "strict"}])
def test_the_line_of_a_record_is_that_of_its_json_object(
    count: int, origin: dict[str, str]
) -> None:
    one = record(details=(CASE,) * count, origin=origin)
    assert encoded(one).line == encode_record(as_json(one))


def test_a_record_with_a_fault_of_the_sandbox_is_not_settled() -> None:
    assert encoded(record(details=(CASE,))).settled
    assert not encoded(record(details=(CASE, replace(CASE, verdict="ER")))).settled
    assert not encoded(record(status="error")).settled
