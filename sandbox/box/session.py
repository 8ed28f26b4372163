"""A run that somebody talks to.

Its input is a descriptor of the caller's. Through its LiveRun, other threads send the program
signals or end it.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from gradebox.sandbox.box import wire
from gradebox.sandbox.box.process import BoxProcess
from gradebox.sandbox.box.runs.run_request import BoxRequest, reply_timeout_s
from gradebox.sandbox.errors import SandboxError


class LiveRun:
    """A run that other threads can reach. Its methods have no effect before and after the run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._box: BoxProcess | None = None
        self._depth = 0  # of the program below the box's process
        self._ended = False

    @property
    def ended(self) -> bool:
        """Whether `end` was called."""
        return self._ended

    def end(self) -> None:
        """End the program; a program that has not been started yet ends as soon as it is."""
        with self._lock:
            self._ended = True
            if self._box is not None:
                self._box.abort()

    def send_signal(self, number: int) -> bool:
        """Send a signal to the program's first process. Return whether there was one."""
        with self._lock:
            pid = 0 if self._box is None else _first_below(self._box.pid, self._depth)
            if not pid:
                return False
            try:
                process = os.pidfd_open(pid)
            except OSError:
                return False
            try:
                # it may have ended in the meantime, and its pid be another process's
                if self._box is None or _first_below(self._box.pid, self._depth) != pid:
                    return False
                signal.pidfd_send_signal(process, number)
            except OSError:
                return False
            finally:
                os.close(process)
            return True

    def started(self, box: BoxProcess, start: Callable[[], None], depth: int) -> None:
        """Start the program in a box; `depth` is that of its process below the box's."""
        with self._lock:
            start()
            self._box, self._depth = box, depth
            if self._ended:
                box.abort()

    def over(self) -> None:
        """Forget the box, which may serve another run now."""
        with self._lock:
            self._box = None


def _first_below(pid: int, depth: int) -> int:
    """Return the first child, or the first child of the first child; 0 when there is none."""
    for _ in range(depth):
        try:
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        except OSError:
            return 0
        if not children:
            return 0
        pid = int(children[0])
    return pid


@dataclass
class LiveRequest(BoxRequest):
    """A run whose input is the descriptor `line`; it cannot be repeated in another box."""

    line: int = -1
    live: LiveRun = field(default_factory=LiveRun)
    _sent: bool = False

    def start(self, box: BoxProcess, first: int = 0, most: int = 1) -> None:
        """Start the program in a box. Raises SandboxError when it is called a second time."""
        if self._sent:
            raise SandboxError("the box ended during a run whose input cannot be sent again")
        inputs = [(self.limits.output_bytes, 0, 0)]
        request, program = self._pack(box, wire.STDIN_FD, inputs, b"")
        self._sent = True
        depth = 2 if self.flags & wire.FRESH else 1
        fds, timeout_s = [*program, self.line, *self._fds], reply_timeout_s(self.limits)
        self.live.started(box, lambda: box.start(request, fds, timeout_s), depth)

    def leave(self) -> None:
        """Forget the box."""
        self.live.over()
