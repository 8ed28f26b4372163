"""Cancel work in a thread, from another thread or from an event loop."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Cancellation:
    """Work that may be cancelled, once and for good. Any thread may call any method."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: list[Callable[[], object]] = []
        self.is_cancelled = False

    def then(self, call: Callable[[], object]) -> None:
        """Make a call when the work is cancelled: at once if it is already."""
        with self._lock:
            if not self.is_cancelled:
                self._calls.append(call)
                return
        call()

    def cancel(self) -> None:
        """Cancel the work; make the calls. A second call has no effect."""
        with self._lock:
            self.is_cancelled = True
            calls, self._calls = self._calls, []
        for call in calls:
            call()
