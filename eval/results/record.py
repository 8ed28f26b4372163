"""The records of a run: `CaseRecord` for a test case, `SolutionRecord` for a solution.

CaseRecord… ─▶ SolutionRecord ─▶ one JSON line
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

CaseVerdict = Literal["AC", "WA", "TLE", "MLE", "RE", "CE", "OLE", "CU", "SK", "ER"]
CaseType = Literal["official", "generated"]
Status = Literal["passed", "failed", "no_tests", "unsupported", "invalid", "error"]
Reason = Literal[
    "passed_by_exact_match",
    "passed_by_checker",
    "failed_outputs_match",
    "failed_checker",
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
SCHEMA = 2


@dataclass  # not frozen: one is made for each case, and that would take three times as long
class CaseRecord:
    """The result of one test case: an element of `details` in a solution's record.

    output_passed  whether the output was complete and right, apart from the time it took, when
                   the program ended by itself within 1.25 × its time limit; None when there was
                   no such output. From it pass@1 at other time limits is computed.
    input          of a case that failed, when it is short; None: see the data set
    repeats        verdicts of all runs under --repeat, this run first
    marked         why assert tests ran in the process of the solution, with a mark; None: they
                   did not
    """

    case_type: CaseType
    test_case_i: int
    passed: bool | None
    verdict: CaseVerdict
    score: float | None
    output: str
    expected: str
    error: str
    reason: Reason
    cpu_s: float | None = None
    wall_s: float | None = None
    memory_bytes: int | None = None
    contended: bool = False
    exit_code: int | None = None
    signal: int | None = None
    stderr: str = ""
    checker: Mapping[str, Any] | None = None
    input_bytes: int = 0
    input_sha256: str = ""
    output_bytes: int = 0
    output_sha256: str = ""
    transcript: str | None = None
    output_passed: bool | None = None
    input: str | None = None
    repeats: tuple[CaseVerdict, ...] = ()
    marked: str | None = None


@dataclass(frozen=True)
class SolutionRecord:
    """The result of one solution: one JSON line of piston_eval_results.jsonl.

    time_limit_s, memory_limit_bytes  the limits in effect, --time-limit-scale included
    has_checker                       a checker judges every output but the expected one itself
    origin                            of rows of other data sets: dataset_format, judge, test_kind,
                                      difficulty, platform, contest_date, errata; else absent
    subtasks                          {name, points, of} of each subtask of a graded problem; else
                                      absent
    """

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
    tags: tuple[str, ...]
    official_tests_complete: bool | None
    num_official: int
    num_generated: int
    num_skipped: int
    compile: Mapping[str, Any]
    details: tuple[CaseRecord, ...]
    sandbox: Mapping[str, Any]
    key: str
    schema: int = SCHEMA
    time_limit_s: float | None = None
    memory_limit_bytes: int | None = None
    contest_id: str = ""
    contest_year: int | None = None
    has_checker: bool | None = None
    origin: Mapping[str, str] = field(default_factory=dict)
    subtasks: tuple[Mapping[str, Any], ...] = ()

    @property
    def busy_s(self) -> float:
        """Seconds that its compiler and its cases ran."""
        return (self.compile.get("cpu_s") or 0.0) + sum(c.wall_s or 0.0 for c in self.details)


# Fields that describe the solutions line and the problem. When they change, nothing is graded
# again. All other fields depend on the program and how it was graded.
_DESCRIPTIVE_FIELDS = {
    *("problem_id", "solution_id", "sample_i", "line", "language", "rating", "tags"),
    *("official_tests_complete", "contest_id", "contest_year", "origin"),
}
GRADED_FIELDS = frozenset(f.name for f in fields(SolutionRecord)) - _DESCRIPTIVE_FIELDS
