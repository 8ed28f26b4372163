"""What counts as the same answer: one row of leniencies a policy, by name.

`docs/math-answers.md` shows the same table for people.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Policy:
    """The leniencies of one policy.

    rel_tol, abs_tol   numbers this close are equal (0: exact values only)
    percent            3.04 = 0.0304 when a decimal or a percent form is involved
    percent_rel_tol    relative tolerance of that comparison
    compare_sets       (1,2) = (2,1)
    text_only          nothing but normalised text is compared
    ascii_only         characters outside ASCII are dropped from the answer
    strict_extract     an answer is taken only from a box or an announced answer
    """

    name: str
    rel_tol: float = 0.0
    abs_tol: float = 0.0
    percent: bool = False
    percent_rel_tol: float = 0.0
    compare_sets: bool = False
    text_only: bool = False
    ascii_only: bool = False
    strict_extract: bool = False

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    def but(self, **changes: Any) -> Policy:
        """The same policy with some leniencies changed."""
        return replace(self, **changes)


POLICIES: dict[str, Policy] = {
    row.name: row
    for row in (
        Policy("strict"),
        Policy("dart", 1e-9, 1e-8, percent=True, percent_rel_tol=1e-3, ascii_only=True),
        Policy("harness", text_only=True),
        Policy("lm-open-science", 1e-3, 1e-3, percent=True, percent_rel_tol=1e-3),
    )
}


def find_policy(policy: str | Policy) -> Policy:
    """The policy of this name; ValueError lists those that exist."""
    if isinstance(policy, Policy):
        return policy
    if policy not in POLICIES:
        raise ValueError(f"unknown policy {policy!r}: use one of {', '.join(POLICIES)}")
    return POLICIES[policy]
