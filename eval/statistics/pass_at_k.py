"""pass@k of one problem, and its mean over problems.

    n samples, c of them right ─▶ 1 - C(n-c, k) / C(n, k)

The unbiased estimator of Chen et al., "Evaluating Large Language Models Trained on Code"
(2021), section 2.1.
"""

from __future__ import annotations

from math import comb


def pass_at_k(n: int, c: int, k: int) -> float | None:
    """Chance that at least one of `k` samples drawn from `n`, `c` of them right, is right.

    None when n < k: fewer samples than draws say nothing about pass@k.
    Integers of any size: the division of the two binomials is exact before it is rounded.
    Raises ValueError when the numbers make no sense.
    """
    if k < 1:
        raise ValueError(f"k is {k}; it must be at least 1")
    if not 0 <= c <= n:
        raise ValueError(f"{c} right of {n} samples; it must be between 0 and {n}")
    if n < k:
        return None
    total = comb(n, k)
    return (total - comb(n - c, k)) / total
