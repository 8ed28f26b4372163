"""Which tests of a problem are run, in which order, and which are passed over: pure.

    official refs ──────────────────────────────── skip ────────────┐
    generated refs ── sample ── sort ── limit ──── skip ── budget ──┴─▶ plan

The plan is the official tests in their order, then the chosen generated ones. A test
that was sampled away or lies beyond the limit is not in the plan; one that is too
large or does not fit the budget stays in it with `TestRef.skip` set.
`--skip-large-inputs-over` looks at official and generated tests alike, the budget at
generated ones only.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from eval.input_error import InputError, shown
from eval.model import TestRef

Sort = Literal["none", "small_first", "large_first"]
SORTS: tuple[str, ...] = ("none", "small_first", "large_first")


@dataclass(frozen=True)
class Choice:
    """The flags that choose tests; wrong values raise InputError naming the flag.

    max_generated  0 none, -1 all, N the first N
    sample         share of the generated tests, in (0, 1]
    sort           order of the generated tests by input size; ties keep the file's order
    skip_over      bytes of input; a longer one is skipped, -1: none is
    budget         bytes of input of all generated tests of a problem, -1: no budget
    seed           of the sample
    """

    max_generated: int = 0
    sample: float = 1.0
    sort: str = "none"
    skip_over: int = -1
    budget: int = -1
    seed: int = 0

    def __post_init__(self) -> None:
        for flag, value, least, remedy in (
            ("--max-generated-tests", self.max_generated, -1, "0 none, -1 all, N the first N"),
            ("--skip-large-inputs-over", self.skip_over, -1, "-1 skips none, N skips over N bytes"),
            ("--max-generated-bytes-per-problem", self.budget, -1, "-1 no budget, N bytes"),
        ):
            if value < least:
                raise InputError(f"{flag} {value} is less than {least}: {remedy}")
        if not 0 < self.sample <= 1:  # false for NaN, too
            raise InputError(
                f"--generated-tests-sample {self.sample} is not in (0, 1]: 1 takes all, "
                "0.5 half; for none give --max-generated-tests 0"
            )
        if self.sort not in SORTS:
            raise InputError(
                f"--sort-generated-tests {shown(self.sort)} is unknown: one of {', '.join(SORTS)}"
            )


def choose(
    problem_id: str,
    official: Sequence[TestRef],
    generated: Sequence[TestRef],
    choice: Choice,
) -> list[TestRef]:
    """The plan of one problem; the same arguments give the same plan on every machine."""
    chosen = _limit(_sort(_sample(problem_id, generated, choice), choice), choice)
    return [
        *_skip_large(official, choice),
        *_budget(_skip_large(chosen, choice), choice),
    ]


def sample_size(share: float, count: int) -> int:
    """How many of `count` tests a share is: rounded up, so none only when there are none.

    The share is taken as the decimal it prints as: 0.1 of 30 is 3, not the 4 that
    binary fractions would give.
    """
    return math.ceil(Fraction(repr(float(share))) * count)


def _sample(problem_id: str, tests: Sequence[TestRef], choice: Choice) -> list[TestRef]:
    """The tests of least hash, in the file's order.

    Ranks depend on the seed, the problem and the test's number alone, so a smaller
    share is a part of a larger one, and a test more in the file moves one test at most.
    """
    if choice.sample == 1:
        return list(tests)
    kept = sorted(tests, key=lambda t: (_rank(choice.seed, problem_id, t.index), t.index))
    wanted = {t.index for t in kept[: sample_size(choice.sample, len(tests))]}
    return [t for t in tests if t.index in wanted]


def _rank(seed: int, problem_id: str, index: int) -> bytes:
    name = f"{seed}\0{index}\0{problem_id}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(name).digest()


def _sort(tests: list[TestRef], choice: Choice) -> list[TestRef]:
    if choice.sort == "none":
        return tests
    sign = 1 if choice.sort == "small_first" else -1
    return sorted(tests, key=lambda t: sign * t.input_bytes)


def _limit(tests: list[TestRef], choice: Choice) -> list[TestRef]:
    return tests if choice.max_generated < 0 else tests[: choice.max_generated]


def _skip_large(tests: Sequence[TestRef], choice: Choice) -> list[TestRef]:
    if choice.skip_over < 0:
        return list(tests)
    return [
        replace(t, skip="skipped_large_input") if t.input_bytes > choice.skip_over else t
        for t in tests
    ]


def _budget(tests: Sequence[TestRef], choice: Choice) -> list[TestRef]:
    """First fit in plan order: one that does not fit is passed over, later ones are tried."""
    if choice.budget < 0:
        return list(tests)
    left = choice.budget
    plan: list[TestRef] = []
    for test in tests:
        if test.skip is None and test.input_bytes > left:
            plan.append(replace(test, skip="budget_exceeded"))
            continue
        if test.skip is None:
            left -= test.input_bytes
        plan.append(test)
    return plan
