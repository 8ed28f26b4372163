"""--self-check: grade what is known beforehand first, so that no run starts with a wrong judge.

    each problem's checker   on the expected output of every test     must accept it
                             on an empty output                       must reject at least one
    known solutions          gold_solutions of the dataset, and       correct ones must pass,
                             --self-check-solutions FILE              wrong ones must fail

The checker itself is asked, without the comparison that would accept an expected output at once.
FILE has the lines of a solutions file with `expect`: "passed" or "failed", or an object with such
a `status`, or rows of open-r1/codeforces-submissions. Lines without any of these are ignored.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

from gradebox.checkers.check import Check, Checker
from gradebox.eval.common.errors import InputError, shown
from gradebox.eval.common.signals import Stopper
from gradebox.eval.grading.known.audit import probe
from gradebox.eval.grading.known.grade import grade_known, known_in_file
from gradebox.eval.grading.resources import ProblemResources
from gradebox.eval.grading.retry import Interrupted, Retry
from gradebox.eval.grading.session import GradingSession
from gradebox.eval.grading.solution_run import SolutionRun
from gradebox.eval.problems.problem import Problem, TestCase
from gradebox.eval.results.record import SolutionRecord
from gradebox.eval.solutions.solution import EXPECTED, KnownSolution, known_solutions_of
from gradebox.sandbox.errors import SandboxError

REMEDY = "repair it, or choose other problems with --problems"
_BY_CHECKER = frozenset(
    ("failed_checker", "partial_points", "presentation_error", "checker_unclear")
)


class SelfCheck:
    """One self-check of a session's problems."""

    def __init__(self, session: GradingSession, stopper: Stopper, retry: Retry) -> None:
        self._session = session
        self._stopper = stopper
        self._settings = session.case_settings(retry=retry, repeat=1)
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()

    def run(self) -> str:
        """Return a summary line; raise InputError, naming problem and checker, for a fault."""
        started = time.monotonic()
        problems = self._problems()
        self._check_checkers(list(problems.values()))
        if not self._stopper.event.is_set():
            self._grade_known_solutions(problems)
        counts = self._counts
        return (
            f"self-check: {counts['checkers']} checkers asked {counts['asked']} times, "
            f"{counts['passed']} right and {counts['failed']} wrong programs graded: "
            f"all as expected ({time.monotonic() - started:.1f} s)"
        )

    def _problems(self) -> dict[str, Problem]:
        """Return the problems of all solutions in the files of the run, by id."""
        problems = self._session.problems
        found: dict[str, Problem] = {}
        for file in self._session.files:
            for solution in self._session.solutions(file):
                if solution.error is None and solution.problem_id not in found:
                    problem = problems.get(solution.problem_id)
                    if problem is not None:
                        found[problem.id] = problem
        return found

    # ---- checkers -----------------------------------------------------------------------

    def _check_checkers(self, problems: list[Problem]) -> None:
        with ThreadPoolExecutor(self._session.options.workers) as pool:
            try:
                for _ in pool.map(self._check_problem, problems):
                    pass
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def _check_problem(self, problem: Problem) -> None:
        if self._stopper.event.is_set():
            return
        try:
            resources = self._session.resources.acquire(problem)
        except InputError:  # the run reports it for every solution, or ends with it
            return
        try:
            if resources.checker is not None:
                self._ask(resources, resources.checker)
        except Interrupted:
            return
        except SandboxError as e:
            raise InputError(f"self-check: the sandbox failed: {e}; start again") from None
        finally:
            self._session.resources.release(resources)

    def _ask(self, resources: ProblemResources, checker: Checker) -> None:
        """Raise InputError when a checker rejects an expected output or accepts anything."""
        subject = f"self-check: problem {resources.problem.id}: checker {checker.name}"
        asked, rejects_empty, accepted_empty = 0, False, 0

        def ask(test: TestCase, output: bytes) -> Check:
            return self._check(checker, test.input, output, test.expected)

        def wanted(name: str) -> bool:
            return not self._stopper.event.is_set() and not (name == "empty" and rejects_empty)

        for name, ref, check in probe(resources, ask, ("expected", "empty"), wanted):
            asked += 1
            if name == "empty":
                rejects_empty = not check.accepted
                accepted_empty += check.accepted
            elif not check.full:
                found = {"rejected": "calls it wrong", "unclear": "fails on it"}
                raise InputError(
                    f"{subject} does not accept the expected output of "
                    f"{ref.case_type}:{ref.index}: "
                    f"{found.get(check.outcome, 'gives it part of the points')}: "
                    f"{shown(check.message)}; {REMEDY}"
                )
        if accepted_empty and not rejects_empty:
            raise InputError(
                f"{subject} accepts an empty output, for {accepted_empty} tests of "
                f"{accepted_empty}; {REMEDY}"
            )
        with self._lock:
            self._counts["asked"] += asked
            self._counts["checkers"] += 1

    def _check(self, checker: Checker, given: bytes, output: bytes, expected: bytes) -> Check:
        retry = self._settings.retry
        return retry.call(lambda: checker.check(given, output, expected), checker.name)

    # ---- known solutions ----------------------------------------------------------------

    def _grade_known_solutions(self, problems: Mapping[str, Problem]) -> None:
        languages = self._session.description.toolchains

        def chosen() -> Iterator[tuple[KnownSolution, Problem]]:
            for known in self._known_solutions(problems):
                of_package = bool(known.expected)  # its languages need not be here
                usable = not of_package or known.solution.language in languages
                if known.expect in EXPECTED and usable:
                    yield known, problems[known.solution.problem_id]

        def compare(known: KnownSolution, run: SolutionRun, record: SolutionRecord) -> None:
            self._check_status(known.expect, run, record)
            with self._lock:
                self._counts[known.expect] += 1

        grade_known(self._session, self._settings, chosen(), compare, self._stopper)

    def _known_solutions(self, problems: Mapping[str, Problem]) -> Iterator[KnownSolution]:
        for problem in problems.values():
            yield from known_solutions_of(problem)
        file = self._session.options.self_check_solutions
        if file is not None:
            yield from known_in_file(self._session, file, problems)

    def _check_status(self, wanted: str, run: SolutionRun, record: SolutionRecord) -> None:
        """Raise InputError when a known solution has another status than expected."""
        if record.status == wanted:
            return
        name, checker = run.solution.solution_id, self._judge_name(run.problem)
        subject = f"self-check: problem {run.problem.id}"
        if record.status == "error":
            raise InputError(
                f"{subject}: the sandbox failed at {name}: {record.error}; start again"
            )
        if wanted == "failed":
            judge = f"checker {checker}" if checker else "the comparison"
            raise InputError(
                f"{subject}: {judge} lets the known wrong solution {name} pass; {REMEDY}"
            )
        case = next(c for c in record.details if c.verdict not in ("AC", "SK"))
        place, why = f"{case.case_type}:{case.test_case_i}", f"{case.error or case.reason}"
        solution = f"the known right solution {name}"
        if case.reason in _BY_CHECKER and checker:
            fault = f"checker {checker} calls {solution} wrong at {place}: {why}"
        elif case.reason == "failed_outputs_match":
            fault = f"{solution} is wrong at {place}: {why}: is a checker missing?"
        else:
            fault = f"{solution} ended with {case.verdict} at {place}: {why}"
        raise InputError(f"{subject}: {fault}; {REMEDY}")

    def _judge_name(self, problem: Problem) -> str:
        resources = self._session.resources.acquire(problem)
        try:
            return resources.judge.name if resources.judge is not None else ""
        finally:
            self._session.resources.release(resources)
