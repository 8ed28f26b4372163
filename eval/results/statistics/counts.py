"""Counters of a problem, updated while the records of a run are read.

    record… ─▶ LanguageCounts ─▶ ProblemCounts ─▶ means, tables, intervals

Memory grows with the number of problems, not of solutions or cases.

Programs may use 1.25 × their limit and their CPU time is recorded, so that a record says whether a
solution would pass at other time limits:

    passed at 1  ─▶ passes at f < 1 when every judged case used at most f × its limit
    failed at 1  ─▶ passes at f > 1 when every failed case failed only by time: its output was
                    right and it used at most f × its limit
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

FACTORS = (0.8, 1.0, 1.25)
# Whether a solution can pass with a case that was not judged, by the case's reason or verdict.
_UNJUDGED = {"not_run_after_failure": None, "ER": None, "SK": True, "CU": False}


def passes_at(record: Mapping[str, Any], factor: float) -> bool | None:
    """Return whether a passed or failed solution passes at `factor` × its time limits.

    None when the record does not say: CPU times or the limit are missing, the run stopped at the
    first failure, or the output of a late program was not judged.
    """
    passed = record.get("status") == "passed"
    if factor == 1 or (passed and factor > 1):
        return passed
    if not passed and factor < 1:
        return False
    details: Sequence[Mapping[str, Any]] = record.get("details") or ()
    limit_s = record.get("time_limit_s")
    if not details:
        return None if passed else False
    cases = [_case_passes(case, limit_s, factor) for case in details]
    if False in cases:
        return False
    return None if None in cases else True


def _case_passes(case: Mapping[str, Any], limit_s: float | None, factor: float) -> bool | None:
    if case.get("passed") is None:
        verdict = str(case.get("verdict"))
        return _UNJUDGED.get(str(case.get("reason")), _UNJUDGED.get(verdict))
    cpu_s = case.get("cpu_s")
    in_time = None if cpu_s is None or limit_s is None else cpu_s <= factor * limit_s
    if case["passed"]:
        return in_time if factor < 1 else True
    if case.get("verdict") != "TLE" or in_time is False:
        return False
    if "output_passed" not in case:
        return None
    return in_time if case["output_passed"] else False


COUNTED_STATUSES = frozenset({"passed", "failed"})


@dataclass
class LanguageCounts:
    """The counted solutions (status passed or failed) of one problem in one language.

    n, correct        solutions, and those that passed
    score             sum of the solutions' scores; a missing score counts as pass 1, fail 0
    passed_at         solutions that pass at each of FACTORS × the time limits
    undecided_at      solutions whose record does not say; `passed_at` has their actual result
    """

    problem_id: str
    contest_id: str
    language: str
    rating: int | None
    tags: tuple[str, ...]
    year: int | None
    has_checker: bool | None
    complete: bool | None
    difficulty: str = ""
    month: str = ""
    n: int = 0
    correct: int = 0
    score: float = 0.0
    passed_at: list[int] = field(default_factory=lambda: [0] * len(FACTORS))
    undecided_at: list[int] = field(default_factory=lambda: [0] * len(FACTORS))

    def add(self, record: Mapping[str, Any]) -> None:
        """Count one solution."""
        passed = record["status"] == "passed"
        score = record.get("score")
        self.n += 1
        self.correct += passed
        self.score += float(passed if score is None else score)
        for i, factor in enumerate(FACTORS):
            passes = passes_at(record, factor)
            self.undecided_at[i] += passes is None
            self.passed_at[i] += passed if passes is None else passes


@dataclass(frozen=True)
class ProblemCounts:
    """One problem in all languages: n samples, of which `correct` passed."""

    problem_id: str
    contest_id: str
    n: int
    correct: int
    score: float

    @property
    def pass_at_1(self) -> float:
        return self.correct / self.n


def empty_counts(record: Mapping[str, Any]) -> LanguageCounts:
    """Return counts of zero for the problem and language of `record`."""
    problem_id, origin = str(record["problem_id"]), record.get("origin") or {}
    return LanguageCounts(
        problem_id=problem_id,
        contest_id=str(record.get("contest_id") or problem_id.partition("/")[0]),
        language=str(record.get("language") or "unknown"),
        rating=_whole_number(record.get("rating")),
        tags=tuple(str(tag) for tag in record.get("tags") or ()),
        year=_whole_number(record.get("contest_year")),
        has_checker=record.get("has_checker"),
        complete=record.get("official_tests_complete"),
        difficulty=origin.get("difficulty", ""),
        month=origin.get("contest_date", "")[:7],
    )


def merge_languages(counts: Iterable[LanguageCounts]) -> list[ProblemCounts]:
    """Add up the languages of each problem, in the order in which problems first appear."""
    merged: dict[str, ProblemCounts] = {}
    for c in counts:
        if not c.n:
            continue
        before = merged.get(c.problem_id, ProblemCounts(c.problem_id, c.contest_id, 0, 0, 0.0))
        merged[c.problem_id] = ProblemCounts(
            c.problem_id,
            c.contest_id,
            c.n + before.n,
            c.correct + before.correct,
            c.score + before.score,
        )
    return list(merged.values())


def _whole_number(value: Any) -> int | None:
    return int(value) if isinstance(value, (int, float)) and value == value else None
