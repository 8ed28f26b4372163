"""One driver, seen from its parent."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import replace
from typing import Any

from gradebox.eval.common.errors import DriversUnavailable
from gradebox.eval.grading.drivers.calls import Calls, DriverSetup
from gradebox.eval.grading.drivers.queue import Known, Pending
from gradebox.eval.grading.drivers.run import Run
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
