"""Rejudging: a run over chosen solutions of a results folder that grades them again.

    Rejudging (which lines) ─▶ cli/run.py ─▶ RejudgedRecords, the store of its planner
        ─▶ new records in the places of the old ones ─▶ RejudgeSummary, metrics

An interrupted rejudging that could not rewrite the file leaves some solutions with two records, of
which the last counts.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gradebox.eval.common.terminal import Row, Span, cut, row
from gradebox.eval.debugging.find import Json, Results
from gradebox.eval.grading.session import GradingSession
from gradebox.eval.results.folder import ResultsFolder
from gradebox.eval.results.records import EncodedRecord
from gradebox.eval.solutions.reader import read_solutions
from gradebox.eval.solutions.solution import Solution

MAX_SHOWN_OMISSIONS = 5


@dataclass
class RejudgeSummary:
    """What changed.

    changed   number of cases by (old verdict, new verdict)
    statuses  number of solutions by (old status, new status)
    omitted   why selected solutions were not rejudged
    metrics   the new metrics; None when the run has none
    """

    solutions: int = 0
    cases: int = 0
    omitted: list[str] = field(default_factory=list)
    changed: Counter[tuple[str, str]] = field(default_factory=Counter)
    statuses: Counter[tuple[str, str]] = field(default_factory=Counter)
    metrics: Json | None = None
    interrupted: bool = False

    def add(self, old: Json, new: Json) -> None:
        """Count a solution."""
        before, now = _verdicts(old), _verdicts(new)
        self.solutions += 1
        self.cases += len(now)
        self.statuses[str(old.get("status")), str(new["status"])] += 1
        for key, verdict in now.items():
            then = before.get(key, "none")
            if then != verdict:
                self.changed[then, verdict] += 1


def _verdicts(record: Json) -> dict[tuple[str, int], str]:
    cases = record.get("details") or ()
    return {(case["case_type"], case["test_case_i"]): case["verdict"] for case in cases}


@dataclass(frozen=True)
class Rejudging:
    """Which solutions of a run are graded again: their lines."""

    results: Results
    lines: frozenset[int]
    summary: RejudgeSummary = field(default_factory=RejudgeSummary)

    def run_facts(self, session: GradingSession) -> dict[str, Any]:
        """Return the metrics' facts about the run, in which `rejudged` lists every rejudging."""
        this_time = {
            "solutions": self.summary.solutions,
            "cases": self.summary.cases,
            "checker": session.options.checker,
            "sandbox": session.description.as_json(),
        }
        earlier = self.results.run.get("rejudged")
        rejudged = [*(earlier if isinstance(earlier, list) else []), this_time]
        return {**self.results.run, "rejudged": rejudged}


class RejudgedRecords:
    """The record store of a rejudging (`planner.RecordStore`): each selected solution is graded.

    A solution that can't be graded any more keeps its record; the summary says why.
    """

    def __init__(
        self, rejudging: Rejudging, folder: ResultsFolder, session: GradingSession
    ) -> None:
        self._lines, self._summary = rejudging.lines, rejudging.summary
        self._folder = folder
        self._session = session
        self._lock = threading.Lock()

    def solutions(self, source: Path) -> Iterator[Solution]:
        """Yield the selected solutions of the file that are still those of their records."""
        for solution in read_solutions([source], resolve=self._session.problems.resolve):
            if solution.line not in self._lines:
                continue
            if self._folder.record_of(vars(solution)) is None or solution.error:
                self._summary.omitted.append(f"line {solution.line} has another solution now")
                continue
            yield solution

    def find(self, key: str) -> None:
        """Find no record: what is selected is graded again."""

    def add_graded(self, ordinal: int, names: Mapping[str, Any], record: EncodedRecord) -> None:
        """See `place`."""
        self.place(ordinal, record.fields())

    def place(self, ordinal: int, record: Mapping[str, Any]) -> bool:
        """Put a record in the place of the solution's old one, and count what changed."""
        if record["status"] == "invalid":
            self._summary.omitted.append(record["error"])
            return False
        with self._lock:
            self._summary.add(self._folder.record_of(record) or {}, record)
        return self._folder.place(ordinal, record)


def summary_page(summary: RejudgeSummary, selected: int, width: int) -> Iterator[Row]:
    """Yield a few lines about what changed. `selected`: number of selected solutions."""
    yield row(Span(f"{summary.solutions} of {_count(selected, 'solution')} graded again", "head"))
    for (then, now), count in sorted(summary.changed.items()):
        yield row(f"  {_count(count, 'case')} {then} before, {now} now")
    if not summary.changed:
        yield row("  no verdict of a case changed")
    for (then, now), count in sorted(summary.statuses.items()):
        if then != now:
            yield row(f"  {_count(count, 'solution')} {then} before, {now} now")
    for text in summary.omitted[:MAX_SHOWN_OMISSIONS]:
        yield row(cut(f"  not graded: {text}", width))
    if summary.metrics is not None:
        share = summary.metrics.get("pass_at_1")
        yield row(f"  pass@1 {f'{share:.4f}' if isinstance(share, float) else 'unknown'} now")
    elif summary.solutions:
        yield row("  the run is unfinished; start it again to get its metrics")
    if summary.interrupted:
        yield row(Span("  interrupted; the same command grades the rest", "warn"))


def _count(count: int, what: str) -> str:
    return f"{count} {what}" + "s" * (count != 1)
