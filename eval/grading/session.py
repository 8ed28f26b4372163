"""`GradingSession`: everything that grading with one set of options needs, opened once.

    Options ─▶ GradingSession ─┬─ files, problems, generated   what is graded
                               ├─ sandbox, description         where it runs
                               ├─ context, case_settings       how it is graded
                               └─ resources, verdict_cache     what is kept between solutions

The main command, `Grader`, a Ray worker, the dry run and the debugger each open one. A part is
opened at its first use: a dry run never opens the sandbox.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

from gradebox.checkers.check import Checker, CheckerError
from gradebox.checkers.compare import Mode
from gradebox.checkers.interactive import Interactor
from gradebox.checkers.opening import HEADER, testlib_header
from gradebox.eval.common.errors import Diagnostics, InputError
from gradebox.eval.grading.cases.asserts import AssertTests
from gradebox.eval.grading.cases.case_run import CaseSettings
from gradebox.eval.grading.cases.judges import check_judge, open_judge
from gradebox.eval.grading.options import Options
from gradebox.eval.grading.resources import ProblemResources, ResourceCache
from gradebox.eval.grading.solution_job import GradeWhole, JobContext
from gradebox.eval.grading.solution_run import RunContext
from gradebox.eval.problems import ProblemSet, open_problems
from gradebox.eval.problems.chosen_tests import (
    OfficialTests,
    ProblemTests,
    open_tests,
    plan_tests,
    unsupported_tests,
)
from gradebox.eval.problems.formats import Judge
from gradebox.eval.problems.generated_tests import GeneratedTests, open_generated_tests
from gradebox.eval.problems.in_memory import InMemoryProblem
from gradebox.eval.problems.opening import dataset_paths
from gradebox.eval.problems.problem import Problem, TestRef
from gradebox.eval.results.cache import VerdictCache
from gradebox.eval.results.folder import results_stem
from gradebox.eval.solutions.files import find_files
from gradebox.eval.solutions.reader import read_solutions
from gradebox.eval.solutions.solution import Solution
from gradebox.sandbox.common.cleanup import Closeable
from gradebox.sandbox.errors import BadRequest, SandboxError
from gradebox.sandbox.model import Description
from gradebox.sandbox.protocol import Sandbox, can_talk

if TYPE_CHECKING:
    from typing_extensions import Self

    from gradebox.eval.grading.drivers.pool import DriverPool

SOLUTIONS_FOR_LANGUAGES = 1000
MAX_SHOWN_IDS = 5
T = TypeVar("T")
C = TypeVar("C", bound=Closeable)
log = logging.getLogger(__name__)


class _part(cached_property[T]):
    """A part of a session, opened at its first use, once for all threads."""

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> T: ...

    def __get__(self, instance: Any, owner: type[Any] | None = None) -> Any:
        with instance._lock:
            return super().__get__(instance, owner)


class GradingSession(Closeable):
    """The opened parts of a grading run. Any thread may use any part.

    sandbox   used instead of opening the one that the options choose, and not closed
    drivers   used instead of starting those that the options choose, and not closed
    unusable  a line for each problem whose checker or interactor does not compile

    Every part raises InputError when it cannot be opened.
    """

    def __init__(
        self,
        options: Options,
        sandbox: Sandbox | None = None,
        drivers: DriverPool | None = None,
    ) -> None:
        self.options = options
        self.drivers = drivers
        self.resources = ResourceCache(self._open_resources)
        self._given_sandbox = sandbox
        self._lock = threading.RLock()
        self._parts: dict[str, Any] = {}
        self._to_close = contextlib.ExitStack()
        self._notes: list[str] = []
        self.unusable = Diagnostics()

    # ---- solutions files, problems, tests ----

    @_part
    def files(self) -> list[Path]:
        """The solutions files; two files never share a results folder."""
        if not self.options.solutions_path:  # a grader or a Ray worker
            return []
        files = find_files(self.options.solutions_path)
        by_stem: dict[str, Path] = {}
        for file in files:
            other = by_stem.setdefault(results_stem(file), file)
            if other != file:
                raise InputError(
                    f"{other} and {file} would share the results folder {results_stem(file)!r}; "
                    "rename one, or grade them with two --results-dir"
                )
        return files

    @_part
    def problems(self) -> ProblemSet:
        """The problems of the dataset."""
        options = self.options
        problems = open_problems(
            options.dataset,
            split=options.dataset_split,
            subsets=tuple(options.dataset_subsets),
            format_name=options.dataset_format,
            judge=cast("Judge", options.judge),
            testlib=options.testlib,
        )
        self._to_close.callback(problems.close)
        return problems

    @_part
    def generated(self) -> GeneratedTests | None:
        """The generated tests, None without --generated-tests-dir."""
        options = self.options
        return open_generated_tests(options.generated_tests_dir, options.max_generated_tests)

    def chosen_problems(self) -> Sequence[str] | None:
        """Return the problems that the options choose, None for all. Raises InputError for none."""
        options = self.options
        labels = (options.from_, options.to, options.difficulty, options.platform)
        if labels == (None,) * 4:
            return options.problems
        since, until, difficulty, platform = labels
        found = self.problems.matching(
            since=since, until=until, difficulty=difficulty, platform=platform
        )
        if options.problems is not None:
            wanted = {self.problems.resolve(name) for name in options.problems}
            found = [name for name in found if name in wanted]
        if not found:
            raise InputError(
                f"--dataset {options.dataset} has no problem that --from, --to, --difficulty and "
                "--platform choose"
            )
        return found

    def solutions(self, file: Path) -> Iterator[Solution]:
        """Yield the solutions of a file that the options choose."""
        return read_solutions(
            [file],
            limit=self.options.limit,
            problems=self.chosen_problems(),
            resolve=self.problems.resolve,
        )

    def open_inputs(self) -> None:
        """Open everything but the sandbox, which is slower to open, to report errors early."""
        if self.options.testlib is not None:
            try:
                testlib_header(self.options.testlib)
            except CheckerError as e:
                raise InputError(f"--testlib: {e}; give the path of {HEADER}") from None
        _ = self.files
        self._notes = self._unknown_problem_ids()
        _ = self.generated

    def open_for_solutions(self, description: Description) -> None:
        """Let records state this description of the sandbox: in a driver, that of its parent."""
        vars(self)["description"] = description

    def keep(self, name: str, open_part: Callable[[], C]) -> C:
        """Return what `open_part` returned the first time; it is closed with the session."""
        with self._lock:
            if name not in self._parts:
                self._parts[name] = open_part()
                self._to_close.callback(self._parts[name].close)
            return cast("C", self._parts[name])

    @property
    def has_given_sandbox(self) -> bool:
        """Whether the sandbox was opened elsewhere, so that its machine is unknown."""
        return self._given_sandbox is not None

    @property
    def uses_drivers(self) -> bool:
        """Whether driver processes run the programs, each in a sandbox of its own."""
        if self.drivers is not None:
            return True
        may = self.options.drivers > 1 and self._given_sandbox is None
        return may and self.description.backend == "box"

    def notes(self) -> list[str]:
        """Return what the user should know: unused options, and data that was left out."""
        boxed = self.options.sandbox == "local"
        if "description" in vars(self):
            boxed = self.description.backend == "box"
        generated = []
        if self.generated is not None:
            if self.options.max_generated_tests:
                self.generated.note_strangers(lambda name: self.problems.resolve(name) is not None)
            generated = self.generated.messages()
        unused = self.options.unused(boxed=boxed)
        unusable = self.unusable.messages()
        return [*unusable, *self._notes, *unused, *self.problems.messages(), *generated]

    def add_note(self, note: str) -> None:
        """Add what the user should know to `notes`."""
        self._notes.append(note)

    def plan(self, problem: Problem) -> list[TestRef]:
        """Return the tests of a problem to run and to skip, without opening the sandbox."""
        return plan_tests(
            self._official(problem), self.generated, problem, self.options.test_selection()
        )

    # ---- where and how it runs ----------------------------------------------------------

    @_part
    def sandbox(self) -> Sandbox:
        """The sandbox."""
        if self._given_sandbox is not None:
            return self._given_sandbox
        from gradebox.sandbox.opening import Kind, open_sandbox

        options = self.options
        try:
            sandbox = open_sandbox(
                cast("Kind", options.sandbox),
                endpoints=tuple(options.endpoint) or None,
                slots=options.workers,
                languages=self._languages(),
                options={
                    "endpoint_concurrency": options.endpoint_concurrency,
                    "package": options.piston_package,
                    **box_options(options),
                },
                hidden=self.private_paths(),
            )
        except (SandboxError, BadRequest) as e:
            raise InputError(str(e)) from None
        return self._to_close.enter_context(sandbox)

    @_part
    def description(self) -> Description:
        """What the sandbox reports about itself."""
        try:
            return self.sandbox.describe()
        except SandboxError as e:
            raise InputError(f"the sandbox cannot be used: {e}") from None

    @_part
    def context(self) -> RunContext:
        """What all records of the session have in common."""
        options = self.options
        return RunContext(self.description, options.time_limit_scale, options.record_flags())

    @_part
    def verdict_cache(self) -> VerdictCache | None:
        """The cache of records, None without --cache."""
        return None if self.options.cache is None else VerdictCache(self.options.cache)

    def case_settings(self, **changes: Any) -> CaseSettings:
        """Return how cases are graded: by the options, except for the given fields."""
        settings = CaseSettings(
            self.sandbox,
            compare=cast("Mode", self.options.compare),
            stored_bytes=self.options.max_stored_output,
            repeat=self.options.repeat,
        )
        return replace(settings, **changes)

    def job_context(
        self,
        settings: CaseSettings,
        on_record: Callable[..., None],
        on_case: Callable[..., None] = lambda verdict, number=1: None,
        grade_whole: GradeWhole | None = None,
    ) -> JobContext:
        """Return what the jobs of one run share."""
        options = self.options
        return JobContext(
            settings,
            self.resources,
            on_record,
            on_case,
            options.stop_on_first_failure,
            grade_whole=grade_whole,
            cap=options.generated_tests_workers,
            checker=options.checker,
        )

    def abort(self) -> None:
        """End the programs that run in what this session opened; afterwards it can only be closed.

        Programs on servers run on to their limits.
        """
        for part in (self._parts.get("own drivers"), vars(self).get("sandbox")):
            abort = getattr(part, "abort", None)
            if abort is not None and part is not self._given_sandbox:
                abort()

    def close(self) -> None:
        """Close everything that was opened, except a given sandbox."""
        self.resources.close()  # before the sandbox, in which its checkers are compiled
        self._to_close.close()

    # ---- opening ------------------------------------------------------------------------

    def _unknown_problem_ids(self) -> list[str]:
        """Return a note for each unknown id of --problems; raise InputError if all are."""
        wanted = self.options.problems or ()
        missing = [name for name in wanted if self.problems.resolve(name) is None]
        notes = [
            f"--problems: {self.problems.why_missing(name)}" for name in missing[:MAX_SHOWN_IDS]
        ]
        if missing and len(missing) == len(wanted):
            raise InputError(notes[0])
        if len(missing) > MAX_SHOWN_IDS:
            notes.append(f"--problems: {len(missing)} ids in all are unknown")
        return notes

    def private_paths(self) -> list[str | Path]:
        """Return what the run reads and writes and programs must not see."""
        options = self.options
        checker = (options.checker or "").partition(":")[2].split(" ")[0]
        read = [*dataset_paths(options.dataset), options.generated_tests_dir, checker]
        written = [options.results_dir if self.files else None, options.cache]
        found = [path for path in read if path and Path(path).exists()]
        return [*self.files, *found, *(path for path in written if path)]

    def _languages(self) -> list[str]:
        """Return the languages of the first solutions; the sandbox must support them."""
        found: dict[str, None] = {}
        if self.files:
            for solution in read_solutions(self.files, limit=SOLUTIONS_FOR_LANGUAGES):
                if solution.error is None:
                    found.setdefault(solution.language)
        return list(found)

    def _official(self, problem: Problem) -> OfficialTests:
        return problem if isinstance(problem, InMemoryProblem) else self.problems

    def _open_resources(self, problem: Problem) -> ProblemResources:
        """Open what judges a problem and its chosen tests."""
        official = self._official(problem)
        kept = problem.without_tests() if isinstance(problem, InMemoryProblem) else problem
        judge = self._open_judge(problem)
        if (problem.interactive and judge is None) or (
            problem.passes > 1 and not can_talk(self.sandbox)
        ):
            return ProblemResources(kept, unsupported_tests(official, problem))
        check_judge(problem, judge)
        tests = open_tests(official, self.generated, problem, self.options.test_selection())
        return ProblemResources(kept, tests, judge)

    def resources_of(self, problem: Problem, tests: ProblemTests) -> ProblemResources:
        """Return tests that are open already with what judges them."""
        return ProblemResources(problem, tests, self._open_judge(problem))

    def _open_judge(self, problem: Problem) -> Checker | Interactor | None:
        """Return what judges a problem; None for an interactive one: that is unsupported."""
        if problem.test_kind == "assert" and not problem.language:
            return AssertTests(problem, self.sandbox) if can_talk(self.sandbox) else None
        return open_judge(problem, self.options, self.sandbox)


def box_options(options: Options) -> dict[str, Any]:
    """Return the arguments of the embedded sandbox that the options have."""
    return {
        "allow_unsafe": options.allow_unsafe_sandbox,
        "python_start": options.python_start,
        "python": options.python,
    }
