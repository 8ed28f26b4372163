"""What is kept of a run while its records stream by: counters a problem and language.

    record… ─▶ Tally (problem, language) ─▶ Share (one problem) ─▶ means, tables, intervals

Memory grows with the number of problems, not of solutions or cases.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from eval.statistics.time_factor import FACTORS, passes_at

COUNTED = frozenset({"passed", "failed"})


@dataclass
class Tally:
    """One problem in one language: its counted solutions (status passed or failed).

    score     sum of the solutions' scores, a missing one is 0
    at        solutions that pass at each of FACTORS × the time limits
    unknown   solutions whose record does not tell; they are counted as they were judged
    """

    problem_id: str
    contest_id: str
    language: str
    rating: int | None
    tags: tuple[str, ...]
    year: int | None
    has_checker: bool | None
    complete: bool | None
    n: int = 0
    correct: int = 0
    score: float = 0.0
    at: list[int] = field(default_factory=lambda: [0] * len(FACTORS))
    unknown: list[int] = field(default_factory=lambda: [0] * len(FACTORS))

    def add(self, record: Mapping[str, Any]) -> None:
        passed = record["status"] == "passed"
        self.n += 1
        self.correct += passed
        self.score += _score(record, passed)
        for place, factor in enumerate(FACTORS):
            answer = passes_at(record, factor)
            self.unknown[place] += answer is None
            self.at[place] += passed if answer is None else answer


@dataclass(frozen=True)
class Share:
    """One problem, its languages together: n samples, `correct` of them right."""

    problem_id: str
    contest_id: str
    n: int
    correct: int
    score: float

    @property
    def pass_at_1(self) -> float:
        return self.correct / self.n


def tally_of(record: Mapping[str, Any]) -> Tally:
    """An empty tally for the problem and language of `record`."""
    problem_id = str(record["problem_id"])
    return Tally(
        problem_id=problem_id,
        contest_id=str(record.get("contest_id") or problem_id.partition("/")[0]),
        language=str(record.get("language") or "unknown"),
        rating=_whole(record.get("rating")),
        tags=tuple(str(tag) for tag in record.get("tags") or ()),
        year=_whole(record.get("contest_year")),
        has_checker=record.get("has_checker"),
        complete=record.get("official_tests_complete"),
    )


def shares(tallies: Iterable[Tally]) -> list[Share]:
    """One share a problem, its tallies added up, in the order of their first appearance."""
    merged: dict[str, Share] = {}
    for tally in tallies:
        if not tally.n:
            continue
        before = merged.get(tally.problem_id)
        merged[tally.problem_id] = Share(
            tally.problem_id,
            tally.contest_id,
            tally.n + (before.n if before else 0),
            tally.correct + (before.correct if before else 0),
            tally.score + (before.score if before else 0.0),
        )
    return list(merged.values())


def _score(record: Mapping[str, Any], passed: bool) -> float:
    score = record.get("score")
    return float(passed) if score is None else float(score)


def _whole(value: Any) -> int | None:
    return int(value) if isinstance(value, (int, float)) and value == value else None
