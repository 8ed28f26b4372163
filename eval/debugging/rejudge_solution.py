"""Rejudge one solution: each case by its stored output where that suffices, else by a new run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, TypeGuard

from gradebox.eval.common.errors import InputError
from gradebox.eval.debugging.find import Json, case_key
from gradebox.eval.debugging.reopen import compile_solution, stored_output
from gradebox.eval.grading.case_run import (
    CaseGrader,
    CaseOutcome,
    CaseSettings,
    compare_output,
    outcome_of,
    unjudged,
)
from gradebox.eval.grading.judges import open_judge
from gradebox.eval.grading.resources import ProblemResources
from gradebox.eval.grading.session import GradingSession
from gradebox.eval.grading.solution_job import case_grader
from gradebox.eval.grading.solution_run import (
    SolutionRun,
    compile_error,
    compile_fields,
    record_of_cases,
)
from gradebox.eval.grading.verdict import fails
from gradebox.eval.problems.problem import Problem, TestCase, TestRef
from gradebox.eval.results.record import CaseRecord
from gradebox.eval.results.records import as_json
from gradebox.eval.solutions.program import program_of
from gradebox.eval.solutions.solution import Solution
from gradebox.sandbox.errors import SandboxError
from gradebox.sandbox.model import Compiled, Execution

CaseKey = tuple[str, int]
# Reasons that depend on the output alone: the program ended normally and within its limits.
_BY_OUTPUT = frozenset((
    "passed_by_exact_match", "passed_by_checker", "failed_outputs_match", "failed_checker",
    "presentation_error", "checker_unclear",
))  # fmt: skip
_CASE_FIELDS = frozenset(f.name for f in fields(CaseRecord))


@dataclass(frozen=True)
class RejudgedSolution:
    """The old and the new record, and how many cases were judged by their stored output."""

    old: Json
    new: Json
    from_stored: int


class SolutionRejudger:
    """Rejudge solutions of one run. Any thread may call `rejudge`.

    earlier_checkers  every --checker that judged the records; None: the problems' own
    """

    def __init__(
        self, session: GradingSession, earlier_checkers: Iterable[str | None] = (None,)
    ) -> None:
        self._session = session
        self._earlier_checkers = tuple(dict.fromkeys(earlier_checkers))
        self._settings = session.case_settings()

    def rejudge(
        self, problem: Problem, record: Json, solution: Solution, cases: frozenset[CaseKey]
    ) -> RejudgedSolution:
        """Rejudge the given cases of a solution, or all when `cases` is empty.

        All cases are rejudged, too, when the solution's key has changed.
        """
        session = self._session
        resources = session.resources.acquire(problem)
        try:
            run = session.context.solution_run(solution, problem, session.resources.info(problem))
            use_stored = self._only_checker_changed(run, record)
            rejudging = _Rejudging(self._settings, run, resources, record, use_stored)
            try:
                selected = cases if run.key == record.get("key") else frozenset()
                new = rejudging.record(selected, session.options.stop_on_first_failure)
            finally:
                rejudging.close()
        finally:
            session.resources.release(resources)
        return RejudgedSolution(record, new, rejudging.from_stored)

    def _only_checker_changed(self, run: SolutionRun, record: Json) -> bool:
        """Return whether at most the checker changed, so that stored outputs are still valid.

        Then one of the earlier checkers gives the record's key.
        """
        if run.key == record.get("key"):
            return True
        session = self._session
        for name in self._earlier_checkers:
            try:
                checker = open_judge(run.problem, name, session.options, session.sandbox)
            except InputError:  # its file is gone, so its key is unknown
                continue
            test_set = replace(run.test_set, checker=checker.digest if checker else "")
            if checker is not None:
                checker.close()
            earlier = session.context.solution_run(run.solution, run.problem, test_set)
            if earlier.key == record.get("key"):
                return True
        return False


class _Rejudging:
    """One solution while it is rejudged. It is compiled when the first case has to run."""

    def __init__(
        self,
        settings: CaseSettings,
        run: SolutionRun,
        resources: ProblemResources,
        old: Json,
        use_stored: bool,
    ) -> None:
        self._settings = settings
        self._run = run
        self._resources = resources
        self._old = old
        self._recorded = {case_key(c): c for c in old.get("details") or ()}
        self._use_stored = use_stored
        self._compiled: Compiled | None = None
        self.from_stored = 0

    def close(self) -> None:
        if self._compiled is not None:
            self._compiled.close()

    def record(self, selected: frozenset[CaseKey], stop_on_failure: bool) -> dict[str, Any]:
        """Return the new record. Cases that are not selected are copied, if there are any."""
        cases: list[CaseRecord] = []
        failed = False
        for ref in self._resources.tests.plan:
            recorded = self._recorded.get((ref.case_type, ref.index))
            if stop_on_failure and failed:
                case = unjudged(ref, "SK", ref.skip or "not_run_after_failure")
            elif selected and (ref.case_type, ref.index) not in selected and _is_final(recorded):
                case = _case_record(recorded)
            else:
                case = self._rejudge(ref, recorded)
            failed = failed or fails(case.verdict)
            cases.append(case)
        if self._compiled is not None:
            compiled = compile_fields(self._compiled, self._settings.stored_bytes)
        else:
            compiled = dict(self._old.get("compile") or {})
        return as_json(record_of_cases(self._run, cases, compiled))

    def _rejudge(self, ref: TestRef, recorded: Json | None) -> CaseRecord:
        if ref.skip is not None:
            return unjudged(ref, "SK", ref.skip)
        if recorded is not None:
            output = self._usable_output(recorded)
            by_output = self._judge_output(ref, recorded, output) if output is not None else None
            if by_output is not None:
                return by_output
        return self._run_case(ref)

    def _usable_output(self, recorded: Json) -> bytes | None:
        """Return the stored output if it is whole and decides the verdict alone."""
        if not self._use_stored or self._resources.interactor is not None:
            return None
        if recorded.get("reason") not in _BY_OUTPUT or recorded.get("exit_code") != 0:
            return None
        output = stored_output(recorded)
        # An empty output may mean that the output file was not written.
        return None if self._run.problem.input_mode == "file" and not output else output

    def _judge_output(self, ref: TestRef, recorded: Json, output: bytes) -> CaseRecord | None:
        """Return the case judged by its stored output; None when the test's input has changed."""
        settings, resources, bounds = self._settings, self._resources, self._run.bounds
        execution = Execution(
            exit_code=0,
            signal=None,
            cpu_s=float(recorded.get("cpu_s") or 0.0),
            wall_s=float(recorded.get("wall_s") or 0.0),
            memory_bytes=recorded.get("memory_bytes"),
            stdout=output,
            stderr=str(recorded.get("stderr") or "").encode("utf-8", "surrogatepass"),
            stdout_bytes=len(output),
        )

        def attempt(test: TestCase) -> CaseOutcome:
            found = compare_output(test, output, resources.checker, settings.compare)
            contended = bool(recorded.get("contended"))
            return outcome_of(execution, bounds, output, found, contended=contended)

        not_compiled = Compiled(program_of("", self._run.language), ok=True)
        case = CaseGrader(settings, resources, bounds, not_compiled, attempt=attempt).grade(ref)
        if case.input_sha256 != recorded.get("input_sha256"):
            return None
        self.from_stored += 1
        return case

    def _run_case(self, ref: TestRef) -> CaseRecord:
        try:
            if self._compiled is None:
                self._compiled = compile_solution(self._settings, self._run)
        except SandboxError as e:
            return unjudged(ref, "ER", "sandbox_error", str(e))
        if not self._compiled.ok:
            return compile_error(ref)
        return case_grader(self._settings, self._run, self._resources, self._compiled).grade(ref)


def _is_final(recorded: Json | None) -> TypeGuard[Json]:
    return recorded is not None and recorded.get("reason") != "not_run_after_failure"


def _case_record(case: Mapping[str, Any]) -> CaseRecord:
    known = {name: value for name, value in case.items() if name in _CASE_FIELDS}
    known["repeats"] = tuple(known.get("repeats") or ())
    return CaseRecord(**known)
