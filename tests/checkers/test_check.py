"""The outcome of a check: points become a share of the full mark."""

import math

import pytest

from gradebox.checkers.check import check_of_points, score_of_points
from testing.rows import rows


@pytest.mark.parametrize(
    ("points", "full", "score"),
    rows(__file__, "points_become_a"),
)
def test_points_become_a_share(points, full, score):
    assert score_of_points(points, full) == score


def test_zero_points_are_a_rejection_and_invalid_ones_are_unclear():
    zero, half = check_of_points(0), check_of_points(0.5)
    assert (zero.outcome, zero.verdict, zero.score) == ("rejected", "WA", 0.0)
    assert (half.outcome, half.score, half.points) == ("accepted", 0.5, 0.5)
    check = check_of_points(math.nan, "words")
    assert (check.outcome, check.score) == ("unclear", None)
    assert all(part in check.message for part in ("nan points", "0 … 100", "words"))
