"""A program that stays: started once in a box, then spoken to over its stdin and stdout.

For trusted drivers that serve many requests from one start (a warm Python for checkers).
Each exchange takes a core like any other run; what a driver does with a request's program
is the driver's business, what it can reach is the box's.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from typing import BinaryIO

from sandbox.box.cores import Cores
from sandbox.box.process import BoxProcess
from sandbox.closing import Closing
from sandbox.errors import SandboxError


class Session(Closing):
    """The two ends of a running program; close it, or use it as a context manager.

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
    def turn(self, patience_s: float) -> Iterator[None]:
        """A core for one exchange. After `patience_s` the program is ended, which ends the
        exchange with an end of file."""
        with self._cores.one() as cpu:
            self._box.pin(cpu)
            watch = threading.Timer(patience_s, self.kill)
            watch.daemon = True
            watch.start()
            try:
                yield
            finally:
                watch.cancel()

    def kill(self) -> None:
        """Ends the program now."""
        self._box.abort()

    def close(self) -> None:
        """Ends the program and hands the box back, clean; calling it twice is harmless."""
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
