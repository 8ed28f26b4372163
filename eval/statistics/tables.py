"""pass@1 by group: rating, tag, language, contest year, checker, completeness of the tests.

    tallies ─▶ {"rating": [row…], "tag": […], "language": […], "year": […], "checker": […],
                "official_tests": […]}
    row: {group, problems, solutions, correct, pass_at_1, interval}

A problem counts in each of its tags, and in each language it was solved in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from eval.statistics.intervals import Interval, interval_of_mean
from eval.statistics.tally import Share, Tally, shares

RATING_STEP = 200


@dataclass(frozen=True)
class Confidence:
    """How intervals are made: their level, the bootstrap's seed, whole contests drawn or not."""

    level: float = 0.95
    seed: int = 0
    by_contest: bool = False


_YES_NO_UNKNOWN = {True: 0, False: 1, None: 2}
# A group is (place in the table, its name).
Group = tuple[Any, str]


def _rating(tally: Tally) -> list[Group]:
    if tally.rating is None:
        return [((1, 0), "unrated")]
    low = tally.rating // RATING_STEP * RATING_STEP
    return [((0, low), f"{low}-{low + RATING_STEP - 1}")]


def _tags(tally: Tally) -> list[Group]:
    return [((0, tag), tag) for tag in sorted(set(tally.tags))] or [((1, ""), "no tag")]


def _language(tally: Tally) -> list[Group]:
    return [(tally.language, tally.language)]


def _year(tally: Tally) -> list[Group]:
    return [((1, 0), "unknown")] if tally.year is None else [((0, tally.year), str(tally.year))]


def _named(value: bool | None, yes: str, no: str) -> list[Group]:
    return [(_YES_NO_UNKNOWN[value], {True: yes, False: no, None: "unknown"}[value])]


GROUPINGS: dict[str, Callable[[Tally], list[Group]]] = {
    "rating": _rating,
    "tag": _tags,
    "language": _language,
    "year": _year,
    "checker": lambda tally: _named(tally.has_checker, "with checker", "without checker"),
    "official_tests": lambda tally: _named(tally.complete, "complete", "incomplete"),
}


def tables(tallies: Sequence[Tally], how: Confidence) -> dict[str, list[dict[str, Any]]]:
    """Every table of GROUPINGS, rows in the order of their groups."""
    result = {}
    for name, groups_of in GROUPINGS.items():
        groups: dict[Group, list[Tally]] = {}
        for tally in tallies:
            for group in groups_of(tally) if tally.n else ():
                groups.setdefault(group, []).append(tally)
        result[name] = [_row(group, shares(groups[group]), how) for group in sorted(groups)]
    return result


def _row(group: Group, members: Sequence[Share], how: Confidence) -> dict[str, Any]:
    interval = interval_of_shares(members, how)
    return {
        "group": group[1],
        "problems": len(members),
        "solutions": sum(share.n for share in members),
        "correct": sum(share.correct for share in members),
        "pass_at_1": fsum(share.pass_at_1 for share in members) / len(members),
        "interval": interval.as_dict() if interval else None,
    }


def interval_of_shares(
    members: Sequence[Share],
    how: Confidence,
    value: Callable[[Share], float] = lambda share: share.pass_at_1,
    whole: bool = True,
) -> Interval | None:
    """The interval of the mean of `value` over problems.

    whole  the value of a single sample is 0 or 1, so Wilson's interval fits
    """
    return interval_of_mean(
        [value(share) for share in members],
        single=whole and all(share.n == 1 for share in members),
        clusters=[share.contest_id for share in members] if how.by_contest else None,
        level=how.level,
        seed=how.seed,
    )
