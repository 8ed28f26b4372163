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
from itertools import chain
from typing import Any

from gradebox.eval.common.errors import InputError, shown
from gradebox.eval.common.signals import Stopper
from gradebox.eval.grading.known.audit import ask_checker
from gradebox.eval.grading.known.grade import Pair, grade_known, known_in_file
from gradebox.eval.grading.retry import Interrupted, Retry
from gradebox.eval.grading.session import GradingSession
from gradebox.eval.problems.problem import Problem
from gradebox.eval.solutions.solution import EXPECTED, KnownSolution, known_solutions_of
from gradebox.sandbox.errors import SandboxError

REMEDY = "repair it, or choose other problems with --problems"


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
        started, problems = time.monotonic(), self._problems()
        with ThreadPoolExecutor(self._session.options.workers) as pool:
            try:
                for _ in pool.map(self._check_checker, problems.values()):
                    pass
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        if not self._stopper.event.is_set():
            pairs = self._known(problems)
            grade_known(self._session, self._settings, pairs, self._compare, self._stopper)
        counts = self._counts
        return (
            f"self-check: {counts['checkers']} checkers asked {counts['asked']} times, "
            f"{counts['passed']} right and {counts['failed']} wrong programs graded: "
            f"all as expected ({time.monotonic() - started:.1f} s)"
        )

    def _problems(self) -> dict[str, Problem]:
        """Return the problems of all solutions in the files of the run, by id."""
        found: dict[str, Problem | None] = {}
        for file in self._session.files:
            for solution in self._session.solutions(file):
                name = solution.problem_id
                if solution.error is None and name not in found:
                    found[name] = self._session.problems.get(name)
        return {problem.id: problem for problem in found.values() if problem is not None}

    def _check_checker(self, problem: Problem) -> None:
        """Raise InputError when a checker rejects an expected output or accepts anything."""
        kinds, asked, accepted_empty, subject = {"rejects_expected", "accepts_empty"}, 0, 0, ""
        try:
            for wrong, found in ask_checker(self._session, problem, self._settings.retry, kinds):
                if self._stopper.event.is_set():
                    return
                asked += 1
                subject = f"self-check: problem {problem.id}: checker {found.subject}"
                if wrong and found.kind == "rejects_expected":
                    raise InputError(
                        f"{subject} does not accept the expected output of {found.test}: "
                        f"{shown(found.message)}; {REMEDY}"
                    )
                accepted_empty += wrong
                if not wrong and found.kind == "accepts_empty":
                    kinds.discard(found.kind)
        except Interrupted:
            return
        except SandboxError as e:
            raise InputError(f"self-check: the sandbox failed: {e}; start again") from None
        if accepted_empty and "accepts_empty" in kinds:
            raise InputError(
                f"{subject} accepts an empty output, for {accepted_empty} tests of "
                f"{accepted_empty}; {REMEDY}"
            )
        with self._lock:
            self._counts["asked"] += asked
            self._counts["checkers"] += asked > 0

    def _known(self, problems: Mapping[str, Problem]) -> Iterator[Pair]:
        languages = self._session.description.toolchains
        file = self._session.options.self_check_solutions
        more = () if file is None else known_in_file(self._session, file, problems)
        own = (known for problem in problems.values() for known in known_solutions_of(problem))
        for known in chain(own, more):
            # those of packages may be in languages that are not here
            usable = not known.expected or known.solution.language in languages
            if known.expect in EXPECTED and usable:
                yield known, problems[known.solution.problem_id]

    def _compare(self, known: KnownSolution, problem: Problem, record: Mapping[str, Any]) -> None:
        """Raise InputError when a known solution has another status than expected."""
        with self._lock:
            self._counts[known.expect] += 1
        name, subject = known.solution.solution_id, f"self-check: problem {problem.id}"
        if record["status"] == known.expect:
            return
        if record["status"] in ("error", "invalid"):
            why = f"the sandbox failed at {name}: {record['error']}; start again"
            if record["status"] == "invalid":
                why = f"{name} can't be graded: {record['error']}; {REMEDY}"
            raise InputError(f"{subject}: {why}")
        if known.expect == "failed":
            raise InputError(f"{subject}: the known wrong solution {name} passes; {REMEDY}")
        case = next(c for c in record["details"] if c["verdict"] not in ("AC", "SK"))
        raise InputError(
            f"{subject}: the known right solution {name} is {case['verdict']} ({case['reason']}) "
            f"at {case['case_type']}:{case['test_case_i']}: {case['error'] or case['reason']}; is "
            f"a checker missing, or a test wrong? {REMEDY}"
        )
