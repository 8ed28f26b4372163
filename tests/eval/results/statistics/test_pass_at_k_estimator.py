"""pass@k, compared with the enumeration of every draw."""

from itertools import combinations

import pytest

from gradebox.eval.results.statistics.intervals import pass_at_k


@pytest.mark.parametrize("n", range(1, 8))
def test_equals_the_proportion_of_draws_with_a_right_sample(n):
    for c in range(n + 1):
        samples = [place < c for place in range(n)]
        for k in range(1, n + 1):
            draws = [any(draw) for draw in combinations(samples, k)]
            assert pass_at_k(n, c, k) == pytest.approx(sum(draws) / len(draws), abs=1e-15)


def test_fewer_samples_than_k_give_none():
    assert pass_at_k(4, 4, 5) is None


def test_large_numbers_stay_exact():
    assert pass_at_k(10_000, 1, 10) == pytest.approx(10 / 10_000, rel=1e-12)


@pytest.mark.parametrize(
    ("n", "c", "k", "words"),
    [(3, 4, 1, "4 right of 3 samples"), (3, -1, 1, "between 0 and 3"), (3, 1, 0, "at least 1")],
)
def test_impossible_numbers_are_refused(n, c, k, words):
    with pytest.raises(ValueError, match=words):
        pass_at_k(n, c, k)
