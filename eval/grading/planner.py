"""Decide what to do with each solution before anything of it runs.

Solution ─┬─ invalid line, unknown or unusable problem ──▶ record: invalid
          ├─ nothing to run: no tests, or all skipped ───▶ record: no_tests, unsupported
          ├─ no code in the response ────────────────────▶ record: failed
          ├─ graded before under the same key ───────────▶ that record again
          ├─ a duplicate is queued or running ───────────▶ a copy of its record, once it is done
          └─ otherwise ──────────────────────────────────▶ SolutionJob
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from gradebox.eval.common.errors import InputError, UnusableProblem
from gradebox.eval.grading.cases.case_run import unjudged
from gradebox.eval.grading.scheduler import Scheduler
from gradebox.eval.grading.session import GradingSession
from gradebox.eval.grading.solution_job import JobContext, SolutionJob, cost_of
from gradebox.eval.grading.solution_run import SolutionRun, ungraded
from gradebox.eval.grading.time_policy import impossible_limits
from gradebox.eval.grading.verdict import sum_up
from gradebox.eval.problems import ProblemSet
from gradebox.eval.problems.in_memory import InMemoryProblems
from gradebox.eval.results.record import GRADED_FIELDS, CaseVerdict, SolutionRecord, as_json
from gradebox.eval.results.records import EncodedRecord, encoded
from gradebox.eval.solutions.solution import Solution
from gradebox.sandbox.protocol import lent_cores

if TYPE_CHECKING:
    from gradebox.eval.grading.drivers.pool import RunInDrivers
    from gradebox.eval.grading.ray_cluster import RayCluster


class TimeLeft:
    """Expects solutions to take time in proportion to their cost.

    all_added  no further call of `add` follows

    Any thread may call any method.
    """

    all_added = False

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting = self._finished = 0  # solutions, running ones are waiting
        self._waiting_cost = self._finished_cost = 0.0

    def add(self, cost: float) -> None:
        """Count a solution that will be run; `cost` is the time it may take (`Job.cost`)."""
        with self._lock:
            self._waiting += 1
            self._waiting_cost += cost

    def finish(self, cost: float) -> None:
        """Count a solution that was run."""
        with self._lock:
            self._waiting -= 1
            self._waiting_cost -= cost
            self._finished += 1
            self._finished_cost += cost

    def seconds(self, elapsed_s: float, solutions_left: int) -> float | None:
        """Return the time left, None when nothing is known.

        elapsed_s       time since the start of the run
        solutions_left  solutions without a record; until all are added, others are expected to
                        cost as much as the average one that was
        """
        with self._lock:
            if self._finished_cost <= 0:
                return None
            cost = self._waiting_cost
            if not self.all_added:
                mean = (cost + self._finished_cost) / (self._waiting + self._finished)
                cost += max(0, solutions_left - self._waiting) * mean
            return elapsed_s * cost / self._finished_cost


NO_CODE = "no code in the response"
NEEDS_TWO = "assert tests need a sandbox that joins two programs: use --sandbox local"
MAX_WAITING_DUPLICATES = 100_000
Problems = ProblemSet | InMemoryProblems
# Faults of machines and checkers first: the end of a line may not fit into a terminal.
VERDICT_ORDER = ("ER", "CU", "AC", "WA", "TLE", "MLE", "RE", "CE", "OLE")


class RecordStore(Protocol):
    """Records by the ordinal of their solution (`ResultsFolder`)."""

    def find(self, key: str) -> dict[str, Any] | None: ...

    def add_graded(self, ordinal: int, names: Mapping[str, Any], record: EncodedRecord) -> None: ...

    def place(self, ordinal: int, record: Mapping[str, Any]) -> bool: ...


class ProgressCounts:
    """Counts of a run in progress. Any thread may call any method.

    verdicts  solutions by verdict; cases  cases graded in this run, by verdict
    reused    solutions whose record existed before the run
    left      the expected time of those whose program must run
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.verdicts: Counter[str] = Counter()
        self.cases: Counter[str] = Counter()
        self.solutions = 0
        self.reused = 0
        self.left = TimeLeft()

    def add_solution(self, status: str, verdict: str | None, *, reused: bool = False) -> None:
        """Count a solution that has its record."""
        with self._lock:
            self.solutions += 1
            self.reused += reused
            counted = status in ("passed", "failed", "error")
            self.verdicts[(verdict or "no code") if counted else "uncounted"] += 1

    def add_case(self, verdict: CaseVerdict, number: int = 1) -> None:
        """Count graded cases."""
        with self._lock:
            self.cases[verdict] += number

    def text(self) -> str:
        """Return the verdicts of the solutions so far, such as `ER 1 AC 12 WA 3`."""
        with self._lock:
            found = dict(self.verdicts)
        known = [f"{v} {found.pop(v)}" for v in VERDICT_ORDER if v in found]
        return " ".join([*known, *(f"{v} {n}" for v, n in sorted(found.items()))])


