"""The outcome of a check: points become a share of the full mark."""

from __future__ import annotations

import math

import pytest

from gradebox.checkers.check import check_of_points, score_of_points


@pytest.mark.parametrize(
    ("points", "full", "score"),
    [
        (0, None, 0.0),
        (0.25, None, 0.25),
        (1, None, 1.0),
        (1.5, None, 0.015),
        (50, None, 0.5),
        (100, None, 1.0),
        (100.5, None, None),
        (-0.5, None, None),
        (math.nan, None, None),
        (math.inf, None, None),
        (-math.inf, None, None),
        (30, 60.0, 0.5),
        (60, 60.0, 1.0),
        (1, 60.0, 1 / 60),
        (61, 60.0, None),
    ],
)
def test_points_become_a_share(points: float, full: float | None, score: float | None) -> None:
    assert score_of_points(points, full) == score


def test_zero_points_are_a_rejection_and_invalid_ones_are_unclear() -> None:
    zero, half = check_of_points(0), check_of_points(0.5)
    assert (zero.outcome, zero.verdict, zero.score) == ("rejected", "WA", 0.0)
    assert (half.outcome, half.score, half.points) == ("accepted", 0.5, 0.5)
    check = check_of_points(math.nan, "words")
    assert (check.outcome, check.score) == ("unclear", None)
    assert all(part in check.message for part in ("nan points", "0 … 100", "words"))
