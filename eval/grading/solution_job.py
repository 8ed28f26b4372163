"""One solution: compiled once, its cases graded in any order, one record at the end.

SolutionJob ──start: compile──▶ SolutionTask ──run each case──▶ SolutionRecord
    ├── it or its judge does not compile, or the sandbox failed ─────▲
    └── WholeTask: another place grades it (drivers, Ray, remote.py) ┘
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from gradebox.checkers.error_lines import error_line
from gradebox.eval.common.errors import UnusableProblem
from gradebox.eval.grading.cases.asserts import AssertTests, assert_attempt, together
from gradebox.eval.grading.cases.batch_run import FIRST_CASES, grade_some, share_after
from gradebox.eval.grading.cases.case_run import CaseGrader, CaseSettings, unjudged
from gradebox.eval.grading.cases.judges import interactive_attempt
from gradebox.eval.grading.resources import ProblemResources, ResourceCache
from gradebox.eval.grading.scheduler import Done
from gradebox.eval.grading.solution_run import (
    SolutionRun,
    cancel_after_first_failure,
    compile_error,
    compile_fields,
    record_of_cases,
)
from gradebox.eval.grading.verdict import fails
from gradebox.eval.problems.problem import TestRef
from gradebox.eval.results.record import CaseRecord, SolutionRecord
from gradebox.eval.results.records import EncodedRecord
from gradebox.eval.solutions.program import program_of
from gradebox.sandbox.errors import BadRequest, SandboxError
from gradebox.sandbox.model import Compiled

if TYPE_CHECKING:
    from gradebox.eval.grading.drivers.driver import HeldProblem

BYTES_PER_S = 50e6  # rough speed of passing input to a program, used to order jobs


GradeWhole = Callable[
    [SolutionRun, "JobContext", ProblemResources], SolutionRecord | EncodedRecord
]  # raises Interrupted, InputError, and SandboxError, which becomes the record


@dataclass(frozen=True)
class JobContext:
    """What all jobs of a run share: how cases are graded, and where results go.

    on_record  called with each finished record, from any thread
    on_run_s   called with the seconds that programs ran elsewhere, from any thread
    on_case    called with each case's verdict, or a verdict and a number, from any thread
    in_order   a solution's cases run one after the other, so that none runs behind the one that is
               to stop it
    grade_whole  grades solutions in another place; None: this process does
    cap        cases of a solution at once, 0 for no limit; of servers only
    checker    the checker of --checker; of servers only
    time_limit_s  of running programs for each core; of servers only
    """

    settings: CaseSettings
    resources: ResourceCache | HeldProblem
    on_record: Callable[[SolutionRun, SolutionRecord | EncodedRecord], None]
    on_case: Callable[..., None] = lambda verdict, number=1: None
    stop_on_failure: bool = False
    in_order: bool = False
    on_run_s: Callable[[float], None] = lambda seconds: None
    grade_whole: GradeWhole | None = None
    cap: int = 0
    checker: str | None = None
    time_limit_s: float | None = None


class WholeTask:
    """A solution that another place grades, see `SolutionTask`: its only unit is all of it."""

    units = most_at_once = 1

    def __init__(
        self,
        solution_run: SolutionRun,
        context: JobContext,
        resources: ProblemResources,
        grade: GradeWhole,
    ) -> None:
        self.solution_run = solution_run
        self.started = time.monotonic()
        self._context = context
        self._resources = resources
        self._grade = partial(grade, solution_run, context, resources)
        self._record: SolutionRecord | EncodedRecord | None = None

    def run(self, units: range) -> Done:
        """Wait for the record."""
        try:
            self._record = self._grade()
        except SandboxError as e:
            self._record = self.solution_run.record("error", "ER", None, error=str(e))
        return Done(units.stop)

    def finish(self, first_failure: int | None) -> None:
        """Pass the solution's record on."""
        self.abandon()
        if self._record is None:
            return
        if isinstance(self._record, SolutionRecord):  # else drivers have counted
            for verdict, number in Counter(c.verdict for c in self._record.details).items():
                self._context.on_case(verdict, number)
            self._context.on_run_s(self._record.busy_s)
        self._context.on_record(self.solution_run, self._record)

    def abandon(self) -> None:
        """Free everything."""
        self._context.resources.release(self._resources)


