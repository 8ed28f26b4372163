"""The boxes of a sandbox: idle ones are used again, used ones come back or are ended."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from sandbox.box.levels import BoxFactory
from sandbox.box.process import BoxProcess
from sandbox.errors import BadRequest, SandboxError


class BoxPool:
    """Hands out boxes of one factory, those of programs and those of compilers apart."""

    def __init__(self) -> None:
        self.factory: BoxFactory | None = None
        self._lock = threading.Lock()
        self._closed = False
        self._idle: dict[bool, list[BoxProcess]] = {False: [], True: []}

    def take(self, compiler: bool = False, like: str = "") -> BoxProcess:
        """An idle box, else a new one. It is the caller's until `give_back` or `close` of it.

        `like`: the digest of what is going to run; the box that ran it last has it ready.
        """
        with self._lock:
            if self._closed or self.factory is None:
                raise SandboxError("the sandbox is closed")
            idle = self._idle[compiler]
            last = len(idle) - 1
            at = next((i for i in range(last, -1, -1) if idle[i].ran == like), last)
            box = idle.pop(at) if idle else None
        return box or self.factory.box(compiler=compiler)

    def give_back(self, box: BoxProcess, compiler: bool = False) -> None:
        """Keeps a box for the next run, unless it is worn or the sandbox is closed."""
        with self._lock:
            if not self._closed and not box.worn:
                self._idle[compiler].append(box)
                return
        box.close()

    @contextmanager
    def box(self, compiler: bool = False, like: str = "") -> Iterator[BoxProcess]:
        """A box for a while. After any fault but the caller's own it is ended, not reused."""
        box = self.take(compiler, like)
        try:
            yield box
        except BadRequest:
            self.give_back(box, compiler)
            raise
        except BaseException:
            box.close()
            raise
        self.give_back(box, compiler)

    def distrust(self) -> None:
        """Ends the idle boxes: one has died, and what ended it may have ended them all."""
        with self._lock:
            boxes = [box for idle in self._idle.values() for box in idle]
            self._idle = {False: [], True: []}
        for box in boxes:
            box.close()

    def close(self) -> bool:
        """Ends the idle boxes; False when that was done before."""
        with self._lock:
            if self._closed:
                return False
            self._closed = True
            boxes = [box for idle in self._idle.values() for box in idle]
            self._idle = {False: [], True: []}
        for box in boxes:
            box.close()
        return True
