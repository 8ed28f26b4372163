"""A driver process: opens a sandbox, grades what its parent sends, and ends with its parent.

    parent ─▶ driver   add_problem, forget, work, widen, end_run: methods of `Driver`
    driver ─▶ parent   ready, graded, ran, run_ended, logged: methods of `DriverPool` that
                       begin with `on_` and take the driver first

A call is the name of a method and its arguments; none is answered. A run is one `Scheduler.run`;
several may be open at once (the batches of a `Grader`), with options of their own (the graders of a
server). Both ends run this code for the same user, and programs never have the channel: calls are
pickles.
"""

from __future__ import annotations

import contextlib
import logging
import pickle
import signal
import sys
import threading
import warnings
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from logging.handlers import QueueHandler
from queue import SimpleQueue
from typing import Any

from gradebox.eval.common.errors import InputError, Retry
from gradebox.eval.grading.options import Options
from gradebox.eval.grading.resources import ProblemResources, TestSetInfo
from gradebox.eval.grading.scheduler import Scheduler
from gradebox.eval.grading.session import GradingSession
from gradebox.eval.grading.solution_job import SolutionJob
from gradebox.eval.grading.solution_run import SolutionRun
from gradebox.eval.problems.chosen_tests import ProblemTests, StoredTests
from gradebox.eval.problems.problem import Problem
from gradebox.eval.results.record import SolutionRecord
from gradebox.eval.results.records import EncodedRecord, encoded
from gradebox.eval.solutions.solution import Solution
from gradebox.sandbox.children.channel import Channel
from gradebox.sandbox.common.lru_cache import LruCache
from gradebox.sandbox.errors import BadRequest, SandboxError
from gradebox.sandbox.model import Description, Execution
from gradebox.sandbox.opening import open_sandbox
from gradebox.sandbox.protocol import lent_cores

CLOSE_S = 10
MOST_SESSIONS = 8  # kept for options that come again
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class DriverSetup:
    """What a driver opens.

    sandbox      arguments of the sandbox's constructor
    slots        programs at once, of all drivers together
    workers      solutions' cases that this driver runs at once
    hidden       paths that programs must not see
    description  of the parent's sandbox, which records state
    log_level    of messages that are passed on
    """

    sandbox: Mapping[str, Any]
    slots: int
    workers: int
    hidden: tuple[str, ...]
    description: Description
    log_level: int


class Calls:
    """One end of a channel. Any thread may call; one thread takes the other end's calls."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel

    def call(self, method: str, *arguments: Any, fd: int | None = None) -> None:
        """Call a method of the other end. Raises OSError when that end is gone.

        fd  an open descriptor that belongs to the call
        """
        self.channel.send(pickle.dumps((method, arguments), 5), fd)

    def take(self) -> tuple[str, tuple[Any, ...]] | None:
        """Wait for a call; return the method's name and its arguments, None at the end."""
        try:
            method, arguments = pickle.loads(self.channel.receive())
        except (EOFError, OSError):
            return None
        return method, arguments


class HeldProblem:
    """A problem that the parent sent, and its opened resources, as `ResourceCache` has them."""

    def __init__(
        self,
        session: GradingSession,
        problem: Problem,
        test_set: TestSetInfo,
        tests: ProblemTests,
    ) -> None:
        self.session, self.problem, self.test_set = session, problem, test_set
        self._tests = tests
        self._lock = threading.Lock()
        self._resources: ProblemResources | None = None

    def acquire(self, problem: Problem) -> ProblemResources:
        """Return the resources, opened at the first call. Raises InputError."""
        with self._lock:
            if self._resources is None:
                self._resources = self.session.resources_of(self.problem, self._tests)
            return self._resources

    def release(self, resources: ProblemResources) -> None:
        """Do nothing: the parent says when they are not needed any more."""

    def close(self) -> None:
        """Close the tests and what judges them."""
        (self._resources or self._tests).close()


