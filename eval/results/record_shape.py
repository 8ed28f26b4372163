"""Check that a JSON object is a record, whether it comes from a file, a cache or a server.

Every field that is read later is checked. A verdict derived from an incomplete record would be
wrong without anyone noticing, so anything that fails the check is graded again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from math import inf
from operator import itemgetter
from typing import Any, TypeGuard, get_args

from gradebox.eval.results.case_text import case_text
from gradebox.eval.results.record import (
    SCHEMA,
    CaseRecord,
    CaseType,
    CaseVerdict,
    Reason,
    SolutionRecord,
    Status,
)

_FIELDS = frozenset(f.name for f in fields(SolutionRecord)) - {"origin", "subtasks"}
_CASE_FIELDS = frozenset(f.name for f in fields(CaseRecord)) - {"repeats", "input", "marked"}
_ALL_CASE_FIELDS, _HEX = (
    frozenset(f.name for f in fields(CaseRecord)),
    frozenset("0123456789abcdef"),
)
_STATUSES, _REASONS = frozenset(get_args(Status)), frozenset(get_args(Reason))
_TYPES, _TRUE_FALSE_NULL = frozenset(get_args(CaseType)), frozenset((True, False, None))
_CASE_VERDICTS = frozenset(get_args(CaseVerdict))
_VERDICTS = _CASE_VERDICTS | {None}
_NUMBER_OR_NULL = frozenset((int, float, type(None)))
NUMBER_MAX = 1e15
_TEXT_OR_NULL = ("status", "verdict", "language")
_TRUTHS = ("has_checker", "official_tests_complete")
_NUMBERS = (
    *("rating", "contest_year", "score", "time_limit_s", "memory_limit_bytes"),
    *("cpu_s", "wall_s", "memory_bytes", "input_bytes", "output_bytes"),
)
# Several fields are fetched at once: checking a case must cost less than parsing it.
_numbers = itemgetter("score", "time_limit_s", "memory_limit_bytes")
_counts = itemgetter("num_official", "num_generated", "num_skipped")
_case_numbers = itemgetter("score", "cpu_s", "wall_s", "memory_bytes")
_case_counts = itemgetter("test_case_i", "input_bytes", "output_bytes")
_case_texts = itemgetter("output", "expected", "error", "stderr")


def is_record(value: Any) -> TypeGuard[dict[str, Any]]:
    """Return whether a value is a solution's record of this schema, with valid cases."""
    return (
        isinstance(value, dict)
        and value.keys() >= _FIELDS
        and value["schema"] == SCHEMA
        and _one_of(value["status"], _STATUSES)
        and _one_of(value["verdict"], _VERDICTS)
        and isinstance(value["error"], str)
        and isinstance(value["compile"], dict)
        and isinstance(value["sandbox"], dict)
        and _one_of(value["has_checker"], _TRUE_FALSE_NULL)
        and _are_counts(_counts(value))
        and _are_numbers(_numbers(value))
        and isinstance(value["details"], list)
        and _is_origin(value.get("origin", {}))
        and _are_subtasks(value.get("subtasks", []))
        and all(_is_case(case) for case in value["details"])
    )


def read_case(value: Mapping[str, Any]) -> CaseRecord:
    """Return the case of a JSON object that `is_record` accepts. Raises ValueError."""
    known = {name: value[name] for name in value.keys() & _ALL_CASE_FIELDS}
    case = CaseRecord(**{**known, "repeats": tuple(known.get("repeats", ()))})
    hashes, texts = (case.input_sha256, case.output_sha256), (case.transcript or "",)
    try:
        case_text(case)  # a field of a wrong type can't be written
        if not all(isinstance(text, str) for text in (*hashes, *texts)):
            raise TypeError("a hash or the transcript is no text")
        if not all(set(text) <= _HEX for text in hashes):
            raise ValueError("a hash has other characters than hexadecimal digits")
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise ValueError(f"has an invalid field: {error!s:.100}") from None
    return case


def check_types(record: Mapping[str, Any]) -> None:
    """Raise ValueError for a field that statistics and reports can't use; fields may be missing.

    `is_record` is stricter: it also refuses what an earlier version wrote.
    """
    _check_fields(record, _TEXT_OR_NULL, (str, type(None)))
    _check_fields(record, _TRUTHS, (bool, type(None)))
    _check_fields(record, ("memory_limit_bytes",), (int, type(None)))
    for case in record.get("details") or ():
        _check_fields(case, ("case_type", "verdict", "reason"), (str,))
        _check_fields(case, ("test_case_i",), (int,))
    for values in (record, *(record.get("details") or ())):
        for name in _NUMBERS:
            value = values.get(name)
            if isinstance(value, (int, float)) and not abs(value) < NUMBER_MAX:  # also for NaN
                raise ValueError(f"{name} is {value!r:.40}")


def _check_fields(
    values: Mapping[str, Any], names: tuple[str, ...], types: tuple[type, ...]
) -> None:
    for name in names:
        if name in values and not isinstance(values[name], types):
            raise ValueError(f"{name} is {values[name]!r:.40}")


def _is_origin(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())


def _are_subtasks(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(subtask, dict)
        and isinstance(subtask.get("name"), str)
        and _are_numbers((subtask.get("points"), subtask.get("of")))
        and None not in (subtask.get("points"), subtask.get("of"))
        for subtask in value
    )


def _is_case(case: Any) -> bool:
    return (
        isinstance(case, dict)
        and case.keys() >= _CASE_FIELDS
        and _one_of(case["case_type"], _TYPES)
        and _one_of(case["verdict"], _CASE_VERDICTS)
        and _one_of(case["reason"], _REASONS)
        and _one_of(case["passed"], _TRUE_FALSE_NULL)
        and _one_of(case["output_passed"], _TRUE_FALSE_NULL)
        and _are_counts(_case_counts(case))
        and _are_numbers(_case_numbers(case))
        and set(map(type, _case_texts(case))) == {str}
        and _are_repeats(case)
        and isinstance(case.get("input", ""), str)
        and isinstance(case.get("marked", ""), str)
    )


def _are_repeats(case: Mapping[str, Any]) -> bool:
    repeats = case.get("repeats", [])
    return isinstance(repeats, list) and all(_one_of(v, _CASE_VERDICTS) for v in repeats)


def _one_of(value: object, allowed: frozenset[Any]) -> bool:
    return (value is None or isinstance(value, (str, bool))) and value in allowed


def _are_counts(values: tuple[Any, ...]) -> bool:
    return set(map(type, values)) == {int} and min(values) >= 0


def _are_numbers(values: tuple[Any, ...]) -> bool:
    """Accept null and finite numbers of at least 0."""
    if not set(map(type, values)) <= _NUMBER_OR_NULL:
        return False
    return all(0 <= value < inf for value in values if value is not None)
