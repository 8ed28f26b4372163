"""One driver process, seen from its parent."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tempfile
import time
from collections import OrderedDict
from dataclasses import replace
from pathlib import Path

from gradebox.eval.common.errors import DriversUnavailable
from gradebox.eval.grading.drivers.frames import Frames
from gradebox.eval.grading.drivers.messages import (
    CloseSession,
    Forget,
    ProblemSent,
    Setup,
    Work,
)
from gradebox.eval.grading.drivers.queue import Known, Pending
from gradebox.eval.grading.drivers.run import Run
from gradebox.eval.problems.in_memory import InMemoryProblem, cache_name
from gradebox.eval.problems.problem import Problem
from gradebox.sandbox.common.socket_pair import blocking_pair

BOOT = Path(__file__).with_name("boot.py")
MOST_KNOWN, MOST_KNOWN_BYTES = 32, 64 << 20  # problems that a driver keeps without work for them
MOST_AHEAD = 1000  # solutions that a driver has at once
AHEAD_S = 0.15  # how long they last, as fast as it has been
MEASURE_S = 0.25
END_S, CLOSE_S = 0.5, 15.0  # to end after its socket was closed, and by itself


class DriverProcess:
    """A started driver. Not thread-safe. Raises DriversUnavailable when it cannot be started.

    sent     (run, number) → the solutions it has
    runs     open run → cases at once
    excused  it was started for an earlier run, which failed; its end says nothing of a later one
    alone    it has a solution of which other drivers died, and gets no other
    """

    def __init__(self, index: int, setup: Setup, folder: str | None) -> None:
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
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        ours, theirs = blocking_pair()
        with theirs:
            self.frames = Frames(ours)
            try:
                self.process = self._start(theirs, folder)
                _send_boot(ours)
                self.frames.send(setup)
            except OSError as error:
                self.frames.close()
                self._errors.close()
                raise DriversUnavailable(
                    f"--drivers: a driver process cannot be started: {error.strerror or error}; "
                    "raise the limit of processes (ulimit -u) or give --drivers 1"
                ) from None

    def _start(self, theirs: socket.socket, folder: str | None) -> subprocess.Popen[bytes]:
        flags = ["-I", "-S", *(["-B"] if sys.dont_write_bytecode else [])]
        return subprocess.Popen(
            [sys.executable, *flags, str(BOOT), str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._errors,
            cwd=folder,
            start_new_session=True,  # a terminal's Ctrl-C is the parent's
        )

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
        session = run.session.session
        if session not in self._sessions:
            self._sessions.add(session)
            self.tell(run.session)
        known = pending.known = self._know(session, pending)
        known.users += 1
        key = (run.number, pending.number)
        self.sent[key] = pending
        pending.started = None
        try:
            if run.number not in self.runs:
                self.runs[run.number] = self.workers
                self.frames.send(run.opening)
            s = pending.run
            self.frames.send(Work(*key, known.number, s.solution, s.language, s.scale, s.key))
        except OSError:
            self.process.kill()

    def tell(self, message: object) -> None:
        """Send a message that needs no answer."""
        try:
            self.frames.send(message)
        except OSError:
            self.process.kill()

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
                self.tell(Forget(self._known.pop(name).number))
            self.tell(CloseSession(session))

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
        message = ProblemSent(
            known.number, session, _slim(problem), pending.run.test_set, stored, fd is not None
        )
        try:
            self.frames.send(message, fd)
        except OSError:
            self.process.kill()
        return known

    def _forget_unused(self) -> None:
        size = sum(known.size_bytes for known in self._known.values())
        for name, known in list(self._known.items()):
            if len(self._known) < MOST_KNOWN and size < MOST_KNOWN_BYTES:
                return
            if not known.users:
                del self._known[name]
                size -= known.size_bytes
                self.tell(Forget(known.number))

    # ---- its end ------------------------------------------------------------------------

    def end_because(self, why: str) -> None:
        """End the process, which is noticed when it is read."""
        self._why = why
        self.process.kill()

    def end(self) -> str:
        """End the process if it has not ended; return how it did."""
        self.frames.close()
        try:
            status = self.process.wait(END_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        self._errors.seek(0)
        lines = self._errors.read()[-4000:].decode(errors="replace").strip().splitlines()
        self._errors.close()
        if self._why:
            return self._why
        how = f"signal {-status}" if status < 0 else f"exit status {status}"
        self.failed_by_itself = status > 0
        if -status == 9:
            how += ", which the kernel sends when memory is short"
        return f"{how}: {lines[-1]}" if lines else how

    def close(self) -> None:
        """Let the process end by itself, and wait for it."""
        self.frames.shutdown()
        try:
            self.process.wait(CLOSE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.frames.close()
        self._errors.close()


def _slim(problem: Problem) -> Problem:
    """Return a problem without what no grading needs."""
    if isinstance(problem, InMemoryProblem):
        problem = problem.without_tests()
    return problem if problem.test_kind == "assert" else replace(problem, gold_solutions=())


def _send_boot(ours: socket.socket) -> None:
    package = Path(str(sys.modules["gradebox"].__file__)).absolute()
    path = [p for p in sys.path if Path(p).is_absolute()]
    text = json.dumps({"package": str(package), "path": path}).encode()
    ours.sendall(len(text).to_bytes(4, "little") + text)
