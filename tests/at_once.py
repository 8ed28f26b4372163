"""Count the requests that a fake server holds at once.

A request stops counting before its answer is sent, so that a client's next request is never counted
beside it.
"""

import threading
from dataclasses import dataclass, field


@dataclass
class AtOnce:
    """The number of requests inside now, and the most there ever were.

    A server must call `left` before it writes its answer. A client that has the answer may send its
    next request before the server's thread runs again, and one request too many would be counted.
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
        """Wait until `count` were inside together; False after the timeout."""
        with self.changed:
            return self.changed.wait_for(lambda: self.most >= count, timeout_s)
