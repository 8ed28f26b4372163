"""Where a run's solutions are graded: by this process, by drivers beside it, or by a Ray cluster.

    jobs ─┬─ LocalExecutor                     threads of this process, every core
          ├─ drivers.executor.DriversExecutor  processes on this machine, some cores each
          └─ ray_cluster.RayScheduler          any node, one solution a task

All take the same jobs and pass the same records to the planner.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Protocol, cast

from gradebox.eval.grading.scheduling.scheduler import Scheduler
from gradebox.eval.grading.session import GradingSession
from gradebox.eval.grading.solution_job import SolutionJob, SolutionTask
from gradebox.sandbox.protocol import lent_cores


class Executor(Protocol):
    """Runs jobs to their end.

    stopping  the run is ending early, after `stop` or an error
    """

    @property
    def stopping(self) -> bool: ...

    def run(self, jobs: Iterable[SolutionJob], tick: Callable[[], None] = ...) -> bool:
        """Return True when all jobs are done, False when `stop` came first."""
        ...

    def stop(self) -> None:
        """Start nothing more. Safe in a signal handler."""
        ...

    def slowest(self) -> tuple[str, float] | None:
        """Return (problem id, seconds) of the solution that has been running longest, if known."""
        ...


class LocalExecutor:
    """Threads of this process, as many as the session's workers."""

    def __init__(self, session: GradingSession) -> None:
        self._scheduler = Scheduler(
            session.options.workers,
            cap=session.options.generated_tests_workers,
            stop_on_failure=session.options.stop_on_first_failure,
            is_full=lambda: session.resources.is_full,
            lent=lambda: lent_cores(session.sandbox),
        )

    @property
    def stopping(self) -> bool:
        return self._scheduler.stopping

    def run(self, jobs: Iterable[SolutionJob], tick: Callable[[], None] = lambda: None) -> bool:
        """See `Executor.run`."""
        return self._scheduler.run(jobs, tick)

    def stop(self) -> None:
        """See `Executor.stop`."""
        self._scheduler.stop()

    def slowest(self) -> tuple[str, float] | None:
        """See `Executor.slowest`."""
        tasks = cast("list[SolutionTask]", self._scheduler.active)  # or a RemoteTask
        if not tasks:
            return None
        task = min(tasks, key=lambda t: t.started)
        return task.solution_run.problem.id, time.monotonic() - task.started


def open_executor(session: GradingSession) -> Executor:
    """Return the executor that the options choose; raise InputError when it is unavailable."""
    options = session.options
    if options.executor == "ray":
        from gradebox.eval.grading.ray_cluster import RayScheduler

        return RayScheduler(options, session.description)
    if session.uses_drivers:
        from gradebox.eval.grading.drivers.executor import DriversExecutor

        return DriversExecutor(session)
    return LocalExecutor(session)