class Planner:
    """Gives each solution its record: an earlier one, a duplicate's, or that of a job.

    One thread reads `jobs`; `done` may be called from any thread.

    problems      where the solutions' problems are found
    records       where records are stored
    counts        updated with every solution
    is_stopping   whether the run is ending early
    invalidating  errors of a problem that make its solutions invalid; other errors end the run
    """

    def __init__(
        self,
        session: GradingSession,
        problems: Problems,
        records: RecordStore,
        counts: ProgressCounts,
        is_stopping: Callable[[], bool],
        *,
        invalidating: type[InputError] = UnusableProblem,
    ) -> None:
        self._session = session
        self._context = session.context
        self._cache = session.verdict_cache
        self._problems = problems
        self._records = records
        self._counts = counts
        self._invalidating = invalidating
        self._is_stopping = is_stopping
        self._cond = threading.Condition()
        # key of a queued or running job → all solutions that get its record
        self._waiting: dict[str, list[tuple[int, SolutionRun]]] = {}
        self._duplicates = 0

    def jobs(self, solutions: Iterable[Solution], context: JobContext) -> Iterator[SolutionJob]:
        """Yield a job for each solution that must run; record the others at once."""
        for ordinal, solution in enumerate(solutions):
            if self._is_stopping():
                return
            run = self._solution_run(ordinal, solution)
            if run is None:
                continue
            old = self._records.find(run.key)
            if old is None and self._cache is not None:
                old = self._cache.find(run.key)
            if old is not None:
                self._place(ordinal, _copied(old, run), reused=True)
            elif not self._joins(ordinal, run):
                if found := self._records.find(run.key):  # a duplicate ended since the look above
                    self._waiting_for(run)
                    self._place(ordinal, _copied(found, run), reused=True)
                    continue
                job = SolutionJob(run, context)
                self._counts.left.add(job.cost)
                yield job
        self._counts.left.all_added = True

    def done(self, run: SolutionRun, given: SolutionRecord | EncodedRecord) -> None:
        """Store a job's record for its solution and for the duplicates."""
        cache, record = self._cache, encoded(given)
        self._counts.left.finish(cost_of(run))
        if record.status == "invalid":
            self._session.unusable.add(record.error)
        with self._cond:
            own = next(ordinal for ordinal, other in self._waiting[run.key] if other is run)
        # Before the others are taken: a duplicate that comes now waits for the record or finds it.
        self._records.add_graded(own, run.names(), record)
        waiting = self._waiting_for(run)
        fields = record.fields() if len(waiting) > 1 or cache is not None else {}
        for ordinal, other in waiting:
            if other is not run:
                self._records.place(ordinal, _copied(fields, other))
            self._counts.add_solution(record.status, record.verdict)
        if cache is not None:  # last: a full cache disk must not lose the records
            cache.put(fields)

    def _waiting_for(self, run: SolutionRun) -> list[tuple[int, SolutionRun]]:
        """Return the solutions that wait for a record, with their ordinals."""
        with self._cond:
            waiting = self._waiting.pop(run.key)
            self._duplicates -= len(waiting) - 1
            self._cond.notify_all()
        return waiting

    def _solution_run(self, ordinal: int, solution: Solution) -> SolutionRun | None:
        """Return the solution's run, None after recording one that need not run."""
        try:
            run = self._checked_run(solution)
        except self._invalidating as why:
            error = solution.error or f"line {solution.line}: {why}"
            self._place(ordinal, as_json(ungraded(solution, None, "invalid", error)))
            return None
        known = _record_without_running(run)
        if known is not None:
            self._place(ordinal, as_json(known))
            return None
        return run

    def _checked_run(self, solution: Solution) -> SolutionRun:
        """Return the solution's run; raise UnusableProblem for an invalid line or problem."""
        if solution.error:
            raise UnusableProblem(solution.error)
        problem = self._problems.get(solution.problem_id)
        if problem is None:
            raise UnusableProblem(self._problems.why_missing(solution.problem_id))
        why = impossible_limits(problem, self._context.scale(solution.language))
        if why:
            raise UnusableProblem(f"problem {problem.id} is unusable: {why}")
        test_set = self._session.resources.info(problem)
        return self._context.solution_run(solution, problem, test_set)

    def _joins(self, ordinal: int, run: SolutionRun) -> bool:
        """Return whether a duplicate of the solution is queued or running.

        If so, the solution waits for its record; if not, others will wait for this one's.
        """
        with self._cond:
            while self._duplicates > MAX_WAITING_DUPLICATES and not self._is_stopping():
                self._cond.wait(0.2)
            waiting = self._waiting.get(run.key)
            if waiting is None:
                self._waiting[run.key] = [(ordinal, run)]
                return False
            waiting.append((ordinal, replace(run, solution=replace(run.solution, code=None))))
            self._duplicates += 1
        return True

    def _place(self, ordinal: int, fields: dict[str, Any], *, reused: bool = False) -> None:
        reused = self._records.place(ordinal, fields) or reused
        self._counts.add_solution(fields["status"], fields["verdict"], reused=reused)


