"""Rejudge chosen cases of a run, and bring its records and metrics up to date.

    selected solutions ─ SolutionRejudger ─▶ records appended to the file
        ─▶ the file rewritten with one record for each solution ─▶ metrics

The run's folder is locked. A record's key covers the checker and the tests. So when they change,
all cases of a solution are rejudged, not only the selected ones. An interrupted rejudging leaves
some solutions with two records, of which the last counts.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from gradebox.eval.common.errors import InputError
from gradebox.eval.common.output_files import replacing, write_json
from gradebox.eval.common.terminal import Row, Span, cut, row
from gradebox.eval.debugging.find import Json, Results, case_key, open_results
from gradebox.eval.debugging.rejudge_solution import CaseKey, RejudgedSolution, SolutionRejudger
from gradebox.eval.debugging.reopen import find_checker_file
from gradebox.eval.grading.judges import try_named_checker
from gradebox.eval.grading.session import GradingSession
from gradebox.eval.problems.problem import Problem
from gradebox.eval.results.folder import METRICS_NAME, FolderLock
from gradebox.eval.results.metrics import RunFacts, compute_metrics
from gradebox.eval.results.records import (
    RecordLog,
    encode_record,
    read_records,
    scan_records,
    solution_fingerprint,
)
from gradebox.eval.solutions.reader import read_solutions
from gradebox.eval.solutions.solution import Solution

QUEUED_PER_WORKER = 4
PROGRESS_EVERY_S = 2.0
MAX_SHOWN_OMISSIONS = 5

Selection = dict[int, frozenset[CaseKey]]


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

    def add(self, rejudged: RejudgedSolution) -> None:
        old, new = rejudged.old, rejudged.new
        self.solutions += 1
        self.cases += len(new["details"])
        self.from_stored += rejudged.from_stored
        self.statuses[str(old.get("status")), str(new["status"])] += 1
        before = {case_key(case): case["verdict"] for case in old.get("details") or ()}
        for case in new["details"]:
            then = before.get(case_key(case), "none")
            if then != case["verdict"]:
                self.changed[then, case["verdict"]] += 1


def rejudge_run(
    results: Results,
    selection: Selection,
    session: GradingSession,
    on_progress: Callable[[RejudgeSummary], None] = lambda _: None,
) -> RejudgeSummary:
    """Rejudge the selected cases and rewrite records and metrics.

    selection  line of a solution ─▶ its cases; an empty set selects all of them

    Raises InputError when the folder is in use or can't be written, and when the checker can't
    be opened.
    """
    try_named_checker(session.options, session.sandbox)
    summary = RejudgeSummary()
    with FolderLock(results.folder):
        results = open_results(str(results.folder))  # again, now that no run writes them
        log = RecordLog(results.records)
        try:
            _rejudge_all(results, selection, session, log, summary, on_progress)
        finally:
            log.close()
        if summary.solutions:
            _keep_last_records(results)
            if results.metrics:
                summary.metrics = _new_metrics(results, session, summary)
                write_json(results.folder / METRICS_NAME, summary.metrics)
    return summary


def _rejudge_all(
    results: Results,
    selection: Selection,
    session: GradingSession,
    log: RecordLog,
    summary: RejudgeSummary,
    on_progress: Callable[[RejudgeSummary], None],
) -> None:
    """Rejudge with all workers, and append each new record at once."""
    rejudger = SolutionRejudger(session, _earlier_checkers(results))
    pending: set[Future[RejudgedSolution]] = set()
    workers = session.options.workers

    def collect(allowed: int) -> None:
        """Wait until at most `allowed` solutions are pending."""
        nonlocal pending
        while len(pending) > allowed:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                try:
                    rejudged = future.result()
                except InputError as e:  # its problem has become unusable
                    summary.omitted.append(str(e))
                else:
                    log.append(encode_record(rejudged.new))
                    summary.add(rejudged)
            on_progress(summary)

    with ThreadPoolExecutor(workers) as pool:
        try:
            for problem, record, solution in _selected(results, selection, session, summary):
                cases = selection[solution.line]
                pending.add(pool.submit(rejudger.rejudge, problem, record, solution, cases))
                collect(QUEUED_PER_WORKER * workers)
            collect(0)
        except KeyboardInterrupt:
            summary.interrupted = True
            for future in pending:
                future.cancel()


def _selected(
    results: Results, selection: Selection, session: GradingSession, summary: RejudgeSummary
) -> Iterator[tuple[Problem, Json, Solution]]:
    """Yield problem, record and solution of the selected lines, in the order of the file."""
    offsets: dict[int, int] = {}
    for offset, record in scan_records(results.records):
        if record is not None and record.get("line") in selection:
            offsets[record["line"]] = offset
    reader = RecordLog(results.records)
    try:
        for solution in read_solutions([session.files[0]], resolve=session.problems.resolve):
            record = reader.read(offsets[solution.line]) if solution.line in offsets else None
            if record is None:
                continue
            names = (solution.problem_id, solution.solution_id)
            if names != (record.get("problem_id"), record.get("solution_id")) or solution.error:
                summary.omitted.append(f"line {solution.line} has another solution now")
                continue
            problem = session.problems.get(solution.problem_id)
            if problem is None:
                summary.omitted.append(session.problems.why_missing(solution.problem_id))
                continue
            yield problem, record, solution
    finally:
        reader.close()


def _keep_last_records(results: Results) -> None:
    """Rewrite the file with the last record of each solution, in the order of the first ones."""
    offsets: dict[int, int] = {}
    for offset, record in scan_records(results.records):
        if record is not None:
            offsets[solution_fingerprint(record)] = offset
    reader = RecordLog(results.records)
    try:
        with replacing(results.records) as file:
            for offset in offsets.values():
                file.write(reader.read_line(offset))
    finally:
        reader.close()


def _new_metrics(results: Results, session: GradingSession, summary: RejudgeSummary) -> Json:
    """Compute the metrics of the new records; `run.rejudged` lists every rejudging."""
    old = results.metrics
    this_time = {
        "solutions": summary.solutions,
        "cases": summary.cases,
        "checker": session.options.checker,
        "sandbox": session.description.as_json(),
    }
    facts = RunFacts(
        timestamp=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        flags=results.flags,
        sandbox=_object(old, "sandbox"),
        calibration=old.get("calibration"),
        problems=_object(old, "problems"),
        run={**results.run, "rejudged": [*_earlier_rejudgings(results.run), this_time]},
    )
    options = session.options
    return compute_metrics(read_records(results.records), options.k, facts, seed=options.seed)


def _earlier_checkers(results: Results) -> list[str | None]:
    """Return every --checker that judged the records so far; None: the problems' own."""
    names = [results.flags.get("--checker"), None]
    names += [e.get("checker") for e in _earlier_rejudgings(results.run) if isinstance(e, dict)]
    return [find_checker_file(results, name) if isinstance(name, str) else None for name in names]


def _object(metrics: Json, name: str) -> Json:
    found = metrics.get(name)
    return found if isinstance(found, dict) else {}


def _earlier_rejudgings(run: Json) -> list[Any]:
    found = run.get("rejudged")
    return found if isinstance(found, list) else []


class ProgressPrinter:
    """Print the number of rejudged solutions on stderr every few seconds."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._last = time.monotonic()

    def __call__(self, summary: RejudgeSummary) -> None:
        if time.monotonic() - self._last >= PROGRESS_EVERY_S:
            self._last = time.monotonic()
            print(f"{summary.solutions}/{self._total} solutions", file=sys.stderr, flush=True)


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
