"""Where a run's solutions are graded: by this process, by drivers beside it, or by a Ray cluster.

    jobs ─▶ Executor ─┬─                          threads of this process, a case each
                      ├─ drivers.pool.RunInDrivers  processes on this machine ┐ a thread for each
                      └─ ray_cluster.RayCluster     any node                  ┘ whole solution

All take the same jobs and pass the same records to the planner.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from gradebox.eval.grading.scheduler import Scheduler
from gradebox.eval.grading.session import GradingSession
from gradebox.eval.grading.solution_job import GradeWhole, SolutionJob
from gradebox.sandbox.protocol import lent_cores

if TYPE_CHECKING:
    from gradebox.eval.grading.drivers.pool import RunInDrivers
    from gradebox.eval.grading.ray_cluster import RayCluster


class Executor(Scheduler):
    """The scheduler of a session's jobs.

    place  grades whole solutions, `most_at_once` of them at once, instead of this process: `grade`
           returns a record, and raises Interrupted once the run is stopping; `poll` is called ten
           times a second, `end` at the end of the run
    """

    def __init__(self, session: GradingSession, place: RunInDrivers | RayCluster | None) -> None:
        options = session.options
        super().__init__(
            options.workers if place is None else place.most_at_once,
            cap=options.generated_tests_workers if place is None else 0,
            is_full=lambda: session.resources.is_full,
            lent=(lambda: lent_cores(session.sandbox)) if place is None else lambda: 0,
        )
        self._place = place

    @property
    def grade_whole(self) -> GradeWhole | None:
        """What the jobs' context needs to be graded in the place."""
        return None if self._place is None else self._place.grade

    def run(self, jobs: Iterable[SolutionJob], tick: Callable[[], None] = lambda: None) -> bool:
        """See `Scheduler.run`."""
        try:
            return super().run(jobs, tick)
        finally:
            if self._place is not None:
                self._place.end()

    def poll(self) -> None:
        if self._place is not None:
            self._place.poll(self)

    def slowest(self) -> tuple[str, float] | None:
        """Return (problem id, seconds) of the solution that has been running longest, if known."""
        with self._lock:
            tasks = [active.task for active in self._active]
        if not tasks:
            return None
        task = min(tasks, key=lambda t: t.started)
        return task.solution_run.problem.id, time.monotonic() - task.started


def open_executor(session: GradingSession) -> Executor:
    """Return the executor that the options choose; raise InputError when it is unavailable."""
    if session.options.executor == "ray":
        from gradebox.eval.grading.ray_cluster import RayCluster

        return Executor(session, RayCluster(session.options, session.description))
    if session.uses_drivers:
        from gradebox.eval.grading.drivers.pool import RunInDrivers

        return Executor(session, RunInDrivers(session))
    return Executor(session, None)
