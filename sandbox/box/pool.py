"""The boxes of a sandbox: idle ones are used again."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from gradebox.sandbox.box.isolation.levels import BoxFactory, Kind
from gradebox.sandbox.box.process import BoxProcess
from gradebox.sandbox.errors import BadRequest, SandboxError


def _best(idle: list[BoxProcess], digest: str, node: int) -> int:
    """Return the position of the box that suits best; of equal ones, of the one used last."""

    def fit(at: int) -> tuple[bool, bool, int]:
        core = idle[at].core
        return core is not None and core.node == node, idle[at].last_digest == digest, at

    return max(range(len(idle)), key=fit)


class BoxPool:
    """Lends boxes of one factory; those for programs and those for compilers are kept apart."""

    def __init__(self) -> None:
        self.factory: BoxFactory | None = None
        self._lock = threading.Lock()
        self._closed = False
        self._age = 0  # how often `invalidate` was called: boxes from before are not kept
        self._idle: dict[Kind, list[BoxProcess]] = {}

    def take(self, kind: Kind = "program", digest: str = "", node: int = 0) -> BoxProcess:
        """Return an idle box or a new one. The caller gives it back or closes it.

        digest  of the program to run; the box that ran it last is preferred, because it has its
                  files
        node    of the core to run on; a box whose memory is there is preferred above all
        """
        with self._lock:
            if self._closed or self.factory is None:
                raise SandboxError("the sandbox is closed")
            idle = self._idle.setdefault(kind, [])
            if idle:
                return idle.pop(_best(idle, digest, node))
            age = self._age
        box = self.factory.box(kind)
        box.age = age
        return box

    def give_back(self, box: BoxProcess, kind: Kind = "program") -> None:
        """Keep a box for the next run; close it when it needs recycling or the pool is closed."""
        with self._lock:
            if not self._closed and not box.needs_recycling and box.age == self._age:
                self._idle.setdefault(kind, []).append(box)
                return
        box.close()

    @contextmanager
    def box(self, kind: Kind = "program", digest: str = "", node: int = 0) -> Iterator[BoxProcess]:
        """Lend a box for a while. After an error it is closed, not used again.

        BadRequest and GeneratorExit are no errors of the box.
        """
        box = self.take(kind, digest, node)
        try:
            yield box
        except (BadRequest, GeneratorExit):
            self.give_back(box, kind)
            raise
        except BaseException:
            box.close()
            raise
        self.give_back(box, kind)

    def invalidate(self) -> None:
        """Close the idle boxes, and those in use when they come back.

        After one has died, what killed it may have killed them too.
        """
        self._close_idle(final=False)

    def close(self) -> None:
        """Close the idle boxes, and from now on every box that comes back."""
        self._close_idle(final=True)

    def _close_idle(self, final: bool) -> None:
        with self._lock:
            self._closed = self._closed or final
            self._age += 1
            boxes = [box for idle in self._idle.values() for box in idle]
            self._idle = {}
        for box in boxes:
            box.close()
