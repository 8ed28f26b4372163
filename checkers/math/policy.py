"""The policies: which differences between two answers are accepted, by name.

docs/math-answers.md has the same table.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Policy:
    """What one policy accepts.

    rel_tol, abs_tol   numbers this close are equal (0: exact values only)
    percent            3.04 = 0.0304 when one side has a decimal or percent form
    percent_rel_tol    relative tolerance of that comparison (0: abs_tol)
    compare_sets       (1,2) = (2,1)
    text_only          only normalised text is compared
    ascii_only         characters outside ASCII are dropped from the answer
    strict_extract     only a boxed or announced answer counts
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


POLICIES: dict[str, Policy] = {
    row.name: row
    for row in (
        Policy("strict"),
        Policy("dart", 1e-9, 1e-8, percent=True, percent_rel_tol=1e-3, ascii_only=True),
        Policy("harness", text_only=True),
        Policy("lm-open-science", abs_tol=1e-3, percent=True),
    )
}


def get_policy(policy: str | Policy) -> Policy:
    """Return the policy of this name; raise ValueError with the known names otherwise."""
    if isinstance(policy, Policy):
        return policy
    if policy not in POLICIES:
        raise ValueError(f"unknown policy {policy!r}: use one of {', '.join(POLICIES)}")
    return POLICIES[policy]
