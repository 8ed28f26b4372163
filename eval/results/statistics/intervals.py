"""Confidence intervals of a mean over problems.

one sample a problem, no clusters      ─▶ Wilson
several samples, or clusters            ─▶ bootstrap over problems or clusters
equal values, such as all right         ─▶ Wilson over problems or clusters, because resampling
                                           equal values shows no spread
fewer than two problems or clusters     ─▶ no interval
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass
from math import fsum, sqrt
from statistics import NormalDist
from typing import Any

RESAMPLES = 2000
_DRAWS_AT_ONCE = 2_000_000


@dataclass(frozen=True)
class ConfidenceInterval:
    """A confidence interval; `low` and `high` have the unit of the mean, `level` is in (0, 1)."""

    low: float
    high: float
    level: float
    method: str

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


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
    return ConfidenceInterval(low, high, level, "wilson")


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
    return ConfidenceInterval(float(low), float(high), level, method)


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
