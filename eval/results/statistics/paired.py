"""Compare two runs problem by problem.

    counts of A, counts of B ─▶ {problems, pass_at_1_a, pass_at_1_b, difference,
                                 standard_error, interval, won, lost, sign_test_p, changed}

Pairing removes the difficulty of the problems, which both runs share. The standard error of the
difference is therefore usually much smaller than that of either pass@1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb, fsum, sqrt
from typing import Any

from gradebox.eval.results.statistics.counts import (
    DEFAULT_OPTIONS,
    ProblemCounts,
    StatisticsOptions,
)
from gradebox.eval.results.statistics.intervals import bootstrap_mean


def paired(
    a: Mapping[str, ProblemCounts],
    b: Mapping[str, ProblemCounts],
    options: StatisticsOptions = DEFAULT_OPTIONS,
) -> dict[str, Any] | None:
    """Compare the problems that both runs have; None when there are none.

    Differences are B minus A. `changed` lists {problem_id, a, b} with [right, samples], largest
    change first; `won` and `lost` count them. `interval` is None when all differences are equal.
    """
    common = [problem for problem in a if problem in b]
    if not common:
        return None
    differences = [b[problem].pass_at_1 - a[problem].pass_at_1 for problem in common]
    clusters = [a[problem].contest_id for problem in common] if options.cluster_by_contest else None
    interval = None
    if min(differences) != max(differences):
        interval = bootstrap_mean(differences, clusters, level=options.level, seed=options.seed)
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
    """Return the standard error of the mean; None for fewer than two values or clusters.

    With clusters, the deviations within a cluster are added before they are squared, and the
    small-sample factor for G clusters is G / (G - 1). Clusters of one value give the usual formula.
    """
    names = clusters if clusters is not None else [str(i) for i in range(len(values))]
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
    """Return the p-value of the two-sided exact sign test.

    With one sample a problem it is McNemar's exact test.
    """
    trials = won + lost
    tail = sum(comb(trials, i) for i in range(min(won, lost) + 1))
    return float(min(1.0, 2 * tail / 2**trials))
