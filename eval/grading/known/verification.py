"""Grade the submissions of packages, and compare with what their authors expect.

    ProblemSet ─ known solutions ─┬─ the slowest accepted one ─▶ time limit (TimeRule)
                                  └─ graded under it ─▶ VerifiedSubmission

A submission that is expected to fail is stopped at its first failing test. One that must exceed a
time limit found here is run to `TimeRule.tle` times the limit, so that what is near is seen.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gradebox.checkers.check import Check, Checker
from gradebox.eval.common.errors import InputError
from gradebox.eval.common.signals import Stopper
from gradebox.eval.grading.known.audit import AuditFinding, audit_checker
from gradebox.eval.grading.known.expected import (
    PackageCase,
    VerifiedSubmission,
    expected_of,
    fits_expectation,
)
from gradebox.eval.grading.known.grade import grade_known, known_in_file
from gradebox.eval.grading.retry import Retry
from gradebox.eval.grading.session import GradingSession
from gradebox.eval.grading.solution_run import SolutionRun
from gradebox.eval.problems.packages.submissions import glob_pattern
from gradebox.eval.problems.problem import Problem, TestCase, TimeRule
from gradebox.eval.results.record import SolutionRecord, as_json
from gradebox.eval.results.records import EncodedRecord, fields_of
from gradebox.eval.solutions.solution import KnownSolution, known_solutions_of

LIMIT_TO_MEASURE_S = 60.0  # of accepted submissions whose limit is not known yet
NOT_RUN = "not run"


@dataclass(frozen=True)
class TimeLimit:
    """The time limit of a problem and where it is from.

    chosen_s   that was used
    needed_s   that its rule finds on this machine; None when no accepted submission passed
    slowest    (name, CPU seconds) of the slowest submission that counts
    fastest    (name, CPU seconds) of the fastest one that must exceed the limit; None without
    safe       `fastest` exceeds the limit by the rule's margin
    """

    problem_id: str
    chosen_s: float
    needed_s: float | None
    slowest: tuple[str, float] | None
    fastest: tuple[str, float] | None
    safe: bool


@dataclass
class _Graded:
    known: KnownSolution
    problem: Problem
    record: Mapping[str, Any]


class Verification:
    """Grades the known solutions of a session's problems.

    time_limit_s     for every problem, instead of its own; None: its own
    measure          find each limit from the submissions, also where the package states one
    submissions      a file of more, whose lines say what is expected
    measured_by      globs of the submissions that count; empty: those that must be accepted
    """

    def __init__(
        self,
        session: GradingSession,
        stopper: Stopper,
        *,
        time_limit_s: float | None = None,
        measure: bool = False,
        measured_by: Sequence[str] = (),
        submissions: Path | None = None,
    ) -> None:
        self._session = session
        self._stopper = stopper
        self._settings = session.case_settings(
            retry=Retry(stop=stopper.event), repeat=1, stored_bytes=200
        )
        self._fixed_s = time_limit_s
        self._measure = measure
        self._measured_by = [glob_pattern(glob, "--time-limit-from") for glob in measured_by]
        self._lock = threading.Lock()
        self.problems = self._read_problems()
        self.known = {
            problem.id: list(known_solutions_of(problem)) for problem in self.problems.values()
        }
        if submissions is not None:
            for known in known_in_file(session, submissions, self.problems):
                self.known[known.solution.problem_id].append(known)
        self.known = {name: known for name, known in self.known.items() if known}
        self.limits: dict[str, TimeLimit] = {}

    @property
    def total(self) -> int:
        """The number of submissions."""
        return sum(map(len, self.known.values()))

    def _read_problems(self) -> dict[str, Problem]:
        problems = self._session.problems
        chosen = self._session.chosen_problems()
        names = problems.ids() if chosen is None else chosen
        found = (problems.get(name) for name in names)
        return {problem.id: problem for problem in found if problem is not None}

    def run(
        self,
        on_outcome: Callable[[VerifiedSubmission], None],
        on_case: Callable[..., None] = lambda verdict, number=1: None,
        tick: Callable[[], None] = lambda: None,
    ) -> list[VerifiedSubmission]:
        """Grade everything; return the outcomes in order of problems and submissions.

        on_outcome  called as they come, from any thread
        """
        outcomes: dict[tuple[str, str], VerifiedSubmission] = {}
        graded: list[_Graded] = []

        def add(outcome: VerifiedSubmission) -> None:
            with self._lock:
                outcomes[outcome.problem_id, outcome.submission] = outcome
            on_outcome(outcome)

        def grade(known: Iterable[tuple[KnownSolution, Problem]], stop: bool, report: bool) -> None:
            def done(
                one: KnownSolution, run: SolutionRun, record: SolutionRecord | EncodedRecord
            ) -> None:
                fields = (
                    as_json(record) if isinstance(record, SolutionRecord) else fields_of(record)
                )
                found = _Graded(one, run.problem, fields)
                with self._lock:
                    graded.append(found)
                if report:
                    add(self._outcome(found))

            grade_known(
                self._session, self._settings, known, done, self._stopper,
                stop=stop, on_case=on_case, tick=tick,
            )  # fmt: skip

        usable = list(self._usable(add))
        measured = [pair for pair in usable if self._is_measured(pair)]
        grade(((k, replace(p, time_limit_s=LIMIT_TO_MEASURE_S)) for k, p in measured), False, False)
        limits = self._find_limits(graded)
        for found in graded:
            limit_s = limits[found.problem.id]
            add(self._outcome(_with_limit(found, limit_s)))
        ids = {id(known) for known, _ in measured}
        left = [(k, replace(p, time_limit_s=limits[p.id])) for k, p in usable if id(k) not in ids]
        grade([pair for pair in left if self._runs_whole(pair[0])], False, True)
        grade([self._widened(pair) for pair in left if not self._runs_whole(pair[0])], True, True)
        self._note_limits(graded, limits)
        return [
            outcomes[name, known.solution.solution_id]
            for name, all_known in self.known.items()
            for known in all_known
            if (name, known.solution.solution_id) in outcomes
        ]

    def _usable(
        self, add: Callable[[VerifiedSubmission], None]
    ) -> Iterator[tuple[KnownSolution, Problem]]:
        languages = self._session.description.toolchains
        for problem in (self.problems[name] for name in self.known):
            try:
                why = "" if self._session.resources.info(problem).to_run else "no test can be run"
            except InputError as error:
                why = str(error)
            for known in self.known[problem.id]:
                language = known.solution.language
                if why or language not in languages:
                    reason = why or f"{language} is not available here"
                    add(self._not_run(known, problem, reason, fails=bool(why)))
                else:
                    yield known, problem

    # ---- time limits --------------------------------------------------------------------

    def _finds_limit(self, problem: Problem) -> bool:
        if self._fixed_s is not None:
            return False
        rule = problem.time_rule
        return self._measure or (rule is not None and not rule.stated)

    def _is_measured(self, pair: tuple[KnownSolution, Problem]) -> bool:
        known, problem = pair
        if not self._finds_limit(problem):
            return False
        name = known.solution.solution_id
        if self._measured_by:
            return any(pattern.fullmatch(name) for pattern in self._measured_by)
        return known.expect == "passed"

    def _find_limits(self, graded: Sequence[_Graded]) -> dict[str, float]:
        limits, by_problem = {}, _by_problem(graded)
        for name, problem in self.problems.items():
            limits[name] = problem.time_limit_s if self._fixed_s is None else self._fixed_s
            slowest = _slowest(by_problem[name])
            if self._finds_limit(problem) and slowest is not None:
                limits[name] = (problem.time_rule or TimeRule()).limit_s(slowest[1])
        return limits

    def _widened(self, pair: tuple[KnownSolution, Problem]) -> tuple[KnownSolution, Problem]:
        """Return the pair with time to spare, if it must exceed a limit that was found here."""
        known, problem = pair
        margin = (problem.time_rule or TimeRule()).tle
        if not self._finds_limit(problem) or not _must_be_slow(known):
            return pair
        return known, replace(problem, time_limit_s=problem.time_limit_s * margin)

    def _note_limits(self, graded: Sequence[_Graded], limits: Mapping[str, float]) -> None:
        by_problem = _by_problem(graded)
        for name in self.known:
            problem, own = self.problems[name], by_problem[name]
            rule, chosen_s = problem.time_rule or TimeRule(), limits[name]
            slowest = _slowest(g for g in own if g.known.expect == "passed")
            slow = [
                (g.known.solution.solution_id, _time_of(g)) for g in own if _must_be_slow(g.known)
            ]
            fastest = min(slow, key=lambda pair: pair[1], default=None)
            self.limits[name] = TimeLimit(
                name,
                chosen_s,
                None if slowest is None else rule.limit_s(slowest[1]),
                slowest,
                fastest,
                fastest is None or fastest[1] >= chosen_s * rule.tle * 0.999,
            )

    @staticmethod
    def _runs_whole(known: KnownSolution) -> bool:
        return known.whole or known.expect == "passed"

    def audit(self, outcomes: Sequence[VerifiedSubmission]) -> Iterator[AuditFinding]:
        """Yield the faults of tests and checkers: by the submissions, then by asking checkers."""
        for one in outcomes:
            if one.as_expected is False:
                kind = "accepted_fails" if one.expected == "AC" else "unexpected_verdict"
                kind = "rejected_passes" if one.found == "AC" else kind
                note = one.note or f"{one.found}, expected {one.expected}"
                yield AuditFinding(one.problem_id, kind, one.test, one.submission, note)
        retry = self._settings.retry
        for name in self.known:
            if self._stopper.event.is_set():
                return
            try:
                resources = self._session.resources.acquire(self.problems[name])
            except InputError:  # every submission of it says so
                continue
            try:
                checker = resources.checker
                if checker is not None:

                    def ask(test: TestCase, output: bytes, checker: Checker = checker) -> Check:
                        return retry.call(
                            lambda: checker.check(test.input, output, test.expected), checker.name
                        )

                    yield from audit_checker(resources, ask, checker.name)
            finally:
                self._session.resources.release(resources)

    # ---- outcomes -----------------------------------------------------------------------

    def _not_run(
        self, known: KnownSolution, problem: Problem, why: str, *, fails: bool
    ) -> VerifiedSubmission:
        return VerifiedSubmission(
            problem.id, known.solution.solution_id, known.solution.language, expected_of(known),
            NOT_RUN, False if fails else None, None, problem.time_limit_s, "", why,
        )  # fmt: skip

    def _outcome(self, graded: _Graded) -> VerifiedSubmission:
        known, record = graded.known, graded.record
        limit_s = graded.problem.time_limit_s
        if _must_be_slow(known) and self._finds_limit(graded.problem):
            limit_s /= (graded.problem.time_rule or TimeRule()).tle
        cases = [
            PackageCase(case, limit_s) for case in record["details"] if case["verdict"] != "SK"
        ]
        deciding = next((case for case in cases if case.verdict != "AC"), None)
        found = deciding.verdict if deciding else record["verdict"] or record["status"]
        fits: bool | None = fits_expectation(known, cases, record)
        if record["status"] in ("error", "invalid"):
            found, fits = "ER" if record["status"] == "error" else "invalid", None
        note = deciding.error if deciding is not None else record["error"]
        points = record.get("points")
        if points is not None and not (deciding is None and record["verdict"] == "AC"):
            found = f"{found} {points:g} of {record['points_of']:g}"
        slowest = max((case.cpu_s for case in cases), default=None)
        return VerifiedSubmission(
            graded.problem.id,
            known.solution.solution_id,
            known.solution.language,
            expected_of(known),
            found,
            fits,
            slowest,
            limit_s,
            deciding.name if deciding is not None else "",
            note,
        )


def _with_limit(graded: _Graded, limit_s: float) -> _Graded:
    """Return a graded submission under another time limit."""
    problem = replace(graded.problem, time_limit_s=limit_s)
    return _Graded(graded.known, problem, graded.record)


def _by_problem(graded: Iterable[_Graded]) -> defaultdict[str, list[_Graded]]:
    found: defaultdict[str, list[_Graded]] = defaultdict(list)
    for one in graded:
        found[one.problem.id].append(one)
    return found


def _must_be_slow(known: KnownSolution) -> bool:
    return any(one.required == ("TLE",) and not one.tests for one in known.expected)


def _time_of(graded: _Graded) -> float:
    """Return the CPU seconds of the slowest case; the whole limit of one that was stopped."""
    cases: Sequence[Mapping[str, Any]] = graded.record["details"]
    limit_s = graded.problem.time_limit_s
    times = [
        max(float(case["cpu_s"] or 0.0), limit_s if case["verdict"] == "TLE" else 0.0)
        for case in cases
    ]
    return max(times, default=0.0)


def _slowest(graded: Iterable[_Graded]) -> tuple[str, float] | None:
    """Return the slowest of the submissions that passed."""
    passed = [g for g in graded if g.record["status"] == "passed"]
    times = [(g.known.solution.solution_id, _time_of(g)) for g in passed]
    return max(times, key=lambda pair: pair[1], default=None)
