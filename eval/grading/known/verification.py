"""Grade the submissions of packages, and find the time limits that they need.

    submissions that decide a limit ─ graded under 60 s ─▶ slowest ─ TimeRule ─▶ limit
    the others                      ─ graded under it ─▶ VerifiedSubmission

A submission is stopped at its first failing test, unless those behind it count. One that must
exceed a time limit found here is run to `TimeRule.tle` times it, so that what is near is seen.
Problems are read when their submissions are due, and again for the second round.
"""

from __future__ import annotations

import math
import threading
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from gradebox.eval.common.errors import InputError, Retry
from gradebox.eval.common.signals import Stopper
from gradebox.eval.grading.known.audit import AuditFinding, ask_checker
from gradebox.eval.grading.scheduler import Scheduler
from gradebox.eval.grading.session import GradingSession
from gradebox.eval.grading.solution_job import SolutionJob
from gradebox.eval.grading.solution_run import SolutionRun
from gradebox.eval.grading.time_policy import RUN_TO
from gradebox.eval.problems.packages.submissions import glob_pattern, is_covered
from gradebox.eval.problems.problem import Expectation, Problem, TimeRule
from gradebox.eval.results.record import SolutionRecord, as_json
from gradebox.eval.results.records import EncodedRecord, fields_of
from gradebox.eval.solutions.reader import read_solutions
from gradebox.eval.solutions.solution import KnownSolution, known_solutions_of
from gradebox.sandbox.errors import UnknownLanguage
from gradebox.sandbox.languages import find
from gradebox.sandbox.protocol import lent_cores

LIMIT_TO_MEASURE_S = 60.0  # of accepted submissions whose limit is not known yet
NOT_RUN = "not run"
# a package's verdict that stands for several of ours, by the first
SHORT = (("WA", "OLE"), ("RE", "MLE"), ("MLE", "RE"), ("OLE", "WA"), ("OLE", "WA", "RE", "TLE"))
Pair = tuple[KnownSolution, Problem]
Slow = tuple[float, str]  # (CPU seconds, name) of a submission's slowest test


@dataclass
class TimeLimit:
    """The time limit of a problem and where it is from.

    chosen_s   that was used
    found      it was found here, by the rule
    slowest    the slowest one accepted, of those that decide the limit or must be accepted
    fastest    the fastest one that must exceed the limit
    """

    rule: TimeRule
    chosen_s: float
    found: bool
    slowest: Slow | None = None
    fastest: Slow | None = None

    @property
    def needed_s(self) -> float | None:
        """What the rule finds on this machine; None when no accepted submission passed."""
        return None if self.slowest is None else self.rule.limit_s(self.slowest[0])

    @property
    def safe(self) -> bool:
        """Whether `fastest` exceeds the limit by the rule's margin."""
        if self.fastest is None or not self.found:
            return True
        return self.fastest[0] >= self.chosen_s * self.rule.tle * 0.999


@dataclass(frozen=True)
class VerifiedSubmission:
    """One submission.

    expected     its verdicts, as "AC" or "WA|OLE"
    found        the verdict of the test that decides; ER for a fault of the machine
    as_expected  None when it could not be graded
    slowest_s    CPU seconds of its slowest test, None when none ran
    test         the name of the test that decides, "" when all passed
    note         why: the case's error, or why it was not run
    """

    problem_id: str
    submission: str
    language: str
    expected: str
    found: str
    as_expected: bool | None
    slowest_s: float | None
    time_limit_s: float
    test: str
    note: str


class PackageCase(NamedTuple):
    """A case of a record with the verdict that a package's rules give it."""

    name: str
    verdict: str
    cpu_s: float
    error: str


def package_case(case: Mapping[str, Any], limit_s: float) -> PackageCase:
    """Return a case under the limit that was found."""
    name = str(case.get("test") or f"{case['case_type']}:{case['test_case_i']}")
    cpu_s, verdict = float(case["cpu_s"] or 0.0), str(case["verdict"])
    if case["reason"] == "partial_points":
        verdict = "AC"
    # An interactor's rejection came before the time that the program used afterwards.
    rejected = verdict == "WA" and case.get("transcript") is not None
    if cpu_s > limit_s and not (rejected or verdict in ("CU", "CE", "ER")):
        return PackageCase(name, "TLE", cpu_s, f"{cpu_s:.2f} s, the limit is {limit_s:g} s")
    return PackageCase(name, verdict, cpu_s, str(case["error"] or case["reason"]))


