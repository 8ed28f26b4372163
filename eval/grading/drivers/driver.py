"""A driver process: opens a sandbox, grades what its parent sends, and ends with its parent."""

from __future__ import annotations

import contextlib
import logging
import signal
import socket
import sys
import warnings
from typing import Any, TextIO

from gradebox.eval.common.errors import InputError
from gradebox.eval.grading.drivers import messages as m
from gradebox.eval.grading.drivers.driver_run import DriverRun
from gradebox.eval.grading.drivers.frames import Frames
from gradebox.eval.grading.drivers.problems import SentProblems
from gradebox.eval.grading.options import Options
from gradebox.eval.grading.session import GradingSession
from gradebox.eval.grading.solution_run import SolutionRun
from gradebox.eval.problems.chosen_tests import ProblemTests
from gradebox.sandbox.errors import BadRequest, SandboxError
from gradebox.sandbox.opening import open_sandbox

CLOSE_S = 10


def run_driver(fd: int) -> None:
    """Be the driver at the other end of a socket until that end is closed."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C: the parent decides what ends
    frames = Frames(socket.socket(fileno=fd))
    inbox = _Inbox(frames)
    setup = inbox.next()
    if setup is None:
        return
    _pass_messages_on(frames, setup.log_level)
    try:
        driver = _Driver(frames, setup)
    except (InputError, SandboxError, BadRequest) as e:
        frames.send(m.Ready(None, str(e)))
        return
    try:
        frames.send(m.Ready(driver.description))
        while (message := inbox.next()) is not None:
            driver.handle(message)
    except OSError:
        pass  # the parent is gone
    finally:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(CLOSE_S)  # whatever happens, the process and its boxes end
        driver.close()
    sys.exit(0)


class _Inbox:
    """The messages of a connection, one by one."""

    def __init__(self, frames: Frames) -> None:
        self._frames = frames
        self._waiting: list[Any] = []

    def next(self) -> Any:
        """Return the next message, None when the other end is gone."""
        while not self._waiting:
            found = self._frames.receive()
            if found is None:
                return None
            self._waiting = found[::-1]
        return self._waiting.pop()


class _Driver:
    """The open parts of a driver. Raises InputError, SandboxError, BadRequest."""

    def __init__(self, frames: Frames, setup: m.Setup) -> None:
        self._frames = frames
        self._workers = setup.workers
        self._expected = setup.description
        self._sandbox = open_sandbox(
            "local", slots=setup.slots, options=setup.sandbox, hidden=setup.hidden
        )
        try:
            self.description = self._sandbox.describe()
        except BaseException:
            self._sandbox.close()
            raise
        self._problems = SentProblems()
        self._sessions: dict[int, GradingSession] = {}
        self._runs: dict[int, DriverRun] = {}
        self._handlers: dict[type, Any] = {
            m.OpenSession: self._open_session,
            m.CloseSession: lambda message: self._sessions.pop(message.session).close(),
            m.OpenRun: self._open_run,
            m.ProblemSent: self._add_problem,
            m.Work: self._work,
            m.Widen: lambda message: self._runs[message.run].widen(message.workers),
            m.StopRun: lambda message: self._runs.pop(message.run).stop(),
            m.EndRun: lambda message: self._runs.pop(message.run).end(),
            m.Forget: lambda message: self._problems.forget(message.number),
        }

    def handle(self, message: Any) -> None:
        """Do what a message of the parent says."""
        self._handlers[type(message)](message)

    def _open_session(self, message: m.OpenSession) -> None:
        session = GradingSession(Options(**message.options), self._sandbox)
        session.open_for_solutions(self._expected)
        self._sessions[message.session] = session

    def _open_run(self, message: m.OpenRun) -> None:
        self._runs[message.run] = DriverRun(
            message.run,
            self._sessions[message.session],
            self._problems,
            self._frames,
            workers=self._workers,
            retry=message.retry,
        )

    def _add_problem(self, message: m.ProblemSent) -> None:
        fd = self._frames.fds.popleft() if message.with_fd else None
        tests = ProblemTests.opened(message.tests, fd)
        opener = self._sessions[message.session].resources_of
        self._problems.add(message.number, message.problem, message.test_set, tests, opener)

    def _work(self, message: m.Work) -> None:
        problem, test_set = self._problems.find(message.problem)
        run = self._runs[message.run]
        solution_run = SolutionRun(
            message.solution,
            problem,
            test_set,
            message.language,
            message.scale,
            message.key,
            run.context.sandbox_fields(message.language),
        )
        run.add(message.number, solution_run)

    def close(self) -> None:
        """Close the sandbox; what is running ends with the process."""
        for run in self._runs.values():
            run.stop()
        with contextlib.suppress(SandboxError, OSError):
            self._sandbox.close()


def _pass_messages_on(frames: Frames, level: int) -> None:
    """Send log messages and warnings to the parent, which shows them as its own."""

    class Forward(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            with contextlib.suppress(OSError):
                frames.send(m.Logged(record.name, record.levelno, self.format(record)))

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        with contextlib.suppress(OSError):
            frames.send(m.Warned(category, str(message), filename, lineno))

    root = logging.getLogger()
    root.addHandler(Forward())
    root.setLevel(level)
    warnings.simplefilter("default")
    warnings.showwarning = show
