"""pass@k of one problem.

The unbiased estimator 1 - C(n-c, k) / C(n, k) for n samples of which c are right: Chen et al.,
"Evaluating Large Language Models Trained on Code" (2021), section 2.1.
"""

from __future__ import annotations

from math import comb


def pass_at_k(n: int, c: int, k: int) -> float | None:
    """Estimate the probability that at least one of `k` samples is right.

    n  samples of the problem
    c  samples that are right

    Returns None when n < k, where pass@k is undefined. The binomials are divided as exact
    integers. Raises ValueError unless k >= 1 and 0 <= c <= n.
    """
    if k < 1:
        raise ValueError(f"k is {k}; it must be at least 1")
    if not 0 <= c <= n:
        raise ValueError(f"{c} right of {n} samples; it must be between 0 and {n}")
    if n < k:
        return None
    total = comb(n, k)
    return (total - comb(n - c, k)) / total
