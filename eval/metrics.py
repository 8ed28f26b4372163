"""The metrics file: what the records of a run come to, in one pass over them.

    {"num_attempted", "num_correct", "pass_at_1", "timestamp", "stats": {…},     upstream's
     "pass_at_k", "statuses", "verdicts", "case_verdicts", "unstable_cases",     ours
     "statistics": {…}, "flags", "sandbox", "calibration", "problems", …}

Attempted are the solutions with status passed or failed; correct those that passed.
Upstream's `stats` counts by solution (upstream has one a problem) and is true here: a
checker problem passes only when it was graded and passed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval.statistics import Summary

MAX_LISTED = 100
MAX_TROUBLES = 5
PASS_FIELDS = ("value", "interval", "note")


@dataclass(frozen=True)
class RunFacts:
    """What metrics say that is not in the records. All values are JSON-able.

    run  times, versions, counts of this run; the rest as in the file
    """

    timestamp: str
    flags: Mapping[str, Any]
    sandbox: Mapping[str, Any]
    calibration: Mapping[str, Any] | None
    problems: Mapping[str, Any]
    run: Mapping[str, Any]


class _Counts:
    """Counters filled record by record; memory grows with the problems alone."""

    def __init__(self) -> None:
        self.statuses: Counter[str] = Counter()
        self.verdicts: Counter[str] = Counter()
        self.cases: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.by_checker: Counter[tuple[bool, bool]] = Counter()
        self.problems: set[str] = set()
        self.unstable: list[dict[str, Any]] = []
        self.num_unstable = 0
        self.contended = 0
        self.troubles: dict[str, list[dict[str, Any]]] = {}

    def add(self, record: Mapping[str, Any]) -> None:
        status = record["status"]
        self.statuses[status] += 1
        self._add_cases(record)
        if status != "invalid":
            self.problems.add(record["problem_id"])
        if status not in ("passed", "failed"):
            self._add_trouble(record)
            return
        passed = status == "passed"
        self.verdicts[record["verdict"] or "none"] += 1
        self.by_checker[bool(record.get("has_checker")), passed] += 1
        if not passed:
            self.reasons[_deciding_reason(record)] += 1

    def _add_cases(self, record: Mapping[str, Any]) -> None:
        for case in record["details"]:
            self.cases[case["verdict"]] += 1
            self.contended += bool(case["contended"])
            if len(set(case.get("repeats", ()))) > 1:
                self.num_unstable += 1
                if len(self.unstable) < MAX_LISTED:
                    names = ("problem_id", "solution_id", "line")
                    about = {name: record[name] for name in names}
                    kind = {name: case[name] for name in ("case_type", "test_case_i", "repeats")}
                    self.unstable.append({**about, **kind})

    def _add_trouble(self, record: Mapping[str, Any]) -> None:
        found = self.troubles.setdefault(record["status"], [])
        if len(found) < MAX_TROUBLES:
            error = record["error"] or next(
                (c["error"] for c in record["details"] if c["verdict"] == "ER"), ""
            )
            found.append({"line": record["line"], "error": error})

    @property
    def attempted(self) -> int:
        return self.statuses["passed"] + self.statuses["failed"]


def _deciding_reason(record: Mapping[str, Any]) -> str:
    """The reason of the first case that is neither AC nor SK; no_code when there is none."""
    bad = (c["reason"] for c in record["details"] if c["verdict"] not in ("AC", "SK"))
    return next(bad, "compile_error" if record["verdict"] == "CE" else "no_code")


def compute(
    records: Iterable[Mapping[str, Any]], ks: Sequence[int], facts: RunFacts, *, seed: int = 0
) -> dict[str, Any]:
    """The metrics of a run's records (the last one of each solution), read once."""
    counts, summary = _Counts(), Summary()
    for record in records:
        counts.add(record)
        summary.add(record)
    statistics = summary.result(ks=sorted({1, *ks}), seed=seed)
    by_k = {entry["k"]: entry for entry in statistics["pass_at_k"]}
    attempted, correct = counts.attempted, counts.statuses["passed"]
    with_checker = counts.by_checker[True, True] + counts.by_checker[True, False]
    return {
        "num_attempted": attempted,
        "num_correct": correct,
        "pass_at_1": by_k[1]["value"],
        "timestamp": facts.timestamp,
        "stats": {
            "num_problems_total": attempted,
            "num_with_checker": with_checker,
            "with_checker_passed": counts.by_checker[True, True],
            "with_checker_failed": counts.by_checker[True, False],
            "num_without_checker": attempted - with_checker,
            "without_checker_passed": counts.by_checker[False, True],
            "failure_reasons": _sorted(counts.reasons),
        },
        "num_solutions": sum(counts.statuses.values()),
        "num_problems": len(counts.problems),
        "pass_at_k": {str(k): {name: by_k[k][name] for name in PASS_FIELDS} for k in ks},
        "statuses": _sorted(counts.statuses),
        "first_troubles": counts.troubles,
        "verdicts": _sorted(counts.verdicts),
        "case_verdicts": _sorted(counts.cases),
        "contended_cases": counts.contended,
        "unstable_cases": {"count": counts.num_unstable, "first": counts.unstable},
        "statistics": statistics,
        "flags": dict(facts.flags),
        "sandbox": dict(facts.sandbox),
        "calibration": facts.calibration,
        "problems": dict(facts.problems),
        "run": dict(facts.run),
    }


def _sorted(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
