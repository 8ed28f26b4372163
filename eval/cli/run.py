"""A grading run from its options to its results; the main command calls `run_grading`.

Options ─▶ GradingSession ─▶ for each solutions file: plan ─ schedule ─ records ─ metrics
"""

from __future__ import annotations

import contextlib
import logging
import math
import platform
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from gradebox.eval.api.dataset_check import DatasetCheck, missing_libraries
from gradebox.eval.cli.calibration import calibrate
from gradebox.eval.cli.progress import Progress
from gradebox.eval.common.errors import InputError, Retry
from gradebox.eval.common.files import working_folder
from gradebox.eval.common.signals import Stopper
from gradebox.eval.debugging.find import open_results
from gradebox.eval.debugging.rejudge import RejudgedRecords, Rejudging
from gradebox.eval.grading.cases.judges import try_named_checker
from gradebox.eval.grading.options import Options
from gradebox.eval.grading.planner import Planner, ProgressCounts, RecordStore, open_scheduler
from gradebox.eval.grading.session import GradingSession
from gradebox.eval.results.folder import (
    ResultsFolder,
    discard_results,
    make_folder,
    results_stem,
)
from gradebox.eval.results.metrics import RunFacts, compute_metrics
from gradebox.eval.results.other_formats import targets, write_others
from gradebox.eval.results.record import SCHEMA
from gradebox.eval.results.records import read_metrics, read_records
from gradebox.eval.solutions.files import count_lines
from gradebox.eval.solutions.reader import read_solutions
from gradebox.eval.solutions.solution import Solution
from gradebox.sandbox.common.exit_status import ExitStatus
from gradebox.sandbox.protocol import Sandbox

log = logging.getLogger(__name__)
SLOW_S = 3.0  # a step before the run that takes longer is reported
MOST_ADDRESSES = 3  # of servers, in the line about the sandbox
LOG_FORMAT = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")


class FileResult(NamedTuple):
    """The result of one solutions file. `metrics` is None when the run was interrupted."""

    source: Path
    folder: Path
    metrics: dict[str, Any] | None
    graded_now: int
    from_before: int


class RunResult(NamedTuple):
    """The result of a run. `no_tests`: one line for the user when no solution had a test."""

    files: tuple[FileResult, ...]
    interrupted: bool
    no_tests: str = ""

    @property
    def exit_status(self) -> int:
        """0 graded, 2 all invalid or without tests, 3 infrastructure errors, 130 interrupted."""
        if self.interrupted:
            return ExitStatus.INTERRUPTED
        found = [f.metrics for f in self.files if f.metrics is not None]
        if any(m["statuses"].get("error") or m["case_verdicts"].get("ER") for m in found):
            return ExitStatus.INFRASTRUCTURE
        all_invalid = all(set(m["statuses"]) <= {"invalid"} for m in found)
        return ExitStatus.BAD_INPUT if all_invalid or self.no_tests else ExitStatus.OK


def run_grading(
    options: Options,
    *,
    say: Callable[[str], None] = lambda _: None,
    sandbox: Sandbox | None = None,
    retry: Retry | None = None,
    rejudging: Rejudging | None = None,
) -> RunResult:
    """Grade what the options name; return when everything is recorded or on an interrupt.

    say        called with messages for the user
    sandbox    used instead of the one the options choose, and not closed
    rejudging  solutions of an earlier run, whose records are replaced; `.summary` is filled

    Raises InputError for bad input, an unavailable sandbox, an unusable results folder or a full
    disk; whatever was graded before is recorded. In the main thread, SIGINT and SIGTERM end the
    run after the cases that are running.
    """
    with contextlib.ExitStack() as stack:
        # Entered first, so left last: a second signal ends the process even in the sandbox's close.
        stopper = stack.enter_context(Stopper())
        session = stack.enter_context(GradingSession(options, sandbox))
        session.open_inputs()
        if options.also_write and len(session.files) > 1:
            raise InputError(
                f"--also-write with {len(session.files)} solutions files: give one file"
            )
        for source in session.files if rejudging is None else ():
            make_folder(_folder_of(source, options))
        say(_sandbox_line(session))
        if note := missing_libraries(session):
            session.add_note(note)
            say(note)
        if options.executor == "local":  # with Ray, only nodes may have what a checker needs
            try_named_checker(session.options, session.sandbox)
        if options.fresh:
            discard_results(_folder_of(source, options) for source in session.files)
        stopper.arm()
        retry = retry or Retry(stop=stopper.event)
        if options.self_check or options.self_check_solutions is not None:
            from gradebox.eval.grading.known.audit import self_check

            summary = self_check(session, stopper, retry)
            if stopper.event.is_set():
                return RunResult((), True)
            say(summary)
        if rejudging is not None:
            result = _rejudge(session, rejudging, stopper, retry)
            return RunResult((result,), stopper.event.is_set())
        results, check = [], DatasetCheck(session)
        for source in session.files:
            results.append(_grade_file(session, source, check, stopper, retry, say))
            if stopper.event.is_set():
                break
        statuses = {s for file in results if file.metrics for s in file.metrics["statuses"]}
        tested = any(not file.metrics or file.metrics["case_verdicts"] for file in results)
        without = not tested and "no_tests" in statuses <= {"no_tests", "invalid"}
        no_tests = session.problems.why_no_tests() if without else ""
    return RunResult(tuple(results), stopper.event.is_set(), no_tests)


