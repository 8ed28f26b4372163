"""A driver process: opens a sandbox, grades what its parent sends, and ends with its parent."""

from __future__ import annotations

import contextlib
import logging
import signal
import sys
import warnings
from collections.abc import Mapping
from typing import Any, TextIO

from gradebox.eval.common.errors import InputError
from gradebox.eval.grading.drivers.calls import Calls, DriverSetup
from gradebox.eval.grading.drivers.driver_run import DriverRun
from gradebox.eval.grading.drivers.problems import SentProblems
from gradebox.eval.grading.options import Options
from gradebox.eval.grading.resources import TestSetInfo
from gradebox.eval.grading.session import GradingSession
from gradebox.eval.grading.solution_run import SolutionRun
from gradebox.eval.problems.chosen_tests import ProblemTests, StoredTests
from gradebox.eval.problems.problem import Problem
from gradebox.eval.solutions.solution import Solution
from gradebox.sandbox.children.channel import Channel
from gradebox.sandbox.errors import BadRequest, SandboxError
from gradebox.sandbox.opening import open_sandbox

CLOSE_S = 10


def run_driver(channel: Channel) -> None:
    """Be the driver at the other end of a channel until that end is closed."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    parent = Calls(channel)
    first = parent.take()
    if first is None:
        return
    setup: DriverSetup = first[1][0]
    _pass_messages_on(parent, setup.log_level)
    try:
        driver = Driver(parent, setup)
    except (InputError, SandboxError, BadRequest) as e:
        parent.call("ready", None, str(e))
        return
    try:
        parent.call("ready", driver.description, "")
        while (taken := parent.take()) is not None:
            method, arguments = taken
            getattr(driver, method)(*arguments)
    except OSError:
        pass  # the parent is gone
    finally:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(CLOSE_S)  # whatever happens, the process and its boxes end
        driver.close()
    sys.exit(0)


class Driver:
    """The open parts of a driver; the parent calls its methods.

    Raises InputError, SandboxError, BadRequest.
    """

    def __init__(self, parent: Calls, setup: DriverSetup) -> None:
        self._parent = parent
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

    def open_session(self, number: int, options: Mapping[str, Any]) -> None:
        """Begin to grade with other options; `options` are fields of `Options`."""
        session = GradingSession(Options(**options), self._sandbox)
        session.open_for_solutions(self._expected)
        self._sessions[number] = session

    def close_session(self, number: int) -> None:
        """Forget a session: no further run belongs to it."""
        self._sessions.pop(number).close()

    def open_run(self, number: int, session: int, retry: tuple[int, float, float]) -> None:
        """Begin a run of a session; `retry` is (attempts, first_s, cap_s) of `Retry`."""
        self._runs[number] = DriverRun(
            number,
            self._sessions[session],
            self._problems,
            self._parent,
            workers=self._workers,
            retry=retry,
        )

    def add_problem(
        self,
        number: int,
        session: int,
        problem: Problem,
        test_set: TestSetInfo,
        stored: StoredTests,
        with_fd: bool,
    ) -> None:
        """Keep a session's problem. With `with_fd` the descriptor of its tests' file follows."""
        tests = ProblemTests.opened(stored, self._parent.channel.receive_fd() if with_fd else None)
        opener = self._sessions[session].resources_of
        self._problems.add(number, problem, test_set, tests, opener)

    def forget(self, number: int) -> None:
        """Close a problem; it may be sent again under another number."""
        self._problems.forget(number)

    def work(
        self,
        run_number: int,
        number: int,
        problem_number: int,
        solution: Solution,
        language: str,
        scale: float,
        key: str,
    ) -> None:
        """Grade a solution of a problem."""
        problem, test_set = self._problems.find(problem_number)
        run = self._runs[run_number]
        fields = run.context.sandbox_fields(language)
        run.add(number, SolutionRun(solution, problem, test_set, language, scale, key, fields))

    def widen(self, run: int, workers: int) -> None:
        """Run this many cases at once: other drivers have nothing left to do."""
        self._runs[run].widen(workers)

    def stop_run(self, run: int) -> None:
        """Start nothing more; the running cases end."""
        self._runs.pop(run).stop()

    def end_run(self, run: int) -> None:
        """End a run after its last solution."""
        self._runs.pop(run).end()

    def close(self) -> None:
        """Close the sandbox; what is running ends with the process."""
        for run in self._runs.values():
            run.stop()
        with contextlib.suppress(SandboxError, OSError):
            self._sandbox.close()


def _pass_messages_on(parent: Calls, level: int) -> None:
    """Send log messages and warnings to the parent, which shows them as its own."""

    class Forward(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            with contextlib.suppress(OSError):
                parent.call("logged", record.name, record.levelno, self.format(record))

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        with contextlib.suppress(OSError):
            parent.call("warned", category, str(message), filename, lineno)

    root = logging.getLogger()
    root.addHandler(Forward())
    root.setLevel(level)
    warnings.simplefilter("default")
    warnings.showwarning = show