class Verification:
    """Grades the known solutions of a session's problems.

    time_limit_s     for every problem, instead of its own; None: its own
    measure          find each limit from the submissions; None: where the package states none
    submissions      a file of more, whose lines say what is expected
    measured_by      globs of the submissions that count; empty: those that must be accepted
    problems         only these; None: those that the options choose
    """

    def __init__(
        self,
        session: GradingSession,
        stopper: Stopper,
        *,
        time_limit_s: float | None = None,
        measure: bool | None = None,
        measured_by: Sequence[str] = (),
        submissions: Path | None = None,
        problems: Sequence[str] | None = None,
        retry: Retry | None = None,
    ) -> None:
        self._session = session
        self._stopper = stopper
        self._settings = session.case_settings(
            retry=retry or Retry(stop=stopper.event), repeat=1, stored_bytes=200
        )
        self._fixed_s = time_limit_s
        self._measure = measure
        self._measured_by = [glob_pattern(glob, "--time-limit-from") for glob in measured_by]
        self._lock = threading.Lock()
        chosen = session.chosen_problems() if problems is None else problems
        names = session.problems.ids() if chosen is None else chosen
        self._names = list(dict.fromkeys(session.problems.resolve(name) or name for name in names))
        self._more = defaultdict[str, list[KnownSolution]](list)
        if submissions is not None:
            for known in known_in_file(session, submissions, set(self._names)):
                self._more[known.solution.problem_id].append(known)
        # of each submission, in order; None until it is graded
        self._outcomes: dict[tuple[str, str], VerifiedSubmission | None] = {
            (problem.id, known.solution.solution_id): None for known, problem in self._pairs()
        }
        self.total = len(self._outcomes)
        self.limits: dict[str, TimeLimit] = {}
        # whose limit is known when all have been graded
        self._measured: list[tuple[KnownSolution, Problem, Mapping[str, Any]]] = []

    def _pairs(self) -> Iterator[Pair]:
        for name in self._names:
            problem = self._session.problems.get(name)
            if problem is not None:
                known = *known_solutions_of(problem), *self._more[problem.id]
                yield from ((one, problem) for one in known)

    def run(
        self,
        on_outcome: Callable[[VerifiedSubmission], None],
        on_case: Callable[..., None] = lambda verdict, number=1: None,
        tick: Callable[[], None] = lambda: None,
    ) -> list[VerifiedSubmission]:
        """Grade everything; return the outcomes in order of problems and submissions.

        on_outcome  called as they come, from any thread
        """

        def add(known: KnownSolution, problem: Problem, record: Mapping[str, Any] | str) -> None:
            outcome = self._outcome(known, problem, record)
            with self._lock:
                self._outcomes[outcome.problem_id, outcome.submission] = outcome
            on_outcome(outcome)

        def done(
            measuring: bool, known: KnownSolution, problem: Problem, record: Mapping[str, Any]
        ) -> None:
            with self._lock:
                self._note_time(known, problem, record)
            if measuring:
                self._measured.append((known, problem, record))
            else:
                add(known, problem, record)

        for measuring in (True, False):
            self._grade(self._usable(measuring, add), partial(done, measuring), on_case, tick)
            if not measuring:
                break
            for limit in self.limits.values():
                if limit.found and limit.needed_s is not None:
                    limit.chosen_s = limit.needed_s
            for one in self._measured:
                add(*one)
        return [outcome for outcome in self._outcomes.values() if outcome is not None]

    def _grade(
        self,
        known: Iterable[Pair],
        on_record: Callable[[KnownSolution, Problem, Mapping[str, Any]], None],
        on_case: Callable[..., None],
        tick: Callable[[], None],
    ) -> None:
        """Grade known solutions, each up to its first failing test, unless those behind it count.

        No test of one that must exceed the time limit begins before the one before it has ended.
        """
        session = self._session
        given: dict[int, tuple[KnownSolution, SolutionRun]] = {}  # the runs live: id() is unique

        def record(run: SolutionRun, found: SolutionRecord | EncodedRecord) -> None:
            fields = as_json(found) if isinstance(found, SolutionRecord) else fields_of(found)
            on_record(given[id(run)][0], run.problem, fields)

        context = session.job_context(self._settings, record, on_case)

        def jobs() -> Iterator[SolutionJob]:
            for one, problem in known:
                run = session.context.solution_run(
                    one.solution, problem, session.resources.info(problem)
                )
                given[id(run)] = one, run
                stop = not (one.whole or problem.subtasks)
                in_order = stop and one.must_be_slow
                yield SolutionJob(run, replace(context, stop_on_failure=stop, in_order=in_order))

        scheduler = Scheduler(
            session.options.workers,
            is_full=lambda: session.resources.is_full,
            lent=lambda: lent_cores(session.sandbox),
        )
        with self._stopper.stopping(scheduler):
            scheduler.run(jobs(), tick)

    def _usable(
        self, measuring: bool, add: Callable[[KnownSolution, Problem, str], None]
    ) -> Iterator[Pair]:
        """Yield the submissions that can run, under the limit in which they run."""
        for known, problem in self._pairs():
            limit = self._limit_of(problem)
            if self._is_measured(known, limit) != measuring:
                continue
            try:
                why = "" if self._session.resources.info(problem).to_run else "no test can be run"
            except InputError as error:
                why = str(error)
            if why or not self._is_here(known.solution.language):
                add(known, problem, why or f"{known.solution.language} is not available here")
                continue
            seconds = LIMIT_TO_MEASURE_S if measuring else limit.chosen_s
            if limit.found and not measuring and known.must_be_slow:
                seconds *= max(1.0, limit.rule.tle / RUN_TO)
            yield known, replace(problem, time_limit_s=seconds)

    def _is_here(self, language: str) -> bool:
        try:
            return find(language).name in self._session.description.toolchains
        except UnknownLanguage:
            return False

    def _limit_of(self, problem: Problem) -> TimeLimit:
        if problem.id not in self.limits:
            rule, fixed_s = problem.time_rule, self._fixed_s
            unstated = rule is not None and not rule.stated
            found = fixed_s is None and (unstated if self._measure is None else self._measure)
            chosen_s = problem.time_limit_s if fixed_s is None else fixed_s
            self.limits[problem.id] = TimeLimit(rule or TimeRule(), chosen_s, found)
        return self.limits[problem.id]

    def _is_measured(self, known: KnownSolution, limit: TimeLimit) -> bool:
        """Return whether a time limit that is to be found follows from a submission."""
        name, decides = known.solution.solution_id, known.expect == "passed"
        if self._measured_by:
            decides = any(pattern.fullmatch(name) for pattern in self._measured_by)
        return decides and limit.found

    def _note_time(self, known: KnownSolution, problem: Problem, record: Mapping[str, Any]) -> None:
        """Note the CPU seconds of the slowest case; all that it had of one that slept."""
        limit, seconds = self.limits[problem.id], 0.0
        for case in record["details"]:
            cpu_s, slow = case["cpu_s"] or 0.0, case["verdict"] == "TLE"
            slept = slow and cpu_s <= problem.time_limit_s
            seconds = max(seconds, problem.time_limit_s * RUN_TO if slept else cpu_s)
        found = seconds, known.solution.solution_id
        decides = self._is_measured(known, limit) if limit.found else known.expect == "passed"
        if decides and record["status"] == "passed":
            limit.slowest = max(limit.slowest or found, found)
        if known.must_be_slow:
            limit.fastest = min(limit.fastest or found, found)

    def audit(self, outcomes: Sequence[VerifiedSubmission]) -> Iterator[AuditFinding]:
        """Yield the faults of tests and checkers: by the submissions, then by asking checkers."""
        for one in outcomes:
            if one.as_expected is False:
                kind = "accepted_fails" if one.expected == "AC" else "unexpected_verdict"
                kind = "rejected_passes" if one.found == "AC" else kind
                note = one.note or f"{one.found}, expected {one.expected}"
                yield AuditFinding(one.problem_id, kind, one.test, one.submission, note)
        for name in dict.fromkeys(name for name, _ in self._outcomes):
            problem = self._session.problems.get(name)
            if self._stopper.event.is_set() or problem is None:
                return
            answers = ask_checker(self._session, problem, self._settings.retry)
            yield from (found for wrong, found in answers if wrong)

    def _outcome(
        self, known: KnownSolution, problem: Problem, record: Mapping[str, Any] | str
    ) -> VerifiedSubmission:
        """Return the outcome of a record, or of a submission that could not run, and why."""
        limit, solution = self.limits[problem.id], known.solution
        start = problem.id, solution.solution_id, solution.language, _words_of(known)
        if isinstance(record, str):
            fits = False if self._is_here(solution.language) else None
            return VerifiedSubmission(*start, NOT_RUN, fits, None, limit.chosen_s, "", record)
        limit_s = math.inf if self._measure is False else limit.chosen_s  # in which it ran
        details = (case for case in record["details"] if case["verdict"] != "SK")
        cases = [package_case(case, limit_s) for case in details]
        deciding = next((case for case in cases if case.verdict != "AC"), None)
        found = deciding.verdict if deciding else record["verdict"] or record["status"]
        fits = _fits_all(known, cases, record)
        if record["status"] in ("error", "invalid"):
            found, fits = "ER" if record["status"] == "error" else "invalid", None
        points = record.get("points")
        if points is not None and not (deciding is None and record["verdict"] == "AC"):
            found = f"{found} {points:g} of {record['points_of']:g}"
        slowest_s = max((case.cpu_s for case in cases), default=None)
        test, note = (deciding.name, deciding.error) if deciding else ("", record["error"])
        return VerifiedSubmission(*start, found, fits, slowest_s, limit.chosen_s, test, note)


