"""A grading run from its options to its results: what the main command calls.

Options ─▶ for each solutions file: plan ─ schedule ─ records ─ metrics ─▶ RunResult
"""

from __future__ import annotations

import contextlib
import json
import logging
import math
import platform
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any

from eval.calibration import calibrate
from eval.executors import Executor, open_executor
from eval.grade_case import Bench
from eval.grade_solution import SolutionTask, Workshop
from eval.input_error import InputError
from eval.materials import Materials, open_materials
from eval.metrics import RunFacts, compute
from eval.options import Options
from eval.plan import Ledger, Terms
from eval.progress import Progress, Tally
from eval.records import read_records
from eval.results_folder import ResultsFolder, stem_of
from eval.retry import Retry
from eval.solution_files import count_lines
from eval.solutions import read_solutions
from eval.stopping import INTERRUPTED_STATUS, Stopper
from eval.verdict_cache import VerdictCache
from sandbox.protocol import Sandbox

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class FileResult:
    """What became of one solutions file. `metrics` is None when the run was interrupted."""

    source: Path
    folder: Path
    metrics: dict[str, Any] | None
    graded_now: int
    from_before: int


@dataclass(frozen=True)
class RunResult:
    """What became of a run."""

    files: tuple[FileResult, ...]
    interrupted: bool

    @property
    def exit_status(self) -> int:
        """0 all graded, 2 every solution invalid, 3 infrastructure errors, 130 interrupted."""
        if self.interrupted:
            return INTERRUPTED_STATUS
        found = [f.metrics for f in self.files if f.metrics is not None]
        if any(m["statuses"].get("error") or m["case_verdicts"].get("ER") for m in found):
            return 3
        return 2 if all(set(m["statuses"]) <= {"invalid"} for m in found) else 0


def run_grading(
    options: Options,
    *,
    say: Callable[[str], None] = lambda _: None,
    sandbox: Sandbox | None = None,
    retry: Retry | None = None,
) -> RunResult:
    """Grades what the options name and returns when all is recorded, or it was interrupted.

    say      is told what a user may want to read while it goes on
    sandbox  used instead of the one the options choose, and not closed

    Raises InputError for bad input, a sandbox that can't be had, an unusable results folder
    or a full disk; what was graded until then is recorded. SIGINT and SIGTERM end the run
    after the cases under way when it is called from the main thread.
    """
    with contextlib.ExitStack() as stack:
        # Entered first, left last: a second signal while the sandbox is closed ends at once, too.
        stopper = stack.enter_context(Stopper(say))
        materials = stack.enter_context(open_materials(options, sandbox))
        say(materials.about_sandbox())
        stopper.arm()
        retry = retry or Retry(stop=stopper.event)
        if options.self_check or options.self_check_solutions is not None:
            _self_check(options, materials, stopper, retry, say)
            if stopper.event.is_set():
                return RunResult((), True)
        results = []
        for source in materials.files:
            results.append(_grade_file(options, materials, source, stopper, retry, say))
            if stopper.event.is_set():
                break
    return RunResult(tuple(results), stopper.event.is_set())


def _grade_file(
    options: Options,
    materials: Materials,
    source: Path,
    stopper: Stopper,
    retry: Retry,
    say: Callable[[str], None],
) -> FileResult:
    started = time.monotonic()
    path = options.results_dir / stem_of(source)
    backend = materials.description.backend
    tally = Tally()
    with ResultsFolder(path, backend=backend, fresh=options.fresh) as folder, _log_to(path):
        calibration = _old_calibration(folder)
        done = _schedule(options, materials, source, folder, tally, stopper, retry)
        fresh = tally.solutions - tally.before
        if not done:
            return FileResult(source, path, None, fresh, tally.before)
        if not tally.solutions:
            raise InputError(f"{source}: no solution is left to grade; see --problems and --limit")
        if folder.added == 0:
            say(f"Nothing left to do: all {tally.solutions} solutions have their records.")
        folder.compact()
        if tally.cases or calibration is None:
            calibration = calibrate(materials.sandbox)
        facts = RunFacts(
            timestamp=datetime.now(timezone.utc).isoformat(timespec="seconds"),
            flags=options.as_json(),
            sandbox=materials.description.as_json(),
            calibration=calibration,
            problems=materials.problems.describe(),
            run={
                "solutions_file": str(source),
                "folder": str(Path.cwd()),
                "graded_now": fresh,
                "from_before": tally.before,
                "wall_s": round(time.monotonic() - started, 3),
                "python": platform.python_version(),
                "machine": platform.platform(),
                "notes": materials.notes(),
            },
        )
        records = read_records(folder.records_path)
        metrics = compute(records, options.k, facts, seed=options.seed)
        folder.write_metrics(metrics)
    return FileResult(source, path, metrics, fresh, tally.before)


