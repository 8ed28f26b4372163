"""Counters of a problem, updated while the records of a run are read.

    record… ─▶ LanguageCounts ─▶ ProblemCounts ─▶ means, tables, intervals

Memory grows with the number of problems, not of solutions or cases. The tables are pass@1 by group:

    counts ─▶ {"rating": [row…], "tag": […], "language": […], "year": […], "checker": […],
               "official_tests": […], "difficulty": […], "month": […]}
    row: {group, problems, solutions, correct, pass_at_1, interval}

A problem counts in each of its tags and in each language that it has counted solutions in.

Programs may use 1.25 × their limit and their CPU time is recorded, so that a record says whether a
solution would pass at other time limits:

    passed at 1  ─▶ passes at f < 1 when every judged case used at most f × its limit
    failed at 1  ─▶ passes at f > 1 when every failed case failed only by time: its output was
                    right and it used at most f × its limit
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum
from typing import Any

from gradebox.eval.results.statistics.intervals import ConfidenceInterval, interval_of_mean

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
    undecided_at      solutions whose record does not say it; `passed_at` has their actual result
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


# ---- pass@1 by group ----

RATING_STEP = 200


@dataclass(frozen=True)
class StatisticsOptions:
    """Which figures are computed, and how their intervals are.

    ks                  the k of pass@k; None: those of the run, and 1
    level               of every confidence interval, in (0, 1)
    seed                of the bootstrap: the same records and seed give the same numbers
    cluster_by_contest  resample whole contests instead of single problems
    """

    ks: Sequence[int] | None = None
    level: float = 0.95
    seed: int = 0
    cluster_by_contest: bool = False


DEFAULT_OPTIONS = StatisticsOptions()

# (sort key in the table, name of the group)
Group = tuple[Any, str]
DIFFICULTIES = ("easy", "medium", "hard")


def _rating(counts: LanguageCounts) -> list[Group]:
    if counts.rating is None:
        return [((1, 0), "unrated")]
    low = counts.rating // RATING_STEP * RATING_STEP
    return [((0, low), f"{low}-{low + RATING_STEP - 1}")]


def _tags(counts: LanguageCounts) -> list[Group]:
    return [((0, tag), tag) for tag in sorted(set(counts.tags))] or [((1, ""), "no tag")]


def _year(counts: LanguageCounts) -> list[Group]:
    return [((1, 0), "unknown")] if counts.year is None else [((0, counts.year), str(counts.year))]


def _difficulty(counts: LanguageCounts) -> list[Group]:
    label = counts.difficulty
    place = DIFFICULTIES.index(label) if label in DIFFICULTIES else len(DIFFICULTIES)
    return [(place, label)] if label else []


def _yes_or_no(value: bool | None, yes: str, no: str) -> list[Group]:
    return [{True: (0, yes), False: (1, no), None: (2, "unknown")}[value]]


GROUPINGS: dict[str, Callable[[LanguageCounts], list[Group]]] = {
    "rating": _rating,
    "tag": _tags,
    "language": lambda c: [(0, c.language)],
    "year": _year,
    "checker": lambda c: _yes_or_no(c.has_checker, "with checker", "without checker"),
    "official_tests": lambda c: _yes_or_no(c.complete, "complete", "incomplete"),
    "difficulty": _difficulty,
    "month": lambda c: [(0, c.month)] if c.month else [],
}
# Groupings without a table where no problem has the field; LiveCodeBench's problems have it.
LABELLED = ("difficulty", "month")


def tables(
    counts: Sequence[LanguageCounts], options: StatisticsOptions
) -> dict[str, list[dict[str, Any]]]:
    """Return a table for each of GROUPINGS, its rows in the order of the groups."""
    result = {}
    for name, groups_of in GROUPINGS.items():
        groups: dict[Group, list[LanguageCounts]] = {}
        for c in counts:
            for group in groups_of(c) if c.n else ():
                groups.setdefault(group, []).append(c)
        if groups or name not in LABELLED:
            result[name] = [_row(group, groups[group], options) for group in sorted(groups)]
    return result


def _row(group: Group, counts: list[LanguageCounts], options: StatisticsOptions) -> dict[str, Any]:
    problems = merge_languages(counts)
    return {
        "group": group[1],
        "problems": len(problems),
        "solutions": sum(p.n for p in problems),
        "correct": sum(p.correct for p in problems),
        "pass_at_1": fsum(p.pass_at_1 for p in problems) / len(problems),
        "interval": interval_over_problems(problems, options),
    }


def interval_over_problems(
    problems: Sequence[ProblemCounts],
    options: StatisticsOptions,
    value: Callable[[ProblemCounts], float] = lambda problem: problem.pass_at_1,
    binary: bool = True,
) -> ConfidenceInterval | None:
    """Return the confidence interval of the mean of `value` over problems.

    binary  the value of a single sample is 0 or 1, so Wilson's interval applies
    """
    return interval_of_mean(
        [value(problem) for problem in problems],
        single=binary and all(problem.n == 1 for problem in problems),
        clusters=[problem.contest_id for problem in problems]
        if options.cluster_by_contest
        else None,
        level=options.level,
        seed=options.seed,
    )
