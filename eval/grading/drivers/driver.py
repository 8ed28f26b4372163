"""A driver process: opens a sandbox, grades what its parent sends, and ends with its parent.

SentProblems   tests that the parent opened, judges of its own
DriverRun      a scheduler of its own for each run, whose jobs come from the parent
Driver         the methods that the parent calls
"""

from __future__ import annotations

import contextlib
import logging
import signal
import sys
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import Any, TextIO

from gradebox.eval.common.errors import InputError
from gradebox.eval.grading.drivers.calls import Calls, DriverSetup
from gradebox.eval.grading.options import Options
from gradebox.eval.grading.resources import ProblemResources, TestSetInfo
from gradebox.eval.grading.retry import Retry
from gradebox.eval.grading.scheduling.scheduler import Scheduler
from gradebox.eval.grading.session import GradingSession
from gradebox.eval.grading.solution_job import JobContext, SolutionJob
from gradebox.eval.grading.solution_run import SolutionRun
from gradebox.eval.problems.chosen_tests import ProblemTests, StoredTests
from gradebox.eval.problems.problem import Problem
from gradebox.eval.results.record import CaseVerdict, SolutionRecord, as_json
from gradebox.eval.results.records import EncodedRecord, encoded
from gradebox.eval.solutions.solution import Solution
from gradebox.sandbox.children.channel import Channel
from gradebox.sandbox.errors import BadRequest, SandboxError
from gradebox.sandbox.model import Execution
from gradebox.sandbox.opening import open_sandbox
from gradebox.sandbox.protocol import lent_cores

OpenResources = Callable[[Problem, ProblemTests], ProblemResources]


@dataclass(eq=False)
class _Sent:
    problem: Problem
    test_set: TestSetInfo
    tests: ProblemTests
    open_resources: OpenResources
    resources: ProblemResources | None = None
    users: int = 0
    forgotten: bool = False


class SentProblems:
    """Gives jobs the resources of their problems. Any thread may call any method."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_number: dict[int, _Sent] = {}
        self._by_problem: dict[int, _Sent] = {}  # by the identity of the problem's object

    def add(
        self,
        number: int,
        problem: Problem,
        test_set: TestSetInfo,
        tests: ProblemTests,
        open_resources: OpenResources,
    ) -> None:
        """Keep a problem until `forget`.

        open_resources  opens what judges it beside its tests
        """
        sent = _Sent(problem, test_set, tests, open_resources)
        with self._lock:
            self._by_number[number] = self._by_problem[id(problem)] = sent

    def find(self, number: int) -> tuple[Problem, TestSetInfo]:
        """Return a problem that was sent."""
        sent = self._by_number[number]
        return sent.problem, sent.test_set

    def forget(self, number: int) -> None:
        """Close a problem's resources as soon as nobody uses them."""
        with self._lock:
            sent = self._by_number.pop(number)
            sent.forgotten = True
            unused = not sent.users
        if unused:
            self._close(sent)

    def acquire(self, problem: Problem) -> ProblemResources:
        """See `ResourceCache.acquire`."""
        with self._lock:
            sent = self._by_problem[id(problem)]
            if sent.resources is None:
                sent.resources = sent.open_resources(problem, sent.tests)
            sent.users += 1
            return sent.resources

    def release(self, resources: ProblemResources) -> None:
        """See `ResourceCache.release`."""
        with self._lock:
            sent = self._by_problem[id(resources.problem)]
            sent.users -= 1
            last = sent.forgotten and not sent.users
        if last:
            self._close(sent)

    def _close(self, sent: _Sent) -> None:
        with self._lock:
            del self._by_problem[id(sent.problem)]
        sent.tests.close() if sent.resources is None else sent.resources.close()


log = logging.getLogger(__name__)


def _nothing() -> None: ...


@dataclass
class _Job(SolutionJob):
    """A job that reports its start, so that the parent knows what ran when a driver dies."""

    started: Callable[[], None] = _nothing

    def start(self) -> Any:
        self.started()
        return super().start()


class DriverRun:
    """Grades what `add` is given, until `end` or `stop`.

    context  of its session's records
    number   of the run
    workers  cases at once
    retry    (attempts, first_s, cap_s) of `Retry`
    """

    def __init__(
        self,
        number: int,
        session: GradingSession,
        problems: SentProblems,
        parent: Calls,
        *,
        workers: int,
        retry: tuple[int, float, float],
    ) -> None:
        self.context = session.context
        self._number = number
        self._parent = parent
        self._cache = session.verdict_cache
        self._numbers: dict[str, int] = {}  # of the work, by the key of its record
        self._lock = threading.Lock()
        self._cases: Counter[str] = Counter()
        self._run_s = 0.0
        self._stop = threading.Event()
        settings = session.case_settings(
            retry=Retry(*retry, stop=self._stop), on_run=self._count_run
        )
        options = session.options
        self._job_context = JobContext(
            settings, problems, self._send, self._count_case, options.stop_on_first_failure
        )
        self._scheduler = Scheduler(
            workers,
            cap=options.generated_tests_workers,
            stop_on_failure=options.stop_on_first_failure,
            lent=lambda: lent_cores(session.sandbox),
        )
        self._queue: SimpleQueue[_Job | None] = SimpleQueue()
        threading.Thread(target=self._work, name=f"run-{number}", daemon=True).start()

    def add(self, number: int, run: SolutionRun) -> None:
        """Grade a solution."""
        self._numbers[run.key] = number
        started = partial(self._parent.call, "started", self._number, number)
        self._queue.put(_Job(run, self._job_context, started=started))

    def widen(self, workers: int) -> None:
        """Run this many cases at once from now on."""
        self._scheduler.widen(workers)

    def end(self) -> None:
        """End when everything that was added is graded."""
        self._queue.put(None)

    def stop(self) -> None:
        """Start nothing more; end when the running cases have ended."""
        self._stop.set()
        self._scheduler.stop()
        self._queue.put(None)

    def _work(self) -> None:
        error, is_input = "", False
        try:
            self._scheduler.run(self._jobs(), self._tick)
        except InputError as e:
            error, is_input = str(e), True
        except Exception as e:
            log.exception("unexpected error of the grader")
            error = f"{type(e).__name__}: {e}"
        self._send_counts()
        self._parent.call("run_ended", self._number, error, is_input)

    def _jobs(self) -> Iterator[_Job]:
        while (job := self._queue.get()) is not None:
            yield job

    def _tick(self) -> None:
        if self._scheduler.stopping:  # after an error the feeder still waits for jobs
            self._queue.put(None)
        self._send_counts()

    def _send_counts(self) -> None:
        cases, run_s = self._take_counts()
        if cases or run_s:
            self._parent.call("counted", self._number, cases, run_s)

    def _take_counts(self) -> tuple[dict[str, int], float]:
        with self._lock:
            cases, run_s = dict(self._cases), self._run_s
            self._cases.clear()
            self._run_s = 0.0
        return cases, run_s

    def _count_case(self, verdict: CaseVerdict, number: int = 1) -> None:
        with self._lock:
            self._cases[verdict] += number

    def _count_run(self, execution: Execution) -> None:
        with self._lock:
            self._run_s += max(0.0, execution.wall_s)

    def _send(self, run: SolutionRun, record: SolutionRecord | EncodedRecord) -> None:
        assert isinstance(record, SolutionRecord)
        number = self._numbers.pop(run.key)
        self._parent.call("graded", self._number, number, encoded(record), *self._take_counts())
        if self._cache is not None:  # last: a full cache disk must not lose the record
            self._cache.put(as_json(record))


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
