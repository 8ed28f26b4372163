"""A run on a Ray cluster: each solution is a task, and a lost node's tasks run elsewhere.

    jobs ─ submit, a few more than there are cores ─▶ Ray ─▶ TaskResult ─▶ the planner
    worker: SolutionRun, Setup ─▶ TaskResult(record, verdicts of its cases), or an error

The command keeps the records, keys and order, as in a local run. Tasks that are running when it
is stopped have no record; the next start grades them. A worker keeps its session open and reads
tests and checkers itself, from the dataset's path or name: only the solution and the facts about
its problem are sent to it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import socket
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from gradebox.eval.common.errors import InputError
from gradebox.eval.grading.options import Options
from gradebox.eval.grading.scheduling.scheduler import Scheduler
from gradebox.eval.grading.session import GradingSession
from gradebox.eval.grading.solution_job import SolutionJob
from gradebox.eval.grading.solution_run import SolutionRun
from gradebox.eval.results.record import CaseVerdict, SolutionRecord
from gradebox.sandbox.common.cpus import usable_cores
from gradebox.sandbox.model import Description


@dataclass
class TaskResult:
    """The result of a task. `error` is the text of an InputError, which ends the run."""

    record: SolutionRecord | None = None
    cases: list[CaseVerdict] = field(default_factory=list)
    error: str = ""


@dataclass(frozen=True)
class Setup:
    """What a worker opens: the options' fields, and the folder that relative paths are in."""

    options: dict[str, Any]
    folder: str

    @classmethod
    def of(cls, options: Options, backend: str) -> Setup:
        """Return what workers open for these options."""
        return cls(options.for_worker(backend), str(Path.cwd()))


def grade_one(run: SolutionRun, setup: Setup) -> TaskResult:
    """Grade one solution. Called by Ray; later calls in this process reuse the open session."""
    try:
        return _grade(run, _session(setup))
    except InputError as error:
        return TaskResult(error=f"node {socket.gethostname()}: {error}")


_sessions: dict[str, GradingSession] = {}
_opening = threading.Lock()


def _session(setup: Setup) -> GradingSession:
    key = repr((sorted(setup.options.items(), key=str), setup.folder))
    with _opening:
        if key not in _sessions:
            if Path(setup.folder).is_dir():
                os.chdir(setup.folder)
            # Each task runs one program at a time, on any free core of the node.
            options = replace(Options(**setup.options), workers=usable_cores())
            _sessions[key] = GradingSession(options)
        return _sessions[key]


def _grade(run: SolutionRun, session: GradingSession) -> TaskResult:
    """Return the solution's result; raise InputError when this node would judge differently."""
    _check_same(run, session)
    result = TaskResult()

    def keep(_: SolutionRun, record: SolutionRecord) -> None:
        result.record = record

    context = session.job_context(session.case_settings(), keep, result.cases.append)
    scheduler = Scheduler(1, stop_on_failure=context.stop_on_failure)
    scheduler.run([SolutionJob(run, context)])
    return result


def _check_same(run: SolutionRun, session: GradingSession) -> None:
    """Raise InputError unless sandbox, tests and checker are those that the record states."""
    own = session.context.sandbox_fields(run.language)
    differing = [k for k in own if own[k] != run.sandbox.get(k)]
    if differing:
        name = differing[0]
        raise InputError(
            f"its {name} for {run.language} is {own[name]!r}, the command's "
            f"{run.sandbox.get(name)!r}; give all nodes the same image"
        )
    test_set = session.resources.info(run.problem)
    if (test_set.tests, test_set.checker) != (run.test_set.tests, run.test_set.checker):
        raise InputError(
            f"its tests or checker of {run.problem.id} are not the command's; give all "
            "nodes the same dataset and generated tests"
        )


TASKS_PER_CORE = 2  # submitted tasks for each core, so that no core waits for the command
MAX_RETRIES = 10  # how often a solution is resubmitted after its node was lost
MAX_PLANNED = 64  # jobs planned ahead of their submission
POLL_S = 0.1
CONNECT_TIMEOUT_S = 10.0
COUNT_CORES_EVERY_S = 5.0
log = logging.getLogger(__name__)


