"""Why solutions failed, in words that are equal when the reason is: what a whole run may share.

    record ─▶ first_fault ─▶ Fault("RE", "exit code 1: KeyError: 'check'") ─▶ kind, without figures

One fault behind every solution is rarely that of the solutions: rows read as another format, a
library that no program finds, a compiler that always fails.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from gradebox.eval.results.statistics.counts import COUNTED_STATUSES

LEAST = 3  # solutions; that one or two fail in the same way says nothing
MOST_READ = 1000  # characters
MOST_WORDS = 8  # later ones may name what is near, only sometimes
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|‘[^’]*’")
_FIGURE = re.compile(r"[\d.]*\d")


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


class SharedFaults:
    """Finds what all solutions of a run, or all of one language, failed by."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}  # by language, "" for all
        self._faults: dict[str, Fault | None] = {}  # None: they differ, or one passed

    def add(self, record: Mapping[str, Any]) -> None:
        """Count one solution."""
        if record["status"] not in COUNTED_STATUSES:
            return
        fault = None if record["status"] == "passed" else first_fault(record)
        for name in ("", str(record["language"])):
            self._counts[name] = self._counts.get(name, 0) + 1
            known = self._faults.setdefault(name, fault)
            if known is not None and (fault is None or fault.kind != known.kind):
                self._faults[name] = None

    def result(self) -> list[dict[str, Any]]:
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
