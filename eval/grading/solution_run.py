"""What a solution's grading starts from and its record is made of.

RunContext ──▶ SolutionRun (solution, problem, limits, key)
SolutionRun, CaseRecord… ──record_of_cases──▶ SolutionRecord

Points are added up from the records of cases:

a test     a score 0 … 1, from the checker, the manager, or a comparison
a group    its share 0 … 1 by its rule (`RULES`), times its points; 0 where a group that it
           needs has not full marks
a problem  the sum over the groups that are in no other; of several solutions, the sum of each
           group's best points
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import UNSET, structs

from gradebox.eval.grading.cases.case_run import unjudged
from gradebox.eval.grading.resources import TestSetInfo
from gradebox.eval.grading.time_policy import bounds_of
from gradebox.eval.grading.verdict import Bounds, fails, sum_up
from gradebox.eval.problems.problem import GroupRule, Problem, TestRef
from gradebox.eval.results.record import (
    SCHEMA,
    CaseRecord,
    CaseVerdict,
    KeyParts,
    SolutionRecord,
    Status,
    SubtaskPoints,
    key_of,
)
from gradebox.eval.results.records import one_line, stored_text
from gradebox.eval.solutions.program import hint, key_text, solution_of
from gradebox.eval.solutions.solution import Solution
from gradebox.sandbox.languages import find
from gradebox.sandbox.model import Compiled, Description

Weighed = Sequence[tuple[float, float]]  # (share, weight) of each test and inner group


def _weighted(parts: Weighed) -> float:
    whole = sum(weight for _, weight in parts)
    if not whole:
        return _mean(parts)
    return sum(share * weight for share, weight in parts) / whole


def _mean(parts: Weighed) -> float:
    return sum(share for share, _ in parts) / len(parts)


RULES: Mapping[GroupRule, Callable[[Weighed], float]] = {
    "min": lambda parts: min(share for share, _ in parts),
    "max": lambda parts: max(share for share, _ in parts),
    "avg": _mean,
    "sum": _weighted,
    "all": lambda parts: float(all(share >= 1 for share, _ in parts)),
}


def subtask_points(problem: Problem, cases: Sequence[CaseRecord]) -> tuple[SubtaskPoints, ...]:
    """Return the points of each group that is in no other; a test that was not judged scores 0."""
    scores = {c.test_case_i: c.score or 0.0 for c in cases if c.case_type == "official"}
    shares: dict[str, float] = {}
    points: dict[str, float] = {}
    found, inner = [], {name for group in problem.subtasks for name in group.groups}
    for group in problem.subtasks:
        weights = [problem.info_of("official", i).points for i in group.tests]
        usual = 0.0 if any(weight is not None for weight in weights) else 1.0
        tests = zip(group.tests, weights, strict=True)
        parts = [(scores.get(i, 0.0), usual if w is None else w) for i, w in tests]
        parts += [(shares[name], points[name]) for name in group.groups]
        share = RULES[group.rule](parts) if parts else float(not group.points)
        if any(shares[name] < 1 for name in group.needs):
            share = 0.0
        if group.digits is not None:
            share = round(share, group.digits)
        shares[group.name], points[group.name] = share, group.points
        if group.name not in inner:
            found.append(SubtaskPoints(group.name, round(share * group.points, 6), group.points))
    return tuple(found)


_USUAL_FILES = (("", ""), (Problem.input_file, Problem.output_file))


@dataclass(frozen=True)
class RunContext:
    """What all records of a run have in common.

    time_limit_scale  factor on time limits by language
    flags             the options that change records
    """

    description: Description
    time_limit_scale: Mapping[str, float] = field(default_factory=dict)
    flags: Mapping[str, Any] = field(default_factory=dict)

    def scale(self, language: str) -> float:
        """Return the factor on the time limits of a language."""
        return self.time_limit_scale.get(find(language).name, 1.0)

    def sandbox_fields(self, language: str) -> dict[str, Any]:
        """Return the `sandbox` field of a record."""
        d = self.description
        start = d.details.get("python_start") if language == "python" else None
        return {
            "backend": d.backend,
            "level": d.level,
            "exact": sorted(d.exact),
            "toolchain": d.toolchains.get(language, ""),
            **({"python_start": start} if start else {}),
        }

    def solution_run(
        self, solution: Solution, problem: Problem, test_set: TestSetInfo
    ) -> SolutionRun:
        """Return the run of a solution with its key. Raises UnknownLanguage."""
        solution = solution_of(solution, problem)
        language = find(solution.language).name
        scale = self.scale(language)
        sandbox = self.sandbox_fields(language)
        bounds = bounds_of(problem, scale)
        key = key_of(
            KeyParts(
                problem_id=problem.id,
                code=key_text(solution.code or "", problem, solution.files),
                language=language,
                tests=test_set.tests,
                checker=test_set.checker,
                limits={
                    "cpu_s": bounds.cpu_s,
                    "memory_bytes": bounds.memory_bytes,
                    "input_mode": problem.input_mode,
                    **({"files": problem.files} if problem.files not in _USUAL_FILES else {}),
                },
                flags=dict(self.flags),
                sandbox=sandbox,
            )
        )
        return SolutionRun(solution, problem, test_set, language, scale, key, sandbox)


@dataclass(frozen=True)
class SolutionRun:
    """A solution with everything that its grading and its record need.

    language  its name in the language table
    scale     factor on the problem's time limit
    key       identifies everything the verdict depends on
    sandbox   the `sandbox` field of its record
    """

    solution: Solution
    problem: Problem
    test_set: TestSetInfo = field(default_factory=TestSetInfo)
    language: str = ""
    scale: float = 1.0
    key: str = ""
    sandbox: Mapping[str, Any] = field(default_factory=dict)

    @property
    def bounds(self) -> Bounds:
        """The limits that decide the verdicts."""
        return bounds_of(self.problem, self.scale)

    def names(self) -> dict[str, Any]:
        """Return the fields of the record that identify the solution, and its key."""
        s = self.solution
        return {
            "problem_id": self.problem.id,
            "solution_id": s.solution_id,
            "sample_i": s.sample_i,
            "line": s.line,
            "key": self.key,
        }

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
        """Return the solution's record for this result."""
        s, p, bounds = self.solution, self.problem, self.bounds
        points = subtask_points(p, details)
        return SolutionRecord(
            schema=SCHEMA,
            problem_id=p.id,
            solution_id=s.solution_id,
            sample_i=s.sample_i,
            line=s.line,
            language=self.language or s.language,
            status=status,
            verdict=verdict,
            score=score,
            error=one_line(error),
            rating=p.rating,
            tags=p.tags,
            official_tests_complete=p.official_tests_complete,
            num_official=self.test_set.num_official,
            num_generated=self.test_set.num_generated,
            num_skipped=self.test_set.num_skipped,
            compile=compile or {},
            details=tuple(details),
            sandbox=dict(self.sandbox),
            key=self.key,
            time_limit_s=bounds.cpu_s,
            memory_limit_bytes=bounds.memory_bytes,
            contest_id=p.contest_id,
            contest_year=p.contest_year,
            has_checker=bool(self.test_set.checker),
            origin={**p.origin, **s.known} or UNSET,
            subtasks=points or UNSET,
            points=round(sum(one.points for one in points), 6) if points else UNSET,
            points_of=sum(one.of for one in points) if points else UNSET,
        )