def _copied(fields: Mapping[str, Any], run: SolutionRun) -> dict[str, Any]:
    """Return a record's grading under the names of another line with the same program."""
    own = as_json(run.record("passed", None, None))
    return {n: fields.get(n, value) if n in GRADED_FIELDS else value for n, value in own.items()}


def _record_without_running(run: SolutionRun) -> SolutionRecord | None:
    """Return the record of a solution without code or tests to run, None for any other."""
    if not run.test_set.to_run:
        plan = run.test_set.skipped_plan
        cases = [unjudged(ref, "SK", ref.skip or "budget_exceeded") for ref in plan]
        outcome = sum_up(cases)
        status = outcome.status
        error = f"no test to run: {'all of them are skipped' if plan else 'the problem has none'}"
        if run.problem.test_kind == "assert":
            if any(ref.skip == "unsupported_interactive" for ref in plan):
                status, error = "unsupported", NEEDS_TWO
        elif run.problem.interactive:
            status, error = "unsupported", "the problem is interactive and has no interactor"
        return run.record(status, outcome.verdict, None, error=error, details=cases)
    if run.solution.code is None:
        return run.record("failed", None, 0.0, error=NO_CODE)
    return None


def open_scheduler(session: GradingSession) -> Scheduler:
    """Return what runs a session's jobs: threads of this process with a case each, or a place.

    A place is driver processes of this machine, or a Ray cluster. Raises InputError when it is
    unavailable.
    """
    options = session.options
    place: RunInDrivers | RayCluster
    if options.executor == "ray":
        from gradebox.eval.grading.ray_cluster import RayCluster

        place = RayCluster(options, session.description)
    elif session.uses_drivers:
        from gradebox.eval.grading.drivers.pool import RunInDrivers

        place = RunInDrivers(session)
    else:
        return Scheduler(
            options.workers,
            cap=options.generated_tests_workers,
            is_full=lambda: session.resources.is_full,
            lent=lambda: lent_cores(session.sandbox),
        )
    return Scheduler(place.most_at_once, place, is_full=lambda: session.resources.is_full)
