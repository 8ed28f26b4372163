"""Confidence intervals, compared with scipy and with a simple bootstrap."""

import numpy as np
import pytest

from gradebox.eval.results.statistics.intervals import bootstrap_mean, interval_of_mean, wilson
from testing.rows import rows


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize(
    ("successes", "n"), [(0, 1), (1, 1), (0, 30), (30, 30), (7, 23), (500, 1000)]
)
def test_wilson_equals_scipy(successes, n, level):
    from scipy.stats import binomtest  # a second, which no worker needs to collect the tests

    ours = wilson(successes, n, level)
    theirs = binomtest(successes, n).proportion_ci(level, method="wilson")
    assert (ours["low"], ours["high"]) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def plain_bootstrap(values: list[float], clusters: list[str] | None) -> tuple[float, float]:
    """Draw values or clusters with replacement, take the means, sort them."""
    names = clusters or [str(place) for place in range(len(values))]
    units = [
        [v for v, n in zip(values, names, strict=True) if n == name] for name in sorted(set(names))
    ]
    generator = np.random.default_rng(1)
    means = []
    for _ in range(4000):
        drawn = [units[i] for i in generator.integers(0, len(units), len(units))]
        means.append(sum(map(sum, drawn)) / sum(map(len, drawn)))
    return float(np.quantile(means, 0.025)), float(np.quantile(means, 0.975))


@pytest.mark.parametrize("clustered", [False, True])
def test_bootstrap_agrees_with_a_simple_loop(clustered):
    values = [0.0, 0.25, 0.5, 1.0, 1.0, 0.0, 0.75, 0.25] * 5
    clusters = [f"c{place // 3}" for place in range(len(values))] if clustered else None
    ours = bootstrap_mean(values, clusters)
    assert (ours["low"], ours["high"]) == pytest.approx(plain_bootstrap(values, clusters), abs=0.03)


def test_clusters_of_equal_problems_widen_the_interval():
    values = [0.0] * 10 + [1.0] * 10 + [0.0] * 10 + [1.0] * 10
    alone = bootstrap_mean(values)
    together = bootstrap_mean(values, [str(place // 10) for place in range(40)])
    assert together["high"] - together["low"] > 2 * (alone["high"] - alone["low"])


@pytest.mark.parametrize(
    ("values", "single", "clusters", "method"),
    rows(__file__, "method_depends_on"),
)
def test_the_method_depends_on_samples_and_clusters(values, single, clusters, method):
    interval = interval_of_mean(values, single=single, clusters=clusters)
    assert (interval["method"] if interval else None) == method


def test_equal_values_have_an_interval_of_positive_width():
    interval = interval_of_mean([1.0] * 8, single=False)
    assert interval == wilson(8, 8)


def test_a_level_out_of_range_is_refused():
    with pytest.raises(ValueError, match=r"level is 95; it must be between 0 and 1"):
        wilson(1, 2, 95)


def test_equal_proportions_of_few_problems_use_wilson():
    """Two problems solved 4 of 7 times each: a bootstrap would have a width of 0."""
    found = interval_of_mean([4 / 7, 4 / 7], single=False)
    assert found["low"] < 0.3
    assert found["high"] > 0.8