def _sandbox_line(session: GradingSession) -> str:
    d = session.description
    exact = ", ".join(sorted(d.exact)) or "nothing"
    addresses = d.addresses[:MOST_ADDRESSES]
    more = f" and {len(d.addresses) - len(addresses)} more" if addresses != d.addresses else ""
    where = f" at {', '.join(addresses)}{more}" if addresses else ""
    return f"sandbox {d.backend}{where}, level {d.level}, exact: {exact}"


def _folder_of(source: Path, options: Options) -> Path:
    return options.results_dir / results_stem(source)


def _grade_file(
    session: GradingSession,
    source: Path,
    check: DatasetCheck,
    stopper: Stopper,
    retry: Retry,
    say: Callable[[str], None],
) -> FileResult:
    started = time.monotonic()
    options, backend = session.options, session.description.backend
    path = _folder_of(source, options)
    counts = ProgressCounts()
    with ResultsFolder(path, backend=backend) as folder, _log_to(path):
        if folder.outdated:
            say(
                f"{path}: {folder.outdated} records are of another version (schema {SCHEMA} is "
                "this one's) and are graded again, since their verdicts could differ"
            )
        earlier = _earlier(folder)
        calibration = earlier.calibration
        where = f"--dataset {options.dataset}"
        solutions = session.solutions(source)
        with _reported_when_slow(say, f"{where}: grading its own solutions (--no-check-dataset)"):
            check.run(solutions, session.problems, where, stopper.stopping, folder.find)
        if stopper.event.is_set():
            return FileResult(source, path, None, 0, 0)
        # The number of solutions, unless it is expensive to know.
        total = None if options.chooses_problems else count_lines(source)
        if total is not None and options.limit is not None:
            total = min(total, options.limit)
        done = _schedule(session, session.solutions(source), folder, counts, total, stopper, retry)
        graded_now = counts.solutions - counts.reused
        if not done:
            return FileResult(source, path, None, graded_now, counts.reused)
        if not counts.solutions:
            raise InputError(f"{source}: no solution is left to grade; see --problems and --limit")
        if folder.added == 0:
            say(f"Nothing left to do: all {counts.solutions} solutions have their records.")
        folder.compact()
        if counts.cases or calibration is None:
            calibration = calibrate(session.sandbox)
        facts = RunFacts(
            timestamp=_now(),
            flags=options.as_json(),
            sandbox=session.description.as_json(),
            calibration=calibration,
            problems=session.problems.describe(),
            run={
                "solutions_file": str(source),
                "folder": working_folder(),
                "graded_now": graded_now,
                "from_before": counts.reused,
                "wall_s": round(time.monotonic() - started, 3),
                "python": platform.python_version(),
                "machine": platform.platform(),
                "notes": session.notes(),
            },
            known_solutions=check.result if check.result["checked"] else earlier.check(),
        )
        metrics = _write_metrics(folder, options, facts)
        if others := targets(options.also_write):
            found = read_solutions([source], resolve=session.problems.resolve)
            codes = {(s.problem_id, s.sample_i): s.code or s.response or "" for s in found}
            write_others(others, lambda: read_records(folder.records_path), codes)
    return FileResult(source, path, metrics, graded_now, counts.reused)


