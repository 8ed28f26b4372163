"""`Notes`: what a reader passed over, for the user to see; bounded, whatever the data."""

from __future__ import annotations

import threading

MAX_NOTES = 50


class Notes:
    """Messages in order, each once; beyond MAX_NOTES they are counted only."""

    def __init__(self) -> None:
        self._messages: dict[str, None] = {}
        self._more = 0
        self._lock = threading.Lock()

    def add(self, message: str) -> None:
        """Adds a message of one line."""
        with self._lock:
            if message in self._messages:
                return
            if len(self._messages) < MAX_NOTES:
                self._messages[message] = None
            else:
                self._more += 1

    def messages(self) -> list[str]:
        """The messages, with the number of those that are not among them at the end."""
        with self._lock:
            tail = [f"and {self._more} more"] if self._more else []
            return [*self._messages, *tail]

    def __len__(self) -> int:
        return len(self._messages) + self._more
