"""Where a run's solutions are graded: by threads here, or by a Ray cluster.

    jobs ─┬─ eval.scheduler.Scheduler             local: every core of this machine
          └─ ray_cluster.RayScheduler ─▶ ray_worker.grade_one, on any node, one solution a task

Both take the same jobs and hand the same records to the same ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from eval.grade_solution import SolutionJob
from eval.options import Options
from eval.scheduler import Scheduler, Task
from sandbox.model import Description


class Executor(Protocol):
    """Runs jobs to their end."""

    def run(self, jobs: Iterable[SolutionJob], tick: Callable[[], None] = ...) -> bool:
        """True when all were done, False when `stop` came first; see `Scheduler.run`."""
        ...

    def stop(self) -> None:
        """Nothing more is started. Safe in a signal handler."""
        ...

    @property
    def active(self) -> list[Task]:
        """What is being graded here right now."""
        ...


def open_executor(options: Options, description: Description) -> Executor:
    """The executor that the options name; InputError when it can't be had."""
    if options.executor == "ray":
        from eval.executors.ray_cluster import RayScheduler

        return RayScheduler(options, description)
    return Scheduler(
        options.workers,
        cap=options.generated_tests_workers,
        stop_on_failure=options.stop_on_first_failure,
    )
