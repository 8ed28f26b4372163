"""Select the tests of a problem, without reading them.

    official tests ─────────────────────────────── skip ────────────┐
    generated tests ── sample ── sort ── limit ─── skip ── budget ──┴─▶ plan

The plan has the official tests in their order, then the selected generated tests. Tests that the
sample or the limit leaves out are not in the plan. Tests that are too large or exceed the budget
are in it with `TestRef.skip` set. `--skip-large-inputs-over` applies to all tests, the budget to
generated tests only.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from gradebox.eval.problems.problem import TestRef

SORTS: tuple[str, ...] = ("none", "small_first", "large_first")


@dataclass(frozen=True)
class TestSelection:
    """The values of the flags that select tests; `Options` checks them.

    max_generated  0 none, -1 all, N the first N
    sample         proportion of the generated tests, in (0, 1]
    sort           one of SORTS: order of the generated tests by input size; ties keep file order
    skip_over      bytes of input above which a test is skipped, -1 for no limit
    budget         total bytes of input of a problem's generated tests, -1 for no limit
    seed           of the sample
    """

    __test__ = False  # not a pytest class

    max_generated: int = 0
    sample: float = 1.0
    sort: str = "none"
    skip_over: int = -1
    budget: int = -1
    seed: int = 0


def select_tests(
    problem_id: str,
    official: Sequence[TestRef],
    generated: Sequence[TestRef],
    selection: TestSelection,
) -> list[TestRef]:
    """Return the plan of one problem. The same arguments give the same plan on every machine."""
    chosen = _limit(_sort(_sample(problem_id, generated, selection), selection), selection)
    return [
        *_skip_large(official, selection),
        *_budget(_skip_large(chosen, selection), selection),
    ]


def sample_size(share: float, count: int) -> int:
    """Return how many of `count` tests a proportion selects, rounded up.

    The proportion is taken as the decimal it prints as: 0.1 of 30 is 3. Its binary value is
    slightly larger and would give 4.
    """
    return math.ceil(Fraction(repr(float(share))) * count)


def _sample(problem_id: str, tests: Sequence[TestRef], selection: TestSelection) -> list[TestRef]:
    """Return the tests with the smallest hashes, in file order.

    A hash depends only on the seed, the problem and the test's number. A smaller sample is
    therefore a subset of a larger one, and an added test replaces at most one test of a sample.
    """
    if selection.sample == 1:
        return list(tests)
    ranked = sorted(tests, key=lambda t: (_hash(selection.seed, problem_id, t.index), t.index))
    wanted = {t.index for t in ranked[: sample_size(selection.sample, len(tests))]}
    return [t for t in tests if t.index in wanted]


def _hash(seed: int, problem_id: str, index: int) -> bytes:
    name = f"{seed}\0{index}\0{problem_id}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(name).digest()


def _sort(tests: list[TestRef], selection: TestSelection) -> list[TestRef]:
    if selection.sort == "none":
        return tests
    sign = 1 if selection.sort == "small_first" else -1
    return sorted(tests, key=lambda t: sign * t.input_bytes)


def _limit(tests: list[TestRef], selection: TestSelection) -> list[TestRef]:
    return tests if selection.max_generated < 0 else tests[: selection.max_generated]


def _skip_large(tests: Sequence[TestRef], selection: TestSelection) -> list[TestRef]:
    if selection.skip_over < 0:
        return list(tests)
    return [
        replace(t, skip="skipped_large_input") if t.input_bytes > selection.skip_over else t
        for t in tests
    ]


def _budget(tests: Sequence[TestRef], selection: TestSelection) -> list[TestRef]:
    """Return all tests, with `skip` set on each whose input exceeds the bytes left of the budget.

    Smaller tests after it may still fit.
    """
    if selection.budget < 0:
        return list(tests)
    remaining = selection.budget
    plan: list[TestRef] = []
    for test in tests:
        if test.skip is None and test.input_bytes > remaining:
            plan.append(replace(test, skip="budget_exceeded"))
            continue
        if test.skip is None:
            remaining -= test.input_bytes
        plan.append(test)
    return plan
