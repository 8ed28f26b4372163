"""A run on a Ray cluster: each solution is a task, and a lost node's tasks run elsewhere.

    jobs ─ submit, a few more than there are cores ─▶ Ray ─▶ TaskResult ─▶ the planner

The command keeps the records, keys and order, as in a local run. Tasks that are running when it
is stopped have no record; the next start grades them.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import socket
import threading
import time
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

from gradebox.eval.common.errors import InputError
from gradebox.eval.grading.executors.ray_worker import TaskResult, grade_one
from gradebox.eval.grading.executors.setup import setup_of
from gradebox.eval.grading.options import Options
from gradebox.eval.grading.solution_job import SolutionJob
from gradebox.sandbox.model import Description

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
        self._setup = setup_of(options, description.backend)
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
