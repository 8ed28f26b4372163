"""Whole solutions graded by servers of ours: one request, whose cases become the record.

    SentProblem ─ small: in the request │ large: POST /problems, once for each server ─▶ its name
    plan ─ in parts of at most PART_BYTES ─▶ POST /grade ─▶ cases, in the plan's order ─▶ record

The tests are chosen, and the record is made, by this side. So it is what a local run writes, but
for what was measured. A reply is untrusted: one that does not fit the request gives no verdict. It
raises Transient, and the request is sent again, to another server first.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from gradebox.checkers.interactive import Interactor, sent
from gradebox.checkers.programs import ProgramChecker
from gradebox.eval.common.errors import InputError, Interrupted, shown
from gradebox.eval.grading.cases.asserts import AssertTests
from gradebox.eval.grading.cases.case_run import unjudged
from gradebox.eval.grading.resources import ProblemResources
from gradebox.eval.grading.solution_run import (
    SolutionRun,
    cancel_after_first_failure,
    record_of_cases,
)
from gradebox.eval.grading.time_policy import run_limits
from gradebox.eval.grading.verdict import fails
from gradebox.eval.problems.in_memory import Row, cache_name
from gradebox.eval.problems.problem import NO_INFO, Problem, TestRef
from gradebox.eval.problems.row import row_of
from gradebox.eval.problems.row.tests import TESTS_COLUMN
from gradebox.eval.results.record import CaseRecord, SolutionRecord, is_record, read_case
from gradebox.eval.solutions.solution import Solution
from gradebox.sandbox.errors import Transient
from gradebox.sandbox.piston import PistonSandbox
from gradebox.sandbox.piston.fleet import Endpoint
from gradebox.sandbox.piston.transport import waiting

if TYPE_CHECKING:
    from gradebox.eval.grading.solution_job import JobContext


INLINE_BYTES = 32 << 10  # of a problem that is sent with every request
MOST_REPLY_BYTES = 1 << 30
UPLOAD_S = 300.0  # for a server to take a problem
MOST_UPLOADS = 3  # for one request; a server forgets problems when it has many


@dataclass(frozen=True)
class SentProblem:
    """A problem for servers.

    key         the same for the same problem only
    size_bytes  of its tests and programs
    row         returns its row
    """

    key: Hashable
    size_bytes: int
    row: Callable[[], Row]


@dataclass(frozen=True)
class GradeRequest:
    """Solutions of one problem; `problem` None: of the data set of the server."""

    solutions: Sequence[Solution]
    problem: SentProblem | None
    flags: Mapping[str, Any]
    time_limit_s: float | None = None

    def ask(self, endpoint: Endpoint, timeout_s: float) -> list[dict[str, Any]]:
        """Return a record for each solution, in order, with this side's names and line numbers.

        timeout_s  for the answer to begin

        Raises Transient, Refused, and InputError for values that JSON lacks.
        """
        problem = self.problem
        if problem is None:
            return self._records(_post(endpoint, "/grade", self._body(), timeout_s))
        if problem.size_bytes <= INLINE_BYTES:
            body = self._body(problem=problem.row())
            return self._records(_post(endpoint, "/grade", body, timeout_s))
        for _ in range(MOST_UPLOADS):
            name = self._upload(endpoint, problem)
            answer = _post(endpoint, "/grade", self._body(problem=name), timeout_s)
            if "missing" not in answer:
                return self._records(answer)
            endpoint.problems.pop(problem.key)
        raise Transient(f"{endpoint.url} forgot a problem {MOST_UPLOADS} times before grading it")

    def _upload(self, endpoint: Endpoint, problem: SentProblem) -> str:
        """Return the server's name of a problem; send it if the server was not sent it before."""
        with endpoint.uploading:
            name = endpoint.problems.get(problem.key)
            if name is None:
                body = {"problem": problem.row(), "judge": self.flags.get("judge", "strict")}
                name = _post(endpoint, "/problems", body, UPLOAD_S).get("problem")
                if not isinstance(name, str):
                    raise Transient(f"{endpoint.url} took a problem without naming it")
                endpoint.problems.put(problem.key, name)
            return name

    def _body(self, **problem: Row | str) -> dict[str, Any]:
        solutions = [
            {
                **({"problem_id": s.problem_id} if self.problem is None else {}),
                "solution_id": s.solution_id,
                "language": s.language,
                **({"completion": s.response or ""} if s.code is None else {"code": s.code}),
                **({"files": dict(s.files[1:])} if s.files else {}),
            }
            for s in self.solutions
        ]
        own = {"solutions": solutions, "flags": self.flags, "time_limit_s": self.time_limit_s}
        return {**own, **problem}

    def _records(self, answer: Mapping[str, Any]) -> list[dict[str, Any]]:
        records, wanted = answer.get("records"), len(self.solutions)
        if not isinstance(records, list) or len(records) != wanted:
            raise Transient(f"the server's records are {shown(records)}, not {wanted} records")
        if not all(map(is_record, records)):
            raise Transient(
                "the server sent a record with a missing or invalid field; is it another version "
                "of gradebox?"
            )
        return [
            {
                **record,
                "problem_id": s.problem_id,
                "solution_id": s.solution_id,
                "sample_i": s.sample_i,
                "line": s.line,
            }
            for record, s in zip(records, self.solutions, strict=True)
        ]


