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
from concurrent.futures import ThreadPoolExecutor

from gradebox.eval.common.errors import InputError, Interrupted, Retry, shown
from gradebox.eval.common.signals import Stopper
from gradebox.eval.grading.known.audit import ask_checker
from gradebox.eval.grading.known.verification import NOT_RUN, Verification, VerifiedSubmission
from gradebox.eval.grading.session import GradingSession
from gradebox.eval.problems.problem import Problem
from gradebox.sandbox.errors import SandboxError

REMEDY = "repair it, or choose other problems with --problems"


class SelfCheck:
    """One self-check of a session's problems."""

    def __init__(self, session: GradingSession, stopper: Stopper, retry: Retry) -> None:
        self._session, self._stopper, self._retry = session, stopper, retry
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()

    def run(self) -> str:
        """Return a summary line; raise InputError, naming problem and checker, for a fault."""
        started, problems, options = time.monotonic(), self._problems(), self._session.options
        with ThreadPoolExecutor(options.workers) as pool:
            try:
                for _ in pool.map(self._check_checker, problems.values()):
                    pass
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        if not self._stopper.event.is_set():
            Verification(
                self._session, self._stopper, measure=False, problems=list(problems),
                submissions=options.self_check_solutions, retry=self._retry,
            ).run(self._compare)  # fmt: skip
        counts = self._counts
        left_out = f", {counts['left out']} could not be" * (counts["left out"] > 0)
        return (
            f"self-check: {counts['checkers']} checkers asked {counts['asked']} times, "
            f"{counts['right']} right and {counts['wrong']} wrong programs graded{left_out}: "
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
            for wrong, found in ask_checker(self._session, problem, self._retry, kinds):
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

    def _compare(self, known: VerifiedSubmission) -> None:
        """Raise InputError when a known solution has another status than expected."""
        name, subject = known.submission, f"self-check: problem {known.problem_id}"
        right, found = known.expected.startswith("AC"), known.found
        if found == "ER":
            raise InputError(f"{subject}: the sandbox failed at {name}: {known.note}; start again")
        if found == "invalid":
            raise InputError(f"{subject}: {name} can't be graded: {known.note}; {REMEDY}")
        if known.as_expected is False and right and found != NOT_RUN:
            raise InputError(
                f"{subject}: the known right solution {name} is {found} at {known.test}: "
                f"{known.note}; is a checker missing, or a test wrong? {REMEDY}"
            )
        if known.as_expected is False and found == "AC":
            raise InputError(f"{subject}: the known wrong solution {name} passes; {REMEDY}")
        with self._lock:
            self._counts["left out" if found == NOT_RUN else "right" if right else "wrong"] += 1
