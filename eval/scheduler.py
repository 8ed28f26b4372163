"""Keeps every worker busy with cases, and the number of things in memory small.

    jobs ──feeder──▶ heap (longest expected first, bounded) ──▶ active tasks ──▶ units

A job is a solution that waits, a task one that is being graded, a unit one of its cases.
A worker goes on with its own task, then starts the next job, and only when none waits
helps with the task that has most units left: so few solutions are open at once, and the
last one is spread over all workers. Nothing is queued per case; a unit is a number.
"""

from __future__ import annotations

import heapq
import logging
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from eval.input_error import InputError
from eval.retry import Interrupted

log = logging.getLogger(__name__)

WINDOW_JOBS = 4096
WINDOW_BYTES = 64 << 20
TICK_S = 0.1


class Task(Protocol):
    """A started job: `units` pieces of work that may run at once, in any order."""

    units: int

    def run(self, unit: int) -> bool:
        """Does one unit; False when it failed, which makes later ones needless."""
        ...

    def finish(self, first_failure: int | None) -> None:
        """Called once, when no unit is left to run."""
        ...

    def abandon(self) -> None:
        """Called instead of `finish` when the run is stopped."""
        ...


class Job(Protocol):
    """Work that waits. `cost` is its expected time, `group` those that share their tests."""

    cost: float
    group: int
    held_bytes: int

    def start(self) -> Task | None:
        """Makes it ready; None when that already settled it."""
        ...


@dataclass(eq=False)
class _Active:
    task: Task
    end: int  # units from here on need not run
    first_failure: int | None = None
    next: int = 0
    running: int = 0
    broken: bool = False  # a unit was interrupted: the task can't be finished

    def left(self, cap: int) -> int:
        """Units that could be started now."""
        return 0 if cap and self.running >= cap else self.end - self.next

    def take(self) -> int:
        self.running += 1
        self.next += 1
        return self.next - 1


