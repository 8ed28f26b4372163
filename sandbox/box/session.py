"""A session: a program that is started once in a box and serves many requests over its pipes.

For trusted drivers (a warm Python for checkers). Each exchange takes a core, like any run. What a
driver does with a program in a request is the driver's concern; what it can reach is the box's.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from typing import BinaryIO

from gradebox.sandbox.box.cores import Cores
from gradebox.sandbox.box.process import BoxProcess
from gradebox.sandbox.common.cleanup import Closeable
from gradebox.sandbox.errors import SandboxError


class Session(Closeable):
    """The two ends of a running program.

    requests, replies   buffered pipes to its stdin and from its stdout
    """

    def __init__(
        self,
        box: BoxProcess,
        cores: Cores,
        pipes: tuple[int, int],
        give_back: Callable[[BoxProcess], None],
    ) -> None:
        self._box = box
        self._cores = cores
        self._give_back = give_back
        self._closed = False
        self._lock = threading.Lock()
        self.requests: BinaryIO = os.fdopen(pipes[0], "wb")
        self.replies: BinaryIO = os.fdopen(pipes[1], "rb")

    @contextlib.contextmanager
    def exchange(self, timeout_s: float) -> Iterator[None]:
        """Hold a core for one exchange. After `timeout_s` the program is killed, so that the
        exchange ends with an end of file."""
        with self._cores.one() as cpu:
            self._box.pin(cpu)
            timer = threading.Timer(timeout_s, self.kill)
            timer.daemon = True
            timer.start()
            try:
                yield
            finally:
                timer.cancel()

    def kill(self) -> None:
        """End the program now."""
        self._box.abort()

    def close(self) -> None:
        """End the program and give the box back; a second call has no effect."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        for pipe in (self.requests, self.replies):
            with contextlib.suppress(OSError, ValueError):
                pipe.close()
        try:
            self._box.abort()
            _, fds = self._box.finish(30.0)
        except SandboxError:
            self._box.close()
            return
        for fd in fds:
            os.close(fd)
        self._give_back(self._box)
