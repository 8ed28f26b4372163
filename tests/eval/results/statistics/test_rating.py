"""The estimated rating, compared with a general optimiser."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradebox.eval.results.statistics.summary import (
    PRIOR_MEAN,
    PRIOR_SD,
    estimated_rating,
    solve_probability,
)


def log_likelihood(rating: float, outcomes: list[tuple[float, float]], prior: bool) -> float:
    total = -((rating - PRIOR_MEAN) ** 2) / (2 * PRIOR_SD**2) if prior else 0.0
    for difficulty, share in outcomes:
        p = 1 / (1 + 10 ** ((difficulty - rating) / 400))
        total += share * math.log(p) + (1 - share) * math.log1p(-p)
    return total


@pytest.mark.parametrize(
    "outcomes",
    [
        [(800.0, 1.0), (1200.0, 1.0), (1600.0, 0.0), (2000.0, 0.0)],
        [(800.0, 0.75), (1200.0, 0.5), (1600.0, 1.0), (2400.0, 0.1)],
        [(1500.0, 1.0), (1500.0, 0.0)],
    ],
)
def test_rating_and_error_are_maximum_and_curvature_of_the_likelihood(
    outcomes: list[tuple[float, float]],
) -> None:
    from scipy.optimize import minimize_scalar  # slow to import

    result = estimated_rating(outcomes)
    assert result is not None
    best = minimize_scalar(
        lambda rating: -log_likelihood(rating, outcomes, prior=False), bounds=(0, 4000)
    )
    assert result["rating"] == pytest.approx(best.x, abs=0.05)
    step = 1.0
    curvature = (
        log_likelihood(best.x + step, outcomes, False)
        - 2 * log_likelihood(best.x, outcomes, False)
        + log_likelihood(best.x - step, outcomes, False)
    )
    assert result["standard_error"] == pytest.approx(1 / math.sqrt(-curvature), rel=1e-3)
    assert result["prior"] is None
    assert result["estimated"] is True


@pytest.mark.parametrize(("share", "words"), [(1.0, "every rated"), (0.0, "no rated")])
def test_the_prior_is_used_when_all_or_none_are_solved(share: float, words: str) -> None:
    outcomes = [(1200.0, share), (1800.0, share)]
    from scipy.optimize import minimize_scalar  # slow to import

    result = estimated_rating(outcomes)
    assert result is not None
    best = minimize_scalar(
        lambda rating: -log_likelihood(rating, outcomes, prior=True), bounds=(0, 4000)
    )
    assert result["rating"] == pytest.approx(best.x, abs=0.05)
    assert result["prior"] == {"mean": PRIOR_MEAN, "sd": PRIOR_SD}
    assert words in result["note"]


@pytest.mark.slow(seconds=1)
def test_the_rating_that_generated_the_outcomes_is_recovered() -> None:
    generator = np.random.default_rng(7)
    covered = 0
    for _ in range(60):
        difficulties = generator.integers(8, 30, 300) * 100.0
        outcomes = [
            (d, float(generator.random() < solve_probability(1700, d))) for d in difficulties
        ]
        result = estimated_rating(outcomes)
        assert result is not None
        covered += result["low"] <= 1700 <= result["high"]
    assert covered >= 52  # 57 expected of 60 at 95 %


def test_without_rated_problems_there_is_no_estimate() -> None:
    assert estimated_rating([]) is None


@given(
    st.lists(
        st.tuples(st.integers(8, 35).map(lambda d: d * 100.0), st.sampled_from([0.0, 0.5, 1.0])),
        min_size=1,
        max_size=20,
    )
)
def test_the_rating_moves_with_difficulties_and_results(
    outcomes: list[tuple[float, float]],
) -> None:
    result = estimated_rating(outcomes)
    shifted = estimated_rating([(d + 100, s) for d, s in outcomes])
    assert result is not None
    assert shifted is not None
    assert math.isfinite(result["rating"])
    assert result["low"] < result["rating"] < result["high"]
    if result["prior"] is None and shifted["prior"] is None:
        assert shifted["rating"] == pytest.approx(result["rating"] + 100, abs=1e-3)
    better = estimated_rating([*outcomes, (max(d for d, _ in outcomes), 1.0)])
    assert better is not None
    if result["prior"] is None and better["prior"] is None:
        assert better["rating"] > result["rating"]


def test_extreme_difficulties_give_finite_estimates() -> None:
    result = estimated_rating([(0.0, 1.0), (10.0**15, 0.0)])
    assert result is not None
    assert math.isfinite(result["rating"])
    assert math.isfinite(result["standard_error"])
    assert result["prior"] is not None
