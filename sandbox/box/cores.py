"""One running program a physical core, also when several graders share the machine.

A core is held by an flock on a file that every grader on the host opens; the lock of a dead
process is gone by itself. A run alone holds all of them.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
from collections.abc import Iterator
from pathlib import Path

from sandbox.errors import SandboxError

LOCKS = "gradebox-cores"


def physical() -> list[int]:
    """One logical CPU for each physical core this process may use, in order."""
    seen: set[str] = set()
    cores = []
    for cpu in sorted(os.sched_getaffinity(0)):
        path = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        try:
            siblings = path.read_text().strip()
        except OSError:
            siblings = str(cpu)
        if siblings not in seen:
            seen.add(siblings)
            cores.append(cpu)
    return cores


def _lock_folder() -> Path:
    base = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else Path("/tmp")
    folder = base / LOCKS
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o777)
        folder.chmod(0o1777)
    return folder


def _open_lock(folder: Path, cpu: int) -> int:
    """A file anyone may lock; opened without O_CREAT first, which sticky folders refuse."""
    path = folder / str(cpu)
    for _ in range(5):
        try:
            return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            with contextlib.suppress(FileExistsError):
                fd = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
                with contextlib.suppress(OSError):
                    os.fchmod(fd, 0o666)
                return fd
    raise SandboxError(f"cannot open the core lock {path}")


class Cores:
    """The cores of this process, handed out one a run.

    `slots` caps how many are used at once; more callers wait, which no run's wall clock
    ever counts.
    """

    def __init__(self, slots: int | None = None) -> None:
        self.cpus = physical()[: slots or None]
        folder = _lock_folder()
        self._fds = {cpu: _open_lock(folder, cpu) for cpu in self.cpus}
        self._free = list(reversed(self.cpus))
        self._waiting_alone = 0
        self._running = 0
        self._changed = threading.Condition()

    @contextlib.contextmanager
    def one(self) -> Iterator[int]:
        """Holds one core while the block runs; yields its number."""
        with self._changed:
            while not self._free or self._waiting_alone:
                self._changed.wait()
            cpu = self._pick()
            self._free.remove(cpu)
            self._running += 1
        try:
            self._lock(cpu)
            yield cpu
        finally:
            fcntl.flock(self._fds[cpu], fcntl.LOCK_UN)
            with self._changed:
                self._free.append(cpu)
                self._running -= 1
                self._changed.notify_all() if self._waiting_alone else self._changed.notify()

    def _pick(self) -> int:
        """A free core that no other grader holds right now, else the last one used."""
        for cpu in reversed(self._free):
            try:
                fcntl.flock(self._fds[cpu], fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                continue
            return cpu
        return self._free[-1]

    def _lock(self, cpu: int) -> None:
        fcntl.flock(self._fds[cpu], fcntl.LOCK_EX)  # at once when _pick got it

    @contextlib.contextmanager
    def alone(self) -> Iterator[int]:
        """Holds every core: no other run of any grader here goes on meanwhile."""
        with self._changed:
            self._waiting_alone += 1
            while self._running:
                self._changed.wait()
            self._running += 1
        try:
            for cpu in self.cpus:  # always in the same order: two graders can't deadlock
                self._lock(cpu)
            yield self.cpus[0]
        finally:
            for cpu in self.cpus:
                fcntl.flock(self._fds[cpu], fcntl.LOCK_UN)
            with self._changed:
                self._waiting_alone -= 1
                self._running -= 1
                self._changed.notify_all()

    def close(self) -> None:
        """Lets the lock files go."""
        for fd in self._fds.values():
            os.close(fd)
        self._fds = {}
