"""Cases whose tests are compiled with the program (`gradebox.eval.solutions.marked`)."""

from __future__ import annotations

import secrets
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


def marked_attempt(settings: CaseSettings, bounds: Bounds, compiled: Compiled) -> Attempt:
    """Return a function that runs the tests of a marked program with a secret of their own."""

    def run(alone: bool) -> tuple[Execution, bool]:
        secret = secrets.token_hex(16).encode()
        x = settings.sandbox.run(compiled, run_limits(bounds), stdin=secret + b"\n", alone=alone)
        settings.on_run(x)
        check_evidence(x)
        before, mark, after = x.stdout.rpartition(b"\n" + secret + b"\n")
        return replace(x, stdout=before + after), bool(mark)

    def attempt(_test: TestCase) -> CaseOutcome:
        x, held = run(alone=False)
        contended = must_run_alone(x, bounds)
        if contended:
            x, held = run(alone="alone" in settings.sandbox.capabilities)
        if not whole_output(x, bounds):
            return CaseOutcome(x, x.stdout, judge(x, bounds, None), None, contended=contended)
        found = EQUAL if held else NOT_HELD
        return outcome_of(x, bounds, x.stdout, found, contended=contended)

    return attempt
