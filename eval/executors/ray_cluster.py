"""A run over a Ray cluster: each solution is a task, and a lost node's tasks run elsewhere.

    jobs ─ submit, a few more than there are cores ─▶ Ray ─▶ Done ─▶ the ledger

The driver keeps the records, the keys and the order, as in a local run; tasks that were
under way when it was stopped have no record and are graded by the next start.
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

from eval.executors.ray_worker import Done, Setup, grade_one, setup_of
from eval.grade_solution import SolutionJob
from eval.input_error import InputError
from eval.options import Options
from eval.scheduler import Task
from sandbox.model import Description

AHEAD = 2  # tasks in flight for each core of the cluster, so that none waits for the driver
LOST_AT_MOST = 10  # how often one solution's node may be lost
READY = 64  # jobs made ready beforehand
POLL_S = 0.1
KNOCK_S = 10.0
COUNT_CORES_EVERY_S = 5.0
log = logging.getLogger(__name__)


class RayScheduler:
    """`eval.executors.Executor` over Ray. Connects at once; InputError when it can't."""

    def __init__(self, options: Options, description: Description) -> None:
        self._ray = _connect(options.ray_address)
        self._setup: Setup = setup_of(options, description.backend)
        self._stopping = False
        self._counted_at = 0.0
        self._cores = 1

    @property
    def active(self) -> list[Task]:
        return []

    def stop(self) -> None:
        self._stopping = True

    def run(self, jobs: Iterable[SolutionJob], tick: Callable[[], None] = lambda: None) -> bool:
        """Grades all jobs; True when all were done. InputError of a node ends the run."""
        task = self._ray.remote(num_cpus=1, max_retries=LOST_AT_MOST)(grade_one)
        setup = self._ray.put(self._setup)
        flying: dict[Any, SolutionJob] = {}
        feed = _Feed(jobs)
        try:
            while not self._stopping and (flying or not feed.ended):
                room = AHEAD * self._count_cores() + 1 - len(flying)
                for job in feed.take(room, wait=not flying):
                    flying[task.remote(job.subject, setup)] = job
                self._take_finished(flying)
                tick()
        finally:
            feed.stop()
            for reference in flying:
                self._ray.cancel(reference, force=False)
        return not self._stopping

    def _count_cores(self) -> int:
        """Cores of the cluster, which may grow and shrink meanwhile."""
        now = time.monotonic()
        if now - self._counted_at > COUNT_CORES_EVERY_S:
            self._counted_at = now
            self._cores = max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        return self._cores

    def _take_finished(self, flying: dict[Any, SolutionJob]) -> None:
        if not flying:
            return
        ready, _ = self._ray.wait(list(flying), num_returns=1, timeout=POLL_S)
        for reference in ready:
            _settle(flying.pop(reference), self._outcome(reference))

    def _outcome(self, reference: Any) -> Done | str:
        """What a task gave, or why it gave nothing."""
        errors = import_module("ray.exceptions")
        try:
            done: Done = self._ray.get(reference)
            return done
        except errors.RayTaskError:
            raise
        except errors.RayError as error:
            return f"the cluster lost it {LOST_AT_MOST + 1} times: {type(error).__name__}"


class _Feed:
    """Jobs made ready by a thread of their own: opening a problem's tests takes time, and a
    ledger may wait for records that are still to come."""

    def __init__(self, jobs: Iterable[SolutionJob]) -> None:
        self._jobs = jobs
        self._ready: queue.Queue[SolutionJob | None] = queue.Queue(READY)
        self._error: BaseException | None = None
        self._stopped = False
        self.ended = False
        self._thread = threading.Thread(target=self._fill, name="feeder", daemon=True)
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
                self._ready.put(job, timeout=POLL_S)
                return

    def take(self, most: int, *, wait: bool) -> list[SolutionJob]:
        """At most so many jobs that are ready; with `wait` a moment is waited for the first."""
        taken: list[SolutionJob] = []
        while len(taken) < most and not self.ended:
            try:
                job = self._ready.get(timeout=POLL_S if wait and not taken else 0.001)
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
        """Ends the thread."""
        self._stopped = True
        self._thread.join()


def _settle(job: SolutionJob, done: Done | str) -> None:
    """Hands a finished job's record to the ledger."""
    if isinstance(done, str):
        job.shop.done(job.subject, job.subject.record("error", "ER", None, error=done))
        return
    if done.error:
        raise InputError(done.error)
    if done.record is None:
        raise RuntimeError(f"the worker gave no record of line {job.subject.solution.line}")
    for verdict in done.cases:
        job.shop.on_case(verdict)
    job.shop.done(job.subject, done.record)


def _connect(address: str | None) -> Any:
    """Ray, connected: to the address, else to the cluster this is part of, else to a new one."""
    try:
        ray = import_module("ray")
    except ModuleNotFoundError:
        raise InputError("--executor ray: ray is missing; pip install 'gradebox[ray]'") from None
    if ray.is_initialized():
        return ray
    _knock(address)
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.WARNING)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        raise _no_cluster(address, " ".join(str(error).split())[:200]) from None
    return ray


def _knock(address: str | None) -> None:
    """Ray waits for minutes for a head that is not there; a closed port is known at once."""
    host, _, port = (address or "").rpartition("://")[2].rpartition(":")
    if not host or not port.isdecimal():
        return  # "auto", or none
    try:
        socket.create_connection((host, int(port)), KNOCK_S).close()
    except (OSError, OverflowError, ValueError) as error:
        raise _no_cluster(address, str(error)) from None


def _no_cluster(address: str | None, why: str) -> InputError:
    return InputError(
        f"--ray-address {address or 'none'}: no Ray cluster there ({why}); start one with "
        "ray start --head, or leave --ray-address out"
    )
