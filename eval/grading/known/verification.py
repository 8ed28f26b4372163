"""Grade the submissions of packages, and find the time limits that they need.

    submissions that decide a limit ─ graded under 60 s ─▶ slowest ─ TimeRule ─▶ limit
    the others                      ─ graded under it ─▶ VerifiedSubmission

A submission is stopped at its first failing test, unless those behind it count. One that must
exceed a time limit found here is run to `TimeRule.tle` times the limit, so that what is near is
seen.
Problems are read when their submissions are due, and again for the second round.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gradebox.eval.common.errors import InputError
from gradebox.eval.common.signals import Stopper
from gradebox.eval.grading.known.audit import ask_checker
from gradebox.eval.grading.known.grade import Pair, grade_known, known_in_file
from gradebox.eval.grading.retry import Retry
from gradebox.eval.grading.session import GradingSession
from gradebox.eval.grading.time_policy import RUN_TO
from gradebox.eval.problems.packages.submissions import glob_pattern, is_covered
from gradebox.eval.problems.problem import Expectation, Problem, TimeRule
from gradebox.eval.results.record import SolutionRecord, as_json
from gradebox.eval.results.records import EncodedRecord, fields_of
from gradebox.eval.solutions.solution import KnownSolution, known_solutions_of

LIMIT_TO_MEASURE_S = 60.0  # of accepted submissions whose limit is not known yet
NOT_RUN = "not run"
# a package's verdict that stands for several of ours, by the first
SHORT = (("WA", "OLE"), ("RE", "MLE"), ("MLE", "RE"), ("OLE", "WA", "RE", "TLE"))
Slow = tuple[str, float]  # (name, CPU seconds) of a submission's slowest test


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
        return None if self.slowest is None else self.rule.limit_s(self.slowest[1])

    @property
    def safe(self) -> bool:
        """Whether `fastest` exceeds the limit by the rule's margin."""
        if self.fastest is None or not self.found:
            return True
        return self.fastest[1] >= self.chosen_s * self.rule.tle * 0.999


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


@dataclass(frozen=True)
class AuditFinding:
    """One fault of a problem's tests or checker: a line of the audit.

    kind  of the table in audit.py; rejected_passes and accepted_fails of submissions
    test  its type and number, "" for a submission that passes all
    """

    problem_id: str
    kind: str
    test: str
    subject: str
    message: str