@contextlib.contextmanager
def _reported_when_slow(say: Callable[[str], None], text: str) -> Iterator[None]:
    timer = threading.Timer(SLOW_S, say, [text])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _schedule(
    session: GradingSession,
    solutions: Iterable[Solution],
    records: RecordStore,
    counts: ProgressCounts,
    total: int | None,
    stopper: Stopper,
    retry: Retry,
) -> bool:
    """Grade what is not graded yet; return False when the run was stopped before the end.

    total  number of solutions, None when unknown
    """
    scheduler = open_scheduler(session)
    planner = Planner(session, session.problems, records, counts, lambda: scheduler.stopping)
    context = session.job_context(
        session.case_settings(retry=retry), planner.done, counts.add_case, scheduler.grade_whole
    )
    progress = Progress(counts, total, scheduler.slowest)
    with stopper.stopping(scheduler):
        try:
            return scheduler.run(planner.jobs(solutions, context), progress.tick)
        finally:
            progress.close()


def _rejudge(
    session: GradingSession, rejudging: Rejudging, stopper: Stopper, retry: Retry
) -> FileResult:
    """Grade the selected solutions again; replace their records, and the metrics if any."""
    source, path, summary = session.files[0], rejudging.results.folder, rejudging.summary
    counts, total = ProgressCounts(), len(rejudging.lines)
    with ResultsFolder(path, backend=None) as folder, _log_to(path):
        results = open_results(str(path))  # read again: no run writes to the locked folder
        rejudging = replace(rejudging, results=results)
        records = RejudgedRecords(rejudging, folder, session)
        solutions = records.solutions(source)
        done = _schedule(session, solutions, records, counts, total, stopper, retry)
        summary.interrupted = not done
        if summary.solutions:
            folder.compact()
        if summary.solutions and results.metrics:
            earlier = _Earlier.of(results.metrics)
            facts = RunFacts(
                timestamp=_now(),
                flags=results.flags,
                sandbox=results.part("sandbox"),
                calibration=earlier.calibration,
                problems=results.part("problems"),
                run=rejudging.run_facts(session),
                known_solutions=earlier.check(),
            )
            summary.metrics = _write_metrics(folder, session.options, facts)
    return FileResult(source, path, None, summary.solutions, 0)


def _write_metrics(folder: ResultsFolder, options: Options, facts: RunFacts) -> dict[str, Any]:
    records = read_records(folder.records_path)
    metrics = compute_metrics(records, options.k, facts, seed=options.seed)
    folder.write_metrics(metrics)
    return metrics


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


class _Earlier(msgspec.Struct):
    """What this run takes over from the metrics of an earlier run in the folder."""

    calibration: dict[str, Any] | None = None
    known_solutions_checked: int = 0
    known_solutions_failed: list[dict[str, Any]] = msgspec.field(default_factory=list)

    @classmethod
    def of(cls, metrics: Mapping[str, Any]) -> _Earlier:
        """Return the usable parts; metrics of another shape count as missing."""
        try:
            found = msgspec.convert(metrics, cls)
            seconds = msgspec.convert((found.calibration or {}).get("cpu_s", 0.0), float)
        except msgspec.ValidationError:
            return cls()
        return found if 0 < seconds < math.inf else msgspec.structs.replace(found, calibration=None)

    def check(self) -> dict[str, Any]:
        """Return how many of the data set's own solutions it checked, and which failed."""
        return {"checked": self.known_solutions_checked, "failed": self.known_solutions_failed}


def _earlier(folder: ResultsFolder) -> _Earlier:
    try:
        return _Earlier.of(read_metrics(folder.path))
    except InputError:
        return _Earlier()


class _OnDemandFile(logging.FileHandler):
    """Opens its file at the first message. If that fails, only the message is lost.

    logging raises that error in the call that logs. It once ended a worker in the middle of a
    case, and the run waited forever.
    """

    def emit(self, record: logging.LogRecord) -> None:
        try:
            super().emit(record)
        except OSError:
            self.handleError(record)


@contextlib.contextmanager
def _log_to(folder: Path) -> Iterator[None]:
    """Write warnings and tracebacks to grading.log, which is created when there are any."""
    handler = _OnDemandFile(folder / "grading.log", encoding="utf-8", delay=True)
    handler.setFormatter(LOG_FORMAT)
    handler.setLevel(logging.WARNING)
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
        handler.close()


def log_to_file(path: Path) -> None:
    """Log at level INFO to a file as well (--log-file)."""
    try:
        handler = logging.FileHandler(path, encoding="utf-8")
    except OSError as e:
        raise InputError(f"--log-file {path}: {e.strerror}; give another file") from None
    handler.setFormatter(LOG_FORMAT)
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    log.info("command: %s", sys.argv)