class RayScheduler:
    """An `Executor` over Ray. Connects at once; raises InputError when there is no cluster."""

    def __init__(self, options: Options, description: Description) -> None:
        self._ray = _connect(options.ray_address)
        self._setup = Setup.of(options, description.backend)
        self.stopping = False
        self._counted_at = 0.0
        self._cores = 1

    def slowest(self) -> tuple[str, float] | None:
        return None

    def stop(self) -> None:
        self.stopping = True

    def run(self, jobs: Iterable[SolutionJob], tick: Callable[[], None] = lambda: None) -> bool:
        """Grade all jobs; return True when all are done. A node's InputError ends the run."""
        task = self._ray.remote(num_cpus=1, max_retries=MAX_RETRIES)(grade_one)
        setup = self._ray.put(self._setup)
        submitted: dict[Any, SolutionJob] = {}
        planned = _PlannedJobs(jobs)
        try:
            while not self.stopping and (submitted or not planned.ended):
                room = TASKS_PER_CORE * self._count_cores() + 1 - len(submitted)
                for job in planned.take(room, wait=not submitted):
                    submitted[task.remote(job.solution_run, setup)] = job
                self._take_finished(submitted)
                tick()
        except BaseException:
            self.stopping = True  # the planner may be waiting for a record
            raise
        finally:
            planned.stop()
            for reference in submitted:
                self._ray.cancel(reference, force=False)
        return not self.stopping

    def _count_cores(self) -> int:
        """Return the cores of the cluster, which may grow or shrink during the run."""
        now = time.monotonic()
        if now - self._counted_at > COUNT_CORES_EVERY_S:
            self._counted_at = now
            self._cores = max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        return self._cores

    def _take_finished(self, submitted: dict[Any, SolutionJob]) -> None:
        if not submitted:
            return
        ready, _ = self._ray.wait(list(submitted), num_returns=1, timeout=POLL_S)
        for reference in ready:
            _pass_on(submitted.pop(reference), self._result(reference))

    def _result(self, reference: Any) -> TaskResult | str:
        """Return a task's result, or the reason why Ray lost it."""
        errors = import_module("ray.exceptions")
        try:
            result: TaskResult = self._ray.get(reference)
            return result
        except errors.RayTaskError:
            raise
        except errors.RayError as error:
            return f"the cluster lost it {MAX_RETRIES + 1} times: {type(error).__name__}"


class _PlannedJobs:
    """Jobs planned by a separate thread.

    Planning opens a problem's tests, which takes time, and may wait for other records.
    """

    def __init__(self, jobs: Iterable[SolutionJob]) -> None:
        self._jobs = jobs
        self._queue: queue.Queue[SolutionJob | None] = queue.Queue(MAX_PLANNED)
        self._error: BaseException | None = None
        self._stopped = False
        self.ended = False
        self._thread = threading.Thread(target=self._fill, name="planner", daemon=True)
        self._thread.start()

    def _fill(self) -> None:
        try:
            for job in self._jobs:
                self._put(job)
                if self._stopped:
                    return
        except InputError as error:
            self._error = error  # raised by `take`, in the caller's thread
        except Exception as error:
            log.exception("unexpected error while reading solutions")
            self._error = error
        self._put(None)

    def _put(self, job: SolutionJob | None) -> None:
        while not self._stopped:
            with contextlib.suppress(queue.Full):
                self._queue.put(job, timeout=POLL_S)
                return

    def take(self, most: int, *, wait: bool) -> list[SolutionJob]:
        """Return at most `most` jobs that are ready; with `wait`, wait POLL_S for the first."""
        taken: list[SolutionJob] = []
        while len(taken) < most and not self.ended:
            try:
                job = self._queue.get(timeout=POLL_S if wait and not taken else 0.001)
            except queue.Empty:
                break
            if job is not None:
                taken.append(job)
                continue
            self.ended = True
            if self._error is not None:
                raise self._error
        return taken

    def stop(self) -> None:
        """End the thread."""
        self._stopped = True
        self._thread.join()


def _pass_on(job: SolutionJob, result: TaskResult | str) -> None:
    """Pass a finished job's record to the planner."""
    run = job.solution_run
    if isinstance(result, str):
        job.context.on_record(run, run.record("error", "ER", None, error=result))
        return
    if result.error:
        raise InputError(result.error)
    if result.record is None:
        raise RuntimeError(f"the worker returned no record for line {run.solution.line}")
    for verdict in result.cases:
        job.context.on_case(verdict)
    job.context.on_record(run, result.record)


def _connect(address: str | None) -> Any:
    """Return Ray, connected to the address, else to this node's cluster, else to a new one."""
    try:
        ray = import_module("ray")
    except ModuleNotFoundError:
        raise InputError("--executor ray: ray is missing; pip install 'gradebox[ray]'") from None
    if ray.is_initialized():
        return ray
    _check_port_is_open(address)
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.WARNING)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        raise _no_cluster(address, " ".join(str(error).split())[:200]) from None
    return ray


def _check_port_is_open(address: str | None) -> None:
    """Raise InputError for a closed port; ray.init would wait for minutes."""
    host, _, port = (address or "").rpartition("://")[2].rpartition(":")
    if not host or not port.isdecimal():
        return  # "auto" or no address
    try:
        socket.create_connection((host, int(port)), CONNECT_TIMEOUT_S).close()
    except (OSError, OverflowError, ValueError) as error:
        raise _no_cluster(address, str(error)) from None


def _no_cluster(address: str | None, why: str) -> InputError:
    return InputError(
        f"--ray-address {address or 'none'}: no Ray cluster there ({why}); start one with "
        "ray start --head, or leave --ray-address out"
    )
