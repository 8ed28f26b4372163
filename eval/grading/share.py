"""The units of a task: those that a worker has, and those that are left."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradebox.eval.grading.scheduler import Task

STILL_S = 0.1  # a worker whose unit takes longer gives the rest to idle workers


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

    @property
    def has_rest(self) -> bool:
        """Whether units have not begun."""
        return self._running + 1 < self.stop

    def take_rest(self) -> range:
        """Take the units after the running one, if that has been running for long."""
        with self._lock:
            if time.monotonic() - self._since < STILL_S or not self.has_rest:
                return range(0)
            rest = range(self._running + 1, self.stop)
            self.stop, self.is_cut = rest.start, True
            return rest


@dataclass(eq=False)
class Active:
    """A task being graded: which of its units are left, and who has the others.

    end          units from here on need not run
    given_back   they were taken, but did not run
    shares       of the workers at it
    interrupted  a unit has no result, so the task cannot be finished
    """

    task: Task
    end: int
    first_failure: int | None = None
    next: int = 0
    given_back: list[range] = field(default_factory=list)
    shares: list[Share] = field(default_factory=list)
    interrupted: bool = False

    def left(self) -> int:
        """Return the number of units that no worker has taken."""
        back = sum(min(r.stop, self.end) - r.start for r in self.given_back if r.start < self.end)
        return max(0, self.end - self.next) + back

    def startable(self, cap: int) -> int:
        """Return how many units could be started now."""
        return 0 if cap and len(self.shares) >= cap else self.left()

    def take(self, most: int) -> Share:
        self.shares.append(Share(self._next_units(most)))
        return self.shares[-1]

    def take_rests(self) -> None:
        """Take back what workers have not begun, if they are slow."""
        self.given_back += filter(None, [share.take_rest() for share in self.shares])

    def _next_units(self, most: int) -> range:
        while self.given_back:
            back = self.given_back.pop()
            if back[most:]:
                self.given_back.append(back[most:])
            if back.start < self.end:
                return range(back.start, min(back.start + most, back.stop, self.end))
        start, self.next = self.next, min(self.next + most, self.end)
        return range(start, self.next)
