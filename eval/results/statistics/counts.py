"""Counters of a problem, updated while the records of a run are read.

    record… ─▶ LanguageCounts ─▶ ProblemCounts ─▶ means, tables, intervals

Memory grows with the number of problems, not of solutions or cases.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gradebox.eval.results.statistics.time_factor import FACTORS, passes_at

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
