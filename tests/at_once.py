"""How many requests a fake server holds at once, counted as a client can see it."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field


@dataclass
class AtOnce:
    """`most` is the most that were ever inside together.

    A server must say `left` before it writes its answer: a client that has the answer may send its
    next request before the server's thread runs again, and then one too many would be counted.
    """

    most: int = 0
    now: int = 0
    changed: threading.Condition = field(default_factory=threading.Condition)

    def entered(self) -> None:
        with self.changed:
            self.now += 1
            self.most = max(self.most, self.now)
            self.changed.notify_all()

    def left(self) -> None:
        with self.changed:
            self.now -= 1

    def wait_for(self, count: int, timeout_s: float = 60.0) -> bool:
        """Until `count` were inside together."""
        with self.changed:
            return self.changed.wait_for(lambda: self.most >= count, timeout_s)
