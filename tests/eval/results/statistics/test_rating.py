"""The estimated rating, compared with a general optimiser."""

import math

import pytest

from gradebox.eval.results.statistics.summary import (
    PRIOR_MEAN,
    PRIOR_SD,
    estimated_rating,
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
def test_rating_and_error_are_maximum_and_curvature_of_the_likelihood(outcomes):
    from scipy.optimize import minimize_scalar  # slow to import

    result = estimated_rating(outcomes)
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
def test_the_prior_is_used_when_all_or_none_are_solved(share, words):
    outcomes = [(1200.0, share), (1800.0, share)]
    from scipy.optimize import minimize_scalar  # slow to import

    result = estimated_rating(outcomes)
    best = minimize_scalar(
        lambda rating: -log_likelihood(rating, outcomes, prior=True), bounds=(0, 4000)
    )
    assert result["rating"] == pytest.approx(best.x, abs=0.05)
    assert result["prior"] == {"mean": PRIOR_MEAN, "sd": PRIOR_SD}
    assert words in result["note"]


def test_without_rated_problems_there_is_no_estimate():
    assert estimated_rating([]) is None


def test_extreme_difficulties_give_finite_estimates():
    result = estimated_rating([(0.0, 1.0), (10.0**15, 0.0)])
    assert math.isfinite(result["rating"])
    assert math.isfinite(result["standard_error"])
    assert result["prior"] is not None
