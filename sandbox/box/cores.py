"""One running program a physical core, also when several graders share the machine.

A core is held by an flock on a file that every grader on the host opens; the lock of a dead
process is gone by itself. A run alone holds all of them.

    /dev/shm/gradebox-cores/{queue,<cpu>}     else in /tmp, else in a folder of this user's

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
import time
import warnings
import weakref
from collections.abc import Iterator
from pathlib import Path

from sandbox.errors import SandboxError

LOCKS = "gradebox-cores"
QUEUE = -1  # its lock file is named "queue"
PATIENCE_S = 30.0  # longer than nearly every run another grader may have on that core
SHORTEST_S, LONGEST_S = 0.0002, 0.004  # between two looks at cores that others hold

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


class _Files:
    """The lock files of this process: one a core, and one that is the queue for them.

    Who wants a core takes the queue first and keeps it until it has one. So a grader that
    runs case after case cannot keep another from ever getting a turn, whatever the order
    in which the kernel wakes those who wait.
    """

    def __init__(self, cpus: list[int]) -> None:
        fds = open_locks([*cpus, QUEUE])
        self._queue = fds.pop(QUEUE)
        self._fds = fds
        self._held: set[int] = set()
        self._gave_up = False  # then the next run does not wait as long again for the same

    def take(self, wanted: list[int], count: int) -> list[int]:
        """Locks `count` of the cores `wanted`, in order of preference; waits for them.

        After PATIENCE_S without them it gives cores that are not locked, and warns.
        """
        if self._queue < 0:
            raise SandboxError("the sandbox is closed")
        got: list[int] = []
        end = time.monotonic() + (LONGEST_S if self._gave_up else PATIENCE_S)
        delay, queued = SHORTEST_S, False
        try:
            while len(got) < count:
                queued = queued or _try(self._queue)
                if queued:
                    got += [cpu for cpu in tuple(wanted) if cpu not in got and _try(self._fds[cpu])]
                    for cpu in got[count:]:
                        _unlock(self._fds[cpu])
                    del got[count:]
                if len(got) < count:
                    if time.monotonic() > end:
                        return [*got, *self._without(wanted, got, count)]
                    time.sleep(delay)
                    delay = min(delay * 2, LONGEST_S)
            self._gave_up = False
        finally:
            if queued:
                _unlock(self._queue)
            self._held.update(got)
        return got

    def _without(self, wanted: list[int], got: list[int], count: int) -> list[int]:
        rest = [cpu for cpu in wanted if cpu not in got][: count - len(got)]
        if self._gave_up:
            return rest
        self._gave_up = True
        named = ", ".join(map(str, rest))
        warnings.warn(
            f"core {named} has been locked by another process for {PATIENCE_S:.0f} s: going on "
            f"without the lock, results are marked contended; who holds it: fuser -v "
            f"/dev/shm/{LOCKS}/*",
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
        """Once only: a number closed twice may be somebody else's by then."""
        fds = [fd for fd in (self._queue, *self._fds.values()) if fd >= 0]
        self._queue, self._fds = -1, {}
        for fd in fds:
            os.close(fd)


def _try(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _unlock(fd: int) -> None:
    fcntl.flock(fd, fcntl.LOCK_UN)


class Cores:
    """The cores of this process, handed out one a run.

    `slots` caps how many are used at once, any of them; more callers wait, which no run's
    wall clock ever counts.
    """

    def __init__(self, slots: int | None = None) -> None:
        cpus = physical()
        self.slots = min(slots or len(cpus), len(cpus))
        self._files = _Files(cpus)
        self._free = cpus  # the last one used comes first: its cache is warm
        self._mine = threading.local()  # and before all others the last one this thread had
        self._running = 0
        self._waiting_alone = 0
        self._changed = threading.Condition()
        self._picking = threading.Lock()
        _living.add(self)

    def sure(self, cpu: int) -> bool:
        """Whether the core a run has is locked: no other grader's run is on it."""
        return self._files.held(cpu)

    @contextlib.contextmanager
    def one(self) -> Iterator[int]:
        """Holds one core while the block runs; yields its number."""
        with self._changed:
            while self._running >= self.slots or self._waiting_alone:
                self._changed.wait()
            self._running += 1
        cpu = None
        try:
            with self._picking:  # one thread waits for other graders, the rest wait for it
                last = getattr(self._mine, "cpu", None)
                cpu = self._files.take(sorted(self._free, key=lambda one: one != last), 1)[0]
                self._free.remove(cpu)
            self._mine.cpu = cpu
            yield cpu
        finally:
            if cpu is not None:
                self._files.release(cpu)
                self._free.insert(0, cpu)
            with self._changed:
                self._running -= 1
                self._changed.notify_all() if self._waiting_alone else self._changed.notify()

    @contextlib.contextmanager
    def alone(self) -> Iterator[int]:
        """Holds every core: no other run of any grader here goes on meanwhile."""
        with self._changed:
            self._waiting_alone += 1
            while self._running:
                self._changed.wait()
            self._running += 1
        cpus: list[int] = []
        try:
            cpus = self._files.take(self._free, len(self._free))
            yield cpus[0]
        finally:
            for cpu in cpus:
                self._files.release(cpu)
            with self._changed:
                self._waiting_alone -= 1
                self._running -= 1
                self._changed.notify_all()

    def close(self) -> None:
        """Lets the lock files go."""
        self._files.close()


def _forget_all() -> None:
    """In a forked child: its copies of the locks would keep them held after the parent's end."""
    for cores in list(_living):
        cores.close()


os.register_at_fork(after_in_child=_forget_all)
