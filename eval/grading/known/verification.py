"""Grade the submissions of packages, and find the time limits that they need.

    submissions that decide a limit ─ graded under 60 s ─▶ slowest ─ TimeRule ─▶ limit
    the others                      ─ graded under it ─▶ VerifiedSubmission

A submission is stopped at its first failing test, unless later tests count. A submission that must
exceed a time limit found here may run for `TimeRule.tle` times the limit, which shows whether it
exceeds the limit clearly. A problem is read when its submissions are due, and once more for the
second round.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from gradebox.eval.common.errors import InputError, Retry
from gradebox.eval.common.signals import Stopper
from gradebox.eval.grading.scheduler import Scheduler
from gradebox.eval.grading.session import GradingSession
from gradebox.eval.grading.solution_job import SolutionJob
from gradebox.eval.grading.solution_run import SolutionRun
from gradebox.eval.grading.time_policy import RUN_TO
from gradebox.eval.problems.packages.submissions import covers
from gradebox.eval.problems.problem import PARTIAL, Problem, TimeRule
from gradebox.eval.results.record import SolutionRecord, as_json
from gradebox.eval.results.records import EncodedRecord, fields_of
from gradebox.eval.solutions.reader import read_solutions
from gradebox.eval.solutions.solution import KnownSolution, known_solutions_of
from gradebox.sandbox.errors import UnknownLanguage
from gradebox.sandbox.languages import find
from gradebox.sandbox.protocol import lent_cores

LIMIT_TO_MEASURE_S = 60.0  # the limit of submissions while their problem's is not known yet
NOT_RUN, NOT_HERE = "not run", " is not available here"
Graded = tuple[KnownSolution, Problem, "Mapping[str, Any] | str"]  # its record, or why it has none
Slow = tuple[float, str]  # (seconds, name) of a submission's slowest test


@dataclass
class TimeLimit:
    """The time limit of a problem and where it is from.

    stated_s   the limit that the package or the user states
    found      whether the limit is found here by the rule, instead of stated
    chosen_s   the limit that is used; LIMIT_TO_MEASURE_S until the limit is found
    slowest    the slowest accepted submission, of those that decide the limit
    fastest    the fastest submission that must exceed the limit
    """

    rule: TimeRule
    stated_s: float
    found: bool
    slowest: Slow | None = None
    fastest: Slow | None = None

    def __post_init__(self) -> None:
        self.chosen_s = LIMIT_TO_MEASURE_S if self.found else self.stated_s

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

    def note(self, known: KnownSolution, decides: bool, found: VerifiedSubmission) -> None:
        """Note how long a submission took."""
        slow = found.slowest_s or 0.0, found.submission
        if decides and found.found == "AC":
            self.slowest = max(self.slowest or slow, slow)
        if known.must_be_slow and found.found != NOT_RUN:
            self.fastest = min(self.fastest or slow, slow)


@dataclass(frozen=True)
class VerifiedSubmission:
    """One submission.

    expected     the verdicts that it must get, as "AC" or "WA|OLE"
    found        the verdict of the test that decides; ER for a fault of the machine
    as_expected  None when it could not be graded
    slowest_s    CPU seconds of its slowest test, None when none ran. A test that slept until it was
                 stopped counts with all the time that it had.
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
    seconds: float
    error: str


def package_case(case: Mapping[str, Any], limit_s: float, ran_s: float = 0.0) -> PackageCase:
    """Return a case as judged by `limit_s`; it ran under the limit `ran_s`.

    A case that slept until it was stopped counts with all the time that it had.
    """
    name = str(case.get("test") or f"{case['case_type']}:{case['test_case_i']}")
    seconds, verdict = float(case["cpu_s"] or 0.0), str(case["verdict"])
    if verdict == "TLE" and seconds <= ran_s:
        seconds = ran_s * RUN_TO
    if case["reason"] == "partial_points":
        verdict = "AC"
    # An interactor's WA stays: the program used up its time only after the rejection.
    rejected = verdict == "WA" and case.get("transcript") is not None
    if seconds > limit_s and not (rejected or verdict in ("CU", "CE", "ER")):
        return PackageCase(name, "TLE", seconds, f"{seconds:.2f} s, the limit is {limit_s:g} s")
    return PackageCase(name, verdict, seconds, str(case["error"] or case["reason"]))


