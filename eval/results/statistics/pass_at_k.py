"""pass@k of one problem, and its mean over problems.

The unbiased estimator 1 - C(n-c, k) / C(n, k) for n samples of which c are right: Chen et al.,
"Evaluating Large Language Models Trained on Code" (2021), section 2.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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


def mean_pass_at_k(counts: Iterable[tuple[int, int]], k: int) -> float | None:
    """Return the mean over problems of (samples, right ones).

    None without problems, and when pass@k of one is undefined: the rest would be another quantity.
    """
    values = [pass_at_k(n, c, k) for n, c in counts]
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def defined_pass_at_k(counts: Sequence[tuple[int, int]], ks: Iterable[int]) -> dict[str, float]:
    """Return {"pass@k": mean over problems of (samples, right ones)} for each k that has one."""
    means = {f"pass@{k}": mean_pass_at_k(counts, k) for k in ks}
    return {name: mean for name, mean in means.items() if mean is not None}
