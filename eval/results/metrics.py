"""Compute the metrics file from the records of a run, in one pass.

    {"num_attempted", "num_correct", "pass_at_1", "timestamp", "stats": {…},     upstream's keys
     "pass_at_k", "average_accuracy", "known_faults", "base_tests", "test_kinds",       own keys
     "points", "same_faults", "missing_modules", "known_solutions_checked",
     "known_solutions_failed", "generated_tests", "statuses", "verdicts", "case_verdicts",
     "unstable_cases", "statistics", "flags", …}

Attempted solutions have the status passed or failed; correct ones have passed. Upstream grades
one solution a problem, so `stats` counts solutions. A solution of a problem with a checker passes
only when the checker accepted it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gradebox.eval.results.statistics.apart import (
    Apart,
    Faults,
    Shares,
    kind_of,
)
from gradebox.eval.results.statistics.counts import COUNTED_STATUSES, StatisticsOptions
from gradebox.eval.results.statistics.summary import NO_CODE, Summary, most_frequent_first

MAX_LISTED = 100
MAX_TROUBLES = 20  # kinds of errors; the others are counted together
OTHER_TROUBLES = "other"
MAX_LINES = 5
PASS_FIELDS = ("value", "interval", "note")


@dataclass(frozen=True)
class RunFacts:
    """Metrics that the records do not contain, as JSON objects.

    run              times, versions and counts of this run
    known_solutions  {checked, failed[{problem_id, …}]}: the data set's own, graded before the run
    """

    timestamp: str
    flags: Mapping[str, Any]
    sandbox: Mapping[str, Any]
    calibration: Mapping[str, Any] | None
    problems: Mapping[str, Any]
    run: Mapping[str, Any]
    known_solutions: Mapping[str, Any] = field(default_factory=lambda: {"checked": 0, "failed": []})


class _Counts:
    """Counts that `Summary` does not have. Memory grows with the number of problems only."""

    def __init__(self) -> None:
        self.reasons: Counter[str] = Counter()
        self.problems: set[str] = set()
        self.unstable: list[dict[str, Any]] = []
        self.num_unstable = 0
        self.contended = 0
        self.troubles: dict[str, dict[str, dict[str, Any]]] = {}  # by status and kind of error
        self.shares = Shares()  # of the tests that solutions passed
        self.stopped_early = False
        self.points: dict[str, dict[str, tuple[float, float]]] = {}  # best and full, by subtask
        self.kinds: Counter[tuple[str, bool]] = Counter()  # (kind of tests, passed)
        self.generated: dict[str, int] = {}  # number of generated tests, by problem

    def add(self, record: Mapping[str, Any]) -> None:
        status = record["status"]
        self._add_cases(record)
        if status != "invalid":
            self.problems.add(record["problem_id"])
        if status not in ("invalid", "unsupported"):
            self.generated[record["problem_id"]] = record["num_generated"]
        if status not in COUNTED_STATUSES:
            self._add_trouble(record)
            return
        self._add_share(record)
        passed = status == "passed"
        self._add_points(record)
        self.kinds[_kind_of(record), passed] += 1
        if not passed:
            self.reasons[_deciding_reason(record)] += 1

    def _add_share(self, record: Mapping[str, Any]) -> None:
        verdicts = [c["verdict"] for c in record["details"] if c["verdict"] not in ("SK", "ER")]
        self.stopped_early |= any(c["reason"] == "not_run_after_failure" for c in record["details"])
        # A response without a program passes no test.
        share = verdicts.count("AC") / len(verdicts) if verdicts else 0.0
        self.shares.add(record["problem_id"], share)

    def _add_points(self, record: Mapping[str, Any]) -> None:
        for subtask in record.get("subtasks") or ():
            best = self.points.setdefault(record["problem_id"], {})
            before = best.get(subtask["name"], (0.0, 0.0))[0]
            best[subtask["name"]] = max(before, subtask["points"]), subtask["of"]

    def graded_points(self) -> dict[str, Any]:
        """Return the points of graded problems: of each subtask those of the best solution."""
        problems = {}
        for name, subtasks in sorted(self.points.items()):
            found, full = (sum(parts) for parts in zip(*subtasks.values(), strict=True))
            problems[name] = {"points": round(found, 6), "of": round(full, 6)}
        total = {key: round(sum(p[key] for p in problems.values()), 6) for key in ("points", "of")}
        return {**total, "problems": problems}

    def generated_tests(self) -> dict[str, Any]:
        """Return the number of generated tests, and which problems have none."""
        none = sorted(name for name, number in self.generated.items() if not number)
        return {
            "tests": sum(self.generated.values()),
            "problems": len(self.generated) - len(none),
            "problems_without": len(none),
            "first_without": none[:MAX_LISTED],
        }

    def test_kinds(self) -> dict[str, dict[str, int]]:
        """Return the solutions, and those that passed, by the kind of their tests."""
        kinds = sorted({kind for kind, _ in self.kinds})
        return {
            kind: {
                "solutions": self.kinds[kind, True] + self.kinds[kind, False],
                "passed": self.kinds[kind, True],
            }
            for kind in kinds
        }

    def average_accuracy(self) -> dict[str, Any]:
        """Return the share of tests passed, as a mean over solutions of each problem, then of all.

        Tests that the machine failed at (ER) are left out. It is undefined when tests were not run
        after a failure.
        """
        if self.stopped_early:
            return {"value": None, "problems": 0, "note": "tests were not run after a failure"}
        return {"value": self.shares.mean(), "problems": len(self.shares.counts), "note": ""}

    def _add_cases(self, record: Mapping[str, Any]) -> None:
        for case in record["details"]:
            self.contended += bool(case["contended"])
            if "repeats" in case and len(set(case["repeats"])) > 1:
                self.num_unstable += 1
                if len(self.unstable) < MAX_LISTED:
                    solution = {
                        name: record[name] for name in ("problem_id", "solution_id", "line")
                    }
                    names = ("case_type", "test_case_i", "repeats")
                    self.unstable.append({**solution, **{name: case[name] for name in names}})

    def _add_trouble(self, record: Mapping[str, Any]) -> None:
        error = record["error"] or next(
            (c["error"] for c in record["details"] if c["verdict"] == "ER"), ""
        )
        error = str(error).removeprefix(f"line {record['line']}: ")
        found = self.troubles.setdefault(record["status"], {})
        name = record["problem_id"]
        kind = kind_of(error.replace(name, "…") if name else error)
        if kind not in found and len(found) == MAX_TROUBLES:
            kind = OTHER_TROUBLES
        first = {"line": record["line"], "error": error, "count": 0, "lines": []}
        trouble = found.setdefault(kind, first)
        trouble["count"] += 1
        if len(trouble["lines"]) < MAX_LINES:
            trouble["lines"].append(record["line"])

    def first_troubles(self) -> dict[str, list[dict[str, Any]]]:
        """Return by status one of each kind of error, with its count and its first lines."""
        return {status: list(kinds.values()) for status, kinds in self.troubles.items()}


def _kind_of(record: Mapping[str, Any]) -> str:
    """Return the kind of a record's tests; assert tests that ran with a mark are marked."""
    if any("marked" in case for case in record["details"]):
        return "marked"
    return str((record.get("origin") or {}).get("test_kind", "stdin"))


