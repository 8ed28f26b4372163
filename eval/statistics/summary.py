"""Everything told of one run, from its records, in one pass.

    record… ─▶ Summary.add ─▶ Summary.result() ─▶ {
        level, seed, clustered_by, solutions, counted, problems, statuses,
        samples_per_problem{min, max, mean},
        pass_at_k[{k, value, interval, problems, undefined, value_of_defined, note}],
        score_mean{value, interval},
        verdicts{solutions, cases, reasons},
        tables{rating, tag, language, year, checker, official_tests},
        time_limits[{factor, pass_at_1, interval, undecided, note}],
        estimated_rating{…} or None }

Counted are solutions with status passed or failed; the others are shown in `statuses`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import fsum
from typing import Any

from eval.statistics.intervals import Interval
from eval.statistics.pass_at_k import pass_at_k
from eval.statistics.rating import estimated_rating
from eval.statistics.tables import Confidence, interval_of_shares, tables
from eval.statistics.tally import COUNTED, Share, Tally, shares, tally_of
from eval.statistics.time_factor import FACTORS

NO_CODE = "no code"  # failed without a verdict: the response held no program


def summarise(
    records: Iterable[Mapping[str, Any]],
    *,
    ks: Sequence[int] = (1,),
    level: float = 0.95,
    seed: int = 0,
    cluster_by_contest: bool = False,
) -> dict[str, Any]:
    """The statistics of a run from its records, the last one of each solution.

    ks     the k of pass@k
    level  of every confidence interval, in (0, 1)
    seed   of the bootstrap: the same records and seed give the same numbers
    """
    summary = Summary()
    for record in records:
        summary.add(record)
    return summary.result(ks=ks, level=level, seed=seed, cluster_by_contest=cluster_by_contest)


class Summary:
    """Counters filled record by record; memory grows with the problems alone."""

    def __init__(self) -> None:
        self._tallies: dict[tuple[str, str], Tally] = {}
        self._statuses: Counter[str] = Counter()
        self._verdicts: Counter[str] = Counter()
        self._case_verdicts: Counter[str] = Counter()
        self._reasons: Counter[str] = Counter()

    def add(self, record: Mapping[str, Any]) -> None:
        """Count one solution."""
        self._statuses[record["status"]] += 1
        for case in record.get("details") or ():
            self._case_verdicts[case["verdict"]] += 1
            self._reasons[case["reason"]] += 1
        if record["status"] not in COUNTED:
            return
        self._verdicts[record.get("verdict") or NO_CODE] += 1
        key = (str(record["problem_id"]), str(record.get("language")))
        tally = self._tallies.get(key)
        if tally is None:
            tally = self._tallies[key] = tally_of(record)
        tally.add(record)

    def result(
        self,
        *,
        ks: Sequence[int] = (1,),
        level: float = 0.95,
        seed: int = 0,
        cluster_by_contest: bool = False,
    ) -> dict[str, Any]:
        """The statistics so far; see `summarise`."""
        tallies = list(self._tallies.values())
        members = shares(tallies)
        how = Confidence(level, seed, cluster_by_contest)
        return {
            "level": level,
            "seed": seed,
            "clustered_by": "contest" if cluster_by_contest else None,
            "solutions": sum(self._statuses.values()),
            "counted": sum(share.n for share in members),
            "problems": len(members),
            "statuses": _most_first(self._statuses),
            "samples_per_problem": _samples(members),
            "pass_at_k": [_pass_at_k(members, k, how) for k in sorted(set(ks))],
            "score_mean": _score_mean(members, how),
            "verdicts": {
                "solutions": _most_first(self._verdicts),
                "cases": _most_first(self._case_verdicts),
                "reasons": _most_first(self._reasons),
            },
            "tables": tables(tallies, how),
            "time_limits": [_at_factor(tallies, place, how) for place in range(len(FACTORS))],
            "estimated_rating": _rating(tallies, members, level),
        }


def _most_first(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _samples(members: Sequence[Share]) -> dict[str, float] | None:
    if not members:
        return None
    sizes = [share.n for share in members]
    return {"min": min(sizes), "max": max(sizes), "mean": sum(sizes) / len(sizes)}


def _mean(values: Sequence[float]) -> float | None:
    return fsum(values) / len(values) if values else None


def _as_dict(interval: Interval | None) -> dict[str, Any] | None:
    return interval.as_dict() if interval else None


def _pass_at_k(members: Sequence[Share], k: int, how: Confidence) -> dict[str, Any]:
    """pass@k as the mean over problems; null as soon as one problem has too few samples."""

    def estimate(share: Share) -> float:
        return pass_at_k(share.n, share.correct, k) or 0.0

    enough = [share for share in members if share.n >= k]
    missing = len(members) - len(enough)
    interval = interval_of_shares(enough, how, estimate)
    note = ""
    if not members:
        note = "no solution was graded"
    elif missing:
        note = f"undefined: {missing} of {len(members)} problems have fewer than {k} graded samples"
    return {
        "k": k,
        "value": None if missing else _mean([estimate(share) for share in enough]),
        "interval": None if missing else _as_dict(interval),
        "problems": len(members),
        "undefined": missing,
        "value_of_defined": _mean([estimate(share) for share in enough]),
        "note": note,
    }


def _score_mean(members: Sequence[Share], how: Confidence) -> dict[str, Any]:
    values = [share.score / share.n for share in members]
    whole = all(value in (0.0, 1.0) for value in values)
    interval = interval_of_shares(members, how, lambda share: share.score / share.n, whole)
    return {"value": _mean(values), "interval": _as_dict(interval)}


def _at_factor(tallies: Sequence[Tally], place: int, how: Confidence) -> dict[str, Any]:
    at_factor = [
        Tally(**{**vars(tally), "correct": tally.at[place]}) for tally in tallies if tally.n
    ]
    members = shares(at_factor)
    undecided = sum(tally.unknown[place] for tally in tallies)
    interval = interval_of_shares(members, how)
    return {
        "factor": FACTORS[place],
        "pass_at_1": _mean([share.pass_at_1 for share in members]),
        "interval": _as_dict(interval),
        "undecided": undecided,
        "note": f"{undecided} solutions counted as they were judged: their records do not tell"
        if undecided
        else "",
    }


def _rating(
    tallies: Sequence[Tally], members: Sequence[Share], level: float
) -> dict[str, Any] | None:
    ratings = {tally.problem_id: tally.rating for tally in tallies}
    return estimated_rating(
        (
            (float(rating), share.pass_at_1)
            for share in members
            if (rating := ratings[share.problem_id]) is not None
        ),
        level,
    )
