"""One running program a physical core, also when several graders share the machine.

A core is held by an flock on a file that every grader on the host opens (core_locks.py). The lock
of a dead process is released by the kernel. A run alone holds all cores.

Every user may lock the files, so another user can hold one for ever. The locks only keep runs from
slowing each other down; isolation does not depend on them. After TIMEOUT_S a run goes on without
the lock, warns once, and counts as contended.
"""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections.abc import Iterator

from gradebox.sandbox.box.core_locks import CoreLocks
from gradebox.sandbox.common.cpus import physical_cpus

_instances: weakref.WeakSet[Cores] = weakref.WeakSet()


class Cores:
    """The cores of this process, one for each run.

    slots  cores in use at once, any of them (default: all); further callers wait, which is not part
           of any run's wall time
    """

    def __init__(self, slots: int | None = None) -> None:
        cpus = physical_cpus()
        self.slots = min(slots or len(cpus), len(cpus))
        self._locks = CoreLocks(cpus)
        self._free = cpus  # the one used last comes first: its cache is warm
        self._last = threading.local()  # preferred above all: the last one of this thread
        self._running = 0
        self._waiting_alone = 0
        self._changed = threading.Condition()
        self._picking = threading.Lock()
        _instances.add(self)

    def uncontended(self, cpu: int) -> bool:
        """Return whether a core in use is locked, so that no other grader's run is on it."""
        return self._locks.held(cpu)

    @contextlib.contextmanager
    def one(self) -> Iterator[int]:
        """Hold a core while the block runs; yield its number."""
        with self._changed:
            while self._running >= self.slots or self._waiting_alone:
                self._changed.wait()
            self._running += 1
        cpu = None
        try:
            with self._picking:  # one thread waits for other graders, the rest wait for it
                last = getattr(self._last, "cpu", None)
                cpu = self._locks.take(sorted(self._free, key=lambda one: one != last), 1)[0]
                self._free.remove(cpu)
            self._last.cpu = cpu
            yield cpu
        finally:
            if cpu is not None:
                self._locks.release(cpu)
                self._free.insert(0, cpu)
            with self._changed:
                self._running -= 1
                self._changed.notify_all() if self._waiting_alone else self._changed.notify()

    @contextlib.contextmanager
    def alone(self) -> Iterator[int]:
        """Hold every core: no other run of any grader here runs meanwhile."""
        with self._changed:
            self._waiting_alone += 1
            while self._running:
                self._changed.wait()
            self._running += 1
        cpus: list[int] = []
        try:
            cpus = self._locks.take(self._free, len(self._free))
            yield cpus[0]
        finally:
            for cpu in cpus:
                self._locks.release(cpu)
            with self._changed:
                self._waiting_alone -= 1
                self._running -= 1
                self._changed.notify_all()

    def close(self) -> None:
        """Close the lock files."""
        self._locks.close()


def _close_all() -> None:
    """In a forked child: its copies would keep the locks held after the parent's end."""
    for cores in list(_instances):
        cores.close()


os.register_at_fork(after_in_child=_close_all)