def _deciding_reason(record: Mapping[str, Any]) -> str:
    """Return the reason of the first case that is neither AC nor SK; "no_code" without one."""
    bad = (c["reason"] for c in record["details"] if c["verdict"] not in ("AC", "SK"))
    return next(bad, "compile_error" if record["verdict"] == "CE" else "no_code")


def compute_metrics(
    records: Iterable[Mapping[str, Any]], ks: Sequence[int], facts: RunFacts, *, seed: int = 0
) -> dict[str, Any]:
    """Return the metrics of a run's records, which hold one record for each solution.

    ks    the k of pass@k
    seed  of the bootstrap
    """
    counts, summary, apart, faults = _Counts(), Summary(), Apart(), Faults()
    for record in records:
        counts.add(record)
        summary.add(record)
        apart.add(record)
        faults.add(record)
    statistics = summary.result(StatisticsOptions(ks=(1, *ks), seed=seed))
    by_k = {entry["k"]: entry for entry in statistics["pass_at_k"]}
    attempted, statuses = statistics["counted"], statistics["statuses"]
    correct = statuses.get("passed", 0)
    by_checker = {row["group"]: row for row in statistics["tables"]["checker"]}
    checked = by_checker.get("with checker", {"solutions": 0, "correct": 0})
    verdicts = statistics["verdicts"]["solutions"].items()
    return {
        "num_attempted": attempted,
        "num_correct": correct,
        "pass_at_1": by_k[1]["value"],
        "timestamp": facts.timestamp,
        "stats": {
            "num_problems_total": attempted,
            "num_with_checker": checked["solutions"],
            "with_checker_passed": checked["correct"],
            "with_checker_failed": checked["solutions"] - checked["correct"],
            "num_without_checker": attempted - checked["solutions"],
            "without_checker_passed": correct - checked["correct"],
            "failure_reasons": most_frequent_first(counts.reasons),
        },
        "num_solutions": statistics["solutions"],
        "num_problems": len(counts.problems),
        "pass_at_k": {str(k): {name: by_k[k][name] for name in PASS_FIELDS} for k in ks},
        "average_accuracy": counts.average_accuracy(),
        "known_faults": apart.known_faults(),
        "base_tests": apart.base(),
        "test_kinds": counts.test_kinds(),
        "generated_tests": (
            counts.generated_tests() if facts.flags.get("--max-generated-tests") else None
        ),
        **({"points": counts.graded_points()} if counts.points else {}),
        "known_solutions_checked": facts.known_solutions["checked"],
        "known_solutions_failed": list(facts.known_solutions["failed"]),
        "same_faults": faults.shared(),
        "missing_modules": faults.missing_modules(),
        "statuses": statuses,
        "first_troubles": counts.first_troubles(),
        "verdicts": {"none" if name == NO_CODE else name: n for name, n in verdicts},
        "case_verdicts": statistics["verdicts"]["cases"],
        "contended_cases": counts.contended,
        "unstable_cases": {"count": counts.num_unstable, "first": counts.unstable},
        "statistics": statistics,
        "flags": dict(facts.flags),
        "sandbox": dict(facts.sandbox),
        "calibration": facts.calibration,
        "problems": dict(facts.problems),
        "run": dict(facts.run),
    }
