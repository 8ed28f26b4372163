"""Read a permutation written in cycles: `(1\\,2\\,3)(4\\,5)` = `(5 4)(2 3 1)`.

permutation := cycle+          disjoint cycles, so that their order does not count
cycle       := "(" number number+ ")"
"""

from __future__ import annotations

import re

_CYCLE = re.compile(r"\(\s*(\d+(?:\s+\d+)+)\s*\)")


def read_permutation(text: str) -> dict[str, str] | None:
    """Return where each element of a normalised text goes; None when it is not disjoint cycles."""
    cycles = [c.split() for c in _CYCLE.findall(text)]
    elements = [e for c in cycles for e in c]
    if not cycles or _CYCLE.sub("", text).strip(" .") or len(set(elements)) < len(elements):
        return None
    return {e: c[(i + 1) % len(c)] for c in cycles for i, e in enumerate(c)}


def same_permutation(gold: str, answer: str) -> bool | None:
    """Return whether two texts are the same permutation; None when one is not in cycles."""
    left, right = read_permutation(gold), read_permutation(answer)
    return left == right if left and right else None
