"""Python's assert tests: apart from the solution, and together with a mark where they cannot be.

    apart ─▶ held or not ────────────────────────────────────────────▶ outcome
      └──▶ not held ─ do the tests work apart? ─ yes ────────────────▶ outcome
                        └─ no ─▶ together ───────────────────────────▶ outcome, `marked` says why

Whether they do never depends on the solution alone: with a known solution in the row, they do not
when that one fails apart and passes together, because it prints what they capture, or its result
takes too much memory to be sent (Mbpp/255); without one, when they pass an object of a class that
the solution cannot have made.

Classes of tests whose row says `together` (formats/suites.py) always run there: they replace
functions of modules, and look at files and at objects of libraries. What a solution fails, where
the known one fails in both ways, is unclear: the row is wrong, as HumanEval+'s 32, or a library,
data or a network is missing here.
"""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from gradebox.checkers.check import Check, unclear
from gradebox.checkers.interactive import Interactor
from gradebox.checkers.protocols import TESTS
from gradebox.checkers.values.programs import (
    joined_program,
    reference_program,
    tester_program,
)
from gradebox.eval.grading.cases.case_run import CaseSettings, check_evidence
from gradebox.eval.grading.cases.judges import interactive_attempt
from gradebox.eval.grading.cases.outcome import Attempt, CaseOutcome, outcome_of
from gradebox.eval.grading.time_policy import must_run_alone, run_limits
from gradebox.eval.grading.verdict import EQUAL, Bounds, Match, judge_untimed
from gradebox.eval.problems.problem import Problem, TestCase
from gradebox.eval.solutions.program import completed, program_of
from gradebox.sandbox.model import Compiled, Execution
from gradebox.sandbox.protocol import Sandbox

MOST_KEPT_BYTES = 16 << 20  # results of a known solution; 2 s of CPU time for each reading
NOT_HELD = Match(False, "the program ended before its last test")


OWN_OBJECT = 4
# Exit statuses of the tests (tester_side.py) after which they run again in one process with the
# solution → the status that counts if they cannot.
DOUBTED = {1: 1, OWN_OBJECT: 3, 5: 3, 6: 1}


class KnownRun(NamedTuple):
    """How the known solution of a row passes a test, or why it does not."""

    way: Literal["apart", "together", "fails"]
    why: str = ""


class AssertTests(Interactor):
    """The tests of a problem, and which of them cannot run apart from a solution."""

    def __init__(self, problem: Problem, sandbox: Sandbox) -> None:
        super().__init__(sandbox, TESTS, tester_program(), name="tests")
        self.problem = problem
        self._known = known_solution(problem)
        self._runs: dict[tuple[str, int], KnownRun] = {}
        self._expectations: dict[tuple[str, int], bytes] = {}
        self._asking = threading.Lock()

    def with_results(self, test: TestCase, bounds: Bounds) -> TestCase:
        """Return a test with what its row's known solution returns, which runs once.

        Raises SandboxError.
        """
        spec = json.loads(test.expected)
        if "reference" not in spec:
            return test
        with self._asking:
            name = (test.case_type, test.index)
            if name not in self._expectations:
                self._expectations[name] = self._expected(test, spec, bounds)
            return replace(test, expected=self._expectations[name])

    def _expected(self, test: TestCase, spec: dict[str, Any], bounds: Bounds) -> bytes:
        """Return a test's `expected` with results; as it is when they are too many to keep."""
        asked = {**spec, "text": test.input.decode()}
        x = self._sandbox.run(
            self._sandbox.compile(reference_program()),
            replace(run_limits(bounds), output_bytes=MOST_KEPT_BYTES),
            stdin=json.dumps(asked).encode(),
        )
        check_evidence(x)
        if x.exit_code != 0 or x.killed_for is not None:
            return test.expected
        try:
            return json.dumps({**spec, "results": json.loads(x.stdout)}).encode()
        except (ValueError, RecursionError):  # the known solution wrote it: the tests say so
            broken = "raise ValueError('it writes something else than its results')"
            return json.dumps({**spec, "reference": broken}).encode()

    def need_the_mark(
        self, test: TestCase, status: int | None, settings: CaseSettings, bounds: Bounds
    ) -> bool:
        """Return whether a test cannot run apart from any solution. Raises SandboxError.

        status  of the tests, one of DOUBTED, with the solution that is graded; None: it ended
                before they did, as at a limit that what it sends to them counts for
        """
        if self._known is None:
            return status == OWN_OBJECT
        return self._known_run(test, self._known, settings, bounds).way == "together"

    def if_known_passes(
        self, outcome: CaseOutcome, test: TestCase, settings: CaseSettings, bounds: Bounds
    ) -> CaseOutcome:
        """Return an outcome; one that is no pass is unclear when the known solution fails too."""
        if outcome.judgement.verdict in ("AC", "CU") or self._known is None:
            return outcome
        known = self._known_run(test, self._known, settings, bounds)
        if known.way != "fails":
            return outcome
        check = unclear(f"the known solution of the row fails here as well: {known.why}")
        return outcome._replace(judgement=judge_untimed(check), output_passed=None, check=check)

    def _known_run(
        self, test: TestCase, code: str, settings: CaseSettings, bounds: Bounds
    ) -> KnownRun:
        with self._asking:
            name = (test.case_type, test.index)
            if name not in self._runs:
                self._runs[name] = self._run_known(test, code, settings, bounds)
            return self._runs[name]

    def _run_known(
        self, test: TestCase, code: str, settings: CaseSettings, bounds: Bounds
    ) -> KnownRun:
        if not json.loads(test.expected).get("together"):
            program = self._sandbox.compile(program_of(code, "python", self.problem))
            if not program.ok:
                return KnownRun("fails", "it does not compile")
            found = interactive_attempt(settings, bounds, program, self, self.problem)(test)
            if found.check is not None and found.check.exit_code not in DOUBTED:
                return KnownRun("apart")
        outcome = together(settings, bounds, self.problem, code, "python", test)
        if outcome is None:
            return KnownRun("fails", "it does not compile")
        if outcome.judgement.verdict == "AC":
            return KnownRun("together")
        return KnownRun("fails", outcome.judgement.error)


