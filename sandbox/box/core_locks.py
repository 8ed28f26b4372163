"""The lock files of the cores, which every grader on the host opens.

    /dev/shm/gradebox-cores/{queue,<cpu>,woken-<uid>}   else in /tmp, else in a folder of this user

A process takes the queue first and keeps it until it has a core. Otherwise a grader that runs case
after case could keep another one waiting for ever. Whoever waits sleeps in the kernel: for the
queue, woken by the process that leaves it, or, at its head, for a core, woken by the process that
frees one. The counters for that are in a file of each user: a file that others may cut short must
not be mapped. Graders of other users look again LOOK_S later at the latest.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

from gradebox.sandbox.common.wakeup import Wakeup
from gradebox.sandbox.errors import SandboxError

LOCKS = "gradebox-cores"
QUEUE = -1  # its lock file is named "queue"
TIMEOUT_S = 30.0  # longer than nearly every run of another grader on a core
LOOK_S = 0.01  # the longest wait before looking again: a killed process wakes nobody


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


def open_wakeups(queue: Path) -> tuple[Wakeup, Wakeup]:
    """Return what processes of this user wake each other with: for the queue, for the cores.

    Where they cannot share a file, a process wakes itself alone.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    fd = -1
    with contextlib.suppress(OSError):
        fd = os.open(queue.readlink().with_name(f"woken-{os.geteuid()}"), flags, 0o600)
        state = os.fstat(fd)
        if not stat.S_ISREG(state.st_mode) or state.st_uid != os.geteuid() or state.st_mode & 0o77:
            os.close(fd)
            fd = -1
    if fd < 0:
        fd = os.memfd_create("woken", os.MFD_CLOEXEC)
    try:
        return Wakeup(fd), Wakeup(fd, 64)
    finally:
        os.close(fd)


class CoreLocks:
    """The lock files of this process: one a core, and one that is the queue for the cores."""

    def __init__(self, cpus: list[int]) -> None:
        fds = open_locks([*cpus, QUEUE])
        self._queue = fds.pop(QUEUE)
        self._fds = fds
        self._left, self._freed = open_wakeups(Path(f"/proc/self/fd/{self._queue}"))
        self._held: set[int] = set()
        self._timed_out = False  # then the next run does not wait as long for the same lock

    def take(self, wanted: list[int], count: int) -> list[int]:
        """Lock `count` of the cores `wanted`, in order of preference; wait for them.

        After TIMEOUT_S, warn and return cores that are not locked in place of those missing.
        """
        if self._queue < 0:
            raise SandboxError("the sandbox is closed")
        got: list[int] = []
        end = time.monotonic() + (LOOK_S if self._timed_out else TIMEOUT_S)
        queued = False
        try:
            while len(got) < count:
                left, freed = self._left.count, self._freed.count
                queued = queued or _try_lock(self._queue)
                if queued:
                    self._lock_some(wanted, count, got)
                if len(got) < count:
                    if time.monotonic() > end:
                        return [*got, *self._take_unlocked(wanted, got, count)]
                    self._freed.wait(freed, LOOK_S) if queued else self._left.wait(left, LOOK_S)
            self._timed_out = False
        finally:
            if queued:
                _unlock(self._queue)
                self._left.wake()
            self._held.update(got)
        return got

    def _lock_some(self, wanted: list[int], count: int, got: list[int]) -> None:
        for cpu in tuple(wanted):
            if len(got) < count and cpu not in got and _try_lock(self._fds[cpu]):
                got.append(cpu)

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
            self._freed.wake()

    def close(self) -> None:
        """Close the files once: a descriptor's number may be used again after that."""
        fds = [fd for fd in (self._queue, *self._fds.values()) if fd >= 0]
        self._queue, self._fds = -1, {}
        for fd in fds:
            os.close(fd)
        if fds:
            self._left.close()
            self._freed.close()


def _try_lock(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _unlock(fd: int) -> None:
    fcntl.flock(fd, fcntl.LOCK_UN)
