"""One solution: compiled once, its cases graded in any order, one record at the end.

SolutionJob ──start: borrow tests, compile──▶ SolutionTask ──run × cases──▶ SolutionRecord
    └────────── does not compile, or the machine failed ──────────────────────▲
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from eval.grade_case import Bench, CaseGrader, unjudged
from eval.interactive import interactive_attempt
from eval.kits import Kit, KitFacts, KitShelf
from eval.model import CaseRecord, CaseVerdict, Problem, Solution, SolutionRecord, Status, TestRef
from eval.records import one_line, stored_text
from eval.time_policy import bounds_of
from eval.verdict import fails, sum_up
from sandbox.errors import BadRequest, SandboxError
from sandbox.languages import find
from sandbox.model import Compiled, Program

log = logging.getLogger(__name__)
BYTES_PER_S = 50e6  # rough speed of passing input, to order jobs by


@dataclass(frozen=True)
class Subject:
    """A solution that can be graded, with all that its record and its grading need.

    language  the language's name in the table; scale multiplies its time limits
    sandbox   what the record says of the sandbox
    """

    solution: Solution
    problem: Problem
    facts: KitFacts
    language: str
    scale: float
    key: str
    sandbox: dict[str, Any]

    def record(
        self,
        status: Status,
        verdict: CaseVerdict | None,
        score: float | None,
        *,
        error: str = "",
        compile: dict[str, Any] | None = None,
        details: Sequence[CaseRecord] = (),
    ) -> SolutionRecord:
        """Its record, given what came out."""
        s, p = self.solution, self.problem
        bounds = bounds_of(p, self.scale)
        return SolutionRecord(
            problem_id=p.id,
            solution_id=s.solution_id,
            sample_i=s.sample_i,
            line=s.line,
            language=self.language,
            status=status,
            verdict=verdict,
            score=score,
            error=one_line(error),
            rating=p.rating,
            tags=p.tags,
            official_tests_complete=p.official_tests_complete,
            num_official=self.facts.num_official,
            num_generated=self.facts.num_generated,
            num_skipped=self.facts.num_skipped,
            compile=compile or {},
            details=tuple(details),
            sandbox=self.sandbox,
            key=self.key,
            time_limit_s=bounds.cpu_s,
            memory_limit_bytes=bounds.memory_bytes,
            contest_id=p.contest_id,
            contest_year=p.contest_year,
            has_checker=bool(self.facts.checker),
        )


@dataclass(frozen=True)
class Workshop:
    """What all solutions of a run are graded with, and where their results go.

    done     takes the finished record of a subject
    on_case  is told each case's verdict as it comes
    """

    bench: Bench
    shelf: KitShelf
    done: Callable[[Subject, SolutionRecord], None]
    on_case: Callable[[CaseVerdict], None]
    stop_on_failure: bool = False


@dataclass
class SolutionJob:
    """A solution that waits for a worker (`eval.scheduler.Job`)."""

    subject: Subject
    shop: Workshop
    cost: float = field(init=False)
    group: int = field(init=False)
    held_bytes: int = field(init=False)

    def __post_init__(self) -> None:
        facts, problem = self.subject.facts, self.subject.problem
        per_case = problem.time_limit_s * self.subject.scale
        self.cost = facts.to_run * per_case + facts.input_bytes / BYTES_PER_S
        self.group = facts.number
        self.held_bytes = len(self.subject.solution.code or "") + 1024

    def start(self) -> SolutionTask | None:
        """Compiles it; None when that settled the matter."""
        shop, subject = self.shop, self.subject
        kit = shop.shelf.borrow(subject.problem)
        task = None
        try:
            compiled = self._compile(kit)
            if compiled is not None:
                task = SolutionTask(subject, shop, kit, compiled)
        finally:
            if task is None:
                shop.shelf.give_back(kit)
        return task

    def _compile(self, kit: Kit) -> Compiled | None:
        """The program ready to run, or None after its record was handed on."""
        sandbox, retry = self.shop.bench.sandbox, self.shop.bench.retry
        what = f"compiling line {self.subject.solution.line}"
        try:
            program = program_of(self.subject.solution.code or "", self.subject.language)
            compiled = retry.call(lambda: sandbox.compile(program), what)
        except BadRequest as e:
            self._refused(kit, {"ok": False, "log": ""}, str(e))
            return None
        except SandboxError as e:
            self.shop.done(self.subject, self.subject.record("error", "ER", None, error=str(e)))
            return None
        if not compiled.ok:
            fields = compile_fields(compiled, self.shop.bench.stored_bytes)
            compiled.close()
            self._refused(kit, fields, _first_line(fields["log"]))
            return None
        return compiled

    def _refused(self, kit: Kit, fields: dict[str, Any], error: str) -> None:
        cases = [
            unjudged(ref, "SK", ref.skip)
            if ref.skip
            else unjudged(ref, "CE", "compile_error", "the program does not compile")
            for ref in kit.tests.plan
        ]
        if self.shop.stop_on_failure:
            after_first_failure(cases, kit.tests.plan)
        for case in cases:
            self.shop.on_case(case.verdict)
        record = self.subject.record(
            "failed", "CE", 0.0, error=error, compile=fields, details=cases
        )
        self.shop.done(self.subject, record)


class SolutionTask:
    """A compiled solution and what is known of its cases (`eval.scheduler.Task`)."""

    def __init__(self, subject: Subject, shop: Workshop, kit: Kit, compiled: Compiled) -> None:
        self.subject = subject
        self.units = len(kit.tests.plan)
        self.started = time.monotonic()
        self._shop = shop
        self._kit = kit
        self._compiled = compiled
        self._cases: list[CaseRecord | None] = [None] * self.units
        self._closing = threading.Lock()
        self._closed = False
        bounds = bounds_of(subject.problem, subject.scale)
        attempt = None
        if kit.interactor is not None:
            attempt = interactive_attempt(shop.bench, bounds, compiled, kit.interactor)
        self._grader = CaseGrader(
            shop.bench,
            subject.problem,
            bounds,
            compiled,
            kit.checker,
            kit.tests,
            attempt=attempt,
            hashes=kit.hashes,
        )

    def run(self, unit: int) -> bool:
        """Grades one case of the plan; False when it failed."""
        case = self._grader.grade(self._kit.tests.plan[unit])
        self._cases[unit] = case
        self._shop.on_case(case.verdict)
        return not fails(case.verdict)

    def finish(self, first_failure: int | None) -> None:
        """Hands the record on."""
        plan = self._kit.tests.plan
        cases = [
            case if case is not None else unjudged(ref, "SK", "not_run_after_failure")
            for case, ref in zip(self._cases, plan, strict=True)
        ]
        if self._shop.stop_on_failure and first_failure is not None:
            after_first_failure(cases, plan)
        outcome = sum_up(cases)
        decisive = next((c for c in cases if c.verdict == outcome.verdict), None)
        record = self.subject.record(
            outcome.status,
            outcome.verdict,
            outcome.score,
            error=decisive.error if decisive is not None and outcome.status == "error" else "",
            compile=compile_fields(self._compiled, self._shop.bench.stored_bytes),
            details=cases,
        )
        self._close()
        self._shop.done(self.subject, record)

    def abandon(self) -> None:
        """Frees what it holds; there is no record."""
        self._close()

    def _close(self) -> None:
        with self._closing:
            if self._closed:
                return
            self._closed = True
        self._compiled.close()
        self._shop.shelf.give_back(self._kit)


def program_of(code: str, language: str) -> Program:
    """The source as a program in a language of the table."""
    row = find(language)
    return Program(row.name, {row.source: code.encode("utf-8", "surrogatepass")})


def after_first_failure(cases: list[CaseRecord], plan: Sequence[TestRef]) -> None:
    """Makes every case behind the first failing one not_run_after_failure, if it ran or not.

    So the records do not depend on how many ran at once. What was to be skipped anyway
    keeps its reason.
    """
    first = next((i for i, c in enumerate(cases) if fails(c.verdict)), len(cases))
    for i in range(first + 1, len(cases)):
        cases[i] = unjudged(plan[i], "SK", plan[i].skip or "not_run_after_failure")


def compile_fields(compiled: Compiled, stored_bytes: int) -> dict[str, Any]:
    """The record's `compile`: whether it went well, the compiler's words, what it used."""
    x = compiled.execution
    return {
        "ok": compiled.ok,
        "log": stored_text(compiled.log, stored_bytes),
        "cpu_s": round(x.cpu_s, 6) if x is not None else None,
        "memory_bytes": x.memory_bytes if x is not None else None,
    }


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
