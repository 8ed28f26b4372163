"""One running program a physical core, also when several graders share the machine.

A core is held by an flock on a file that every grader on the host opens (core_locks.py). The lock
of a dead process is released by the kernel. A run alone holds all cores.

    one() ── nobody waits, a core is free: lock it ──────────────────────────▶ core
      └───── else wait behind the other threads ─▶ first of them: in the queue
             of all graders ─▶ first there: lock what is free ───────────────▶ core

Every user may lock the files, so another user can hold one for ever. The locks only keep runs from
slowing each other down; isolation does not depend on them. After TIMEOUT_S a run goes on without
the lock, warns once, and counts as contended.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterator

from gradebox.sandbox.box.core_locks import CoreLocks
from gradebox.sandbox.common.cpus import Core, allowed_cpus, free_memory, physical_cores
from gradebox.sandbox.errors import SandboxError

MOST_LENT = 4  # times the cores: sleeping runs keep their memory
LEAST_FREE = 0.25  # part of the machine's memory that lending a core leaves

# Several runs of one request hold a core no longer than this while others wait: a hundred times
# what it takes to pass it on.
HOLD_NS = 100_000_000
CHECK_NS = 1_000_000_000  # between two looks at which cores this process may use

_instances: weakref.WeakSet[Cores] = weakref.WeakSet()


class _Waiter(threading.Event):
    """A thread that waits for a core."""

    def __init__(self, begun: bool) -> None:
        super().__init__()
        self.begun = begun


class Hold:
    """A run that holds a core, or all cores.

    core       the core to run on
    contended  the core was not locked, or the run has waited for it after it had lent it: another
               run may have been on it
    """

    def __init__(self, cores: Cores, core: Core) -> None:
        self.core = core
        self.contended = not cores._locks.held(core.name)
        self._cores = cores
        self._is_held = self._is_lent = False
        self._began_ns = 0

    def begin(self) -> None:
        """Note that the core is in use."""
        self._is_held = True
        self._cores._last.core = self.core
        self._began_ns = time.monotonic_ns()

    def end(self) -> None:
        """Give the core back, unless it is lent. A second call has no effect."""
        if self._is_lent:
            self._cores._lent.remove(self)
        elif self._is_held:
            self._cores._locks.ended(self._began_ns)
            self._cores._give_back([self.core], 1)
        self._is_held = self._is_lent = False

    @property
    def is_wanted(self) -> bool:
        """Whether this run has had the core for HOLD_NS and others wait for one."""
        if not self._is_held or time.monotonic_ns() - self._began_ns < HOLD_NS:
            return False
        return bool(self._cores._waiting) or self._cores._locks.others_wait()

    @property
    def is_owed(self) -> bool:
        """Whether another grader is due to have the core before this one is again."""
        return self._is_held and self._cores._locks.others_are_due(self._began_ns)

    def give_way(self, *, begun: bool = False) -> None:
        """Give the core back and wait for one again, behind those that wait already.

        begun  the run goes on then, so no thread of this process may begin many others before it
        """
        if self._is_held:
            self.end()
            self._get(self._cores._take_in_turn(alone=False, begun=begun)[0])

    def _get(self, core: Core) -> None:
        self.core = core
        self.contended |= not self._cores._locks.held(core.name)
        self.begin()

    def lend(self) -> None:
        """Let other runs have the core while this one sleeps, unless too many sleep already."""
        if self._is_held and self._cores._may_lend():
            self.end()
            self._cores._lent.append(self)
            self._is_lent = True

    def take_back(self) -> Core:
        """Wait for a core, which may be another one, if this run has lent its core."""
        if self._is_lent:
            core = self._cores._take_free()
            if core is None:
                self.contended = True
                core = self._cores._take_in_turn(alone=False, begun=True, urgent=True)[0]
            self._cores._lent.remove(self)
            self._is_lent = False
            self._get(core)
        return self.core


class SharedHold:
    """One of several programs on a core, which is lent while all of them sleep or have ended."""

    def __init__(self, hold: Hold, asleep: list[bool]) -> None:
        self.core = hold.core
        self._hold = hold
        self._asleep = asleep  # of all
        self._number = len(asleep)
        asleep.append(False)

    def lend(self) -> None:
        """See `Hold.lend`."""
        self._asleep[self._number] = True
        if all(self._asleep):
            self._hold.lend()

    def take_back(self) -> Core:
        """See `Hold.take_back`."""
        self._asleep[self._number] = False
        self.core = self._hold.take_back()
        return self.core


class Cores:
    """The cores of this process, one for each run.

    slots  cores in use at once, any of them (default: all); further callers wait, which is not part
           of any run's wall time
    cores  default: all that this process may use

    No lock guards the fields: each step on one of them is atomic, and who frees something looks for
    waiting threads afterwards, while those look again after they have begun to wait.
    """

    def __init__(self, slots: int | None = None, cores: list[Core] | None = None) -> None:
        self._fixed = cores is not None
        self._allowed = allowed_cpus()
        self._checked_ns = time.monotonic_ns()
        self._cores = {core.name: core for core in cores or physical_cores()}
        self.slots = min(slots or len(self._cores), len(self._cores))
        self._locks = CoreLocks(list(self._cores))
        self._free = dict.fromkeys(self._cores)  # not in use by this process
        self._places = [None] * self.slots  # one is taken by each run
        self._lent: list[Hold] = []
        self._waiting: deque[_Waiter] = deque()
        self._last = threading.local()  # core of this thread's last run: its cache is warm
        self._closed = False
        _instances.add(self)

    @property
    def lent(self) -> int:
        """Return how many runs sleep and have lent their cores."""
        return len(self._lent)

    @contextlib.contextmanager
    def one(self) -> Iterator[Hold]:
        """Hold a core while the block runs."""
        hold = Hold(self, self._take_free() or self._take_in_turn(alone=False)[0])
        hold.begin()
        try:
            yield hold
        finally:
            hold.end()

    @contextlib.contextmanager
    def alone(self) -> Iterator[Hold]:
        """Hold every core: no other run of any grader here runs meanwhile."""
        cores = self._take_in_turn(alone=True)
        try:
            yield Hold(self, cores[0])
        finally:
            self._give_back(cores, self.slots)

    def refuse(self) -> None:
        """Let nobody have a core any more: threads that wait raise SandboxError."""
        self._closed = self._locks.refuses = True
        for one in list(self._waiting):
            one.set()

    def close(self, *, ours: bool = True) -> None:
        """Let nobody have a core any more. Runs that have one keep it until they end.

        ours  False in a forked child: no run of this process has one
        """
        self.refuse()
        self._locks.close(ours=ours)

    # ---- taking a core -----------------------------------------------------------------------

    def _take_free(self) -> Core | None:
        """Lock a free core, unless a thread or another grader waits for one."""
        self._follow_affinity()
        if self._waiting or not self._take_places(1):
            return None
        got: list[Core] = []
        try:
            if not self._locks.others_wait():
                self._lock_some(1, got)
        finally:
            if not got:
                self._give_back([], 1)
        return got[0] if got else None

    def _take_in_turn(self, alone: bool, begun: bool = False, urgent: bool = False) -> list[Core]:
        """Wait for one core, or for all. Threads are served in the order in which they came.

        begun   a run waits that has begun: it comes before all but the first thread, which may have
                left the threads' queue for that of the graders
        urgent  whatever this process has used, it is due now
        """
        me = _Waiter(begun)
        wanted, places = self.slots if alone else 1, 0
        got: list[Core] = []
        if begun:
            self._waiting.insert(1 + sum(one.begun for one in list(self._waiting)), me)
        else:
            self._waiting.append(me)
        try:
            while True:
                me.clear()
                if self._closed:
                    raise SandboxError("the sandbox is closed")
                if self._waiting[0] is me:
                    places += self._take_places(wanted - places)
                    if places == wanted:
                        break
                me.wait()
            self._wait_for_cores(got, alone, urgent)
        except BaseException:
            self._give_back(got, places)
            raise
        finally:
            self._waiting.remove(me)
            self._wake_first_thread()
        return got

    def _wait_for_cores(self, got: list[Core], alone: bool, urgent: bool) -> None:
        """Add locked cores to `got`; after a time-out, cores that are not locked."""

        def lock() -> bool:
            self._follow_affinity()
            wanted = len(self._cores) if alone else 1
            self._lock_some(wanted, got)
            return len(got) >= wanted

        # Only the first in the queue may hold some of the cores that it needs: else two wait for
        # each other.
        if not alone and not self._locks.others_wait() and lock():
            return
        try:
            self._locks.wait(lock, self._is_any_free, urgent=alone or urgent)
        except TimeoutError:
            locked = len(got)
            for core in self._preferred():
                if (alone or not got) and self._claim(core):
                    got.append(core)
            self._locks.warn_of_timeout([core.name for core in got[locked:]])

    def _may_lend(self) -> bool:
        """Return whether one more run may be in memory."""
        return self.lent < MOST_LENT * self.slots and free_memory() > LEAST_FREE

    def _take_places(self, count: int) -> int:
        taken = 0
        with contextlib.suppress(IndexError):
            while taken < count:
                self._places.pop()
                taken += 1
        return taken

    def _preferred(self) -> Iterator[Core]:
        """Yield this thread's last core, then those of the same node, then the others."""
        last: Core | None = getattr(self._last, "core", None)
        if last is None:
            yield from list(self._cores.values())
            return
        last = self._cores.get(last.name, last)
        yield last
        rest = [core for core in self._cores.values() if core is not last]
        yield from sorted(rest, key=lambda core: core.node != last.node)

    def _claim(self, core: Core) -> bool:
        """Take a core for a thread of this process; its lock is still to be taken."""
        return self._free.pop(core.name, core) is None

    def _unclaim(self, core: Core) -> None:
        if core.name in self._cores:
            self._free[core.name] = None

    def _lock_some(self, count: int, got: list[Core]) -> None:
        """Add locked cores to `got`, until it has `count` of them or no more are free."""
        for core in self._preferred():
            if len(got) >= count:
                return
            if not self._claim(core):
                continue
            if self._locks.try_lock(core.name):
                got.append(core)
            else:
                self._unclaim(core)

    def _is_any_free(self) -> bool:
        """Return whether a core could be locked now."""
        got: list[Core] = []
        self._lock_some(1, got)
        for core in got:
            self._locks.release(core.name)
            self._unclaim(core)
        return bool(got)

    # ---- giving it back ----------------------------------------------------------------------

    def _give_back(self, cores: list[Core], places: int) -> None:
        for core in cores:
            self._locks.release(core.name)
            self._unclaim(core)
        self._places.extend([None] * places)
        self._wake_first_thread()
        if cores:
            self._locks.wake()

    def _wake_first_thread(self) -> None:
        with contextlib.suppress(IndexError):
            self._waiting[0].set()

    # ---- cores that come and go --------------------------------------------------------------

    def _follow_affinity(self) -> None:
        """Once a second, look for cores that went offline or were taken from a cpuset."""
        now_ns = time.monotonic_ns()
        if self._fixed or now_ns - self._checked_ns < CHECK_NS:
            return
        self._checked_ns = now_ns
        allowed = allowed_cpus()
        if allowed == self._allowed:
            return
        self._allowed = allowed
        before, self._cores = self._cores, {core.name: core for core in physical_cores(allowed)}
        for name in before.keys() - self._cores.keys():
            self._free.pop(name, None)
        for name in self._cores.keys() - before.keys():
            self._locks.add(name)
            self._free[name] = None


def _close_all() -> None:
    """In a forked child: its copies would keep the locks held after the parent's end."""
    for cores in list(_instances):
        cores.close(ours=False)


os.register_at_fork(after_in_child=_close_all)