class Verification:
    """Grades the known solutions of a session's problems.

    time_limit   seconds for every problem; "auto": found from the submissions; None: the
                 problem's own limit, or one that is found where a package states none
    measured_by  globs of the submissions that count for "auto"; empty: those that must be accepted
    submissions  a file of further submissions, whose lines say what is expected
    problems     only these; None: those that the options choose
    """

    def __init__(
        self,
        session: GradingSession,
        stopper: Stopper,
        *,
        time_limit: float | Literal["auto"] | None = None,
        measured_by: Sequence[str] = (),
        submissions: Path | None = None,
        problems: Sequence[str] | None = None,
        retry: Retry | None = None,
    ) -> None:
        self._session = session
        self._stopper = stopper
        retry = retry or Retry(stop=stopper.event)
        self._settings = session.case_settings(retry=retry, repeat=1, stored_bytes=200)
        self._time_limit = "auto" if measured_by else time_limit
        self._measured_by = measured_by
        self._lock = threading.Lock()
        chosen = session.chosen_problems() if problems is None else problems
        names = session.problems.ids() if chosen is None else chosen
        self._names = list(dict.fromkeys(session.problems.resolve(name) or name for name in names))
        self._more = defaultdict[str, list[KnownSolution]](list)
        if submissions is not None:
            chosen_names, has_expected = set(self._names), False
            for one in read_solutions([submissions], resolve=session.problems.resolve):
                has_expected = has_expected or one.expect != ""
                usable = one.error is None and one.code is not None
                if one.expect and usable and one.problem_id in chosen_names:
                    self._more[one.problem_id].append(KnownSolution(one, one.expect))
            if not has_expected:
                raise InputError(f'{submissions}: no line has "expect": "passed" or "failed"')
        # the outcome of each submission, in order; None until it is graded
        self._outcomes: dict[tuple[str, str], VerifiedSubmission | None] = {
            (problem.id, known.solution.solution_id): None for known, problem in self._pairs()
        }
        self.total = len(self._outcomes)
        self.limits: dict[str, TimeLimit] = {}

    def _pairs(self) -> Iterator[tuple[KnownSolution, Problem]]:
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
        measured: list[Graded] = []  # they are judged again under the limit that they decide

        def add(known: KnownSolution, problem: Problem, record: Mapping[str, Any] | str) -> None:
            outcome, limit = self._outcome(known, problem, record), self.limits[problem.id]
            with self._lock:
                limit.note(known, self._decides(known), outcome)
                self._outcomes[problem.id, outcome.submission] = outcome
                if limit.found and self._decides(known):
                    measured.append((known, problem, record))
            on_outcome(outcome)

        self._grade(True, add, on_case, tick)
        for limit in self.limits.values():
            if limit.found:
                limit.chosen_s = limit.needed_s or limit.stated_s
        for known, problem, record in measured:
            outcome = self._outcome(known, problem, record)
            self._outcomes[problem.id, outcome.submission] = outcome
        self._grade(False, add, on_case, tick)
        return [outcome for outcome in self._outcomes.values() if outcome is not None]

    def _grade(
        self,
        measuring: bool,
        add: Callable[[KnownSolution, Problem, Mapping[str, Any] | str], None],
        on_case: Callable[..., None],
        tick: Callable[[], None],
    ) -> None:
        """Grade the submissions that decide a limit to be found, or all others.

        Each is graded up to its first failing test, unless later tests count. Where it stops so, a
        submission that must exceed the time limit runs its tests one after the other.
        """
        session = self._session
        given: dict[int, tuple[KnownSolution, SolutionRun]] = {}  # by id(): the runs stay alive

        def record(run: SolutionRun, found: SolutionRecord | EncodedRecord) -> None:
            fields = as_json(found) if isinstance(found, SolutionRecord) else fields_of(found)
            add(given[id(run)][0], run.problem, fields)

        context = session.job_context(self._settings, record, on_case)

        def jobs() -> Iterator[SolutionJob]:
            for known, problem in self._pairs():
                limit = self._limit_of(problem)
                if (limit.found and self._decides(known)) != measuring:
                    continue
                if why := self._why_not(known, problem):
                    add(known, problem, why)
                    continue
                is_slow = known.must_be_slow
                margin = max(1.0, limit.rule.tle / RUN_TO) if limit.found and is_slow else 1.0
                problem = replace(problem, time_limit_s=limit.chosen_s * margin)
                info = session.resources.info(problem)
                run = session.context.solution_run(known.solution, problem, info)
                given[id(run)] = known, run
                stop = not (known.whole or problem.subtasks)
                in_order = stop and is_slow
                yield SolutionJob(run, replace(context, stop_on_failure=stop, in_order=in_order))

        scheduler = Scheduler(
            session.options.workers,
            is_full=lambda: session.resources.is_full,
            lent=lambda: lent_cores(session.sandbox),
        )
        with self._stopper.stopping(scheduler):
            scheduler.run(jobs(), tick)

    def _limit_of(self, problem: Problem) -> TimeLimit:
        if problem.id not in self.limits:
            given, rule = self._time_limit, problem.time_rule or TimeRule()
            found = given == "auto" or (given is None and not rule.stated)
            stated_s = given if isinstance(given, float) else problem.time_limit_s
            self.limits[problem.id] = TimeLimit(rule, stated_s, found)
        return self.limits[problem.id]

    def _decides(self, known: KnownSolution) -> bool:
        """Return whether a submission is one of those from which a time limit is found."""
        if not self._measured_by:
            return known.must_pass
        return any(covers(glob, known.solution.solution_id) for glob in self._measured_by)

    def _why_not(self, known: KnownSolution, problem: Problem) -> str:
        """Return why a submission can't run, "" when it can."""
        language = known.solution.language
        try:
            if find(language).name in self._session.description.toolchains:
                return "" if self._session.resources.info(problem).to_run else "no test can be run"
        except UnknownLanguage:
            pass
        except InputError as error:
            return str(error)
        return language + NOT_HERE

    def _outcome(
        self, known: KnownSolution, problem: Problem, record: Mapping[str, Any] | str
    ) -> VerifiedSubmission:
        """Return the outcome of a record, or of a submission that could not run, and why."""
        limit, solution = self.limits[problem.id], known.solution
        start = problem.id, solution.solution_id, solution.language, _words_of(known)
        if isinstance(record, str):
            fits = None if record.endswith(NOT_HERE) else False
            return VerifiedSubmission(*start, NOT_RUN, fits, None, limit.chosen_s, "", record)
        ran_s = record["time_limit_s"] or problem.time_limit_s
        limit_s = limit.chosen_s if limit.found else ran_s
        details = (case for case in record["details"] if case["verdict"] != "SK")
        cases = [package_case(case, limit_s, ran_s) for case in details]
        deciding = next((case for case in cases if case.verdict != "AC"), None)
        found = deciding.verdict if deciding else record["verdict"] or record["status"]
        fits = _fits(known, cases, record)
        if record["status"] in ("error", "invalid"):
            found, fits = "ER" if record["status"] == "error" else "invalid", None
        points = record.get("points")
        if points is not None and not (deciding is None and record["verdict"] == "AC"):
            found = f"{found} {points:g} of {record['points_of']:g}"
        slowest_s = max((case.seconds for case in cases), default=None)
        test, note = (deciding.name, deciding.error) if deciding else ("", record["error"])
        return VerifiedSubmission(*start, found, fits, slowest_s, limit.chosen_s, test, note)


def _fits(known: KnownSolution, cases: Sequence[PackageCase], record: Mapping[str, Any]) -> bool:
    """Return whether a graded submission is as its authors expect."""
    points, most = record.get("points"), record.get("points_of")
    partial_points = points is None or most is None or 0 < points < most
    if not known.expected:
        return bool(record["status"] == known.expect)
    return all(
        partial_points
        if one.required == (PARTIAL,)
        else one.fits(c.verdict for c in cases if not one.tests or covers(one.tests, c.name))
        for one in known.expected
    )


def _words_of(known: KnownSolution) -> str:
    """Return the expected verdicts in a few letters."""
    if not known.expected:
        return {"passed": "AC", "failed": "not AC"}.get(known.expect, "any")
    first = known.expected[0]
    verdicts = first.required or first.permitted or ()
    if len(verdicts) > 5 and "AC" not in verdicts:
        return "not AC"
    by_tests = "*" * (len(known.expected) > 1 or bool(first.tests))
    return ("any" if len(verdicts) > 5 else "|".join(verdicts) or "any") + by_tests
