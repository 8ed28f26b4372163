"""A run as the parent sees it: waiting solutions, why it ended, and where its results go.

Solutions wait grouped by problem: a driver stays with a problem until none is left of it. So a
problem's tests are sent to few drivers and its checker is compiled by few. The problems whose
solutions are expected to take longest come first, so that drivers finish together.
"""

from __future__ import annotations

import heapq
import threading
import time
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

from gradebox.eval.grading.resources import ProblemResources
from gradebox.eval.grading.retry import Retry
from gradebox.eval.grading.solution_job import JobContext, SolutionJob
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


_numbers = count(1)


class Run:
    """The state of one run over the drivers. The pool's lock guards what is not said otherwise.

    session   its session's number, and the options that a driver opens it with
    context   of its jobs, None before the first one
    suspects  solutions of which a driver died; each is graded by a driver that has nothing else
    all_read  no further solution follows
    stopping  it ends early; any thread, and a signal handler, may set it
    error     why it ended
    ended     it is over in every driver (may be waited for)
    """

    def __init__(self, session: tuple[int, Mapping[str, Any]]) -> None:
        self.session = session
        self.number = next(_numbers)
        self.context: JobContext | None = None
        self.queue = JobQueue()
        self.suspects: deque[Pending] = deque()
        self.all_read = False
        self.stopping = False
        self.stop_sent = False
        self.error: BaseException | None = None
        self.ended = threading.Event()
        self.open_in: set[int] = set()  # drivers that have not said that it ended there

    def fail(self, error: BaseException) -> None:
        """End the run because of an error; the first one counts."""
        self.error = self.error or error
        self.stopping = True

    @property
    def opening(self) -> tuple[int, int, tuple[int, float, float]]:
        """What opens the run in a driver: its number, its session's, the fields of `Retry`."""
        retry = Retry() if self.context is None else self.context.settings.retry
        return self.number, self.session[0], (retry.attempts, retry.first_s, retry.cap_s)

    def count(self, cases: Mapping[str, int], run_s: float) -> None:
        """Pass on what a driver counted."""
        if self.context is not None:
            for verdict, number in cases.items():
                self.context.on_case(verdict, number)
            self.context.on_run_s(run_s)

    @property
    def waiting(self) -> int:
        """The number of solutions that no driver has."""
        return len(self.queue) + len(self.suspects)
