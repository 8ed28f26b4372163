"""One driver, seen from its parent, and which driver gets which solution.

A driver gets a few solutions ahead, as many as last a fraction of a second, so that all finish
together. When the queue is empty and a driver has nothing left, those that are still busy run as
many cases at once as the free workers allow.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gradebox.eval.common.errors import DriversUnavailable
from gradebox.eval.grading.drivers.calls import Calls, DriverSetup
from gradebox.eval.grading.drivers.runs import Known, Pending, Run
from gradebox.eval.problems.in_memory import InMemoryProblem, cache_name
from gradebox.eval.problems.problem import Problem
from gradebox.sandbox.children.child import Child

MAIN = "gradebox.eval.grading.drivers.driver:run_driver"
MOST_KNOWN, MOST_KNOWN_BYTES = 32, 64 << 20  # problems that a driver keeps without work for them
MOST_AHEAD = 1000  # solutions that a driver has at once
AHEAD_S = 0.15  # how long they last, as fast as it has been
MEASURE_S = 0.25
CLOSE_S = 15.0  # to end by itself


class DriverProcess:
    """A started driver. Not thread-safe. Raises DriversUnavailable when it cannot be started.

    sent     (run, number) → the solutions it has
    runs     open run → cases at once
    excused  it was started for an earlier run, which failed; its end says nothing of a later one
    alone    it has a solution of which other drivers died, and gets no other
    """

    def __init__(self, index: int, setup: DriverSetup, folder: str | None) -> None:
        self.index, self.workers = index, setup.workers
        self.ready = False
        self._why = ""
        self.failed_by_itself = self.excused = False
        self.alone = False
        self.sent: dict[tuple[int, int], Pending] = {}
        self.runs: dict[int, int] = {}
        self._sessions: set[int] = set()
        self._known: OrderedDict[tuple[int, str], Known] = OrderedDict()  # by session and problem
        self._sent_problems = 0
        self._finished, self._measured_at = 0, time.monotonic()
        self._limit = self._least = 2 * self.workers + 2
        try:
            self.child = Child(MAIN, folder=folder)
        except OSError as error:
            raise DriversUnavailable(
                f"--drivers: a driver process cannot be started: {error.strerror or error}; "
                "raise the limit of processes (ulimit -u) or give --drivers 1"
            ) from None
        self.calls = Calls(self.child.channel)
        self.tell("setup", setup)

    # ---- its work -----------------------------------------------------------------------

    @property
    def load(self) -> int:
        """The number of solutions it has."""
        return len(self.sent)

    def room(self, waiting: int | None) -> bool:
        """Return whether it may get a solution; `waiting`: of those left, None if more come."""
        limit = self._limit
        if waiting is not None:
            limit = min(limit, max(self.workers + 1, waiting))
        return self.ready and not self.alone and self.load < limit

    def give(self, run: Run, pending: Pending) -> None:
        """Send a solution, with what it needs. The driver's end is noticed when it is read."""
        session = run.session[0]
        if session not in self._sessions:
            self._sessions.add(session)
            self.tell("open_session", *run.session)
        known = pending.known = self._know(session, pending)
        known.users += 1
        key = (run.number, pending.number)
        self.sent[key] = pending
        pending.started = None
        if run.number not in self.runs:
            self.runs[run.number] = self.workers
            self.tell("open_run", *run.opening)
        s = pending.run
        self.tell("work", *key, known.number, s.solution, s.language, s.scale, s.key)

    def tell(self, method: str, *arguments: Any, fd: int | None = None) -> None:
        """Call a method of the driver, see `Calls.call`. Its end is noticed when it is read."""
        try:
            self.calls.call(method, *arguments, fd=fd)
        except OSError:
            self.child.kill()

    def take_back(self, run: int, number: int) -> Pending | None:
        """Return a solution that the driver is done with."""
        pending = self.sent.pop((run, number), None)
        if pending is not None:
            assert pending.known is not None
            pending.known.users -= 1
            self._measure()
        return pending

    def _measure(self) -> None:
        self._finished += 1
        passed = time.monotonic() - self._measured_at
        if passed >= MEASURE_S:
            ahead = int(self._finished / passed * AHEAD_S)
            self._limit = max(self._least, min(MOST_AHEAD, ahead))
            self._finished, self._measured_at = 0, time.monotonic()

    def forget(self, session: int) -> None:
        """Let the driver forget a session, of which no run is open, and its problems."""
        if session in self._sessions:
            self._sessions.discard(session)
            for name in [name for name in self._known if name[0] == session]:
                self.tell("forget", self._known.pop(name).number)
            self.tell("close_session", session)

    def _know(self, session: int, pending: Pending) -> Known:
        """Return the driver's copy of a solution's problem; send it when it has none."""
        problem = pending.run.problem
        name = session, cache_name(problem)
        known = self._known.get(name)
        if known is not None:
            self._known.move_to_end(name)
            return known
        self._forget_unused()
        stored, fd = pending.resources.tests.stored()
        self._sent_problems += 1
        known = self._known[name] = Known(self._sent_problems, stored.size_bytes)
        run, slim = pending.run, _slim(problem)
        with_fd = fd is not None
        self.tell("add_problem", known.number, session, slim, run.test_set, stored, with_fd, fd=fd)
        return known

    def _forget_unused(self) -> None:
        size = sum(known.size_bytes for known in self._known.values())
        for name, known in list(self._known.items()):
            if len(self._known) < MOST_KNOWN and size < MOST_KNOWN_BYTES:
                return
            if not known.users:
                del self._known[name]
                size -= known.size_bytes
                self.tell("forget", known.number)

    # ---- its end ------------------------------------------------------------------------

    def end_because(self, why: str) -> None:
        """End the process, which is noticed when it is read."""
        self._why = why
        self.child.kill()

    def end(self) -> str:
        """End the process if it has not ended; return how it did."""
        how = self.child.end()
        if self._why:
            return self._why
        self.failed_by_itself = (self.child.status or 0) > 0
        return how


