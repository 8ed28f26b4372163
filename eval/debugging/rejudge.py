"""Rejudging: a run over chosen solutions of a results folder that takes what their records have.

    Rejudging (which cases) ─▶ cli/run.py ─▶ RejudgedRecords, the store of its planner
        ─▶ new records in the places of the old ones ─▶ RejudgeSummary, metrics

A record's key covers the checker and the tests. So when they change, all cases of a solution are
judged again, not only the selected ones. An interrupted rejudging that could not rewrite the file
leaves some solutions with two records, of which the last counts.
"""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gradebox.eval.common.errors import InputError
from gradebox.eval.common.terminal import Row, Span, cut, row
from gradebox.eval.debugging.find import Json, Results
from gradebox.eval.debugging.reopen import find_checker_file
from gradebox.eval.grading.cases.judges import open_judge
from gradebox.eval.grading.cases.stored import CaseKey, StoredCases, case_key, stored_cases
from gradebox.eval.grading.session import GradingSession
from gradebox.eval.grading.solution_run import SolutionRun
from gradebox.eval.results.folder import ResultsFolder
from gradebox.eval.results.record import is_record
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
    from_stored: int = 0
    omitted: list[str] = field(default_factory=list)
    changed: Counter[tuple[str, str]] = field(default_factory=Counter)
    statuses: Counter[tuple[str, str]] = field(default_factory=Counter)
    metrics: Json | None = None
    interrupted: bool = False

    def add(self, old: Json, new: Json, by_output: frozenset[CaseKey]) -> None:
        """Count a solution; `by_output` are the cases that have been judged by stored outputs."""
        cases = {case_key(case): case["verdict"] for case in new["details"]}
        self.solutions += 1
        self.cases += len(cases)
        self.from_stored += sum(cases.get(key, "SK") != "SK" for key in by_output)
        self.statuses[str(old.get("status")), str(new["status"])] += 1
        before = {case_key(case): case["verdict"] for case in old.get("details") or ()}
        for key, verdict in cases.items():
            then = before.get(key, "none")
            if then != verdict:
                self.changed[then, verdict] += 1


@dataclass(frozen=True)
class Rejudging:
    """Which cases of a run are judged again.

    selection  line of a solution ─▶ its cases; an empty set selects all of them
    """

    results: Results
    selection: Mapping[int, frozenset[CaseKey]]
    summary: RejudgeSummary = field(default_factory=RejudgeSummary)

    def run_facts(self, session: GradingSession) -> dict[str, Any]:
        """Return the metrics' facts about the run, in which `rejudged` lists every rejudging."""
        this_time = {
            "solutions": self.summary.solutions,
            "cases": self.summary.cases,
            "checker": session.options.checker,
            "sandbox": session.description.as_json(),
        }
        return {**self.results.run, "rejudged": [*self._earlier(), this_time]}

    def earlier_checkers(self) -> tuple[str | None, ...]:
        """Return every --checker that judged the records so far; None: the problems' own."""
        names = [self.results.flags.get("--checker"), None]
        names += [e.get("checker") for e in self._earlier() if isinstance(e, dict)]
        found = (find_checker_file(self.results, n) if isinstance(n, str) else None for n in names)
        return tuple(dict.fromkeys(found))

    def _earlier(self) -> list[Any]:
        found = self.results.run.get("rejudged")
        return found if isinstance(found, list) else []


class RejudgedRecords:
    """The record store of a rejudging (`planner.RecordStore`): each selected solution is graded.

    A solution that can't be graded any more keeps its record; the summary says why.
    """

    def __init__(
        self, rejudging: Rejudging, folder: ResultsFolder, session: GradingSession
    ) -> None:
        self._selection, self._summary = rejudging.selection, rejudging.summary
        self._folder = folder
        self._session = session
        self._checkers = rejudging.earlier_checkers()
        self._digests: dict[tuple[str, str | None], str | None] = {}  # None: its file is gone
        self._lock = threading.Lock()
        self._places: list[int] = []  # in the folder, by ordinal of this run
        self._by_output: dict[int, frozenset[CaseKey]] = {}

    def solutions(self, source: Path) -> Iterator[Solution]:
        """Yield the selected solutions of the file that are still those of their records."""
        for solution in read_solutions([source], resolve=self._session.problems.resolve):
            if solution.line not in self._selection:
                continue
            place = self._folder.ordinal_of(vars(solution))
            if place is None or solution.error:
                self._summary.omitted.append(f"line {solution.line} has another solution now")
                continue
            self._places.append(place)
            yield solution

    def prepare(self, ordinal: int, run: SolutionRun) -> SolutionRun:
        """Return the run with the cases of its record that need not run."""
        old, stored = self._folder.record(self._places[ordinal]), StoredCases()
        same = run.key == old.get("key")
        if is_record(old) and (same or self._only_checker_changed(run, old)):
            selected = self._selection[run.solution.line] if same else frozenset()
            resources = self._session.resources.acquire(run.problem)
            interactive = resources.interactor is not None
            self._session.resources.release(resources)
            stored = stored_cases(old, run.problem, selected, interactive=interactive)
        self._by_output[ordinal] = frozenset(stored.outputs)
        return replace(run, stored=stored)

    def find(self, key: str) -> None:
        """Find no record: what is selected is judged again."""

    def add(self, ordinal: int, record: Mapping[str, Any]) -> None:
        """See `place`."""
        self.place(ordinal, record)

    def add_graded(self, ordinal: int, names: Mapping[str, Any], record: EncodedRecord) -> None:
        """See `place`."""
        self.place(ordinal, record.fields())

    def place(self, ordinal: int, record: Mapping[str, Any]) -> bool:
        """Put a record in the place of the solution's old one, and count what changed."""
        place, by_output = self._places[ordinal], self._by_output.pop(ordinal, frozenset())
        if record["status"] == "invalid":
            self._summary.omitted.append(record["error"])
            return False
        with self._lock:
            self._summary.add(self._folder.record(place), record, by_output)
        return self._folder.place(place, record)

    def _only_checker_changed(self, run: SolutionRun, record: Json) -> bool:
        """Return whether at most the checker changed, so that stored outputs are still valid.

        Then one of the earlier checkers gives the record's key.
        """
        session, solution, problem = self._session, run.solution, run.problem
        for name in self._checkers:
            known = problem.id, name
            if known not in self._digests:
                self._digests[known] = None
                with contextlib.suppress(InputError):
                    checker = open_judge(problem, name, session.options, session.sandbox)
                    self._digests[known] = checker.digest if checker else ""
            test_set = replace(run.test_set, checker=self._digests[known] or "")
            if session.context.solution_run(solution, problem, test_set).key == record["key"]:
                return True
        return False


def summary_page(summary: RejudgeSummary, selected: int, width: int) -> Iterator[Row]:
    """Yield a few lines about what changed. `selected`: number of selected solutions."""
    yield row(
        Span(f"{summary.solutions} of {_count(selected, 'solution')} graded again", "head"),
        f"; {_count(summary.from_stored, 'case')} judged by the stored output",
    )
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
