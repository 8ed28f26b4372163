"""`Diagnostics`: messages for the user about skipped data, limited in number."""

from __future__ import annotations

import threading

MAX_MESSAGES = 50


class Diagnostics:
    """Messages of one line in order, each once. Those beyond MAX_MESSAGES are only counted."""

    def __init__(self) -> None:
        self._messages: dict[str, None] = {}
        self._more = 0
        self._lock = threading.Lock()

    def add(self, message: str) -> None:
        """Add a message unless it is already listed."""
        with self._lock:
            if message in self._messages:
                return
            if len(self._messages) < MAX_MESSAGES:
                self._messages[message] = None
            else:
                self._more += 1

    def messages(self) -> list[str]:
        """Return the messages, and at the end the number of those that are not listed."""
        with self._lock:
            tail = [f"and {self._more} more"] if self._more else []
            return [*self._messages, *tail]

    def __len__(self) -> int:
        return len(self._messages) + self._more
