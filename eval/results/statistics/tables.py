"""pass@1 by group: rating, tag, language, contest year, checker, completeness of the tests.

    counts ─▶ {"rating": [row…], "tag": […], "language": […], "year": […], "checker": […],
               "official_tests": […], "difficulty": […], "month": […]}
    row: {group, problems, solutions, correct, pass_at_1, interval}

A problem counts in each of its tags and in each language it was solved in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from gradebox.eval.results.statistics.counts import LanguageCounts, ProblemCounts, merge_languages
from gradebox.eval.results.statistics.intervals import ConfidenceInterval, interval_of_mean

RATING_STEP = 200


@dataclass(frozen=True)
class IntervalOptions:
    """How confidence intervals are computed.

    level       in (0, 1)
    seed        of the bootstrap
    by_contest  whether whole contests are resampled instead of single problems
    """

    level: float = 0.95
    seed: int = 0
    by_contest: bool = False


# (sort key in the table, name of the group)
Group = tuple[Any, str]


def _rating(counts: LanguageCounts) -> list[Group]:
    if counts.rating is None:
        return [((1, 0), "unrated")]
    low = counts.rating // RATING_STEP * RATING_STEP
    return [((0, low), f"{low}-{low + RATING_STEP - 1}")]


def _tags(counts: LanguageCounts) -> list[Group]:
    return [((0, tag), tag) for tag in sorted(set(counts.tags))] or [((1, ""), "no tag")]


def _language(counts: LanguageCounts) -> list[Group]:
    return [(counts.language, counts.language)]


def _year(counts: LanguageCounts) -> list[Group]:
    return [((1, 0), "unknown")] if counts.year is None else [((0, counts.year), str(counts.year))]


def _yes_or_no(value: bool | None, yes: str, no: str) -> list[Group]:
    return [{True: (0, yes), False: (1, no), None: (2, "unknown")}[value]]


GROUPINGS: dict[str, Callable[[LanguageCounts], list[Group]]] = {
    "rating": _rating,
    "tag": _tags,
    "language": _language,
    "year": _year,
    "checker": lambda c: _yes_or_no(c.has_checker, "with checker", "without checker"),
    "official_tests": lambda c: _yes_or_no(c.complete, "complete", "incomplete"),
}
# Only of problems that have them; LiveCodeBench's do.
LABELLED: dict[str, Callable[[LanguageCounts], str]] = {
    "difficulty": lambda c: c.difficulty,
    "month": lambda c: c.month,
}


def tables(
    counts: Sequence[LanguageCounts], options: IntervalOptions
) -> dict[str, list[dict[str, Any]]]:
    """Return a table for each of GROUPINGS, its rows in the order of the groups."""
    result = {}
    for name, groups_of in GROUPINGS.items():
        groups: dict[Group, list[LanguageCounts]] = {}
        for c in counts:
            for group in groups_of(c) if c.n else ():
                groups.setdefault(group, []).append(c)
        result[name] = [_row(group, groups[group], options) for group in sorted(groups)]
    for name, label_of in LABELLED.items():
        labels = sorted({label_of(c) for c in counts if c.n} - {""}, key=_label_order)
        if labels:
            result[name] = [
                _row((0, label), [c for c in counts if c.n and label_of(c) == label], options)
                for label in labels
            ]
    return result


def _label_order(label: str) -> tuple[int, str]:
    order = ("easy", "medium", "hard")
    return (order.index(label) if label in order else len(order), label)


def _row(group: Group, counts: list[LanguageCounts], options: IntervalOptions) -> dict[str, Any]:
    problems = merge_languages(counts)
    interval = interval_over_problems(problems, options)
    return {
        "group": group[1],
        "problems": len(problems),
        "solutions": sum(p.n for p in problems),
        "correct": sum(p.correct for p in problems),
        "pass_at_1": fsum(p.pass_at_1 for p in problems) / len(problems),
        "interval": interval.as_dict() if interval else None,
    }


def interval_over_problems(
    problems: Sequence[ProblemCounts],
    options: IntervalOptions,
    value: Callable[[ProblemCounts], float] = lambda problem: problem.pass_at_1,
    binary: bool = True,
) -> ConfidenceInterval | None:
    """Return the confidence interval of the mean of `value` over problems.

    binary  the value of a single sample is 0 or 1, so Wilson's interval applies
    """
    return interval_of_mean(
        [value(problem) for problem in problems],
        single=binary and all(problem.n == 1 for problem in problems),
        clusters=[problem.contest_id for problem in problems] if options.by_contest else None,
        level=options.level,
        seed=options.seed,
    )
