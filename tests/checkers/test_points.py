"""Points as a share of the full mark."""

from __future__ import annotations

import math

import pytest

from checkers.points import judged, share


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
def test_share(points: float, full: float | None, score: float | None) -> None:
    assert share(points, full) == score


def test_no_points_are_a_rejection_and_bad_ones_are_unclear() -> None:
    assert (judged(0).outcome, judged(0).verdict, judged(0).score) == ("rejected", "WA", 0.0)
    assert (judged(0.5).outcome, judged(0.5).score, judged(0.5).points) == ("accepted", 0.5, 0.5)
    said = judged(math.nan, "words")
    assert (said.outcome, said.score) == ("unclear", None)
    assert said.message == "nan points: a score must lie in 0 … 100. words"
