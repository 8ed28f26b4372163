"""Selection of tests: what is in the plan, its order, and what is skipped."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradebox.eval.problems.problem import TestRef
from gradebox.eval.problems.selection import SORTS, TestSelection, sample_size, select_tests
from testing.rows import rows

SIZES = st.lists(st.integers(0, 50), max_size=40)
# The tests that seed 0 samples from 20 tests of 1000/A at 0.25, on all machines and versions.
PINNED = [1, 6, 10, 14, 16]
CHOICES = st.builds(
    TestSelection,
    max_generated=st.integers(-1, 45),
    sample=st.floats(0.01, 1.0),
    sort=st.sampled_from(SORTS),
    skip_over=st.integers(-1, 50),
    budget=st.integers(-1, 400),
    seed=st.integers(0, 5),
)


def official(*sizes: int) -> list[TestRef]:
    return [TestRef("official", i, size) for i, size in enumerate(sizes)]


def generated(*sizes: int) -> list[TestRef]:
    return [TestRef("generated", 10 * i, size) for i, size in enumerate(sizes)]


def outline(plan: list[TestRef]) -> list[tuple[str, int, str | None]]:
    return [(ref.case_type[0], ref.index, ref.skip) for ref in plan]


@pytest.mark.parametrize(
    ("choice", "expected"),
    rows(__file__, "generated_plans"),
)
def test_generated_plans(choice, expected):
    plan = select_tests("1/A", official(3), generated(5, 1, 9, 5), TestSelection(**choice))
    assert outline(plan) == [("o", 0, None), *(("g", i, skip) for i, skip in expected)]


def test_the_size_limit_applies_to_official_tests_and_the_budget_does_not():
    plan = select_tests(
        "1/A", official(3, 30), generated(1), TestSelection(-1, skip_over=10, budget=0)
    )
    assert outline(plan) == [
        ("o", 0, None),
        ("o", 1, "skipped_large_input"),
        ("g", 0, "budget_exceeded"),
    ]


@given(SIZES, SIZES, CHOICES)
def test_the_plan_is_the_official_tests_then_some_generated_tests(a, b, choice):
    plan = select_tests("7/B", official(*a), generated(*b), choice)
    kinds = [ref.case_type for ref in plan]
    assert kinds == sorted(kinds, reverse=True)
    assert [ref.index for ref in plan if ref.case_type == "official"] == list(range(len(a)))
    chosen = [ref.index for ref in plan if ref.case_type == "generated"]
    assert len(set(chosen)) == len(chosen)
    assert set(chosen) <= {10 * i for i in range(len(b))}
    if choice.max_generated >= 0:
        assert len(chosen) <= choice.max_generated
    assert plan == select_tests("7/B", official(*a), generated(*b), choice)


@given(st.integers(0, 60), st.floats(0.001, 1.0), st.floats(0.001, 1.0), st.integers(0, 9))
def test_a_smaller_sample_is_a_subset_of_a_larger_one(count, share, other, seed):
    tests = generated(*range(count))
    small, large = sorted((share, other))
    picked = [
        [
            ref.index
            for ref in select_tests("7/B", [], tests, TestSelection(-1, sample=s, seed=seed))
        ]
        for s in (small, large)
    ]
    assert set(picked[0]) <= set(picked[1])
    assert picked[0] == sorted(picked[0])
    assert len(picked[0]) == sample_size(small, count)


def test_a_proportion_is_taken_as_the_decimal_it_prints_as():
    assert sample_size(0.1, 30) == 3
    assert sample_size(0.07, 100) == 7
    assert sample_size(0.5, 0) == 0


def test_the_sample_depends_only_on_problem_and_seed():
    tests = generated(*range(20))

    def picked(problem_id: str, seed: int) -> list[int]:
        choice = TestSelection(-1, sample=0.25, seed=seed)
        return [ref.index // 10 for ref in select_tests(problem_id, [], tests, choice)]

    assert picked("1000/A", 0) == PINNED
    assert picked("1000/B", 0) != picked("1000/A", 0)
    assert picked("1000/A", 1) != picked("1000/A", 0)
    plain = select_tests("1000/A", [], tests, TestSelection(-1, sample=0.25))
    assert [ref.index // 10 for ref in plain] == PINNED
