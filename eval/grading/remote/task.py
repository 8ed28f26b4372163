"""A solution that a server of ours grades whole: one request, whose cases become the record.

    plan ─ in parts of at most PART_BYTES ─▶ POST /grade ─▶ cases, in the plan's order ─▶ record

The tests are chosen, and the record is made, by this side. So it is what a local run writes, but
for what was measured.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from gradebox.checkers.interactive import Interactor, sent
from gradebox.checkers.programs import ProgramChecker
from gradebox.eval.grading.attempts.asserts import AssertTests
from gradebox.eval.grading.case_run import unjudged
from gradebox.eval.grading.remote.request import GradeRequest, SentProblem
from gradebox.eval.grading.resources import ProblemResources
from gradebox.eval.grading.retry import Interrupted
from gradebox.eval.grading.scheduling.share import Share
from gradebox.eval.grading.scheduling.work import Done
from gradebox.eval.grading.solution_run import (
    SolutionRun,
    cancel_after_first_failure,
    record_of_cases,
)
from gradebox.eval.grading.time_policy import run_limits
from gradebox.eval.grading.verdict import fails
from gradebox.eval.problems.in_memory import cache_name
from gradebox.eval.problems.problem import TestRef
from gradebox.eval.problems.row import TESTS_COLUMN, row_of
from gradebox.eval.results.record import CaseRecord, SolutionRecord
from gradebox.eval.results.record_shape import read_case
from gradebox.sandbox.errors import SandboxError, Transient
from gradebox.sandbox.piston import PistonSandbox
from gradebox.sandbox.piston.fleet import Endpoint
from gradebox.sandbox.piston.transport import waiting

if TYPE_CHECKING:
    from gradebox.eval.grading.solution_job import JobContext

PART_BYTES, PART_TESTS = 64 << 20, 4096  # of the tests that a server gets at once
QUEUE_S = 3600.0  # a request may wait so long for those of others; a dead server is noticed before


class RemoteTask:
    """A solution and its record (`scheduling.work.Task`); its only unit is the whole solution."""

    units = most_at_once = 1

    def __init__(
        self, solution_run: SolutionRun, context: JobContext, resources: ProblemResources
    ) -> None:
        self.solution_run = solution_run
        self.started = time.monotonic()
        self._context = context
        self._resources: ProblemResources | None = resources
        self._tests, self._judge = resources.tests, resources.judge
        self._record: SolutionRecord | None = None

    def run(self, share: Share) -> Done:
        """Ask for the cases. Raises Interrupted when the run is being stopped."""
        try:
            self._record = self._graded()
        except SandboxError as e:
            self._record = self.solution_run.record("error", "ER", None, error=str(e))
        return Done(1, None)

    def finish(self, first_failure: int | None) -> None:
        """Pass the solution's record on."""
        self.abandon()
        if self._record is not None:
            self._context.on_run_s(self._record.busy_s)
            self._context.on_record(self.solution_run, self._record)

    def abandon(self) -> None:
        """Free everything."""
        resources, self._resources = self._resources, None
        if resources is not None:
            self._context.resources.release(resources)

    def _graded(self) -> SolutionRecord:
        run, plan, stop = self.solution_run, self._tests.plan, self._context.stop_on_failure
        cases: list[CaseRecord] = []
        compiled: dict[str, Any] = {}
        for number, refs in enumerate(_parts(plan)):
            if stop and any(fails(case.verdict) for case in cases):
                break
            record, found = self._ask(number, refs)
            cases += found
            compiled, error = _compile_fields(record["compile"]), record["error"]
            if not found:  # it could not be graded
                return run.record(record["status"], record["verdict"], None, error=error)
        graded = iter(cases)
        whole = [
            unjudged(ref, "SK", ref.skip)
            if ref.skip
            else next(graded, None) or unjudged(ref, "SK", "not_run_after_failure")
            for ref in plan
        ]
        if stop:
            cancel_after_first_failure(whole, plan)
        for case in whole:
            self._context.on_case(case.verdict)
        if compiled["ok"]:
            return record_of_cases(run, whole, compiled)
        return run.record("failed", "CE", 0.0, error=error, compile=compiled, details=whole)

    def _ask(self, number: int, refs: Sequence[TestRef]) -> tuple[dict[str, Any], list[CaseRecord]]:
        """Return the server's record and the cases of these tests; none: they were not graded."""
        run, settings, context = self.solution_run, self._context.settings, self._context
        flags: dict[str, Any] = {
            "stop_on_first_failure": context.stop_on_failure,
            "compare": settings.compare,
            "repeat": settings.repeat,
            "max_stored_output": settings.stored_bytes,
            "generated_tests_workers": context.cap,
        }
        if run.scale != 1:
            flags["time_limit_scale"] = {run.language: run.scale}
        key = cache_name(run.problem), run.test_set.tests, run.test_set.checker, number
        row = self._row()
        size = self._tests.size_bytes + len(str(row))
        problem = SentProblem(key, size, lambda: {**row, TESTS_COLUMN: self._contents(refs)})
        request = GradeRequest([run.solution], problem, flags, context.time_limit_s)
        wall_s = run_limits(run.bounds).wall_s
        timeout_s = QUEUE_S + 3 * wall_s * len(refs) * settings.repeat

        def question(endpoint: Endpoint) -> tuple[dict[str, Any], list[CaseRecord]]:
            (record,) = request.ask(endpoint, timeout_s)
            try:
                return record, _cases(record["details"], refs)
            except ValueError as error:
                raise Transient(f"{endpoint.url}: a case {error}") from None

        def check() -> None:
            if settings.retry.stop.is_set():
                raise Interrupted

        sandbox = cast("PistonSandbox", settings.sandbox)
        with waiting(check):
            return settings.retry.call(
                lambda: sandbox.ask(run.language, question), f"grading line {run.solution.line}"
            )

    def _row(self) -> dict[str, Any]:
        """Return the problem as a row, with what judges it, without tests."""
        row, judge = row_of(self.solution_run.problem), self._judge
        if isinstance(judge, ProgramChecker) or (
            isinstance(judge, Interactor) and not isinstance(judge, AssertTests)
        ):
            row |= {"judge_program": sent(judge), "checker": None}
        elif self._context.checker:
            row["checker"] = self._context.checker
        return row

    def _contents(self, refs: Sequence[TestRef]) -> dict[str, list[str]]:
        tests = [self._tests.load(ref) for ref in refs]
        found = {"input": [t.input for t in tests], "output": [t.expected for t in tests]}
        return {n: [c.decode("utf-8", "surrogateescape") for c in cs] for n, cs in found.items()}


