"""The records of a run: their fields, their JSON, and the check of what others wrote.

    CaseRecord… ─▶ SolutionRecord ─ encode ─▶ one JSON line ─▶ is_record

A field is defined here and nowhere else. Every field of a record is needed, unless it may be UNSET:
a verdict derived from an incomplete record would be wrong without anyone noticing, so that anything
that fails the check is graded again.

msgspec writes a case in 0.3 µs and checks a case in 0.5 µs; `json` takes 5 µs to write a case.
"""

from __future__ import annotations

import codecs
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeGuard

import msgspec
from msgspec import UNSET, Meta, UnsetType

CaseVerdict = Literal["AC", "WA", "TLE", "MLE", "RE", "CE", "OLE", "CU", "SK", "ER"]
CaseType = Literal["official", "generated"]
Status = Literal["passed", "failed", "no_tests", "unsupported", "invalid", "error"]
Reason = Literal[
    "passed_by_exact_match",
    "passed_by_checker",
    "failed_outputs_match",
    "failed_checker",
    "partial_points",
    "presentation_error",
    "time_limit_exceeded",
    "memory_limit_exceeded",
    "runtime_error",
    "compile_error",
    "output_limit_exceeded",
    "checker_unclear",
    "skipped_large_input",
    "budget_exceeded",
    "not_run_after_failure",
    "unsupported_interactive",
    "sandbox_error",
]

# Version of records, part of a record's key. It is incremented when fields change, or when the same
# run could give other verdicts.
SCHEMA: Literal[2] = 2

Count = Annotated[int, Meta(ge=0, lt=10**18)]
SmallInt = Annotated[int, Meta(gt=-(10**9), lt=10**9)]
Number = Annotated[float, Meta(ge=0, le=1e15)]
Hash = Annotated[str, Meta(pattern=r"^[0-9a-f]*\Z")]


class CaseRecord(msgspec.Struct):
    """The result of one test case: an element of `details` in a solution's record.

    output_passed  whether the output was complete and right, apart from the time it took, when
                   the program ended by itself within 1.25 × its time limit; None when there was
                   no such output. From it pass@1 at other time limits is computed.
    input          the test's input, if the case failed and it is short; UNSET: see the data set
    repeats        verdicts of all runs under --repeat, this run first
    marked         why assert tests ran in the solution's own process, with a mark that only their
                   end writes; UNSET: they did not run there
    test           the name of the test in its package, and `groups` those of its groups
    points         the test's points times `score`; UNSET where the test has no points
    passes         how often the program ran for the test, in a problem of several passes
    """

    case_type: CaseType
    test_case_i: Count
    passed: bool | None
    verdict: CaseVerdict
    score: Number | None
    output: str
    expected: str
    error: str
    reason: Reason
    cpu_s: Number | None
    wall_s: Number | None
    memory_bytes: Count | None
    contended: bool
    exit_code: int | None
    signal: int | None
    stderr: str
    checker: dict[str, str | int | None] | None
    input_bytes: Count
    input_sha256: Hash
    output_bytes: Count
    output_sha256: Hash
    transcript: str | None
    output_passed: bool | None
    input: str | UnsetType = UNSET
    repeats: tuple[CaseVerdict, ...] | UnsetType = UNSET
    marked: str | UnsetType = UNSET
    test: str | UnsetType = UNSET
    groups: tuple[str, ...] | UnsetType = UNSET
    points: Number | UnsetType = UNSET
    passes: Count | UnsetType = UNSET


class SubtaskPoints(msgspec.Struct):
    """The points that a solution got in a subtask or group, and `of`, the most that one can get."""

    name: str
    points: Number
    of: Number


class SolutionRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one solution: one JSON line of piston_eval_results.jsonl.

    time_limit_s, memory_limit_bytes  the limits in effect, --time-limit-scale included
    has_checker                       a checker judges every output that is not the expected one
    origin                            of rows of other data sets: dataset_format, judge, test_kind,
                                      difficulty, platform, contest_date, errata
    subtasks                          the points of each subtask or group that is in no other group
    points, points_of                 the sum of these points, and the most that it can be
    """

    schema: Literal[2]
    problem_id: str
    solution_id: str
    sample_i: Count
    line: Count
    language: str
    status: Status
    verdict: CaseVerdict | None
    score: Number | None
    error: str
    rating: SmallInt | None
    tags: tuple[str, ...]
    official_tests_complete: bool | None
    num_official: Count
    num_generated: Count
    num_skipped: Count
    compile: dict[str, Any]
    details: tuple[CaseRecord, ...]
    sandbox: dict[str, Any]
    key: str
    time_limit_s: Number | None
    memory_limit_bytes: Count | None
    contest_id: str
    contest_year: SmallInt | None
    has_checker: bool | None
    origin: dict[str, str] | UnsetType = UNSET
    subtasks: tuple[SubtaskPoints, ...] | UnsetType = UNSET
    points: Number | UnsetType = UNSET
    points_of: Number | UnsetType = UNSET

    @property
    def busy_s(self) -> float:
        """CPU seconds of its compiler plus wall seconds of its cases."""
        return (self.compile.get("cpu_s") or 0.0) + sum(c.wall_s or 0.0 for c in self.details)


# Fields that describe the solutions line and the problem. When they change, nothing is graded
# again. All other fields depend on the program and how it was graded.
_DESCRIPTIVE_FIELDS = {
    *("problem_id", "solution_id", "sample_i", "line", "language", "rating", "tags"),
    *("official_tests_complete", "contest_id", "contest_year", "origin"),
}
GRADED_FIELDS = frozenset(SolutionRecord.__struct_fields__) - _DESCRIPTIVE_FIELDS


def as_json(record: SolutionRecord) -> dict[str, Any]:
    """Return the JSON object of a record, its fields in the documented order."""
    fields: dict[str, Any] = msgspec.to_builtins(record)
    return {**fields, "tags": list(record.tags), "details": list(fields["details"])}


def encode(record: SolutionRecord | Mapping[str, Any]) -> bytes:
    """Return a record, or the JSON object of one, as a line of ASCII, including the newline."""
    try:
        line = msgspec.json.encode(record)
    except UnicodeEncodeError:
        line = msgspec.json.encode(encodable(msgspec.to_builtins(record)))
    if not line.isascii():
        line = line.decode().encode("ascii", "gradebox-json")
    return line + b"\n"


def encodable(value: Any) -> Any:
    """Escape lone surrogates, which UTF-8 does not have."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, (list, tuple)):
        return [encodable(item) for item in value]
    if isinstance(value, dict):
        return {name: encodable(item) for name, item in value.items()}
    return value


def _json_escapes(error: UnicodeError) -> tuple[str, int]:
    """Return JSON's escapes for what is not ASCII: JSON text has it only within strings."""
    assert isinstance(error, UnicodeEncodeError)
    text = error.object[error.start : error.end].encode("utf-16-be").hex()
    return "".join(f"\\u{text[at : at + 4]}" for at in range(0, len(text), 4)), error.end


codecs.register_error("gradebox-json", _json_escapes)


def check_types(value: object) -> None:
    """Raise ValueError unless a value is a solution's record of this schema, with valid cases."""
    try:
        msgspec.convert(value, SolutionRecord)
    except msgspec.ValidationError as error:
        raise ValueError(f"{error!s:.200}") from None


def is_record(value: object) -> TypeGuard[dict[str, Any]]:
    """Return whether `check_types` accepts a value."""
    try:
        check_types(value)
    except ValueError:
        return False
    return True


def read_case(value: Mapping[str, Any]) -> CaseRecord:
    """Return the case of a JSON object. Raises ValueError."""
    try:
        return msgspec.convert(value, CaseRecord)
    except msgspec.ValidationError as error:
        raise ValueError(f"has an invalid field: {error!s:.100}") from None


@dataclass(frozen=True)
class KeyParts:
    """What a key is computed from. All values can be encoded as JSON.

    tests     digest of the chosen tests: contents, order, and which are skipped
    checker   digest of the checker, "" for none
    limits    CPU seconds (scale included) and bytes of memory
    flags     flags that change what a record says
    sandbox   backend, level and the version of what runs the language
    """

    problem_id: str
    code: str
    language: str
    tests: str
    checker: str
    limits: dict[str, Any]
    flags: dict[str, Any]
    sandbox: dict[str, Any]
    schema: int = SCHEMA


def key_of(parts: KeyParts) -> str:
    """Return the SHA-256 (hex) of the parts."""
    text = json.dumps(vars(parts), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
