"""Where a run's solutions are graded: by threads on this machine, or by a Ray cluster.

    jobs ─┬─ gradebox.eval.grading.scheduler.Scheduler             every core of this machine
          └─ ray_cluster.RayScheduler ─▶ ray_worker.grade_one      any node, one solution a task

Both take the same jobs and pass the same records to the planner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from gradebox.eval.grading.scheduler import Scheduler, Task
from gradebox.eval.grading.session import GradingSession
from gradebox.eval.grading.solution_run import SolutionJob


class Executor(Protocol):
    """Runs jobs to their end.

    stopping  the run is ending early, after `stop` or an error
    """

    stopping: bool

    def run(self, jobs: Iterable[SolutionJob], tick: Callable[[], None] = ...) -> bool:
        """Return True when all jobs are done, False when `stop` came first."""
        ...

    def stop(self) -> None:
        """Start nothing more. Safe in a signal handler."""
        ...

    @property
    def active(self) -> list[Task]:
        """The tasks that are running in this process."""
        ...


def open_executor(session: GradingSession) -> Executor:
    """Return the executor that the options choose; raise InputError when it is unavailable."""
    if session.options.executor == "ray":
        from gradebox.eval.grading.executors.ray_cluster import RayScheduler

        return RayScheduler(session.options, session.description)
    return local_scheduler(session)


def local_scheduler(session: GradingSession) -> Scheduler:
    """Return a scheduler that runs the session's number of workers on this machine."""
    return Scheduler(
        session.options.workers,
        cap=session.options.generated_tests_workers,
        stop_on_failure=session.options.stop_on_first_failure,
        is_full=lambda: session.resources.is_full,
    )