class DriverRun:
    """Grades what `add` is given, in a scheduler of its own, until `end`."""

    def __init__(self, number: int, session: GradingSession, parent: Calls, workers: int) -> None:
        self._number = number
        self._parent = parent
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._ran_s = 0.0  # seconds that programs ran since the last report to the parent
        settings = session.case_settings(retry=Retry(stop=self._stop), on_run=self._count)
        self._context = session.job_context(settings, self._send)
        self._scheduler = Scheduler(
            workers,
            cap=session.options.generated_tests_workers,
            lent=lambda: lent_cores(session.sandbox),
        )
        self.widen = self._scheduler.widen
        self._queue: SimpleQueue[SolutionJob | None] = SimpleQueue()
        threading.Thread(target=self._work, name=f"run-{number}", daemon=True).start()

    def add(self, number: int, run: SolutionRun, problem: HeldProblem) -> None:
        """Grade a solution."""
        send = partial(self._send, number)
        self._queue.put(SolutionJob(run, replace(self._context, resources=problem, on_record=send)))

    def end(self, stopping: bool) -> None:
        """End when everything that was added is graded, or as soon as the running cases are."""
        if stopping:
            self._stop.set()
            self._scheduler.stop()
        self._queue.put(None)

    def _work(self) -> None:
        error: Exception | None = None
        try:
            self._scheduler.run(iter(self._queue.get, None), self._tick)
        except InputError as e:
            error = InputError(str(e))
        except Exception as e:
            log.exception("unexpected error of the grader")
            error = RuntimeError(f"{type(e).__name__}: {e}")
        self._parent.call("run_ended", self._number, error)

    def _count(self, execution: Execution) -> None:
        with self._lock:
            self._ran_s += max(0.0, execution.wall_s)

    def _tick(self) -> None:
        if self._scheduler.stopping:  # after an error the feeder still waits for jobs
            self._queue.put(None)
        with self._lock:
            ran_s, self._ran_s = self._ran_s, 0.0
        if ran_s:
            self._parent.call("ran", self._number, ran_s)

    def _send(self, number: int, run: SolutionRun, record: SolutionRecord | EncodedRecord) -> None:
        assert isinstance(record, SolutionRecord)
        cases = Counter(case.verdict for case in record.details)
        self._parent.call("graded", self._number, number, encoded(record), dict(cases))


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
        self._problems: dict[int, HeldProblem] = {}
        self._sessions: LruCache[str, GradingSession] = LruCache(MOST_SESSIONS)
        self._runs: dict[int, DriverRun] = {}

    def add_problem(
        self,
        number: int,
        options: Mapping[str, Any],
        problem: Problem,
        test_set: TestSetInfo,
        stored: StoredTests,
        with_fd: bool,
    ) -> None:
        """Keep a problem that is graded with some options, which are fields of `Options`.

        with_fd  the descriptor of its tests' file follows
        """
        tests = ProblemTests.opened(stored, self._parent.channel.receive_fd() if with_fd else None)
        session = self._sessions.get(repr(options))
        if session is None:
            session = GradingSession(Options(**options), self._sandbox)
            session.open_for_solutions(self._expected)
            self._sessions.put(repr(options), session)
        self._problems[number] = HeldProblem(session, problem, test_set, tests)

    def forget(self, number: int) -> None:
        """Close a problem, all of whose solutions are graded."""
        self._problems.pop(number).close()

    def work(
        self,
        run_number: int,
        number: int,
        problem_number: int,
        solution: Solution,
        names: tuple[str, float, str],
    ) -> None:
        """Grade a solution of a problem; `names` are its language, its scale and its key."""
        held = self._problems[problem_number]
        run = self._runs.get(run_number)
        if run is None:
            run = DriverRun(run_number, held.session, self._parent, self._workers)
            self._runs[run_number] = run
        fields = held.session.context.sandbox_fields(names[0])
        run.add(number, SolutionRun(solution, held.problem, held.test_set, *names, fields), held)

    def widen(self, run: int, workers: int) -> None:
        """Run this many cases at once: other drivers have nothing left to do."""
        self._runs[run].widen(workers)

    def end_run(self, run: int, stopping: bool) -> None:
        """End a run after its last solution, or start nothing more of it (`stopping`)."""
        self._runs.pop(run).end(stopping)

    def close(self) -> None:
        """Close the sandbox; what is running ends with the process."""
        for run in self._runs.values():
            run.end(True)
        with contextlib.suppress(SandboxError, OSError):
            self._sandbox.close()


def _pass_messages_on(parent: Calls, level: int) -> None:
    """Send log messages to the parent, whose own sandbox has given the same warnings."""

    class Forward(QueueHandler):
        def enqueue(self, record: logging.LogRecord) -> None:
            with contextlib.suppress(OSError):
                parent.call("logged", record)

    root = logging.getLogger()
    root.addHandler(Forward(SimpleQueue()))
    root.setLevel(level)
    warnings.simplefilter("ignore")
