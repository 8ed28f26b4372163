"""`Grader`: everything grading needs, opened once and kept warm between calls.

    Grader(problems, sandbox="local", …flags…)
        grade(solutions) ─▶ records           the same records a run writes
        run(code, stdin=…) ─▶ Execution       one program, no problem

Any method may be called from any thread, and in a child of fork: there everything is opened
anew. Each batch has threads of its own, which end with it.
"""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from eval.batch import Batch, Shop
from eval.generated_tests import open_generated_tests
from eval.given_problems import (
    GivenBook,
    GivenProblem,
    Openable,
    ProblemBook,
    Row,
    name_of,
    read_problem,
)
from eval.in_thread import in_thread
from eval.input_error import InputError, shown
from eval.kits import Kit, KitShelf
from eval.materials import make_kit, open_sandbox_of
from eval.model import Problem, Solution
from eval.options import Options
from eval.problems import ProblemSet, open_problems
from eval.solutions import read_rows, read_solutions
from eval.verdict_cache import VerdictCache
from sandbox.closing import Closing
from sandbox.errors import SandboxError
from sandbox.model import Execution, Limits, Program
from sandbox.protocol import Sandbox

Problems = str | Path | Row | Sequence[Row]
Solutions = str | Path | Iterable[Mapping[str, Any]]
KITS_KEPT = 32

# Flags of the main command that mean nothing here: no folder is written, nothing is resumed.
_OF_RUNS = frozenset({
    "solutions_path", "problems", "limit", "results_dir", "fresh", "dry_run", "k", "log_file",
    "executor", "ray_address", "self_check", "self_check_solutions",
})  # fmt: skip


class GraderClosed(InputError):
    """The grader was closed before the call; another one can do it."""


class CompileError(ValueError):
    """A program that does not compile; `log` has the compiler's words."""

    def __init__(self, log: str) -> None:
        super().__init__(f"the program does not compile: {log.strip()[:400]}")
        self.log = log


@dataclass
class _Warm:
    """What one process has open for a grader."""

    shop: Shop
    dataset: ProblemSet | None
    stack: contextlib.ExitStack


