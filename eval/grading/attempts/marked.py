"""Assert tests that run in the process of the solution, and end with a mark."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace

from gradebox.eval.grading.case_run import (
    Attempt,
    CaseOutcome,
    CaseSettings,
    check_evidence,
    outcome_of,
)
from gradebox.eval.grading.time_policy import must_run_alone, run_limits
from gradebox.eval.grading.verdict import EQUAL, Bounds, Match, judge, whole_output
from gradebox.eval.problems.problem import TestCase
from gradebox.sandbox.model import Compiled, Execution

NOT_HELD = Match(False, "the program ended before its last test")


def marked_attempt(
    settings: CaseSettings,
    bounds: Bounds,
    compiled: Compiled,
    text: Callable[[TestCase], bytes],
) -> Attempt:
    """Return a function that runs the tests of a marked program with a secret of their own.

    text  what stands behind the secret on stdin
    """

    def run(test: TestCase, alone: bool) -> tuple[Execution, bool]:
        secret = secrets.token_hex(16).encode()
        stdin = secret + b"\n" + text(test)
        x = settings.sandbox.run(compiled, run_limits(bounds), stdin=stdin, alone=alone)
        settings.on_run(x)
        check_evidence(x)
        before, mark, after = x.stdout.rpartition(b"\n" + secret + b"\n")
        return replace(x, stdout=before + after), bool(mark)

    def attempt(test: TestCase) -> CaseOutcome:
        x, held = run(test, alone=False)
        contended = must_run_alone(x, bounds)
        if contended:
            x, held = run(test, alone="alone" in settings.sandbox.capabilities)
        if not whole_output(x, bounds):
            return CaseOutcome(x, x.stdout, judge(x, bounds, None), None, contended=contended)
        found = EQUAL if held else NOT_HELD
        return outcome_of(x, bounds, x.stdout, found, contended=contended)

    return attempt