class Scheduler:
    """Runs jobs on `workers` threads.

    cap              most units of one task at once, 0 for no cap
    stop_on_failure  units after the lowest failing one are not started
    """

    def __init__(
        self,
        workers: int,
        *,
        cap: int = 0,
        stop_on_failure: bool = False,
        window_jobs: int = WINDOW_JOBS,
        window_bytes: int = WINDOW_BYTES,
    ) -> None:
        self._workers = workers
        self._cap = cap
        self._stop_on_failure = stop_on_failure
        self._window_jobs = window_jobs
        self._window_bytes = window_bytes
        self._cond = threading.Condition()
        self._heap: list[tuple[float, int, int, Job]] = []
        self._heap_bytes = 0
        self._active: list[_Active] = []
        self._starting = 0
        self._idle = 0
        self._fed = False
        self._stopping = False
        self._error: BaseException | None = None

    def run(self, jobs: Iterable[Job], tick: Callable[[], None] = lambda: None) -> bool:
        """Runs all jobs; True when all were done, False when `stop` came first.

        `tick` is called ten times a second from the calling thread. The first InputError,
        or unexpected error of a job, stops the run like `stop` and is raised at its end.
        """
        threads = [
            threading.Thread(target=self._work, name=f"grader-{i}", daemon=True)
            for i in range(self._workers)
        ]
        feeder = threading.Thread(target=self._feed, args=(jobs,), name="feeder", daemon=True)
        for number, thread in enumerate((feeder, *threads)):
            try:
                thread.start()
            except RuntimeError as e:
                self.stop()
                self._wait_for((feeder, *threads)[:number], lambda: None)
                raise InputError(
                    f"{e}: raise the limit of processes (ulimit -u) or lower --workers, "
                    "then start the run again"
                ) from None
        try:
            self._wait_for((*threads, feeder), tick)
        except BaseException:
            # Ctrl-C where nobody turned it into `stop`: no thread may stay behind.
            self.stop()
            self._wait_for((*threads, feeder), lambda: None)
            raise
        for active in self._active:
            active.task.abandon()
        if self._error is not None:
            raise self._error
        return not self._stopping

    def _wait_for(self, threads: Iterable[threading.Thread], tick: Callable[[], None]) -> None:
        for thread in threads:
            while thread.is_alive():
                thread.join(TICK_S)
                tick()
                if self._stopping:
                    self._wake()

    def stop(self) -> None:
        """No unit is started any more; those that run end. Safe in a signal handler."""
        self._stopping = True

    @property
    def active(self) -> list[Task]:
        """The tasks being graded right now."""
        with self._cond:
            return [a.task for a in self._active]

    def _wake(self) -> None:
        with self._cond:
            self._cond.notify_all()

    def _fail(self, error: BaseException) -> None:
        with self._cond:
            self._error = self._error or error
            self._stopping = True
            self._cond.notify_all()

    def _feed(self, jobs: Iterable[Job]) -> None:
        try:
            for number, job in enumerate(jobs):
                with self._cond:
                    while self._window_is_full() and not self._stopping:
                        self._cond.wait()
                    if self._stopping:
                        return
                    heapq.heappush(self._heap, (-job.cost, job.group, number, job))
                    self._heap_bytes += job.held_bytes
                    if self._idle:
                        self._cond.notify_all()
        except InputError as e:
            self._fail(e)
        except Exception as e:
            log.exception("unexpected error while reading solutions")
            self._fail(e)
        finally:
            with self._cond:
                self._fed = True
                self._cond.notify_all()

    def _window_is_full(self) -> bool:
        return len(self._heap) >= self._window_jobs or self._heap_bytes > self._window_bytes

    def _work(self) -> None:
        mine: _Active | None = None
        while True:
            picked = self._pick(mine)
            if picked is None:
                return
            try:
                if isinstance(picked, tuple):
                    mine = picked[0]
                    self._run_unit(*picked)
                else:
                    mine = self._start(picked)
            except Interrupted:
                if isinstance(picked, tuple):
                    picked[0].broken = True
            except InputError as e:
                self._fail(e)
            except Exception as e:
                self._fail(e)  # first: a log that fails must not leave the run waiting
                log.exception("unexpected error of the grader")

    def _pick(self, mine: _Active | None) -> tuple[_Active, int] | Job | None:
        """What a worker does next: a unit, a job to start, or None to end. Waits for it."""
        with self._cond:
            while not self._stopping:
                if mine is not None and mine.left(self._cap) > 0:
                    return mine, mine.take()
                if self._heap:
                    return self._pop()
                mine = max(self._active, key=lambda a: a.left(self._cap), default=None)
                if mine is not None and mine.left(self._cap) > 0:
                    return mine, mine.take()
                if self._fed and not self._starting and not self._active:
                    self._cond.notify_all()
                    return None
                self._idle += 1
                self._cond.wait()
                self._idle -= 1
            return None

    def _pop(self) -> Job:
        job = heapq.heappop(self._heap)[-1]
        self._heap_bytes -= job.held_bytes
        self._starting += 1
        if not self._fed:
            self._cond.notify_all()
        return job

    def _start(self, job: Job) -> _Active | None:
        active = None
        try:
            task = job.start()
            if task is not None:
                active = _Active(task, task.units)
        finally:
            with self._cond:
                self._starting -= 1
                if active is not None:
                    self._active.append(active)
                self._cond.notify_all()
        return active

    def _run_unit(self, active: _Active, unit: int) -> None:
        """Runs a unit; the last one of a task to end finishes it."""
        passed = active.task.run(unit)
        with self._cond:
            active.running -= 1
            if not passed and (active.first_failure is None or unit < active.first_failure):
                active.first_failure = unit
                if self._stop_on_failure:
                    active.end = min(active.end, unit + 1)
            done = active.running == 0 and active.next >= active.end and not active.broken
            if done:
                self._active.remove(active)
            if self._idle and (done or self._cap):
                self._cond.notify_all()
        if done:
            active.task.finish(active.first_failure)
