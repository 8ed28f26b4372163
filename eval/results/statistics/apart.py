"""Numbers that people report beside pass@1: without rows known to be wrong, and for base tests.

    record… ─▶ Apart.add ─▶ known_faults() ─▶ {faults: {why: problems}, problems, solutions,
                                               passed, pass_at_1_without}
                         ─▶ base() ─▶ {problems, pass_at_1, pass_at_1_with_plus}

`origin.errata` says why a row is known to be wrong. `origin.base_tests` is how many of a row's
first tests are those of the original data set; EvalPlus has added the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import fsum
from typing import Any

from gradebox.eval.results.statistics.counts import COUNTED_STATUSES


class _Shares:
    """How many of each problem's solutions passed."""

    def __init__(self) -> None:
        self.counts: dict[str, tuple[int, int]] = {}  # passed, all

    def add(self, problem_id: str, passed: bool) -> None:
        good, total = self.counts.get(problem_id, (0, 0))
        self.counts[problem_id] = (good + passed, total + 1)

    def mean(self) -> float | None:
        shares = [good / total for good, total in self.counts.values()]
        return fsum(shares) / len(shares) if shares else None

    def totals(self) -> tuple[int, int]:
        pairs = self.counts.values()
        return sum(good for good, _ in pairs), sum(total for _, total in pairs)


class Apart:
    """Counters updated record by record. Memory grows with the number of problems only."""

    def __init__(self) -> None:
        self._faults: dict[str, str] = {}
        self._faulty, self._others = _Shares(), _Shares()
        self._base, self._plus = _Shares(), _Shares()

    def add(self, record: Mapping[str, Any]) -> None:
        """Count one solution."""
        if record["status"] not in COUNTED_STATUSES:
            return
        problem, passed = str(record["problem_id"]), record["status"] == "passed"
        origin = record.get("origin") or {}
        fault = origin.get("errata")
        if fault:
            self._faults[problem] = fault
        (self._faulty if fault else self._others).add(problem, passed)
        base = origin.get("base_tests", "")
        if base.isdecimal() and len(base) < 9:
            self._base.add(problem, passed or _passes_first(record, int(base)))
            self._plus.add(problem, passed)

    def known_faults(self) -> dict[str, Any] | None:
        """Return the numbers of rows that are known to be wrong, None without one."""
        if not self._faults:
            return None
        passed, solutions = self._faulty.totals()
        return {
            "faults": dict(sorted(Counter(self._faults.values()).items())),
            "problems": len(self._faults),
            "solutions": solutions,
            "passed": passed,
            "pass_at_1_without": self._others.mean(),
        }

    def base(self) -> dict[str, Any] | None:
        """Return pass@1 by base tests alone and by all tests, None without rows that have both."""
        if not self._base.counts:
            return None
        return {
            "problems": len(self._base.counts),
            "pass_at_1": self._base.mean(),
            "pass_at_1_with_plus": self._plus.mean(),
        }


def _passes_first(record: Mapping[str, Any], count: int) -> bool:
    cases = [c for c in record.get("details") or () if c["case_type"] == "official"]
    first = [c["verdict"] for c in cases if c["test_case_i"] < count]
    return bool(first) and all(verdict == "AC" for verdict in first)
