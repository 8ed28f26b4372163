"""The lock files of the cores, which every grader on the host opens.

    /dev/shm/gradebox-cores/{queue,<core>}      else in /tmp

A core is free when its file can be locked. One try does that while nobody waits. Who finds no free
core takes a ticket of the queue, and while anybody has one, only the first in the queue may lock a
core: a grader that runs case after case must not overtake one that waits. Whoever frees a core
wakes the first in the queue.

Tickets are due by the time that a grader has used, so that graders of long cases and of short ones
get the same share of the cores:

    due  =  when it was due, at least the start of its last case
            +  duration of its last case × graders that wait / cores
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from gradebox.sandbox.box.ticket_queue import TicketQueue
from gradebox.sandbox.errors import SandboxError

LOCKS = "gradebox-cores"
QUEUE = -1  # its lock file is named "queue"
TIMEOUT_S = 30.0  # longer than nearly every run of another grader on a core
LONGEST_S = 20 * TIMEOUT_S  # in the queue, even while others get cores and leave it
# A wait ends after so long at the latest, for the first in the queue and for the others: a grader
# that was killed wakes nobody.
LOOK_FIRST_S, LOOK_S = 0.005, 0.02
# A grader that is the first in the queue and leaves a core free for so long is stopped. Others look
# for free cores only after this time, because looking takes a lock.
STUCK_S = 0.075
SHORT_NS, LONGEST_DEBT_NS = 2_000_000, 10_000_000_000  # shorter runs take turns as they come


def _folders() -> Iterator[Path]:
    """Yield the folders for locks, the most widely shared first; create missing ones."""
    for folder in (Path("/dev/shm", LOCKS), Path("/tmp", LOCKS)):
        with contextlib.suppress(OSError):
            folder.mkdir(mode=0o700)
            folder.chmod(0o1777)
        if os.path.isdir(folder) and not os.path.islink(folder):  # noqa: PTH112, PTH114 - never raise
            yield folder


def _open_lock(folder: Path, core: int) -> int:
    """Open a core's lock file; create it when it is missing.

    The first attempt is without O_CREAT, which sticky folders refuse for files of other users.
    Who could write to it could lock the queue against others, and fill the file system.
    Raises OSError when something else has that name (a link, a pipe) or access is denied.
    """
    path = folder / ("queue" if core == QUEUE else str(core))
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        fd = os.open(path, flags)
    except FileNotFoundError:
        try:
            fd = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o444)
        except FileExistsError:
            fd = os.open(path, flags)
        else:
            with contextlib.suppress(OSError):
                os.fchmod(fd, 0o444)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(f"{path} is not a plain file")
    return fd


def open_locks(cores: Iterable[int]) -> dict[int, int]:
    """Return a descriptor to lock for each core, all from the first folder that allows it.

    Without such a folder the locks are private to this process, and a warning says so.
    """
    failure = "no folder for them"
    for folder in _folders():
        fds: dict[int, int] = {}
        try:
            for core in cores:
                fds[core] = _open_lock(folder, core)
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
    return {core: os.memfd_create(f"core-{core}", os.MFD_CLOEXEC) for core in cores}


class CoreLocks:
    """The lock files of this process: one a core, and the queue for the cores.

    refuses  no core is locked any more

    The locks belong to the process. The caller makes sure that its threads use different cores.
    """

    def __init__(self, cores: list[int]) -> None:
        fds = open_locks([*cores, QUEUE])
        queue = fds.pop(QUEUE)
        self._folder = Path(f"/proc/self/fd/{queue}").readlink().parent
        self._queue = TicketQueue(queue)
        self._fds = fds
        self._held: set[int] = set()
        self._closed = self.refuses = False
        self._timed_out = False  # a run went on without a lock; the next one hardly waits for it
        self._due_ns = 0  # when this process may have a core again; see above

    def add(self, core: int) -> None:
        """Open the lock of one more core."""
        if core not in self._fds:
            try:
                self._fds[core] = _open_lock(self._folder, core)
            except OSError:
                self._fds[core] = os.memfd_create(f"core-{core}", os.MFD_CLOEXEC)

    def others_wait(self) -> bool:
        """Return whether another grader is in the queue."""
        return self._queue.others_wait()

    def try_lock(self, core: int) -> bool:
        """Lock a core if nobody else has it. Raises SandboxError after `close`."""
        self._check_open()
        try:
            fcntl.flock(self._fds.get(core, -1), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (OSError, ValueError):  # ValueError: closed meanwhile
            return False
        self._held.add(core)
        return True

    def _check_open(self) -> None:
        if self._closed or self.refuses:
            raise SandboxError("the sandbox is closed")

    def held(self, core: int) -> bool:
        """Return whether this process has the lock of a core."""
        return core in self._held

    def release(self, core: int) -> None:
        """Unlock a core, if it is locked. Call `wake` afterwards: this wakes no waiting process."""
        if core in self._held:
            fcntl.flock(self._fds[core], fcntl.LOCK_UN)
            self._held.discard(core)
            if self._closed:
                self._close_file(core)

    def wake(self) -> None:
        """Wake the first in the queue."""
        self._queue.wake_first()

    def ended(self, began_ns: int) -> None:
        """Note that a run has had a core since then."""
        self._due_ns = self._due_after(began_ns)

    def others_are_due(self, began_ns: int) -> bool:
        """Return whether another grader waits and comes first if a run ends now."""
        first = self._queue.first()
        return first not in (None, self._queue.ticket) and first < self._due_after(began_ns)

    def wait(self, lock: Callable[[], bool], is_any_free: Callable[[], bool], urgent: bool) -> None:
        """Wait in the queue until `lock` returns True; it is called while this process is first.

        is_any_free  return whether a core could be locked now
        urgent       be due now, whatever this process has used
        Raises TimeoutError when no lock has been freed for TIMEOUT_S: the caller goes on without.
        """
        queue = self._queue
        queue.join(0 if urgent else self._due_ns)
        began = since = busy = time.monotonic()
        before = (-1, 0)
        patience_s = LOOK_S if self._timed_out else TIMEOUT_S
        try:
            while True:
                self._check_open()
                first, now = queue.first() or 0, time.monotonic()
                is_first = first == queue.ticket
                if (is_first or now - busy > STUCK_S) and lock():
                    if not is_first:  # it is stopped, or somebody has thousands of tickets
                        queue.pass_over(first)
                    self._timed_out = False
                    return
                if is_first or now - began < STUCK_S or not is_any_free():
                    busy = now
                if before != (first, len(self._held)):
                    before, since = (first, len(self._held)), now
                if now - since > patience_s or now - began > LONGEST_S:
                    raise TimeoutError
                queue.wait(LOOK_FIRST_S if is_first else LOOK_S)
        finally:
            queue.leave()
            if queue.others_wait() and is_any_free():
                queue.wake_first()

    def _due_after(self, began_ns: int) -> int:
        """Return when this process is due to have a core again after a run that ends now."""
        now_ns = time.monotonic_ns()
        used_ns = now_ns - began_ns
        if used_ns < SHORT_NS:
            return self._due_ns
        debt_ns = used_ns * (self._queue.count_others() + 1) // max(len(self._fds), 1)
        return min(max(self._due_ns, began_ns) + debt_ns, now_ns + LONGEST_DEBT_NS)

    def warn_of_timeout(self, cores: list[int]) -> None:
        """Say once that runs go on without the locks of these cores."""
        if self._timed_out:
            return
        self._timed_out = True
        names = ", ".join(map(str, cores))
        warnings.warn(
            f"core {names} has been locked by another process for {TIMEOUT_S:.0f} s; continuing "
            "without the lock, results are marked contended. To see which process holds it: "
            f"fuser -v /dev/shm/{LOCKS}/*",
            RuntimeWarning,
            stacklevel=4,
        )

    def close(self, *, ours: bool = True) -> None:
        """Close the files; that of a core in use when it is released.

        ours  False in a forked child, whose copies would keep the parent's locks: close them all
        """
        self._closed = True
        if not ours:
            self._held.clear()
        for core in [*self._fds]:
            if core not in self._held:
                self._close_file(core)
        self._queue.close()

    def _close_file(self, core: int) -> None:
        """Close a core's file once: its descriptor's number may be used again after that."""
        fd = self._fds.pop(core, None)
        if fd is not None:
            os.close(fd)
