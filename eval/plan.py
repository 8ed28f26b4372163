"""What is to be done with each solution, decided before anything of it runs.

Solution ─┬─ invalid line, unknown problem ─────────────▶ record: invalid
          ├─ nothing to run: no tests, all skipped ──────▶ record: no_tests, unsupported
          ├─ no code in the response ────────────────────▶ record: failed
          ├─ graded before under the same key ───────────▶ that record again
          ├─ the same program is waiting or being graded ▶ its record too, when it is there
          └─ else ───────────────────────────────────────▶ SolutionJob
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from eval.grade_case import unjudged
from eval.grade_solution import SolutionJob, Subject, Workshop
from eval.input_error import UnusableProblem
from eval.key import KeyParts, key_of
from eval.kits import KitFacts, KitShelf
from eval.model import Problem, Solution, SolutionRecord
from eval.progress import Tally, When
from eval.records import as_json
from eval.time_policy import bounds_of, impossible_limits
from eval.verdict import sum_up
from eval.verdict_cache import VerdictCache
from sandbox.languages import find
from sandbox.model import Description

NO_CODE = "no code in the response"
MAX_FOLLOWERS = 100_000

# Fields of a record that belong to the program and its grading; the others belong to the
# line and the problem's metadata, which may change without anything being graded again.
GRADED = frozenset({
    "schema", "status", "verdict", "score", "error", "num_official", "num_generated",
    "num_skipped", "compile", "details", "sandbox", "key", "time_limit_s",
    "memory_limit_bytes", "has_checker",
})  # fmt: skip


@dataclass(frozen=True)
class Terms:
    """What a run grades under.

    scale  multiplier of time limits by language; flags  those that change records
    """

    description: Description
    scale: Mapping[str, float]
    flags: Mapping[str, Any]

    def sandbox(self, language: str) -> dict[str, Any]:
        """What a record says of the sandbox."""
        d = self.description
        return {
            "backend": d.backend,
            "level": d.level,
            "exact": sorted(d.exact),
            "toolchain": d.toolchains.get(language, ""),
        }


class Problems(Protocol):
    """Where problems are found (`eval.problems.ProblemSet`)."""

    def get(self, problem_id: str) -> Problem | None: ...

    def why_missing(self, problem_id: str) -> str: ...


class RecordSink(Protocol):
    """Where records are kept, a solution known by its ordinal (`ResultsFolder`)."""

    def find(self, key: str) -> dict[str, Any] | None: ...

    def add(self, ordinal: int, record: Mapping[str, Any]) -> None: ...

    def place(self, ordinal: int, record: Mapping[str, Any]) -> bool: ...


class Ledger:
    """Gives solutions their records: from before, from a twin, or from a job that ends.

    `jobs` is read by one thread, `done` called by many. Twins (same key) of a job under
    way wait as followers, without their code.
    """

    def __init__(
        self,
        folder: RecordSink,
        shelf: KitShelf,
        problems: Problems,
        terms: Terms,
        tally: Tally,
        *,
        cache: VerdictCache | None = None,
        is_stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        self._folder = folder
        self._shelf = shelf
        self._problems = problems
        self._terms = terms
        self._tally = tally
        self._cache = cache
        self._is_stopping = is_stopping
        self._cond = threading.Condition()
        self._under_way: dict[str, list[tuple[int, Subject]]] = {}
        self._followers = 0

    def jobs(self, solutions: Iterable[Solution], shop: Workshop) -> Iterator[SolutionJob]:
        """Settles what needs no sandbox and yields a job for the rest, lazily."""
        for ordinal, solution in enumerate(solutions):
            if self._is_stopping():
                return
            subject = self._subject(ordinal, solution)
            if subject is None:
                continue
            old = self._known(subject.key)
            if old is not None:
                self._settle(ordinal, _renamed(old, subject), "before")
            elif not self._joins(ordinal, subject):
                yield SolutionJob(subject, shop)

    def done(self, subject: Subject, record: SolutionRecord) -> None:
        """Takes the record of a job, for its solution and for every twin."""
        fields = as_json(record)
        with self._cond:
            followers = self._under_way.pop(subject.key)
            self._followers -= len(followers) - 1
            self._cond.notify_all()
        for ordinal, twin in followers:
            self._folder.add(ordinal, _renamed(fields, twin) if twin is not subject else fields)
            self._tally.solution(record.status, record.verdict, "ran")
        if self._cache is not None:  # last: a full cache must not cost what was just graded
            self._cache.put(fields)

    def _known(self, key: str) -> dict[str, Any] | None:
        """A record with this key from an earlier run, or from another one."""
        old = self._folder.find(key)
        if old is None and self._cache is not None:
            old = self._cache.find(key)
        return old

    def _subject(self, ordinal: int, solution: Solution) -> Subject | None:
        """The solution as something to be graded; None when its record is made already."""
        try:
            subject = self._known_subject(solution)
        except UnusableProblem as why:
            error = solution.error or f"line {solution.line}: {why}"
            self._settle(ordinal, as_json(_invalid(solution, error)), "at once")
            return None
        record = _without_running(subject)
        if record is not None:
            self._settle(ordinal, as_json(record), "at once")
            return None
        return subject

    def _known_subject(self, solution: Solution) -> Subject:
        """Raises UnusableProblem for a bad line, and for a problem that can't be graded."""
        if solution.error:
            raise UnusableProblem(solution.error)
        problem = self._problems.get(solution.problem_id)
        if problem is None:
            raise UnusableProblem(self._problems.why_missing(solution.problem_id))
        scale = self._terms.scale.get(find(solution.language).name, 1.0)
        why = impossible_limits(problem, scale)
        if why:
            raise UnusableProblem(f"problem {problem.id} is unusable: {why}")
        return subject_of(solution, problem, self._shelf.facts(problem), self._terms)

    def _joins(self, ordinal: int, subject: Subject) -> bool:
        """Whether a twin is under way already; else this one is, from now on."""
        with self._cond:
            while self._followers > MAX_FOLLOWERS and not self._is_stopping():
                self._cond.wait(0.2)
            leader = self._under_way.get(subject.key)
            if leader is None:
                self._under_way[subject.key] = [(ordinal, subject)]
                return False
            slim = replace(subject, solution=replace(subject.solution, code=None))
            leader.append((ordinal, slim))
            self._followers += 1
        return True

    def _settle(self, ordinal: int, fields: dict[str, Any], when: When) -> None:
        kept = self._folder.place(ordinal, fields)
        self._tally.solution(fields["status"], fields["verdict"], "before" if kept else when)


