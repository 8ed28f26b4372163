"""One running program a physical core, also when several graders share the machine.

A core is held by an flock on a file that every grader on the host opens; the lock of a dead
process is gone by itself. A run alone holds all of them.

    /dev/shm/gradebox-cores/<cpu>     else the same in /tmp, else a folder of this user's

The files are anyone's to lock, so another user can hold one for ever. Locks only keep runs
from slowing each other down: after PATIENCE_S a run goes on without the lock, says so once,
and counts as contended. Nothing of the sandbox's isolation rests on them.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import tempfile
import threading
import warnings
import weakref
from collections.abc import Iterator
from pathlib import Path

LOCKS = "gradebox-cores"
PATIENCE_S = 30.0  # longer than nearly every run another grader may have on that core

_living: weakref.WeakSet[Cores] = weakref.WeakSet()


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


def _folders() -> Iterator[Path]:
    """Where locks may lie, the most shared first; each made when it is not there."""
    for base, name, mode in (
        (Path("/dev/shm"), LOCKS, 0o1777),
        (Path("/tmp"), LOCKS, 0o1777),
        (Path(tempfile.gettempdir()), f"{LOCKS}-{os.geteuid()}", 0o700),
    ):
        folder = base / name
        with contextlib.suppress(OSError):
            folder.mkdir(mode=0o700)
            folder.chmod(mode)
        if folder.is_dir() and not folder.is_symlink():
            yield folder


def _open_lock(folder: Path, cpu: int) -> int:
    """A file anyone may lock; opened without O_CREAT first, which sticky folders refuse.

    Raises OSError for whatever else lies there under that name: a link, a pipe, no permission.
    """
    path = folder / str(cpu)
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        fd = os.open(path, flags)
    except FileNotFoundError:
        try:
            fd = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o666)
        except FileExistsError:
            fd = os.open(path, flags)
        else:
            with contextlib.suppress(OSError):
                os.fchmod(fd, 0o666)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(f"{path} is not a plain file")
    return fd


def open_locks(cpus: list[int]) -> dict[int, int]:
    """A descriptor to lock for each core, all from the first folder that gives them all."""
    why = "no folder for them"
    for folder in _folders():
        fds: dict[int, int] = {}
        try:
            for cpu in cpus:
                fds[cpu] = _open_lock(folder, cpu)
        except OSError as error:
            why = str(error)
            for fd in fds.values():
                os.close(fd)
            continue
        return fds
    warnings.warn(
        f"core locks cannot be shared with other graders ({why}): runs may slow each other down",
        RuntimeWarning,
        stacklevel=3,
    )
    return {cpu: os.memfd_create(f"core-{cpu}", os.MFD_CLOEXEC) for cpu in cpus}


class _Lock:
    """The lock of one core: waited for with patience, then done without."""

    def __init__(self, cpu: int, fd: int) -> None:
        self.cpu = cpu
        self.fd = fd
        self.held = False
        self._mutex = threading.Lock()
        self._waiter: threading.Thread | None = None

    def try_now(self) -> bool:
        """Takes it when it is free."""
        with self._mutex:
            if self._waiter is None and not self.held:
                with contextlib.suppress(OSError):
                    fcntl.flock(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    self.held = True
            return self.held

    def take(self) -> None:
        """Takes it, or goes on without it when another process keeps it for too long."""
        if self.try_now():
            return
        with self._mutex:
            if self._waiter is not None:  # given up on, and still not free
                return
            done = threading.Event()
            waiter = threading.Thread(target=self._wait, args=(os.dup(self.fd), done), daemon=True)
            self._waiter = waiter
            self._wanted = True
        waiter.start()
        if done.wait(PATIENCE_S):
            return
        with self._mutex:
            if self.held:
                return
            self._wanted = False
        warnings.warn(
            f"core {self.cpu} has been locked by another process for {PATIENCE_S:.0f} s: going on "
            "without the lock, results are marked contended; see who holds it: fuser -v "
            f"/dev/shm/{LOCKS}/{self.cpu}",
            RuntimeWarning,
            stacklevel=4,
        )

    def _wait(self, fd: int, done: threading.Event) -> None:
        """In a thread of its own: a blocking flock knows no timeout and must not be a poll,
        or a busy grader would always win."""
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            with self._mutex:
                self._waiter = None
                self.held = self._wanted
                if not self._wanted:
                    fcntl.flock(fd, fcntl.LOCK_UN)
        finally:
            os.close(fd)
            done.set()

    def release(self) -> None:
        """Lets others have it."""
        with self._mutex:
            if self.held:
                fcntl.flock(self.fd, fcntl.LOCK_UN)
                self.held = False


class Cores:
    """The cores of this process, handed out one a run.

    `slots` caps how many are used at once; more callers wait, which no run's wall clock
    ever counts.
    """

    def __init__(self, slots: int | None = None) -> None:
        self.cpus = physical()[: slots or None]
        self._locks = {cpu: _Lock(cpu, fd) for cpu, fd in open_locks(self.cpus).items()}
        self._free = list(reversed(self.cpus))
        self._waiting_alone = 0
        self._running = 0
        self._changed = threading.Condition()
        _living.add(self)

    def sure(self, cpu: int) -> bool:
        """Whether the core a run has is locked: no other grader's run is on it."""
        return self._locks[cpu].held

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
            self._locks[cpu].take()  # at once when _pick got it
            yield cpu
        finally:
            self._locks[cpu].release()
            with self._changed:
                self._free.append(cpu)
                self._running -= 1
                self._changed.notify_all() if self._waiting_alone else self._changed.notify()

    def _pick(self) -> int:
        """A free core that no other grader holds right now, else the last one used."""
        for cpu in reversed(self._free):
            if self._locks[cpu].try_now():
                return cpu
        return self._free[-1]

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
                self._locks[cpu].take()
            yield self.cpus[0]
        finally:
            for cpu in self.cpus:
                self._locks[cpu].release()
            with self._changed:
                self._waiting_alone -= 1
                self._running -= 1
                self._changed.notify_all()

    def close(self) -> None:
        """Lets the lock files go."""
        for lock in self._locks.values():
            os.close(lock.fd)
        self._locks = {}


def _forget_all() -> None:
    """In a forked child: its copies of the locks would keep them held after the parent's end."""
    for cores in list(_living):
        for lock in cores._locks.values():
            os.close(lock.fd)
        cores._locks = {}


os.register_at_fork(after_in_child=_forget_all)
