"""Waiting solutions, grouped by problem: a driver stays with a problem until none is left of it.

So a problem's tests are sent to few drivers and its checker is compiled by few. The problems whose
solutions are expected to take longest come first, so that drivers finish together.
"""

from __future__ import annotations

import heapq
import time
from collections import Counter, deque
from dataclasses import dataclass

from gradebox.eval.grading.resources import ProblemResources
from gradebox.eval.grading.solution_job import SolutionJob
from gradebox.eval.grading.solution_run import SolutionRun


@dataclass(eq=False)
class Known:
    """A problem that a driver was sent; `users` of its solutions are with the driver."""

    number: int
    size_bytes: int
    users: int = 0


@dataclass(eq=False)
class Pending:
    """A solution that has no record yet.

    deaths   drivers that died while they graded it
    started  when a driver began with it (monotonic seconds), None before
    known    its problem, as the driver that has the solution knows it
    """

    number: int
    job: SolutionJob
    resources: ProblemResources
    deaths: int = 0
    started: float | None = None
    known: Known | None = None

    @property
    def run(self) -> SolutionRun:
        """The solution with all that its record needs."""
        return self.job.solution_run

    def begin(self) -> None:
        """Note that a driver has begun with it."""
        self.started = time.monotonic()

    def release(self) -> None:
        """Give the problem's tests back: the solution has its record, or gets none."""
        self.job.context.resources.release(self.resources)


class JobQueue:
    """Waiting solutions by problem. Not thread-safe.

    bytes  memory that they use
    """

    def __init__(self) -> None:
        self.bytes = 0
        self._count = 0
        self._groups: dict[int, deque[Pending]] = {}
        self._unclaimed: list[tuple[float, int]] = []  # heap; may name groups that are gone
        self._current: dict[int, int] = {}  # driver → group
        self._claims: Counter[int] = Counter()

    def __len__(self) -> int:
        return self._count

    def push(self, pending: Pending, *, first: bool = False) -> None:
        """Add a solution; `first`: before the others of its problem."""
        job = pending.job
        group = self._groups.get(job.group)
        if group is None:
            group = self._groups[job.group] = deque()
            heapq.heappush(self._unclaimed, (-job.cost, job.group))
        group.appendleft(pending) if first else group.append(pending)
        self._count += 1
        self.bytes += job.held_bytes

    def take(self, driver: int, *, join: bool) -> Pending | None:
        """Return a driver's next solution, None if there is none for it.

        join  it may help with a problem that another driver is at
        """
        number = self._current.get(driver)
        if number is None or number not in self._groups:
            number = self._claim(driver, join)
            if number is None:
                return None
        group = self._groups[number]
        pending = group.popleft()
        if not group:
            del self._groups[number]
        self._count -= 1
        self.bytes -= pending.job.held_bytes
        return pending

    def leave(self, driver: int) -> None:
        """Give up what a driver has claimed, because it died."""
        number = self._current.pop(driver, None)
        if number is not None:
            self._claims[number] -= 1
            if not self._claims[number]:
                del self._claims[number]
                if number in self._groups:
                    cost = self._groups[number][0].job.cost
                    heapq.heappush(self._unclaimed, (-cost, number))

    def _claim(self, driver: int, join: bool) -> int | None:
        self.leave(driver)
        found = None
        while self._unclaimed and found is None:
            _, number = heapq.heappop(self._unclaimed)
            if number in self._groups and not self._claims[number]:
                found = number
        if found is None and join and self._groups:
            found = max(self._groups, key=lambda number: len(self._groups[number]))
        if found is not None:
            self._current[driver] = found
            self._claims[found] += 1
        return found

    def drain(self) -> list[Pending]:
        """Remove and return everything."""
        found = [pending for group in self._groups.values() for pending in group]
        self._groups.clear()
        self._count = self.bytes = 0
        return found
