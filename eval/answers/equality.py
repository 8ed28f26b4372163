"""`checkers.math` for those who only want to know: are these two answers the same?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

TIMEOUT_S = 5.0


@dataclass(frozen=True)
class MathEquality:
    """Equality of two answers under a policy of `checkers.math`.

    timeout_s  CPU seconds a comparison may take; one that takes more is not equal
    """

    policy: str = "lm-open-science"
    timeout_s: float = TIMEOUT_S

    def equal(self, reference: str, answer: str) -> bool:
        """Whether the two are the same. May be called from any thread."""
        from checkers.math import math_equal

        return math_equal(reference, answer, self.policy, self.timeout_s)


def math_judge(policy: str) -> Callable[[str, str], bool]:
    """(reference, response) -> bool under a policy."""
    return MathEquality(policy).equal