def subject_of(solution: Solution, problem: Problem, facts: KitFacts, terms: Terms) -> Subject:
    """A solution of a known problem and language as something to be graded, its key included."""
    language = find(solution.language).name
    subject = Subject(
        solution=solution,
        problem=problem,
        facts=facts,
        language=language,
        scale=terms.scale.get(language, 1.0),
        key="",
        sandbox=terms.sandbox(language),
    )
    return replace(subject, key=_key(subject, terms.flags))


def _key(subject: Subject, flags: Mapping[str, Any]) -> str:
    bounds = bounds_of(subject.problem, subject.scale)
    problem = subject.problem
    return key_of(
        KeyParts(
            problem_id=problem.id,
            code=subject.solution.code or "",
            language=subject.language,
            tests=subject.facts.tests,
            checker=subject.facts.checker,
            limits={
                "cpu_s": bounds.cpu_s,
                "memory_bytes": bounds.memory_bytes,
                "input_mode": problem.input_mode,
            },
            flags=dict(flags),
            sandbox=subject.sandbox,
        )
    )


def _renamed(fields: Mapping[str, Any], subject: Subject) -> dict[str, Any]:
    """The record of the same program for another line: its grading, this one's names."""
    own = as_json(subject.record("passed", None, None))
    return {n: fields.get(n, value) if n in GRADED else value for n, value in own.items()}


def _without_running(subject: Subject) -> SolutionRecord | None:
    """The record of a solution of which nothing can run, None when something can."""
    if not subject.facts.to_run:
        plan = subject.facts.skipped_plan
        cases = [unjudged(ref, "SK", ref.skip or "budget_exceeded") for ref in plan]
        outcome = sum_up(cases)
        status, error = outcome.status, "no test to run"
        if subject.problem.interactive:
            status, error = "unsupported", "interactive problem without an interactor"
        return subject.record(status, outcome.verdict, None, error=error, details=cases)
    if subject.solution.code is None:
        return subject.record("failed", None, 0.0, error=NO_CODE)
    return None


def _invalid(solution: Solution, error: str) -> SolutionRecord:
    facts = KitFacts(0, "", "", 0, 0, 0, 0, 0)
    subject = Subject(solution, Problem(solution.problem_id), facts, solution.language, 1.0, "", {})
    record = subject.record("invalid", None, None, error=error)
    return replace(record, time_limit_s=None, memory_limit_bytes=None, has_checker=None)
