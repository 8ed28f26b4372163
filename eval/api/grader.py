"""`Grader`: a grading session that stays open between calls.

    Grader(problems, sandbox="local", …options…)
        grade(solutions) ─▶ records           the same records as those of a run
        run(code, stdin=…) ─▶ Execution       one program without a problem

Any thread may call any method. A child of fork opens everything anew. Each batch has its own
threads, which end with it.
"""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from gradebox.eval.api.batch import Batch
from gradebox.eval.api.dataset_check import DatasetCheck
from gradebox.eval.api.keywords import GraderFlags, Unpack, lists_flags
from gradebox.eval.common.errors import InputError, shown
from gradebox.eval.common.progress import in_notebook
from gradebox.eval.grading.cases.judges import try_named_checker
from gradebox.eval.grading.options import FLAGS, Options
from gradebox.eval.grading.planner import Problems
from gradebox.eval.grading.session import GradingSession
from gradebox.eval.problems.in_memory import InMemoryProblems, Row, rows_of
from gradebox.eval.results.record_objects import Record
from gradebox.eval.results.records import EncodedRecord, fields_of
from gradebox.eval.solutions.program import program_of
from gradebox.eval.solutions.reader import read_rows, read_solutions
from gradebox.eval.solutions.solution import Solution, known_solutions_of
from gradebox.sandbox.common.cancellation import (
    Cancellation,
    asynchronous,
    current_cancellation,
)
from gradebox.sandbox.common.cleanup import Closeable
from gradebox.sandbox.model import Execution, Limits
from gradebox.sandbox.protocol import Sandbox

if TYPE_CHECKING:
    from gradebox.eval.grading.drivers.pool import DriverPool

LEAST_FAILED = 3  # one call may have a single problem, whose own solution is wrong
LEAST_FAILED_IN_CALLS = 10  # a trainer gives one row at a time, and some are always wrong
GivenProblems = str | Path | Row | Sequence[Row]
Solutions = str | Path | Iterable[Mapping[str, Any]]


class CompileError(ValueError):
    """A program does not compile; `log` has the compiler's output."""

    def __init__(self, log: str) -> None:
        super().__init__(f"the program does not compile: {log.strip()[:400]}")
        self.log = log


