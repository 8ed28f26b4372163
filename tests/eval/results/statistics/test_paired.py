"""Paired comparison of two runs, compared with numpy and scipy."""

import math

import pytest

from gradebox.eval.reporting.comparison import paired, sign_test, standard_error
from gradebox.eval.results.statistics.counts import ProblemCounts


def run(*right: tuple[int, int]) -> dict[str, ProblemCounts]:
    """Return counts of the problems 0/A, 0/B, 1/A, 1/B …, each given as (right, samples)."""
    shares = {}
    for place, (correct, n) in enumerate(right):
        name = f"{place // 2}/{'AB'[place % 2]}"
        shares[name] = ProblemCounts(name, str(place // 2), n, correct, float(correct))
    return shares


def test_a_comparison_computed_by_hand():
    result = paired(run((1, 1), (0, 2), (1, 2), (0, 1)), run((0, 1), (2, 2), (1, 2), (1, 4)))
    assert result["problems"] == 4
    assert result["pass_at_1_a"] == pytest.approx(1.5 / 4)
    assert result["difference"] == pytest.approx((-1 + 1 + 0 + 0.25) / 4)
    assert (result["won"], result["lost"]) == (2, 1)
    assert [c["problem_id"] for c in result["changed"]] == ["0/A", "0/B", "1/B"]
    assert result["changed"][2] == {"problem_id": "1/B", "a": [0, 1], "b": [1, 4]}


def test_only_common_problems_are_compared():
    a, b = run((1, 1), (0, 1)), run((1, 1), (0, 1), (1, 1))
    result = paired(a, b)
    assert result["problems"] == 2
    assert paired(a, {}) is None


def test_clustered_standard_error_computed_by_hand():
    values, clusters = [1.0, 1.0, 0.0, -1.0, 0.0], ["a", "a", "b", "c", "c"]
    mean = 0.2
    squares = (2 - 2 * mean) ** 2 + (0 - mean) ** 2 + (-1 - 2 * mean) ** 2
    assert standard_error(values, clusters) == pytest.approx(math.sqrt(squares * 3 / 2) / 5)
    assert standard_error(values, list("abcde")) == pytest.approx(standard_error(values))
    assert standard_error(values, ["a"] * 5) is None


@pytest.mark.parametrize(("won", "lost"), [(0, 1), (3, 9), (5, 5), (20, 2), (400, 700)])
def test_sign_test_equals_scipy(won, lost):
    from scipy.stats import binomtest  # a second, which no worker needs to collect the tests

    assert sign_test(won, lost) == pytest.approx(binomtest(won, won + lost).pvalue, rel=1e-9)


def test_sign_test_without_changes_is_1():
    assert sign_test(0, 0) == 1.0


def test_a_run_compared_with_itself():
    result = paired(run((1, 2), (1, 1)), run((1, 2), (1, 1)))
    assert (result["difference"], result["standard_error"], result["interval"]) == (0, 0, None)