def cost_of(run: SolutionRun) -> float:
    """Return the seconds that a solution may take, as far as is known before."""
    tests, limit_s = run.test_set, run.problem.time_limit_s * run.scale
    return tests.to_run * limit_s + tests.input_bytes / BYTES_PER_S


@dataclass
class SolutionJob:
    """A solution waiting for a worker.

    cost        expected time in seconds
    group       the same for jobs that share their tests
    held_bytes  memory used while the job waits
    """

    solution_run: SolutionRun
    context: JobContext
    cost: float = field(init=False)
    group: int = field(init=False)
    held_bytes: int = field(init=False)
    _resources: ProblemResources | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.cost = cost_of(self.solution_run)
        self.group = self.solution_run.test_set.number
        self.held_bytes = len(self.solution_run.solution.code or "") + 1024

    def reserve(self) -> None:
        """Keep the problem's tests open until the job has ended. Called before it is queued."""
        self._resources = self.context.resources.acquire(self.solution_run.problem)

    def discard(self) -> None:
        """Give up a job that was not started, as the run was stopped."""
        if self._resources is not None:
            self.context.resources.release(self._resources)
            self._resources = None

    def start(self) -> SolutionTask | WholeTask | None:
        """Compile the judge and the program; return None when that already decided the record."""
        resources = self._resources or self.context.resources.acquire(self.solution_run.problem)
        self._resources = None
        grade = self.context.grade_whole
        if grade is None and "grade" in self.context.settings.sandbox.capabilities:
            from gradebox.eval.grading.remote import grade_on_servers as grade
        if grade is not None:
            return WholeTask(self.solution_run, self.context, resources, grade)
        task = None
        try:
            if self._prepare_judge(resources) and (compiled := self._compile(resources.tests.plan)):
                task = SolutionTask(self.solution_run, self.context, resources, compiled)
        finally:
            if task is None:
                self.context.resources.release(resources)
        return task

    def _prepare_judge(self, resources: ProblemResources) -> bool:
        """Return whether the problem's judge compiles; otherwise record why not."""
        run, retry = self.solution_run, self.context.settings.retry
        try:
            retry.call(resources.prepare_judge, f"compiling the judge of {run.problem.id}")
        except UnusableProblem as e:
            self.context.on_record(run, run.record("invalid", None, None, error=str(e)))
            return False
        except SandboxError as e:
            self.context.on_record(run, run.record("error", "ER", None, error=str(e)))
            return False
        return True

    def _compile(self, plan: Sequence[TestRef]) -> Compiled | None:
        run, settings = self.solution_run, self.context.settings
        try:
            program = program_of(
                run.solution.code or "", run.language, run.problem, run.solution.files
            )
            compiled = settings.retry.call(
                lambda: settings.sandbox.compile(program), f"compiling line {run.solution.line}"
            )
        except BadRequest as e:
            self._record_compile_error(plan, {"ok": False, "log": ""}, str(e))
            return None
        except SandboxError as e:
            self.context.on_record(run, run.record("error", "ER", None, error=str(e)))
            return None
        if compiled.execution is not None and not compiled.cached:
            settings.on_run(compiled.execution)
        if compiled.ok:
            return compiled
        fields = compile_fields(compiled, settings.stored_bytes)
        self._record_compile_error(plan, fields, error_line(fields["log"]))
        return None

    def _record_compile_error(
        self, plan: Sequence[TestRef], fields: dict[str, Any], error: str
    ) -> None:
        cases = [compile_error(ref) for ref in plan]
        if self.context.stop_on_failure:
            cancel_after_first_failure(cases, plan)
        for case in cases:
            self.context.on_case(case.verdict)
        record = self.solution_run.record(
            "failed", "CE", 0.0, error=error, compile=fields, details=cases
        )
        self.context.on_record(self.solution_run, record)


