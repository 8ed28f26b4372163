"""One running program a physical core, also when several graders share the machine.

A core is held by an flock on a file that every grader on the host opens. The lock of a dead process
is released by the kernel. A run alone holds all cores.

    /dev/shm/gradebox-cores/{queue,<cpu>}     else in /tmp, else in a folder of this user

Every user may lock the files, so another user can hold one for ever. The locks only keep runs from
slowing each other down; isolation does not depend on them. After TIMEOUT_S a run goes on without
the lock, warns once, and counts as contended.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import tempfile
import threading
import time
import warnings
import weakref
from collections.abc import Iterator
from pathlib import Path

from gradebox.sandbox.common.cpus import physical_cpus
from gradebox.sandbox.errors import SandboxError

LOCKS = "gradebox-cores"
QUEUE = -1  # its lock file is named "queue"
TIMEOUT_S = 30.0  # longer than nearly every run of another grader on a core
SHORTEST_S, LONGEST_S = 0.0002, 0.004  # between two attempts to lock cores that others hold

_instances: weakref.WeakSet[Cores] = weakref.WeakSet()


def _folders() -> Iterator[Path]:
    """Yield the folders for locks, the most widely shared first; create missing ones."""
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
    """Open a core's lock file; create it when it is missing.

    The first attempt is without O_CREAT, which sticky folders refuse for files of other users.
    Raises OSError when something else has that name (a link, a pipe) or access is denied.
    """
    path = folder / ("queue" if cpu == QUEUE else str(cpu))
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
    """Return a descriptor to lock for each core, all from the first folder that allows it.

    Without such a folder the locks are private to this process, and a warning says so.
    """
    failure = "no folder for them"
    for folder in _folders():
        fds: dict[int, int] = {}
        try:
            for cpu in cpus:
                fds[cpu] = _open_lock(folder, cpu)
        except OSError as error:
            failure = str(error)
            for fd in fds.values():
                os.close(fd)
            continue
        return fds
    warnings.warn(
        f"core locks cannot be shared with other graders ({failure}): "
        "runs may slow each other down",
        RuntimeWarning,
        stacklevel=3,
    )
    return {cpu: os.memfd_create(f"core-{cpu}", os.MFD_CLOEXEC) for cpu in cpus}


class _CoreLocks:
    """The lock files of this process: one a core, and one that is the queue for the cores.

    A process takes the queue first and keeps it until it has a core. Otherwise a grader that runs
    case after case could keep another one waiting for ever.
    """

    def __init__(self, cpus: list[int]) -> None:
        fds = open_locks([*cpus, QUEUE])
        self._queue = fds.pop(QUEUE)
        self._fds = fds
        self._held: set[int] = set()
        self._timed_out = False  # then the next run does not wait as long for the same lock

    def take(self, wanted: list[int], count: int) -> list[int]:
        """Lock `count` of the cores `wanted`, in order of preference; wait for them.

        After TIMEOUT_S, warn and return cores that are not locked in place of those missing.
        """
        if self._queue < 0:
            raise SandboxError("the sandbox is closed")
        got: list[int] = []
        end = time.monotonic() + (LONGEST_S if self._timed_out else TIMEOUT_S)
        delay, queued = SHORTEST_S, False
        try:
            while len(got) < count:
                queued = queued or _try_lock(self._queue)
                if queued:
                    got += [c for c in tuple(wanted) if c not in got and _try_lock(self._fds[c])]
                    for cpu in got[count:]:
                        _unlock(self._fds[cpu])
                    del got[count:]
                if len(got) < count:
                    if time.monotonic() > end:
                        return [*got, *self._take_unlocked(wanted, got, count)]
                    time.sleep(delay)
                    delay = min(delay * 2, LONGEST_S)
            self._timed_out = False
        finally:
            if queued:
                _unlock(self._queue)
            self._held.update(got)
        return got

    def _take_unlocked(self, wanted: list[int], got: list[int], count: int) -> list[int]:
        rest = [cpu for cpu in wanted if cpu not in got][: count - len(got)]
        if self._timed_out:
            return rest
        self._timed_out = True
        names = ", ".join(map(str, rest))
        warnings.warn(
            f"core {names} has been locked by another process for {TIMEOUT_S:.0f} s; continuing "
            "without the lock, results are marked contended. To see which process holds it: "
            f"fuser -v /dev/shm/{LOCKS}/*",
            RuntimeWarning,
            stacklevel=4,
        )
        return rest

    def held(self, cpu: int) -> bool:
        return cpu in self._held

    def release(self, cpu: int) -> None:
        if cpu in self._held:
            self._held.discard(cpu)
            _unlock(self._fds[cpu])

    def close(self) -> None:
        """Close the files once: a descriptor's number may be used again after that."""
        fds = [fd for fd in (self._queue, *self._fds.values()) if fd >= 0]
        self._queue, self._fds = -1, {}
        for fd in fds:
            os.close(fd)


def _try_lock(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _unlock(fd: int) -> None:
    fcntl.flock(fd, fcntl.LOCK_UN)


class Cores:
    """The cores of this process, one for each run.

    slots  cores in use at once, any of them (default: all); further callers wait, which is not part
           of any run's wall time
    """

    def __init__(self, slots: int | None = None) -> None:
        cpus = physical_cpus()
        self.slots = min(slots or len(cpus), len(cpus))
        self._locks = _CoreLocks(cpus)
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
