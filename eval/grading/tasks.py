"""What a scheduler hands out: jobs that wait, tasks being graded, shares of their units."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

STILL_S = 0.1  # a worker whose unit takes longer gives the rest to others


class Share:
    """Units from `start` to `stop`, one of which runs at a time, in order.

    Any thread may take the rest, which lowers `stop`.
    """

    def __init__(self, units: range) -> None:
        self.start, self.stop = units.start, units.stop
        self.is_cut = False
        self._lock = threading.Lock()
        self._running, self._since = units.start, time.monotonic()

    def begin(self, unit: int) -> None:
        """Note which unit runs now."""
        with self._lock:
            self._running, self._since = unit, time.monotonic()

    def is_ours(self, unit: int, following: int) -> bool:
        """Note that a unit has its result and the `following` one runs.

        Return False when another worker has taken the unit.
        """
        with self._lock:
            self._running, self._since = following, time.monotonic()
            return unit < self.stop

    def take_rest(self) -> range:
        """Take the units after the running one, if that has been running for long."""
        with self._lock:
            if time.monotonic() - self._since < STILL_S or self._running + 1 >= self.stop:
                return range(0)
            rest = range(self._running + 1, self.stop)
            self.stop, self.is_cut = rest.start, True
            return rest


class Done(NamedTuple):
    """What a task did: the units of a range before `end`; a failing one that is to be the last."""

    end: int
    first_failure: int | None = None


class Task(Protocol):
    """A started job: `units` pieces of work that may run at once, in any order.

    most_at_once  units that are worth being given to a worker together
    run           does some of the units from the first on, one at least; the rest is given again
    finish        completes the task; called once, when no unit is left to run
    abandon       frees the task's resources; called instead of `finish` when the run is stopped
    """

    units: int
    most_at_once: int

    def run(self, share: Share) -> Done: ...

    def finish(self, first_failure: int | None) -> None: ...

    def abandon(self) -> None: ...


class QueuedJob(Protocol):
    """Waiting work.

    cost        expected time in seconds
    group       the same for jobs that share their tests
    held_bytes  memory used while the job waits
    reserve     keeps open what the job needs; called before it is queued
    start       returns the task, None when the job is already done
    discard     frees what `reserve` kept open; called instead of `start` when the run is stopped
    """

    cost: float
    group: int
    held_bytes: int

    def reserve(self) -> None: ...

    def start(self) -> Task | None: ...

    def discard(self) -> None: ...


@dataclass(eq=False)
class Active:
    """A task being graded: which of its units are left, and who has the others.

    end         units from here on need not run
    given_back  they were taken, but did not run
    shares      of the workers at it; one that has no result stays, so that the task never finishes
    """

    task: Task
    end: int
    first_failure: int | None = None
    next: int = 0
    given_back: list[range] = field(default_factory=list)
    shares: list[Share] = field(default_factory=list)

    def left(self) -> int:
        """Return the number of units that no worker has taken."""
        back = 0
        if self.given_back:
            back = sum(max(0, min(r.stop, self.end) - r.start) for r in self.given_back)
        return max(0, self.end - self.next) + back

    def startable(self, cap: int) -> int:
        """Return how many units could be started now."""
        return 0 if cap and len(self.shares) >= cap else self.left()

    def take(self, most: int) -> Share:
        """Give a worker the next units."""
        self.shares.append(Share(self._next_units(most)))
        return self.shares[-1]

    def _next_units(self, most: int) -> range:
        while self.given_back:
            back = self.given_back.pop()
            if back[most:]:
                self.given_back.append(back[most:])
            if back.start < self.end:
                return range(back.start, min(back.start + most, back.stop, self.end))
        start, self.next = self.next, min(self.next + most, self.end)
        return range(start, self.next)