def _slim(problem: Problem) -> Problem:
    """Return a problem without what no grading needs."""
    if isinstance(problem, InMemoryProblem):
        problem = problem.without_tests()
    return problem if problem.test_kind == "assert" else replace(problem, gold_solutions=())


class Dispatch:
    """Gives the solutions of runs to drivers. Not thread-safe: the pool's lock is held.

    drivers  by index, as they are at the moment
    workers  of all of them
    """

    def __init__(self, drivers: Mapping[int, DriverProcess], workers: int) -> None:
        self._drivers = drivers
        self._workers = workers

    def hand_out(self, run: Run) -> None:
        """Give drivers what they have room for."""
        if run.stopping or run.stop_sent:
            return
        while run.suspects:
            driver = next((d for d in self._drivers.values() if d.ready and not d.load), None)
            if driver is None:
                break
            self._give(driver, run, run.suspects.popleft())
            driver.alone = True
        if run.queue:
            while self._give_next(run):
                pass
        if run.all_read and not run.waiting:
            self._widen(run)

    def _give_next(self, run: Run) -> bool:
        """Give the next solution to the driver that has least; return False when none takes it."""
        count = len(self._drivers)
        for driver in sorted(self._drivers.values(), key=lambda d: d.load / d.workers):
            if not driver.room(len(run.queue) // count if run.all_read else None):
                continue
            pending = run.queue.take(driver.index, join=driver.load <= driver.workers)
            if pending is not None:
                self._give(driver, run, pending)
                return True
        return False

    def _give(self, driver: DriverProcess, run: Run, pending: Pending) -> None:
        run.open_in.add(driver.index)
        driver.give(run, pending)

    def _widen(self, run: Run) -> None:
        """Let the drivers that still have work use the workers of those that have none."""
        busy = [d for d in self._drivers.values() if d.load or not d.ready]
        if not busy or len(busy) == len(self._drivers):
            return
        for driver in busy:
            share = self._workers // len(busy)
            if driver.load and driver.runs.get(run.number, share) < share:
                driver.runs[run.number] = share
                driver.tell("widen", run.number, share)
