"""The units of a task that a worker has. Idle workers may take those that it has not begun."""

from __future__ import annotations

import threading
import time

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