class SolutionTask:
    """A compiled solution and the results of its cases, its units, in any order.

    most_at_once  units that are worth being given to a worker together, as far as is known by now
    run           does some of the units from the first on, one at least; the rest is given again
    finish        completes the task; called once, when no unit is left to run
    abandon       frees the task's resources; called instead of `finish` when the run is stopped
    """

    def __init__(
        self,
        solution_run: SolutionRun,
        context: JobContext,
        resources: ProblemResources,
        compiled: Compiled,
    ) -> None:
        self.solution_run = solution_run
        self.started = time.monotonic()
        self._context = context
        self._resources = resources
        self._plan = resources.tests.plan
        self._compiled = compiled
        self._cases: list[CaseRecord | None] = [None] * len(self._plan)
        self._grader = case_grader(context.settings, solution_run, resources, compiled)
        self.most_at_once = FIRST_CASES if self._grader.runs_many else 1
        self._is_one = self._grader.one_process or context.in_order
        self.units = 1 if self._is_one else len(self._plan)

    def run(self, units: range) -> Done:
        """Grade some of these cases of the plan, from the first one on; or all of them as one."""
        if not self._is_one:
            return self._grade_some(units)
        done, first_failure = 0, None
        while done < len(self._plan):
            done, failed = self._grade_some(range(done, len(self._plan)))
            first_failure = failed if first_failure is None else first_failure
            if first_failure is not None:
                break
        return Done(1, None if first_failure is None else 0)

    def _grade_some(self, units: range) -> Done:
        refs = self._plan[units.start : units.stop]
        stop = self._context.stop_on_failure
        cases = grade_some(self._grader, refs, stop_on_failure=stop)
        if self._grader.runs_many:
            self.most_at_once = share_after(cases)
        failed, verdicts = None, []
        for unit, case in enumerate(cases, start=units.start):
            if case is not None:
                self._cases[unit] = case
                verdicts.append(case.verdict)
                if failed is None and fails(case.verdict):
                    failed = unit
        for verdict in set(verdicts):
            self._context.on_case(verdict, verdicts.count(verdict))
        return Done(units.start + len(cases), failed if stop else None)

    def finish(self, first_failure: int | None) -> None:
        """Pass the solution's record on."""
        cases = [
            case if case is not None else unjudged(ref, "SK", "not_run_after_failure")
            for case, ref in zip(self._cases, self._plan, strict=True)
        ]
        if first_failure is not None:
            cancel_after_first_failure(cases, self._plan)
        fields = compile_fields(self._compiled, self._context.settings.stored_bytes)
        record = record_of_cases(self.solution_run, cases, fields)
        self.abandon()
        self._context.on_record(self.solution_run, record)

    def abandon(self) -> None:
        """Free everything without a record."""
        self._context.resources.release(self._resources)


def case_grader(
    settings: CaseSettings,
    solution_run: SolutionRun,
    resources: ProblemResources,
    compiled: Compiled,
) -> CaseGrader:
    """Return the grader of a compiled solution's cases, with its interactor if there is one."""
    bounds = solution_run.bounds
    attempt = None
    if isinstance(resources.interactor, AssertTests):
        code, language = solution_run.solution.code or "", solution_run.language
        attempt = assert_attempt(
            settings,
            bounds,
            compiled,
            resources.interactor,
            lambda test: together(settings, bounds, resources.problem, code, language, test),
        )
    elif resources.interactor is not None:
        attempt = interactive_attempt(
            settings, bounds, compiled, resources.interactor, resources.problem
        )
    return CaseGrader(settings, resources, bounds, compiled, attempt=attempt)