def _parts(plan: Sequence[TestRef]) -> Iterator[list[TestRef]]:
    """Yield the tests that are run, in order, in parts that a server takes at once."""
    part: list[TestRef] = []
    size = 0
    for ref in plan:
        if ref.skip is not None:
            continue
        if part and (size + ref.input_bytes > PART_BYTES or len(part) == PART_TESTS):
            yield part
            part, size = [], 0
        part.append(ref)
        size += ref.input_bytes
    yield part


def _cases(details: Sequence[Any], refs: Sequence[TestRef]) -> list[CaseRecord]:
    """Return the cases of a server's record under their own numbers. Raises ValueError."""
    if len(details) not in (0, len(refs)):
        raise ValueError(f"is one of {len(details)} where {len(refs)} are expected")
    found = []
    for value, ref in zip(details, refs, strict=False):
        if value["input_bytes"] != ref.input_bytes:
            raise ValueError(f"has {value['input_bytes']} bytes of input, not {ref.input_bytes}")
        found.append(read_case({**value, "case_type": ref.case_type, "test_case_i": ref.index}))
    return found


def _compile_fields(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record's `compile` field, whatever the server sent."""
    cpu_s: Any = given.get("cpu_s")
    memory: Any = given.get("memory_bytes")
    return {
        "ok": given.get("ok") is True,
        "log": str(given.get("log", "")),
        "cpu_s": cpu_s if type(cpu_s) in (int, float) and 0 <= cpu_s < 1e9 else None,
        "memory_bytes": memory if type(memory) is int and 0 <= memory < 1e15 else None,
    }
