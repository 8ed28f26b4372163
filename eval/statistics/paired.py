"""Two runs over the same problems, compared problem by problem.

    shares of A, shares of B ─▶ {problems, pass_at_1_a, pass_at_1_b, difference,
                                 standard_error, interval, won, lost, sign_test_p, changed}

Pairing takes out what both runs share, the difficulty of the problems: the error of the
difference is mostly much smaller than that of either pass@1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb, fsum, sqrt
from typing import Any

from eval.statistics.intervals import bootstrap_mean
from eval.statistics.tally import Share


def paired(
    a: Mapping[str, Share],
    b: Mapping[str, Share],
    *,
    level: float = 0.95,
    seed: int = 0,
    cluster_by_contest: bool = False,
) -> dict[str, Any] | None:
    """Compare the problems both have; differences are B minus A. None when there is no such.

    `changed` lists {problem_id, a, b} with [right, samples], biggest change first, `won` and
    `lost` count them; `interval` is None when no resampling shows a spread.
    """
    common = [problem for problem in a if problem in b]
    if not common:
        return None
    differences = [b[problem].pass_at_1 - a[problem].pass_at_1 for problem in common]
    clusters = [a[problem].contest_id for problem in common] if cluster_by_contest else None
    interval = None
    if min(differences) != max(differences):
        interval = bootstrap_mean(differences, clusters, level=level, seed=seed)
    won = sum(difference > 0 for difference in differences)
    lost = sum(difference < 0 for difference in differences)
    order = sorted(zip(differences, common, strict=True), key=lambda pair: (-abs(pair[0]), pair[1]))
    return {
        "problems": len(common),
        "pass_at_1_a": fsum(a[problem].pass_at_1 for problem in common) / len(common),
        "pass_at_1_b": fsum(b[problem].pass_at_1 for problem in common) / len(common),
        "difference": fsum(differences) / len(common),
        "standard_error": standard_error(differences, clusters),
        "interval": interval.as_dict() if interval else None,
        "won": won,
        "lost": lost,
        "sign_test_p": sign_test(won, lost),
        "changed": [
            {
                "problem_id": problem,
                "a": [a[problem].correct, a[problem].n],
                "b": [b[problem].correct, b[problem].n],
            }
            for difference, problem in order
            if difference
        ],
    }


def standard_error(values: Sequence[float], clusters: Sequence[str] | None = None) -> float | None:
    """Standard error of the mean of `values`; None for fewer than two problems or clusters.

    Clustered: the deviations of a cluster are added up before they are squared, with the
    small-sample factor G / (G - 1) for G clusters; one value a cluster is the plain formula.
    """
    names = clusters if clusters is not None else [str(place) for place in range(len(values))]
    groups = len(set(names))
    if groups < 2:
        return None
    mean = fsum(values) / len(values)
    sums: dict[str, float] = {}
    for name, value in zip(names, values, strict=True):
        sums[name] = sums.get(name, 0.0) + value - mean
    squares = fsum(total * total for total in sums.values())
    return sqrt(squares * groups / (groups - 1)) / len(values)


def sign_test(won: int, lost: int) -> float:
    """Two-sided exact sign test: how likely a split this uneven is when both are equal.

    With one sample a problem this is McNemar's exact test.
    """
    trials = won + lost
    tail = sum(comb(trials, i) for i in range(min(won, lost) + 1))
    return float(min(1.0, 2 * tail / 2**trials))