def known_in_file(
    session: GradingSession, file: Path, problems: Container[str]
) -> Iterator[KnownSolution]:
    """Yield the solutions of a file whose lines say what is expected.

    Raises InputError when the file is unreadable, and at its end when no line says so.
    """
    found = False
    for solution in read_solutions([file], resolve=session.problems.resolve):
        found = found or solution.expect != ""
        usable = solution.error is None and solution.code is not None
        if solution.expect and usable and solution.problem_id in problems:
            yield KnownSolution(solution, solution.expect)
    if not found:
        raise InputError(f'{file}: no line has "expect": "passed" or "failed"')


def _fits_all(
    known: KnownSolution, cases: Sequence[PackageCase], record: Mapping[str, Any]
) -> bool:
    """Return whether a graded submission is as its authors expect."""
    if known.partial:
        points, most = record.get("points"), record.get("points_of")
        return points is None or most is None or 0 < points < most
    if not known.expected:
        return bool(record["status"] == known.expect)
    return all(_fits(one, cases) for one in known.expected)


def _fits(one: Expectation, cases: Sequence[PackageCase]) -> bool:
    if one.tests:
        pattern = glob_pattern(one.tests, "")
        cases = [case for case in cases if is_covered(pattern, case.name)]
    verdicts = {case.verdict for case in cases}
    permitted = one.permitted is None or verdicts <= set(one.permitted)
    return permitted and (one.required is None or bool(verdicts & set(one.required)))


def _words_of(known: KnownSolution) -> str:
    """Return the expected verdicts in a few letters."""
    if known.partial:
        return "partial"
    if not known.expected:
        return {"passed": "AC", "failed": "not AC"}.get(known.expect, "any")
    first = known.expected[0]
    verdicts = first.required or first.permitted or ()
    if verdicts in SHORT:
        verdicts = verdicts[:1]
    if len(verdicts) > 5 and "AC" not in verdicts:
        return "not AC"
    by_tests = "*" * (len(known.expected) > 1 or bool(first.tests))
    return ("any" if len(verdicts) > 5 else "|".join(verdicts) or "any") + by_tests