def record_of_cases(
    solution_run: SolutionRun, cases: Sequence[CaseRecord], compile: dict[str, Any]
) -> SolutionRecord:
    """Return the record that the cases, in plan order, add up to."""
    outcome = sum_up(cases)
    error = ""
    if outcome.status == "error":
        error = next((c.error for c in cases if c.verdict == outcome.verdict), "")
    elif outcome.status == "failed":
        error = hint(solution_run.solution.code or "", solution_run.language)
    return solution_run.record(
        outcome.status,
        outcome.verdict,
        outcome.score,
        error=error,
        compile=compile,
        details=cases,
    )


def compile_error(ref: TestRef) -> CaseRecord:
    """Return the record of a case whose program does not compile."""
    if ref.skip:
        return unjudged(ref, "SK", ref.skip)
    return unjudged(ref, "CE", "compile_error", "the program does not compile")


def cancel_after_first_failure(cases: list[CaseRecord], plan: Sequence[TestRef]) -> None:
    """Replace every case after the first failing one by not_run_after_failure, even if it ran.

    The records then do not depend on how many cases ran at once. A skipped test keeps its
    reason.
    """
    first = next((i for i, c in enumerate(cases) if fails(c.verdict)), len(cases))
    for i in range(first + 1, len(cases)):
        cases[i] = unjudged(plan[i], "SK", plan[i].skip or "not_run_after_failure")


def compile_fields(compiled: Compiled, stored_bytes: int) -> dict[str, Any]:
    """Return the record's `compile` field: success, the compiler's log and what it used."""
    x = compiled.execution
    return {
        "ok": compiled.ok,
        "log": stored_text(compiled.log, stored_bytes),
        "cpu_s": round(x.cpu_s, 6) if x is not None else None,
        "memory_bytes": x.memory_bytes if x is not None else None,
    }


def ungraded(
    solution: Solution, problem: Problem | None, status: Status, error: str
) -> SolutionRecord:
    """Return the record of a solution that could not be graded: status `error` or `invalid`."""
    run = SolutionRun(solution, problem or Problem(solution.problem_id))
    if status == "error":
        return run.record(status, "ER", None, error=error)
    record = run.record(status, None, None, error=error)
    return structs.replace(record, time_limit_s=None, memory_limit_bytes=None, has_checker=None)
