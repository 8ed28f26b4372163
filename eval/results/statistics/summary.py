"""All statistics of one run, computed from its records in one pass.

    record… ─▶ Summary.add ─▶ Summary.result() ─▶ {
        level, seed, clustered_by, solutions, counted, problems, statuses,
        samples_per_problem{min, max, mean},
        pass_at_k[{k, value, interval, problems, undefined, value_of_defined, note}],
        score_mean{value, interval},
        verdicts{solutions, cases, reasons},
        tables{rating, tag, language, year, checker, official_tests},
        time_limits[{factor, pass_at_1, interval, undecided, note}],
        estimated_rating{…} or None }

Only solutions with status passed or failed are counted. `statuses` has the others.

The estimated Codeforces rating: a rating θ solves a problem of difficulty d with probability
p = 1 / (1 + 10^((d - θ) / 400)), the Elo curve by which Codeforces defines difficulty. The estimate
maximises the likelihood, and its standard error comes from the curvature at the maximum. Each
problem counts as one attempt, solved in the proportion of its samples that are right, because
samples are not additional problems. When all problems or none are solved, the likelihood has no
maximum. Only then is it multiplied by a normal prior, which `prior` and `note` report. It is not a
rating by Codeforces: there is no contest, no penalty and no clock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import fsum, log, sqrt
from typing import Any

from gradebox.eval.results.statistics.counts import (
    COUNTED_STATUSES,
    DEFAULT_OPTIONS,
    FACTORS,
    LanguageCounts,
    ProblemCounts,
    StatisticsOptions,
    empty_counts,
    interval_over_problems,
    merge_languages,
    tables,
)
from gradebox.eval.results.statistics.intervals import pass_at_k, z_value

PRIOR_MEAN = 1500.0
PRIOR_SD = 400.0
_SLOPE = log(10) / 400
_LEAST_INFORMATION = 1e-8  # a standard error of 10,000 points


def solve_probability(rating: float, difficulty: float) -> float:
    """Return the probability that `rating` solves a problem of `difficulty`."""
    steps = min(max((difficulty - rating) / 400, -300.0), 300.0)  # 10**300 is still a float
    return 1 / (1 + 10**steps)


def estimated_rating(
    outcomes: Iterable[tuple[float, float]], level: float = 0.95
) -> dict[str, Any] | None:
    """Estimate the rating from a (difficulty, proportion of samples solved) pair a problem.

    Returns {estimated: True, rating, standard_error, low, high, level, problems, prior, note},
    where `prior` is None unless it was needed. Returns None without any problem.
    """
    groups: dict[float, list[float]] = {}
    for difficulty, share in outcomes:
        count_and_solved = groups.setdefault(difficulty, [0.0, 0.0])
        count_and_solved[0] += 1
        count_and_solved[1] += share
    if not groups:
        return None
    problems = sum(count for count, _ in groups.values())
    solved = sum(share for _, share in groups.values())
    weight = 0.0 if 0 < solved < problems else 1 / PRIOR_SD**2
    rating = _maximum(groups, weight)
    information = _information(groups, rating) + weight
    if information < _LEAST_INFORMATION:
        weight = 1 / PRIOR_SD**2
        rating = _maximum(groups, weight)
        information = _information(groups, rating) + weight
    error = 1 / sqrt(information)
    margin = z_value(level) * error
    return {
        "estimated": True,
        "rating": rating,
        "standard_error": error,
        "low": rating - margin,
        "high": rating + margin,
        "level": level,
        "problems": int(problems),
        "prior": {"mean": PRIOR_MEAN, "sd": PRIOR_SD} if weight else None,
        "note": _note(solved, problems, weight > 0),
    }


def _note(solved: float, problems: float, with_prior: bool) -> str:
    if not with_prior:
        return "estimated from the solved set; not a rating given by Codeforces"
    if 0 < solved < problems:
        return "the difficulties are too far apart to estimate without the prior"
    which = "every rated problem was solved" if solved > 0 else "no rated problem was solved"
    return f"{which}: without the prior there is no finite estimate"


def _information(groups: dict[float, list[float]], rating: float) -> float:
    """Return the Fisher information about the rating, in 1 / rating points squared."""
    return _SLOPE**2 * sum(
        count * (p := solve_probability(rating, difficulty)) * (1 - p)
        for difficulty, (count, _) in groups.items()
    )


def _maximum(groups: dict[float, list[float]], weight: float) -> float:
    """Return the maximum of the log likelihood: its derivative falls and crosses zero there."""
    low = min(*groups, PRIOR_MEAN) - 8000
    high = max(*groups, PRIOR_MEAN) + 8000
    for _ in range(100):
        middle = (low + high) / 2
        slope = -weight * (middle - PRIOR_MEAN) / _SLOPE
        for difficulty, (count, solved) in groups.items():
            slope += solved - count * solve_probability(middle, difficulty)
        low, high = (middle, high) if slope > 0 else (low, middle)
    return (low + high) / 2


CURVE_KS = (1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1000)
NO_CODE = "no code"  # the verdict of a failed solution whose response has no program


class Summary:
    """Counters updated record by record. Memory grows with the number of problems only."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str], LanguageCounts] = {}
        self._statuses: Counter[str] = Counter()
        self._verdicts: Counter[str] = Counter()
        self._case_verdicts: Counter[str] = Counter()
        self._reasons: Counter[str] = Counter()

    def add(self, record: Mapping[str, Any]) -> None:
        """Count one solution."""
        self._statuses[record["status"]] += 1
        details = record.get("details") or ()
        self._case_verdicts.update([case["verdict"] for case in details])
        self._reasons.update([case["reason"] for case in details])
        if record["status"] not in COUNTED_STATUSES:
            return
        self._verdicts[record.get("verdict") or NO_CODE] += 1
        key = (str(record["problem_id"]), str(record.get("language")))
        if key not in self._counts:
            self._counts[key] = empty_counts(record)
        self._counts[key].add(record)

    def result(self, options: StatisticsOptions = DEFAULT_OPTIONS) -> dict[str, Any]:
        """Return the statistics so far (see the top of this file)."""
        counts = list(self._counts.values())
        problems = merge_languages(counts)
        return {
            "level": options.level,
            "seed": options.seed,
            "clustered_by": "contest" if options.cluster_by_contest else None,
            "solutions": sum(self._statuses.values()),
            "counted": sum(problem.n for problem in problems),
            "problems": len(problems),
            "statuses": most_frequent_first(self._statuses),
            "samples_per_problem": _samples(problems),
            "pass_at_k": [
                _pass_at_k(problems, k, options) for k in sorted(set(options.ks or (1,)))
            ],
            "score_mean": _score_mean(problems, options),
            "verdicts": {
                "solutions": most_frequent_first(self._verdicts),
                "cases": most_frequent_first(self._case_verdicts),
                "reasons": most_frequent_first(self._reasons),
            },
            "tables": tables(counts, options),
            "time_limits": [_at_factor(counts, i, options) for i in range(len(FACTORS))],
            "estimated_rating": _rating(counts, problems, options.level),
        }

    def curve(self, options: StatisticsOptions = DEFAULT_OPTIONS) -> list[dict[str, Any]]:
        """Return pass@k, as `pass_at_k` in the result, for CURVE_KS and the largest defined k."""
        problems = merge_languages(self._counts.values())
        most = min([CURVE_KS[-1], *(problem.n for problem in problems)]) if problems else 0
        ks = sorted({k for k in CURVE_KS if k < most} | {most} - {0})
        return [_pass_at_k(problems, k, options) for k in ks]