class PackageCase:
    """A case of a record with the verdict that a package's rules give it."""

    def __init__(self, case: Mapping[str, Any], limit_s: float) -> None:
        self.name = str(case.get("test") or f"{case['case_type']}:{case['test_case_i']}")
        self.cpu_s = float(case["cpu_s"] or 0.0)
        self.error = str(case["error"] or case["reason"])
        self.verdict = str(case["verdict"])
        if case["reason"] == "partial_points":
            self.verdict = "AC"
        if case["reason"] == "presentation_error":
            self.verdict = "PE"
        # An interactor's rejection came before the time that the program used afterwards.
        rejected = self.verdict in ("WA", "PE") and case.get("transcript") is not None
        decided = rejected or self.verdict in ("CU", "CE", "ER")
        if not decided and self.cpu_s > limit_s:
            self.verdict, self.error = "TLE", f"{self.cpu_s:.2f} s, the limit is {limit_s:g} s"


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
        chosen = session.chosen_problems()
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
        measured: list[tuple[KnownSolution, str, Mapping[str, Any]]] = []

        def add(outcome: VerifiedSubmission) -> None:
            with self._lock:
                self._outcomes[outcome.problem_id, outcome.submission] = outcome
            on_outcome(outcome)

        for measuring in (True, False):

            def done(
                known: KnownSolution,
                problem: Problem,
                record: SolutionRecord | EncodedRecord,
                measuring: bool = measuring,
            ) -> None:
                if isinstance(record, SolutionRecord):
                    fields: Mapping[str, Any] = as_json(record)
                else:
                    fields = fields_of(record)
                with self._lock:
                    self._note_time(known, problem, fields, measuring=measuring)
                    if measuring:  # the limit is known when all have been
                        measured.append((known, problem.id, fields))
                if not measuring:
                    add(self._outcome(known, problem.id, fields))

            grade_known(
                self._session, self._settings, self._usable(measuring, add), done, self._stopper,
                stop=lambda known, problem: not (known.whole or problem.subtasks),
                in_order=_must_be_slow, on_case=on_case, tick=tick,
            )  # fmt: skip
            for limit in self.limits.values() if measuring else ():
                if limit.found and limit.needed_s is not None:
                    limit.chosen_s = limit.needed_s
            for one in measured if measuring else ():
                add(self._outcome(*one))
        return [outcome for outcome in self._outcomes.values() if outcome is not None]

    def _usable(self, measuring: bool, add: Callable[[VerifiedSubmission], None]) -> Iterator[Pair]:
        """Yield the submissions that can run, under the limit in which they run."""
        languages = self._session.description.toolchains
        for known, problem in self._pairs():
            limit = self._limit_of(problem)
            if self._is_measured(known, problem) != measuring:
                continue
            language, why = known.solution.language, ""
            try:
                why = "" if self._session.resources.info(problem).to_run else "no test can be run"
            except InputError as error:
                why = str(error)
            if why or language not in languages:
                fits = False if why else None
                name, why = known.solution.solution_id, why or f"{language} is not available here"
                words = _words_of(known)
                add(VerifiedSubmission(problem.id, name, language, words, NOT_RUN, fits, None,
                                       limit.chosen_s, "", why))  # fmt: skip
                continue
            seconds = LIMIT_TO_MEASURE_S if measuring else limit.chosen_s
            if limit.found and not measuring and _must_be_slow(known):
                seconds *= max(1.0, limit.rule.tle / RUN_TO)
            yield known, replace(problem, time_limit_s=seconds)

    def _limit_of(self, problem: Problem) -> TimeLimit:
        if problem.id not in self.limits:
            rule, fixed_s = problem.time_rule, self._fixed_s
            found = fixed_s is None and (self._measure or (rule is not None and not rule.stated))
            chosen_s = problem.time_limit_s if fixed_s is None else fixed_s
            self.limits[problem.id] = TimeLimit(rule or TimeRule(), chosen_s, found)
        return self.limits[problem.id]

    def _is_measured(self, known: KnownSolution, problem: Problem) -> bool:
        """Return whether a time limit that is to be found follows from a submission."""
        name, decides = known.solution.solution_id, known.expect == "passed"
        if self._measured_by:
            decides = any(pattern.fullmatch(name) for pattern in self._measured_by)
        return decides and self._limit_of(problem).found

    def _note_time(
        self,
        known: KnownSolution,
        problem: Problem,
        record: Mapping[str, Any],
        *,
        measuring: bool,
    ) -> None:
        """Note the CPU seconds of the slowest case; all that it had of one that slept."""
        limit, name = self.limits[problem.id], known.solution.solution_id
        seconds = 0.0
        for case in record["details"]:
            cpu_s, slow = case["cpu_s"] or 0.0, case["verdict"] == "TLE"
            slept = slow and cpu_s <= problem.time_limit_s
            seconds = max(seconds, problem.time_limit_s * RUN_TO if slept else cpu_s)
        decides = measuring if limit.found else known.expect == "passed"
        if decides and record["status"] == "passed":
            slowest = limit.slowest or (name, seconds)
            limit.slowest = max(slowest, (name, seconds), key=lambda slow: slow[1])
        if _must_be_slow(known):
            fastest = limit.fastest or (name, seconds)
            limit.fastest = min(fastest, (name, seconds), key=lambda slow: slow[1])

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
            for answer in ask_checker(self._session, problem, self._settings.retry):
                if answer.wrong:
                    yield AuditFinding(
                        name, answer.kind, answer.test, answer.checker, answer.message
                    )

    def _outcome(
        self, known: KnownSolution, problem_id: str, record: Mapping[str, Any]
    ) -> VerifiedSubmission:
        limit_s = self.limits[problem_id].chosen_s
        cases = [PackageCase(c, limit_s) for c in record["details"] if c["verdict"] != "SK"]
        deciding = next((case for case in cases if case.verdict != "AC"), None)
        found = deciding.verdict if deciding else record["verdict"] or record["status"]
        fits: bool | None = _fits_all(known, cases, record)
        if record["status"] in ("error", "invalid"):
            found, fits = "ER" if record["status"] == "error" else "invalid", None
        points = record.get("points")
        if points is not None and not (deciding is None and record["verdict"] == "AC"):
            found = f"{found} {points:g} of {record['points_of']:g}"
        return VerifiedSubmission(
            problem_id,
            known.solution.solution_id,
            known.solution.language,
            _words_of(known),
            found,
            fits,
            max((case.cpu_s for case in cases), default=None),
            limit_s,
            deciding.name if deciding is not None else "",
            deciding.error if deciding is not None else record["error"],
        )


def _must_be_slow(known: KnownSolution) -> bool:
    return any(one.required == ("TLE",) and not one.tests for one in known.expected)


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
    verdicts = {"WA" if case.verdict == "PE" else case.verdict for case in cases}
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