def _schedule(
    options: Options,
    materials: Materials,
    source: Path,
    folder: ResultsFolder,
    tally: Tally,
    stopper: Stopper,
    retry: Retry,
) -> bool:
    """Grades what is not graded yet; False when it was stopped before the end."""
    scheduler = open_executor(options, materials.description)
    ledger = Ledger(
        folder,
        materials.shelf,
        materials.problems,
        _terms(options, materials),
        tally,
        cache=VerdictCache(options.cache) if options.cache is not None else None,
        is_stopping=stopper.event.is_set,
    )
    bench = _bench(options, materials, retry)
    shop = Workshop(bench, materials.shelf, ledger.done, tally.case, options.stop_on_first_failure)
    solutions = read_solutions(
        [source],
        limit=options.limit,
        problems=options.problems,
        resolve=materials.problems.resolve,
    )
    progress = Progress(tally, _expected_total(options, source), partial(_slowest, scheduler))
    with stopper.stopping(scheduler):
        try:
            return scheduler.run(ledger.jobs(solutions, shop), progress.tick)
        finally:
            progress.close()


def _terms(options: Options, materials: Materials) -> Terms:
    return Terms(materials.description, options.time_limit_scale, options.record_flags())


def _bench(options: Options, materials: Materials, retry: Retry) -> Bench:
    return Bench(
        materials.sandbox,
        compare=options.compare,  # type: ignore[arg-type]
        stored_bytes=options.max_stored_output,
        repeat=options.repeat,
        retry=retry,
    )


def _self_check(
    options: Options,
    materials: Materials,
    stopper: Stopper,
    retry: Retry,
    say: Callable[[str], None],
) -> None:
    """Raises InputError when a checker or a known solution is not judged as it must be."""
    from eval.self_check import SelfCheck

    bench = replace(_bench(options, materials, retry), repeat=1)
    told = SelfCheck(materials, bench, _terms(options, materials), stopper).run()
    if not stopper.event.is_set():
        say(told)


def _slowest(scheduler: Executor) -> tuple[str, float] | None:
    tasks = [t for t in scheduler.active if isinstance(t, SolutionTask)]
    if not tasks:
        return None
    task = min(tasks, key=lambda t: t.started)
    return task.subject.problem.id, time.monotonic() - task.started


def _expected_total(options: Options, source: Path) -> int | None:
    """Solutions in the file, when that is cheap to know."""
    count = None if options.problems is not None else count_lines(source)
    return count if count is None or options.limit is None else min(count, options.limit)


def _old_calibration(folder: ResultsFolder) -> dict[str, Any] | None:
    """The calibration of the metrics that lie there, None when they hold none."""
    try:
        found = json.loads(folder.metrics_path.read_bytes()).get("calibration")
        usable = 0 < found["cpu_s"] < math.inf
    except (OSError, ValueError, AttributeError, KeyError, TypeError, RecursionError):
        return None
    return found if usable and isinstance(found, dict) else None


class _LateFile(logging.FileHandler):
    """Opens its file at the first message; one that can't be opened loses the message only.

    logging lets that error out of the call that logs: it ended a worker in the middle of a
    case, and the run waited for it without end.
    """

    def emit(self, record: logging.LogRecord) -> None:
        try:
            super().emit(record)
        except OSError:
            self.handleError(record)


@contextlib.contextmanager
def _log_to(folder: Path) -> Iterator[None]:
    """Warnings and tracebacks of a run go to grading.log, which is made when there are any."""
    handler = _LateFile(folder / "grading.log", encoding="utf-8", delay=True)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    handler.setLevel(logging.WARNING)
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
        handler.close()


def log_to_file(path: Path) -> None:
    """Everything worth knowing goes to a file, too (--log-file)."""
    try:
        handler = logging.FileHandler(path, encoding="utf-8")
    except OSError as e:
        raise InputError(f"--log-file {path}: {e.strerror}; give another file") from None
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    log.info("command: %s", sys.argv)