def most_frequent_first(counts: Mapping[str, int]) -> dict[str, int]:
    """Return counts in descending order, those of the same count by name."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _samples(problems: Sequence[ProblemCounts]) -> dict[str, float] | None:
    if not problems:
        return None
    sizes = [problem.n for problem in problems]
    return {"min": min(sizes), "max": max(sizes), "mean": sum(sizes) / len(sizes)}


def _mean(values: Sequence[float]) -> float | None:
    return fsum(values) / len(values) if values else None


def _pass_at_k(
    problems: Sequence[ProblemCounts], k: int, options: StatisticsOptions
) -> dict[str, Any]:
    """Return the mean pass@k over problems; null when any problem has fewer than k samples."""

    def estimate(problem: ProblemCounts) -> float:
        return pass_at_k(problem.n, problem.correct, k) or 0.0

    defined = [problem for problem in problems if problem.n >= k]
    undefined = len(problems) - len(defined)
    mean = _mean([estimate(problem) for problem in defined])
    interval = interval_over_problems(defined, options, estimate)
    note = ""
    if not problems:
        note = "no solution was graded"
    elif undefined:
        note = (
            f"undefined: {undefined} of {len(problems)} problems have fewer than {k} graded samples"
        )
    return {
        "k": k,
        "value": None if undefined else mean,
        "interval": None if undefined else interval,
        "problems": len(problems),
        "undefined": undefined,
        "value_of_defined": mean,
        "note": note,
    }


def _score_mean(problems: Sequence[ProblemCounts], options: StatisticsOptions) -> dict[str, Any]:
    def mean_score(problem: ProblemCounts) -> float:
        return problem.score / problem.n

    values = [mean_score(problem) for problem in problems]
    binary = all(value in (0.0, 1.0) for value in values)
    interval = interval_over_problems(problems, options, mean_score, binary)
    return {"value": _mean(values), "interval": interval}


def _at_factor(
    counts: Sequence[LanguageCounts], i: int, options: StatisticsOptions
) -> dict[str, Any]:
    problems = merge_languages(replace(c, correct=c.passed_at[i]) for c in counts)
    undecided = sum(c.undecided_at[i] for c in counts)
    interval = interval_over_problems(problems, options)
    note = f"{undecided} solutions have their actual result: their records do not have enough data"
    return {
        "factor": FACTORS[i],
        "pass_at_1": _mean([problem.pass_at_1 for problem in problems]),
        "interval": interval,
        "undecided": undecided,
        "note": note if undecided else "",
    }


def _rating(
    counts: Sequence[LanguageCounts], problems: Sequence[ProblemCounts], level: float
) -> dict[str, Any] | None:
    ratings = {c.problem_id: c.rating for c in counts}
    return estimated_rating(
        (
            (float(rating), problem.pass_at_1)
            for problem in problems
            if (rating := ratings[problem.problem_id]) is not None
        ),
        level,
    )
