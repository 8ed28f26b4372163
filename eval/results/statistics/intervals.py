"""pass@k of one problem, its mean over problems, and confidence intervals of such means.

pass@k: the unbiased estimator 1 - C(n-c, k) / C(n, k) for n samples of which c are right: Chen et
al., "Evaluating Large Language Models Trained on Code" (2021), section 2.1.

one sample a problem, no clusters      ─▶ Wilson
several samples, or clusters            ─▶ bootstrap over problems or clusters
equal values, such as all right         ─▶ Wilson over problems or clusters, because resampling
                                           equal values shows no spread
fewer than two problems or clusters     ─▶ no interval
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from math import comb, fsum, sqrt
from statistics import NormalDist
from typing import TypedDict


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


RESAMPLES = 2000
_DRAWS_AT_ONCE = 2_000_000


class ConfidenceInterval(TypedDict):
    """A confidence interval; `low` and `high` have the unit of the mean, `level` is in (0, 1)."""

    low: float
    high: float
    level: float
    method: str


def z_value(level: float) -> float:
    """Return the normal quantile of a two-sided interval: 1.96 for 0.95."""
    if not 0 < level < 1:
        raise ValueError(f"level is {level}; it must be between 0 and 1, such as 0.95")
    return NormalDist().inv_cdf(0.5 + level / 2)


def wilson(successes: float, n: int, level: float = 0.95) -> ConfidenceInterval:
    """Return Wilson's score interval of a proportion (1927), without continuity correction."""
    if n < 1 or not 0 <= successes <= n:
        raise ValueError(f"{successes} successes of {n}; n must be 1 or more, successes 0 … n")
    z = z_value(level)
    p = successes / n
    spread = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    middle = p + z * z / (2 * n)
    low = 0.0 if successes == 0 else max(0.0, (middle - spread) / scale)
    high = 1.0 if successes == n else min(1.0, (middle + spread) / scale)
    return ConfidenceInterval(low=low, high=high, level=level, method="wilson")


def bootstrap_mean(
    values: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    *,
    level: float = 0.95,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> ConfidenceInterval | None:
    """Return the percentile bootstrap interval of the mean of `values`.

    clusters   the cluster of each value; then whole clusters are resampled

    Returns None for fewer than two values or clusters. The result does not depend on the order
    of the values. A resample is one multinomial draw over the distinct values, which has the same
    distribution as drawing single values and takes much less time.
    """
    import numpy as np

    z_value(level)
    units = _units(values, clusters)
    drawn = sum(units.values())
    if drawn < 2:
        return None
    distinct = sorted(units)
    sums = np.array([total for total, _ in distinct])
    sizes = np.array([size for _, size in distinct], dtype=float)
    odds = np.array([units[unit] for unit in distinct], dtype=float) / drawn
    generator = np.random.Generator(np.random.PCG64(seed))
    step = max(1, _DRAWS_AT_ONCE // len(distinct))
    means = []
    for start in range(0, resamples, step):
        counts = generator.multinomial(drawn, odds, size=min(step, resamples - start))
        means.append((counts @ sums) / (counts @ sizes))
    tail = (1 - level) / 2
    # Rounding errors may move the mean of equal values out of their range.
    clipped = np.clip(np.concatenate(means), (sums / sizes).min(), (sums / sizes).max())
    low, high = np.quantile(clipped, [tail, 1 - tail])
    method = "bootstrap over problems" if clusters is None else "bootstrap over clusters"
    return ConfidenceInterval(low=float(low), high=float(high), level=level, method=method)


def _units(
    values: Sequence[float], clusters: Sequence[Hashable] | None
) -> Counter[tuple[float, int]]:
    """Count the (sum, size) pairs of the units that are resampled: values or clusters."""
    if clusters is None:
        return Counter((value, 1) for value in values)
    members: dict[Hashable, list[float]] = {}
    for value, cluster in zip(values, clusters, strict=True):
        members.setdefault(cluster, []).append(value)
    return Counter((fsum(unit), len(unit)) for unit in members.values())


def interval_of_mean(
    values: Sequence[float],
    *,
    single: bool,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> ConfidenceInterval | None:
    """Return the interval of the mean of values in [0, 1], one for each problem.

    single  every value is 0 or 1 and comes from one sample

    The method is chosen as described at the top of this file.
    """
    if not values:
        return None
    if clusters is None and single:
        return wilson(sum(values), len(values), level)
    units = len(values) if clusters is None else len(set(clusters))
    if units < 2:
        return None
    if min(values) == max(values):
        return wilson(values[0] * units, units, level)
    return bootstrap_mean(values, clusters, level=level, seed=seed)