def _post(
    endpoint: Endpoint, route: str, body: Mapping[str, Any], timeout_s: float
) -> dict[str, Any]:
    raw = json.dumps(body, default=_plain).encode()
    answer = endpoint.transport.post(route, raw, timeout_s, MOST_REPLY_BYTES)
    if not isinstance(answer, dict):
        raise Transient(f"{endpoint.url}{route} answered {shown(answer)}, not an object")
    return answer


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "isoformat"):
        return value.isoformat()
    raise InputError(
        f"a problem has the value {shown(value)}, which can't be sent; give text, numbers and lists"
    )


PART_BYTES, PART_TESTS = 64 << 20, 4096  # of the tests that a server gets at once
QUEUE_S = 3600.0  # a request may wait so long for those of others; a dead server is noticed before


def grade_on_servers(
    run: SolutionRun, context: JobContext, resources: ProblemResources
) -> SolutionRecord:
    """Return the record of a solution that servers graded (`solution_job.GradeWhole`)."""
    return _WholeSolution(run, context, resources).graded()


class _WholeSolution:
    def __init__(
        self, solution_run: SolutionRun, context: JobContext, resources: ProblemResources
    ) -> None:
        self.solution_run = solution_run
        self._context = context
        self._tests, self._judge = resources.tests, resources.judge

    def graded(self) -> SolutionRecord:
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
                return record, _cases(record["details"], refs, run.problem)
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

    def _contents(self, refs: Sequence[TestRef]) -> dict[str, list[Any]]:
        tests = [self._tests.load(ref) for ref in refs]
        found = {"input": [t.input for t in tests], "output": [t.expected for t in tests]}
        texts: dict[str, list[Any]] = {
            n: [c.decode("utf-8", "surrogateescape") for c in cs] for n, cs in found.items()
        }
        infos = [self.solution_run.problem.info_of(ref.case_type, ref.index) for ref in refs]
        if any(info is not NO_INFO for info in infos):
            for name in ("name", "args", "points"):
                texts[name] = [getattr(info, name) for info in infos]
        return texts


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


def _cases(details: Sequence[Any], refs: Sequence[TestRef], problem: Problem) -> list[CaseRecord]:
    """Return the cases of a server's record under their own numbers. Raises ValueError."""
    if len(details) not in (0, len(refs)):
        raise ValueError(f"is one of {len(details)} where {len(refs)} are expected")
    found = []
    for value, ref in zip(details, refs, strict=False):
        if value["input_bytes"] != ref.input_bytes:
            raise ValueError(f"has {value['input_bytes']} bytes of input, not {ref.input_bytes}")
        names = {"case_type": ref.case_type, "test_case_i": ref.index}
        groups = problem.groups_of(ref.case_type, ref.index)
        found.append(read_case({**value, **names, **({"groups": groups} if groups else {})}))
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
