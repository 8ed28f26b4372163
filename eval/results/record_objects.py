"""The JSON objects of records, as types for those who read them from Python.

record.py defines the fields and checks them. A type checker cannot derive these classes from
that module's, so that they are written here once more; tests/eval/results/test_record_objects.py
compares both. A field of a class `_…` is only in the records that have it (docs/records.md).
"""

from __future__ import annotations

from typing import Any, TypedDict

from gradebox.eval.results.record import CaseType, CaseVerdict, Reason, Status


class _CaseMore(TypedDict, total=False):
    input: str
    repeats: list[CaseVerdict]
    marked: str
    test: str
    groups: list[str]
    points: float
    passes: int


class Case(_CaseMore):
    """The result of one test case: an element of a record's `details`."""

    case_type: CaseType
    test_case_i: int
    passed: bool | None
    verdict: CaseVerdict
    score: float | None
    output: str
    expected: str
    error: str
    reason: Reason
    cpu_s: float | None
    wall_s: float | None
    memory_bytes: int | None
    contended: bool
    exit_code: int | None
    signal: int | None
    stderr: str
    checker: dict[str, str | int | None] | None
    input_bytes: int
    input_sha256: str
    output_bytes: int
    output_sha256: str
    transcript: str | None
    output_passed: bool | None


class PointsOf(TypedDict):
    """The points that a solution has of a subtask or group, and those that there are."""

    name: str
    points: float
    of: float


class _RecordMore(TypedDict, total=False):
    origin: dict[str, str]
    subtasks: list[PointsOf]
    points: float
    points_of: float


class Record(_RecordMore):
    """The result of one solution, as `gradebox.grade` returns it and a run writes it."""

    schema: int
    problem_id: str
    solution_id: str
    sample_i: int
    line: int
    language: str
    status: Status
    verdict: CaseVerdict | None
    score: float | None
    error: str
    rating: int | None
    tags: list[str]
    official_tests_complete: bool | None
    num_official: int
    num_generated: int
    num_skipped: int
    compile: dict[str, Any]
    details: list[Case]
    sandbox: dict[str, Any]
    key: str
    time_limit_s: float | None
    memory_limit_bytes: int | None
    contest_id: str
    contest_year: int | None
    has_checker: bool | None
