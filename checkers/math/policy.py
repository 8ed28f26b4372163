"""The policies: which differences between two answers are accepted, by name.

docs/math-answers.md has the same table.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace


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
    rounded            decimals are the same as what they round (compare/rounding.py)
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
    rounded: bool = False


POLICIES: dict[str, Policy] = {
    row.name: row
    for row in (
        Policy("strict"),
        Policy("dart", 1e-9, 1e-8, percent=True, percent_rel_tol=1e-3, ascii_only=True),
        Policy("harness", text_only=True),
        Policy("rounded", rounded=True),
        Policy("lm-open-science", abs_tol=1e-3, percent=True),
    )
}


def get_policy(policy: str | Policy) -> Policy:
    """Return the policy of this name; raise ValueError with the known names otherwise.

    `rounded:0.01` is `rounded` with a relative tolerance, `rounded:2dp` with an absolute one, half
    a unit of the second decimal.
    """
    if isinstance(policy, Policy):
        return policy
    name, colon, amount = policy.partition(":")
    if policy in POLICIES:
        return POLICIES[policy]
    if name != "rounded" or not colon:
        raise ValueError(f"unknown policy {policy!r}: use one of {', '.join(POLICIES)}")
    places = re.fullmatch(r"(\d{1,2})dp", amount)
    if places:
        return replace(POLICIES[name], abs_tol=float(f"0.5e-{places[1]}"))
    if not re.fullmatch(r"\d*\.?\d+(?:e-?\d{1,2})?", amount) or not 0 < float(amount) < 1:
        raise ValueError(
            f"policy {policy!r}: {amount!r} is no tolerance; give a number between 0 and 1, such "
            "as rounded:0.01, or decimal places, such as rounded:2dp"
        )
    return replace(POLICIES[name], rel_tol=float(amount))
