"""Estimate a Codeforces rating from the problems that were solved.

A rating θ solves a problem of difficulty d with probability p = 1 / (1 + 10^((d - θ) / 400)), the
Elo curve by which Codeforces defines difficulty. The estimate maximises the likelihood, and its
standard error comes from the curvature at the maximum. Each problem counts as one attempt, solved
in the proportion of its samples that are right, because samples are not additional problems.

When all problems or none are solved, the likelihood has no maximum. Only then is it multiplied by
a normal prior, which `prior` and `note` report.

The estimate is not a rating by Codeforces: there is no contest, no penalty and no clock.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import log, sqrt
from typing import Any

from gradebox.eval.results.statistics.intervals import z_value

PRIOR_MEAN = 1500.0
PRIOR_SD = 400.0
_SLOPE = log(10) / 400
_LEAST_INFORMATION = 1e-8  # a standard error of 10,000 points


def solve_probability(rating: float, difficulty: float) -> float:
    """Return the probability that `rating` solves a problem of `difficulty`."""
    steps = min(max((difficulty - rating) / 400, -300.0), 300.0)  # 10**300 is still a float
    return 1 / (1 + 10**steps)


def estimated_rating(
    outcomes: Iterable[tuple[float, float]], level: float = 0.95
) -> dict[str, Any] | None:
    """Estimate the rating from a (difficulty, proportion of samples solved) pair a problem.

    Returns {estimated: True, rating, standard_error, low, high, level, problems, prior, note},
    where `prior` is None unless it was needed. Returns None without any problem.
    """
    groups: dict[float, list[float]] = {}
    for difficulty, share in outcomes:
        count_and_solved = groups.setdefault(difficulty, [0.0, 0.0])
        count_and_solved[0] += 1
        count_and_solved[1] += share
    if not groups:
        return None
    problems = sum(count for count, _ in groups.values())
    solved = sum(share for _, share in groups.values())
    weight = 0.0 if 0 < solved < problems else 1 / PRIOR_SD**2
    rating = _maximum(groups, weight)
    information = _information(groups, rating) + weight
    if information < _LEAST_INFORMATION:
        weight = 1 / PRIOR_SD**2
        rating = _maximum(groups, weight)
        information = _information(groups, rating) + weight
    error = 1 / sqrt(information)
    margin = z_value(level) * error
    return {
        "estimated": True,
        "rating": rating,
        "standard_error": error,
        "low": rating - margin,
        "high": rating + margin,
        "level": level,
        "problems": int(problems),
        "prior": {"mean": PRIOR_MEAN, "sd": PRIOR_SD} if weight else None,
        "note": _note(solved, problems, weight > 0),
    }


def _note(solved: float, problems: float, with_prior: bool) -> str:
    if not with_prior:
        return "estimated from the solved set; not a rating given by Codeforces"
    if 0 < solved < problems:
        return "the difficulties are too far apart to estimate without the prior"
    which = "every rated problem was solved" if solved > 0 else "no rated problem was solved"
    return f"{which}: without the prior there is no finite estimate"


def _information(groups: dict[float, list[float]], rating: float) -> float:
    """Return the Fisher information about the rating, in 1 / rating points squared."""
    return _SLOPE**2 * sum(
        count * (p := solve_probability(rating, difficulty)) * (1 - p)
        for difficulty, (count, _) in groups.items()
    )


def _maximum(groups: dict[float, list[float]], weight: float) -> float:
    """Return the maximum of the log likelihood: its derivative falls and crosses zero there."""
    low = min(*groups, PRIOR_MEAN) - 8000
    high = max(*groups, PRIOR_MEAN) + 8000
    for _ in range(100):
        middle = (low + high) / 2
        slope = -weight * (middle - PRIOR_MEAN) / _SLOPE
        for difficulty, (count, solved) in groups.items():
            slope += solved - count * solve_probability(middle, difficulty)
        low, high = (middle, high) if slope > 0 else (low, middle)
    return (low + high) / 2