@lists_flags
class Grader(Closeable):
    """Grades batches; keeps the sandbox, compiled checkers and tests open between them.

    problems  the problems of calls that pass none: a dataset's name or path, a row, or rows
    sandbox   "local", "piston", "auto", or an open Sandbox, which is not closed. None: piston
              where `endpoint` or PISTON_ENDPOINTS names servers, else local
    drivers   their number, or open drivers, which are not closed
    flags     options of the main command, as keywords: stop_on_first_failure=True, workers=8,
              generated_tests_dir=…, max_generated_tests=-1, compare=…, cache=…

    Raises InputError for wrong options. The sandbox is opened at the first use.
    """

    def __init__(
        self,
        problems: GivenProblems | None = None,
        *,
        sandbox: str | Sandbox | None = None,
        drivers: int | DriverPool = 0,
        **flags: Unpack[GraderFlags],
    ) -> None:
        self._given_sandbox = sandbox if not isinstance(sandbox, str) else None
        self._given_drivers = drivers if not isinstance(drivers, int) else None
        given: dict[str, Any] = {**flags}
        if isinstance(drivers, int):
            given["drivers"] = drivers
        self._process = os.getpid()
        known = {name for name, flag in FLAGS.items() if flag.grader}
        for name in given:
            if name not in known:
                takes = ", ".join(sorted(known))
                raise InputError(f"unknown flag {name!r}: a grader takes {takes}")
        if isinstance(problems, (str, Path)):
            given["dataset"] = str(problems)
        self._has_dataset = "dataset" in given
        if isinstance(sandbox, str):
            given["sandbox"] = sandbox
        self.options = Options(solutions_path=(), **given)
        self._problems: InMemoryProblems | None = None
        if problems is not None and not isinstance(problems, (str, Path)):
            self._problems = InMemoryProblems(rows_of(problems), self.options.judge)
        self.knows_problems = self._has_dataset or self._problems is not None  # by their ids
        self._reset()
        _living.add(self)

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._idle = threading.Condition(self._lock)
        self._session: GradingSession | None = None
        self._batches: set[Batch] = set()
        self._checking = threading.Lock()
        self._check: DatasetCheck | None = None
        self._calls = 0
        self._closed = self._retired = False

    # ---- grading ------------------------------------------------------------------------

    def grade(
        self,
        solutions: Solutions,
        problems: GivenProblems | None = None,
        *,
        time_limit_s: float | None = None,
    ) -> list[Record]:
        """Return a record for each solution, in order (docs/records.md describes records).

        solutions     rows as in a solutions file ({"problem_id", "code" or "completion", …}),
                      or such a file's path
        problems      as for the constructor; if there is one, solutions need not name it
        time_limit_s  of the batch: seconds of running programs, summed over all cores and
                      divided by the cores. Waiting for a core is not counted. Solutions that
                      are not graded in time get a record of status `error`

        Raises InputError for problems or a file that are unusable as a whole, and for problems
        whose own right solutions do not pass (`no_check_dataset=True`: not). An unusable row,
        an unknown problem and a fault of the sandbox have records: invalid, invalid and error.
        """
        return _records(
            self.grade_encoded(solutions, problems, time_limit_s, progress=in_notebook())
        )

    grade_async = asynchronous(grade)  # cancelling it stops the batch

    def grade_encoded(
        self,
        solutions: Solutions,
        problems: GivenProblems | InMemoryProblems | None = None,
        time_limit_s: float | None = None,
        cancelled: Cancellation | None = None,
        progress: bool = False,
    ) -> list[dict[str, Any] | EncodedRecord]:
        """Like `grade`, but records that drivers have encoded stay so.

        cancelled  ends the batch after the running cases; None: that of an asynchronous call
        progress   whether it is shown
        """
        if time_limit_s is not None and not time_limit_s > 0:
            raise InputError(f"time_limit_s {time_limit_s}: give seconds over 0, or None")

        of_call = cancelled or current_cancellation()

        @contextlib.contextmanager
        def stoppable(batch: Batch) -> Iterator[None]:
            of_call.then(lambda: batch.stop("the caller cancelled the batch"))
            with self._stopped_on_close(batch):
                yield

        with self._use_session() as session:
            found = self._find_problems(problems, session)
            wanted: Iterable[Solution] = _solutions(solutions, found)
            if not isinstance(problems, InMemoryProblems):  # a server's, of somebody else
                wanted = list(wanted)
                with self._checking:
                    own = problems is None and self._problems is None
                    where = f"--dataset {self.options.dataset}" if own else "the data set given"
                    least = LEAST_FAILED if problems is None else LEAST_FAILED_IN_CALLS
                    self._check = self._check or DatasetCheck(session)
                    self._check.run(
                        wanted, found, where, stoppable, time_limit_s=time_limit_s, least=least
                    )
            batch = Batch(session, time_limit_s)
            with stoppable(batch):
                return batch.grade(wanted, found, progress=progress)

    def _find_problems(
        self, given: GivenProblems | InMemoryProblems | None, session: GradingSession
    ) -> Problems:
        if isinstance(given, InMemoryProblems):
            return given
        if given is not None and not isinstance(given, (str, Path)):
            return InMemoryProblems(rows_of(given), self.options.judge)
        if given is not None and str(given) != self.options.dataset:
            raise InputError(
                f"problems {shown(str(given))}: this grader has {self.options.dataset}; "
                "make another Grader for another dataset, or give rows"
            )
        if given is None and self._problems is not None:
            return self._problems
        if given is None and not self._has_dataset:
            raise InputError(
                "no problems: give `problems` rows to this call, or a dataset or rows to the Grader"
            )
        return session.problems

    # ---- one program --------------------------------------------------------------------

    def run(
        self,
        code: str,
        language: str = "python",
        stdin: str | bytes = b"",
        limits: Limits | None = None,
        *,
        args: Sequence[str] = (),
        files: Mapping[str, bytes] | None = None,
    ) -> Execution:
        """Run one program in the sandbox and return the evidence, without a verdict.

        Raises CompileError, UnknownLanguage or BadRequest for a program that cannot be run, and
        SandboxError for a fault of the sandbox.
        """
        data = stdin.encode() if isinstance(stdin, str) else stdin
        program = program_of(code, language)
        with self._use_session() as session:
            compiled = session.sandbox.compile(program)
            if not compiled.ok:
                raise CompileError(compiled.log.decode("utf-8", "replace"))
            return session.sandbox.run(
                compiled, limits or Limits(), stdin=data, args=args, files=files
            )

    run_async = asynchronous(run)

    # ---- opening and closing ------------------------------------------------------------

    def warm_up(self) -> Grader:
        """Open the sandbox and the dataset now; raise InputError when one is unavailable."""
        with self._use_session() as session:
            if self._has_dataset:
                _ = session.problems
            return self

    def problem_ids(self) -> list[str]:
        """Return the ids of the grader's own problems."""
        if self._problems is not None:
            return self._problems.ids()
        with self._use_session() as session:
            return session.problems.ids() if self._has_dataset else []

    def known_solutions(self, problem_id: str) -> list[dict[str, Any]]:
        """Return the right solutions that the data set has for a problem, as rows for `grade`."""
        with self._use_session() as session:
            problem = self._find_problems(None, session).get(problem_id)
        golds = [] if problem is None else known_solutions_of(problem)
        return [
            {
                "problem_id": problem_id,
                "language": gold.solution.language,
                "code": gold.solution.code,
            }
            for gold in golds
            if gold.must_pass
        ]

    @contextlib.contextmanager
    def use_sandbox(self) -> Iterator[Sandbox]:
        """Yield the sandbox, which stays open for the length of the `with` at least."""
        with self._use_session() as session:
            yield session.sandbox

    @contextlib.contextmanager
    def _use_session(self) -> Iterator[GradingSession]:
        with self._lock:
            if self._closed:
                raise InputError("the grader is closed: make another one")
            if self._session is None:
                self._session = self._open_session()
            session = self._session
            self._calls += 1
        try:
            yield session
        finally:
            with self._idle:
                self._calls -= 1
                self._idle.notify_all()
            self._close_if_unused()

    def _open_session(self) -> GradingSession:
        if self._given_sandbox is not None and os.getpid() != self._process:
            raise InputError(
                f"the sandbox given belongs to process {self._process}, which forked: give "
                "its kind (sandbox='local'), so that each process opens its own"
            )
        session = GradingSession(self.options, self._given_sandbox, self._given_drivers)
        try:
            session.open_inputs()
            _ = session.context
            try_named_checker(session.options, session.sandbox)
        except BaseException:
            session.close()
            raise
        return session

    @contextlib.contextmanager
    def _stopped_on_close(self, batch: Batch) -> Iterator[None]:
        aborted = list[GradingSession]()

        def abort() -> None:  # Ctrl-C ends programs at once; the next call has another session
            with self._lock:
                if self._session is None or self._calls > 1 or self._closed:
                    return  # programs of another call end by themselves
                aborted.append(self._session)
                self._session = None
            aborted[0].abort()

        with self._lock:
            self._batches.add(batch)
            batch.broken_off = abort
            if self._closed:
                batch.stop("the grader was closed")
        try:
            yield
        finally:
            for session in aborted:
                session.close()
            with self._lock:
                self._batches.discard(batch)

    def retire(self) -> None:
        """Close what is open once no call needs it, now and after each later call."""
        self._retired = True
        self._close_if_unused()

    def _close_if_unused(self) -> None:
        with self._lock:
            if not self._retired or self._calls:
                return
            session, self._session = self._session, None
        if session is not None:
            session.close()

    def close(self) -> None:
        """Stop and wait for running calls, and free everything. May be called twice."""
        with self._idle:
            self._closed = True
            for batch in self._batches:
                batch.stop("the grader was closed")
            while self._calls:
                self._idle.wait()
            session, self._session = self._session, None
        if session is not None:
            session.close()

    def _after_fork(self) -> None:
        """Forget, in the child, the parent's session: its threads do not exist here."""
        if self._session is not None:
            _parent_sessions.append(self._session)  # never collected: only the parent closes it
        closed = self._closed
        self._reset()
        self._closed = closed


def _records(graded: Iterable[dict[str, Any] | EncodedRecord]) -> list[Record]:
    return cast("list[Record]", list(map(fields_of, graded)))


def _solutions(solutions: Solutions, problems: Problems) -> Iterator[Solution]:
    if isinstance(solutions, (str, Path)):
        return read_solutions([solutions], resolve=problems.resolve)
    only = problems.only_id if isinstance(problems, InMemoryProblems) else ""
    rows = [solutions] if isinstance(solutions, Mapping) else solutions
    if not isinstance(rows, Iterable):
        raise InputError(f"solutions is {shown(rows)}: rows, or the path of a file, are needed")
    return read_rows(rows, resolve=problems.resolve, only_id=only)


_living: weakref.WeakSet[Grader] = weakref.WeakSet()
_parent_sessions: list[GradingSession] = []


def _after_fork() -> None:
    for grader in list(_living):
        grader._after_fork()


os.register_at_fork(after_in_child=_after_fork)
