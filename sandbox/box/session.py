"""A session: a program that is started once in a box and that a user talks to over its pipes."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from typing import BinaryIO

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
        pipes: tuple[int, int],
        give_back: Callable[[BoxProcess], None],
    ) -> None:
        self._box = box
        self._give_back = give_back
        self._closed = False
        self._lock = threading.Lock()
        self.requests: BinaryIO = os.fdopen(pipes[0], "wb")
        self.replies: BinaryIO = os.fdopen(pipes[1], "rb")

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