def known_solution(problem: Problem) -> str | None:
    """Return the first solution of a row that passes, as it says; None without one."""
    codes = (g.get("code") for g in problem.gold_solutions if g.get("expect") == "passed")
    return next((code for code in codes if isinstance(code, str) and code.strip()), None)


def together(
    settings: CaseSettings,
    bounds: Bounds,
    problem: Problem,
    code: str,
    language: str,
    test: TestCase,
) -> CaseOutcome | None:
    """Run a test in the process of a solution; None when the program does not compile."""
    prelude = problem.prelude.splitlines()
    program = joined_program(completed(code, problem), prelude, language=language)
    compiled: Compiled = settings.sandbox.compile(program)
    spec, began = json.loads(test.expected), secrets.token_hex(16)
    text = json.dumps([test.input.decode(), {**spec, "began": began}]).encode()
    begins = f"\n{began}\n".encode()

    def run(alone: bool) -> tuple[Execution, bool]:
        """Return a run, and whether the tests have held.

        The process reads a secret and the tests before the program begins. It writes the secret
        between line feeds after the last test.
        """
        secret = secrets.token_hex(16).encode()
        stdin = secret + b"\n" + text
        x = settings.sandbox.run(compiled, run_limits(bounds), stdin=stdin, alone=alone)
        settings.on_run(x)
        check_evidence(x)
        before, mark, after = x.stdout.rpartition(b"\n" + secret + b"\n")
        return replace(x, stdout=before + after), bool(mark)

    if not compiled.ok:
        return None
    x, held = run(alone=False)
    contended = must_run_alone(x, bounds)
    if contended:
        x, held = run(alone="alone" in settings.sandbox.capabilities)
    found: Match | Check = EQUAL if held else NOT_HELD
    if "classes" in spec and not held and x.exit_code == 0:
        why = _last_line(x.stderr)
        found = Match(False, why) if begins in x.stdout else unclear(why, x.stderr)
    x = replace(x, stdout=x.stdout.replace(begins, b"", 1))
    return outcome_of(x, bounds, x.stdout, lambda: found, contended=contended)


def assert_attempt(
    settings: CaseSettings,
    bounds: Bounds,
    compiled: Compiled,
    tests: AssertTests,
    run_together: Callable[[TestCase], CaseOutcome | None],
) -> Attempt:
    """Return a function that runs and judges one assert test.

    run_together  runs it in the process of the solution
    """
    apart = interactive_attempt(settings, bounds, compiled, tests, tests.problem)

    def attempt(test: TestCase) -> CaseOutcome:
        spec = json.loads(test.expected)
        test = tests.with_results(test, bounds)
        if spec.get("together"):
            found = run_together(test)
            if found is not None:
                found = found._replace(marked="its tests need the program's process")
                return tests.if_known_passes(found, test, settings, bounds)
        outcome = apart(test)
        check = outcome.check
        status = check.exit_code if check else None
        doubted = check is None or status in DOUBTED
        if doubted and tests.need_the_mark(test, status, settings, bounds):
            found = run_together(test)
            if found is not None:
                why = _last_line(check.stderr) if check else outcome.judgement.error
                return found._replace(marked=why)
        if check is not None and status in DOUBTED:
            outcome = outcome._replace(check=replace(check, exit_code=DOUBTED[status]))
        return tests.if_known_passes(outcome, test, settings, bounds)

    return attempt


def _last_line(text: bytes) -> str:
    lines = text.decode("utf-8", "backslashreplace").strip().splitlines()
    return lines[-1].strip()[:300] if lines else "a value that cannot be sent"
