"""One case of one solution: load, run, compare or check the output, judge, record.

    TestRef ─load▶ TestCase ─run▶ Execution ─compare▶ Match|Check ─judge▶ CaseRecord

Faults of the sandbox are retried and then recorded as ER. They never end a run.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from math import isfinite
from typing import cast

from msgspec import UNSET, UnsetType, structs

from gradebox.checkers.builtins import Builtin
from gradebox.checkers.check import Check, Checker
from gradebox.checkers.compare import Mode
from gradebox.checkers.programs import Pass, ProgramChecker
from gradebox.checkers.values.judging import IN_ONE_PROCESS
from gradebox.eval.common.errors import InputError, Interrupted, Retry
from gradebox.eval.grading.cases.outcome import (
    Attempt,
    CaseOutcome,
    Feedback,
    in_passes,
    outcome_of,
)
from gradebox.eval.grading.resources import ProblemResources
from gradebox.eval.grading.time_policy import must_run_alone, run_limits
from gradebox.eval.grading.verdict import Bounds, Match, compare_output, spares_expected
from gradebox.eval.problems.problem import NO_INFO, Problem, TestCase, TestRef
from gradebox.eval.results.record import CaseRecord, CaseVerdict, Reason
from gradebox.eval.results.records import one_line, stored_text
from gradebox.sandbox.errors import SandboxError
from gradebox.sandbox.model import Compiled, Execution
from gradebox.sandbox.protocol import Sandbox

log = logging.getLogger(__name__)

SHORT_INPUT_BYTES = 200  # of inputs that records of failed cases have


@dataclass(frozen=True)
class CaseSettings:
    """How every case of a run is graded.

    stored_bytes  most bytes of an output, an expected output or stderr kept in a record
    repeat        number of runs of each case
    on_run        called with each execution of a solution or its compiler, from any thread
    """

    sandbox: Sandbox
    compare: Mode = "open-r1"
    stored_bytes: int = 4096
    repeat: int = 1
    retry: Retry = field(default_factory=Retry)
    on_run: Callable[[Execution], None] = lambda execution: None


class CaseGrader:
    """Grades the cases of one compiled solution. Any thread may call any method.

    attempt  runs and judges a test, instead of the plain run (interactive problems)

    one_process  tests are calls in one process, so that the first ones change those after them
    """

    def __init__(
        self,
        settings: CaseSettings,
        resources: ProblemResources,
        bounds: Bounds,
        compiled: Compiled,
        *,
        attempt: Attempt | None = None,
    ) -> None:
        self.settings = settings
        self._problem = resources.problem
        self._tests = resources.tests
        self._checker = resources.checker
        self.bounds = bounds
        self.compiled = compiled
        self.attempt = attempt or self._run_and_judge
        if attempt is None and self._problem.passes > 1:
            self.attempt = self._run_passes
        plain = attempt is None and settings.repeat == 1 and self._problem.input_mode != "file"
        plain = plain and self._problem.passes == 1
        self.one_process = plain and shares_a_process(self._problem)
        self.runs_many = self.one_process or (plain and "batch" in settings.sandbox.capabilities)
        self.load = self._tests.load

    @property
    def problem_id(self) -> str:
        return self._problem.id

    def grade(self, ref: TestRef, execution: Execution | None = None) -> CaseRecord:
        """Return the record of a case.

        execution  of a run that has been made already, see batch_run.py

        Raises Interrupted when the run is stopped, and InputError for unreadable tests.
        """
        if ref.skip is not None:
            return unjudged(ref, "SK", ref.skip)
        what = f"{self._problem.id} {ref.case_type} test {ref.index}"
        retry = self.settings.retry
        try:
            test = self.load(ref)
            if execution is not None:
                outcomes = [retry.call(lambda: self.judge_run(test, execution), what)]
            else:
                repeat = range(self.settings.repeat)
                outcomes = [retry.call(lambda: self.attempt(test), what) for _ in repeat]
        except (Interrupted, InputError):
            raise
        except SandboxError as e:
            return unjudged(ref, "ER", "sandbox_error", str(e))
        except Exception as e:
            log.exception("%s: unexpected error of the grader", what)
            return unjudged(ref, "ER", "sandbox_error", f"{type(e).__name__}: {e}")
        record = self.record(ref, test, outcomes[0])
        if len(outcomes) == 1:
            return record
        return structs.replace(record, repeats=tuple(o.judgement.verdict for o in outcomes))

    def judge_at_once(self, test: TestCase, execution: Execution) -> CaseOutcome | None:
        """Judge the output of a run; return None when that may need the sandbox again."""
        needs_sandbox = self._checker is not None and not isinstance(self._checker, Builtin)
        spared = execution.stdout == test.expected and spares_expected(self._checker)
        if needs_sandbox and not spared:
            return None
        if must_run_alone(execution, self.bounds):
            return None
        return self._judge(test, execution, contended=False)

    def _run_and_judge(self, test: TestCase) -> CaseOutcome:
        return self.judge_run(test, self._run(test, alone=False))

    def _run_passes(self, test: TestCase) -> CaseOutcome:
        def run(test: TestCase, feedback: Feedback) -> tuple[CaseOutcome, Pass | None]:
            checker = checker_of(self._problem, self._checker, test)
            judge = cast("ProgramChecker", checker).for_pass(feedback)
            return self.judge_run(test, self._run(test, alone=False), judge), judge.asked

        return in_passes(test, self._problem.passes, self.bounds, run)

    def judge_run(
        self, test: TestCase, execution: Execution, checker: Checker | None = None
    ) -> CaseOutcome:
        """Judge the output of a run. A run alone, if that is needed, decides in its place.

        checker  None: that of the problem
        """
        contended = must_run_alone(execution, self.bounds)
        if contended:
            execution = self._run(test, alone="alone" in self.settings.sandbox.capabilities)
        return self._judge(test, execution, checker, contended=contended)

    def _judge(
        self,
        test: TestCase,
        execution: Execution,
        checker: Checker | None = None,
        *,
        contended: bool,
    ) -> CaseOutcome:
        written = self._problem.files[1]
        output = execution.files.get(written) if written else execution.stdout

        def find() -> Match | Check:
            judge = checker or checker_of(self._problem, self._checker, test)
            return compare_output(test, output, judge, self.settings.compare, written)

        return outcome_of(execution, self.bounds, output, find, contended=contended)

    def _run(self, test: TestCase, *, alone: bool) -> Execution:
        given, written = self._problem.files
        execution = self.settings.sandbox.run(
            self.compiled,
            run_limits(self.bounds, len(test.expected)),
            stdin=b"" if given else test.input,
            files={given: test.input} if given else None,
            collect=(written,) if written else (),
            alone=alone,
        )
        self.settings.on_run(execution)
        check_evidence(execution)
        return execution

    def record(self, ref: TestRef, test: TestCase, outcome: CaseOutcome) -> CaseRecord:
        """Return the record of a case that ran."""
        x, judged, limit = outcome.execution, outcome.judgement, self.settings.stored_bytes
        output = outcome.output or b""
        info = self._problem.info_of(test.case_type, test.index)
        expected = stored_text(test.expected, limit)
        return CaseRecord(
            case_type=ref.case_type,
            test_case_i=ref.index,
            passed=judged.passed,
            verdict=judged.verdict,
            score=judged.score,
            output=expected if output == test.expected else stored_text(output, limit),
            expected=expected,
            error=one_line(judged.error),
            reason=judged.reason,
            cpu_s=round(x.cpu_s, 6),
            wall_s=round(x.wall_s, 6),
            memory_bytes=x.memory_bytes,
            contended=outcome.contended,
            exit_code=x.exit_code,
            signal=x.signal,
            stderr=stored_text(x.stderr, limit),
            checker=_checker_fields(outcome.check, limit),
            input_bytes=len(test.input),
            input_sha256=self._tests.input_sha256(test),
            output_bytes=max(len(output), x.stdout_bytes if output is x.stdout else 0),
            output_sha256=hashlib.sha256(output).hexdigest(),
            transcript=outcome.transcript,
            output_passed=outcome.output_passed,
            input=_short_input(test.input) if judged.verdict != "AC" else UNSET,
            marked=one_line(outcome.marked) if outcome.marked else UNSET,
            test=one_line(info.name) if info.name else UNSET,
            groups=self._problem.groups_of(test.case_type, test.index) or UNSET,
            points=UNSET if info.points is None else round((judged.score or 0.0) * info.points, 6),
            passes=outcome.passes or UNSET,
        )


def shares_a_process(problem: Problem) -> bool:
    """Return whether all tests of a solution are calls in one process."""
    return problem.test_kind == "call" and problem.checker_name in IN_ONE_PROCESS


def checker_of(problem: Problem, checker: Checker | None, test: TestCase) -> Checker | None:
    """Return the checker with the arguments and the full mark of a test."""
    info = problem.info_of(test.case_type, test.index)
    if checker is None or info is NO_INFO:
        return checker
    return checker.for_test(info.args, info.points)


def _short_input(data: bytes) -> str | UnsetType:
    """Return a short input as text; UNSET when it is long or its text would not be the same."""
    if len(data) > SHORT_INPUT_BYTES:
        return UNSET
    try:
        return data.decode()
    except UnicodeDecodeError:
        return UNSET


def unjudged(ref: TestRef, verdict: CaseVerdict, reason: Reason, error: str = "") -> CaseRecord:
    """Return the record of a case that did not run or has no usable result."""
    failed = verdict == "CE"
    return CaseRecord(
        case_type=ref.case_type,
        test_case_i=ref.index,
        passed=False if failed else None,
        verdict=verdict,
        score=0.0 if failed else None,
        output="",
        expected="",
        error=one_line(error),
        reason=reason,
        cpu_s=None,
        wall_s=None,
        memory_bytes=None,
        contended=False,
        exit_code=None,
        signal=None,
        stderr="",
        checker=None,
        input_bytes=ref.input_bytes,
        input_sha256="",
        output_bytes=0,
        output_sha256="",
        transcript=None,
        output_passed=None,
    )


def check_evidence(x: Execution) -> None:
    """Raise SandboxError for an execution that no verdict can rest on; a server may be wrong."""
    if x.exit_code is None and x.signal is None and x.killed_for is None:
        raise SandboxError("the sandbox did not report how the program ended")
    if not (isfinite(x.cpu_s) and isfinite(x.wall_s) and x.cpu_s >= 0):
        raise SandboxError(f"the sandbox reported impossible times: {x.cpu_s} s, {x.wall_s} s")


def _checker_fields(check: Check | None, limit: int) -> dict[str, str | int | None] | None:
    if check is None:
        return None
    return {
        "stdout": stored_text(check.stdout, limit),
        "stderr": stored_text(check.stderr, limit),
        "exit_code": check.exit_code,
    }
