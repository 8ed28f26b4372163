"""Numbers beside pass@1: without rows known to be wrong, for base tests, and what they failed by.

    record… ─▶ Apart.add ─▶ known_faults() ─▶ {faults: {why: problems}, problems, solutions,
                                               passed, pass_at_1_without}
                         ─▶ base() ─▶ {problems, pass_at_1, pass_at_1_with_plus}
    record ─▶ first_fault ─▶ Fault("RE", "exit code 1: KeyError: 'check'") ─▶ kind, without figures

`origin.errata` says why a row is known to be wrong. `origin.base_tests` is how many of a row's
first tests are those of the original data set; EvalPlus has added the others. One fault behind
every solution is rarely that of the solutions: rows read as another format, a library that no
program finds, a compiler that always fails.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from math import fsum
from typing import Any, NamedTuple

from gradebox.eval.results.statistics.counts import COUNTED_STATUSES

LEAST = 3  # solutions; that one or two fail in the same way says nothing
MOST_READ = 1000  # characters
MOST_WORDS = 8  # later ones may name what is near, only sometimes
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|‘[^’]*’")
_FIGURE = re.compile(r"[\d.]*\d")
_NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '(\w{1,80})")
MOST_MODULES = 100


class Fault(NamedTuple):
    """The verdict of a failed solution, and the words that its first failed case has for it."""

    verdict: str
    error: str

    @property
    def kind(self) -> tuple[str, str]:
        """The verdict and the first words, equal for faults that differ in figures only."""
        return self.verdict, kind_of(self.error)

    def __str__(self) -> str:
        return f"{self.verdict}: {self.error}" if self.error else self.verdict


def kind_of(message: str) -> str:
    """Return the first words of a message, without what it quotes and its figures."""
    words = _FIGURE.sub("#", _QUOTED.sub("…", message[:MOST_READ])).split()
    return " ".join(words[:MOST_WORDS])


def first_fault(record: Mapping[str, Any]) -> Fault:
    """Return the fault of a failed solution's record."""
    verdict = record["verdict"] or "no code"
    bad = (c for c in record["details"] if c["verdict"] not in ("AC", "SK"))
    case = next(bad, None)
    if verdict == "CE" or case is None:
        return Fault(verdict, record["error"])
    return Fault(verdict, case["error"] or case["reason"])


class Faults:
    """What all solutions of a run, or all of one language, failed by; modules that were missing."""

    def __init__(self) -> None:
        self._modules: Counter[str] = Counter()
        self._counts: dict[str, int] = {}  # by language, "" for all
        self._faults: dict[str, Fault | None] = {}  # None: they differ, or one passed

    def add(self, record: Mapping[str, Any]) -> None:
        """Count one solution."""
        if record["status"] not in COUNTED_STATUSES:
            return
        fault = None if record["status"] == "passed" else first_fault(record)
        found = _NO_MODULE.search(fault.error[:MOST_READ]) if fault else None
        if found and (found[1] in self._modules or len(self._modules) < MOST_MODULES):
            self._modules[found[1]] += 1
        for name in ("", str(record["language"])):
            self._counts[name] = self._counts.get(name, 0) + 1
            known = self._faults.setdefault(name, fault)
            if known is not None and (fault is None or fault.kind != known.kind):
                self._faults[name] = None

    def missing_modules(self) -> dict[str, int]:
        """Return how many failed for want of a module of Python, the most frequent first."""
        return dict(self._modules.most_common())

    def shared(self) -> list[dict[str, Any]]:
        """Return {language, solutions, verdict, error} of each; language null: of all solutions."""
        found = {
            name: fault
            for name, fault in self._faults.items()
            if fault is not None and self._counts[name] >= LEAST
        }
        names = [""] if "" in found else sorted(found)
        return [
            {
                "language": name or None,
                "solutions": self._counts[name],
                "verdict": found[name].verdict,
                "error": found[name].error,
            }
            for name in names
        ]


class Shares:
    """How many of each problem's solutions passed; of a solution also a share."""

    def __init__(self) -> None:
        self.counts: dict[str, tuple[float, int]] = {}  # passed, all

    def add(self, problem_id: str, passed: float) -> None:
        good, total = self.counts.get(problem_id, (0, 0))
        self.counts[problem_id] = (good + passed, total + 1)

    def mean(self) -> float | None:
        shares = [good / total for good, total in self.counts.values()]
        return fsum(shares) / len(shares) if shares else None

    def totals(self) -> tuple[int, int]:
        pairs = self.counts.values()
        return int(sum(good for good, _ in pairs)), sum(total for _, total in pairs)


class Apart:
    """Counters updated record by record. Memory grows with the number of problems only."""

    def __init__(self) -> None:
        self._faults: dict[str, str] = {}
        self._faulty, self._others = Shares(), Shares()
        self._base, self._plus = Shares(), Shares()

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