class Grader(Closing):
    """Grades batches and keeps sandbox, compiled checkers and tests open between them.

    problems  the problems of calls that name none: a dataset's name or path, a row, or rows
    sandbox   "auto", "local", "piston", or an open Sandbox, which is not closed
    flags     those of the main command, as keywords: stop_on_first_failure=True, workers=8,
              generated_tests_dir=…, max_generated_tests=-1, compare=…, cache=…

    Raises InputError for wrong flags; the sandbox is opened at the first use.
    """

    def __init__(
        self, problems: Problems | None = None, *, sandbox: str | Sandbox = "auto", **flags: Any
    ) -> None:
        self._given = sandbox if not isinstance(sandbox, str) else None
        self._process = os.getpid()
        known = {f.name for f in fields(Options)} - _OF_RUNS
        for name in flags:
            if name not in known:
                takes = ", ".join(sorted(known))
                raise InputError(f"unknown flag {name!r}: a grader takes {takes}")
        if isinstance(problems, (str, Path)):
            flags["dataset"] = str(problems)
        self._has_dataset = "dataset" in flags
        if isinstance(sandbox, str):
            flags["sandbox"] = sandbox
        self.options = Options(solutions_path=(), **flags)
        rows = None if problems is None or isinstance(problems, (str, Path)) else _rows(problems)
        self._book = None if rows is None else GivenBook(rows)
        self.knows_problems = self._has_dataset or self._book is not None  # by their ids
        self._reset()
        _living.add(self)

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._idle = threading.Condition(self._lock)
        self._warm: _Warm | None = None
        self._batches: set[Batch] = set()
        self._runs = 0
        self._closed = False

    # ---- grading ------------------------------------------------------------------------

    def grade(
        self,
        solutions: Solutions,
        problems: Problems | None = None,
        *,
        time_limit_s: float | None = None,
    ) -> list[dict[str, Any]]:
        """A record for each solution, in order (docs/records.md says what is in it).

        solutions     rows as in a solutions file ({"problem_id", "code" or "completion", …}),
                      or such a file's path
        problems      as for the constructor; the only problem may go unnamed in `solutions`
        time_limit_s  of the batch: seconds of running programs, their sum over all cores
                      divided by the cores. Waiting for a core is never counted. What it
                      leaves ungraded has a record of status `error`

        Raises InputError for problems or a file that can't be used at all. A bad row, an
        unknown problem and a fault of the machine are records: invalid, invalid and error.
        """
        return self._grade(solutions, problems, time_limit_s, lambda batch: None)

    async def grade_async(
        self,
        solutions: Solutions,
        problems: Problems | None = None,
        *,
        time_limit_s: float | None = None,
    ) -> list[dict[str, Any]]:
        """`grade` without blocking the event loop; cancelling it stops the batch."""
        batches: list[Batch] = []

        def stop() -> None:
            for batch in batches:
                batch.stop("the caller cancelled the batch")

        return await in_thread(
            lambda: self._grade(solutions, problems, time_limit_s, batches.append), stop
        )

    def _grade(
        self,
        solutions: Solutions,
        problems: Problems | None,
        time_limit_s: float | None,
        started: Callable[[Batch], object],
    ) -> list[dict[str, Any]]:
        if time_limit_s is not None and not time_limit_s > 0:
            raise InputError(f"time_limit_s {time_limit_s}: give seconds over 0, or None")
        with self._using() as warm:
            book = self._book_for(problems, warm)
            batch = Batch(warm.shop, time_limit_s)
            started(batch)
            with self._counted(batch):
                opened = Openable(book, warm.shop.shelf.facts)
                return batch.grade(_solutions(solutions, book), opened, book)

    def _book_for(self, problems: Problems | None, warm: _Warm) -> ProblemBook:
        if problems is not None and not isinstance(problems, (str, Path)):
            return GivenBook(_rows(problems))
        if problems is not None and str(problems) != self.options.dataset:
            raise InputError(
                f"problems {shown(str(problems))}: this grader has {self.options.dataset}; "
                "make another Grader for another dataset, or give rows"
            )
        if problems is None and self._book is not None:
            return self._book
        if problems is None and not self._has_dataset:
            raise InputError("no problems: give rows, or a dataset to the Grader")
        return self._dataset(warm)

    def _dataset(self, warm: _Warm) -> ProblemSet:
        with self._lock:
            if warm.dataset is None:
                warm.dataset = open_problems(
                    self.options.dataset,
                    split=self.options.dataset_split,
                    subsets=tuple(self.options.dataset_subsets),
                )
                warm.stack.callback(warm.dataset.close)
            return warm.dataset

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
        """Runs one program in the sandbox; the evidence is told, nothing is judged.

        Raises CompileError, UnknownLanguage or BadRequest for what can't be run, and
        SandboxError for the machine.
        """
        from eval.grade_solution import program_of

        data = stdin.encode() if isinstance(stdin, str) else stdin
        program: Program = program_of(code, language)
        with self._using() as warm:
            sandbox = warm.shop.sandbox
            compiled = sandbox.compile(program)
            try:
                if not compiled.ok:
                    raise CompileError(compiled.log.decode("utf-8", "replace"))
                return sandbox.run(compiled, limits or Limits(), stdin=data, args=args, files=files)
            finally:
                compiled.close()

    async def run_async(
        self,
        code: str,
        language: str = "python",
        stdin: str | bytes = b"",
        limits: Limits | None = None,
    ) -> Execution:
        """`run` without blocking the event loop."""
        return await in_thread(lambda: self.run(code, language, stdin, limits), lambda: None)

    # ---- what is open -------------------------------------------------------------------

    def warm_up(self) -> Grader:
        """Opens the sandbox and the dataset now; InputError when one can't be had."""
        with self._using() as warm:
            if self._has_dataset:
                self._dataset(warm)
            return self

    @property
    def sandbox(self) -> Sandbox:
        """The sandbox, opened."""
        with self._using() as warm:
            return warm.shop.sandbox

    @contextlib.contextmanager
    def _using(self) -> Iterator[_Warm]:
        with self._lock:
            if self._closed:
                raise GraderClosed("the grader is closed: make another one")
            if self._warm is None:
                self._warm = self._open()
            warm = self._warm
            self._runs += 1
        try:
            yield warm
        finally:
            with self._idle:
                self._runs -= 1
                self._idle.notify_all()

    @contextlib.contextmanager
    def _counted(self, batch: Batch) -> Iterator[None]:
        with self._lock:
            self._batches.add(batch)
            if self._closed:
                batch.stop("the grader was closed")
        try:
            yield
        finally:
            with self._lock:
                self._batches.discard(batch)

    def _open(self) -> _Warm:
        with contextlib.ExitStack() as stack:
            sandbox = self._given
            if sandbox is not None and os.getpid() != self._process:
                raise InputError(
                    f"the sandbox given belongs to process {self._process}, which forked: give "
                    "its kind (sandbox='local'), so that each process opens its own"
                )
            if sandbox is None:
                sandbox = stack.enter_context(open_sandbox_of(self.options, []))
            try:
                description = sandbox.describe()
            except SandboxError as e:
                raise InputError(f"the sandbox can't be used: {e}") from None
            generated = open_generated_tests(self.options)
            cache = VerdictCache(self.options.cache) if self.options.cache is not None else None
            box = sandbox

            def make(problem: Problem) -> Kit:
                if isinstance(problem, GivenProblem):
                    kit = make_kit(problem, problem, generated, box, self.options)
                    kit.problem = problem.without_tests()
                    return kit
                if warm.dataset is None:
                    raise InputError(f"problem {problem.id}: its dataset is not open")
                return make_kit(problem, warm.dataset, generated, box, self.options)

            shelf = KitShelf(make, keep=KITS_KEPT, name=name_of)
            stack.callback(shelf.close)
            shop = Shop(self.options, sandbox, description, shelf, cache)
            warm = _Warm(shop, None, stack.pop_all())
        return warm

    def close_when_idle(self) -> None:
        """Closes it when nothing is being graded any more; new calls are refused at once."""
        with self._idle:
            self._closed = True
            while self._runs:
                self._idle.wait()
        self.close()

    def close(self) -> None:
        """Stops what is being graded, waits for it and frees everything; twice is harmless."""
        with self._idle:
            self._closed = True
            for batch in self._batches:
                batch.stop("the grader was closed")
            while self._runs:
                self._idle.wait()
            warm, self._warm = self._warm, None
        if warm is not None:
            warm.stack.close()

    def _after_fork(self) -> None:
        """In the child: what is open belongs to the parent, whose threads are not here."""
        if self._warm is not None:
            _parents.append(self._warm)  # never collected: ending it is the parent's business
        closed = self._closed
        self._reset()
        self._closed = closed


def _rows(problems: Row | Sequence[Row] | Iterable[Row]) -> list[Row]:
    rows = [problems] if isinstance(problems, Mapping) else list(problems)
    return [read_problem(row) for row in rows]


def _solutions(solutions: Solutions, book: ProblemBook) -> Iterator[Solution]:
    if isinstance(solutions, (str, Path)):
        return read_solutions([solutions], resolve=book.resolve)
    only = book.only_id if isinstance(book, GivenBook) else ""
    rows = [solutions] if isinstance(solutions, Mapping) else solutions
    if not isinstance(rows, Iterable):
        raise InputError(f"solutions is {shown(rows)}: rows, or the path of a file, are needed")
    return read_rows(rows, resolve=book.resolve, only_id=only)


_living: weakref.WeakSet[Grader] = weakref.WeakSet()
_parents: list[_Warm] = []


def _after_fork() -> None:
    for grader in list(_living):
        grader._after_fork()


os.register_at_fork(after_in_child=_after_fork)
