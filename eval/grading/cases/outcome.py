"""How a run of a case turned out, or several runs of a problem of several passes.

    test ─ run, judge ─▶ accepted, with a next input ─ run, judge ─▶ … ─▶ one outcome

A validator asks for a further pass, and finds the files of its feedback folder again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from gradebox.checkers.check import Check, unclear
from gradebox.checkers.programs import Pass
from gradebox.eval.grading.verdict import (
    Bounds,
    CaseJudgement,
    Match,
    judge,
    judge_untimed,
    whole_output,
)
from gradebox.eval.problems.problem import TestCase
from gradebox.sandbox.model import Execution


class CaseOutcome(NamedTuple):
    """A run of a case and how it was judged.

    output         None when the output file was not written
    output_passed  verdict on the output alone, whatever the time; None when it was not judged
    contended      the run was repeated alone because load could have changed its verdict
    transcript     of an interaction
    marked         why the tests ran in the process of the solution, "" when they did not
    passes         runs of a problem of several passes, else 0
    """

    execution: Execution
    output: bytes | None
    judgement: CaseJudgement
    output_passed: bool | None
    check: Check | None = None
    contended: bool = False
    transcript: str | None = None
    marked: str = ""
    passes: int = 0


Attempt = Callable[[TestCase], CaseOutcome]


def outcome_of(
    execution: Execution,
    bounds: Bounds,
    output: bytes | None,
    find: Callable[[], Match | Check],
    **more: Any,
) -> CaseOutcome:
    """Return the outcome of a run.

    find  compares or checks the output; called when that is whole
    more  `contended` and `transcript` of the outcome
    """
    if not whole_output(execution, bounds):
        return CaseOutcome(execution, output, judge(execution, bounds, None), None, **more)
    found = find()
    judgement = judge(execution, bounds, found)
    untimed = judge_untimed(found) if judgement.verdict == "TLE" else judgement
    check = found if isinstance(found, Check) else None
    return CaseOutcome(execution, output, judgement, untimed.passed, check, **more)


Feedback = Mapping[str, bytes]  # what a validator left in its folder


def in_passes(
    test: TestCase,
    most: int,
    bounds: Bounds,
    run: Callable[[TestCase, Feedback], tuple[CaseOutcome, Pass | None]],
) -> CaseOutcome:
    """Run a test, and again as long as its validator asks for that with a new input.

    run  runs and judges one pass; what the validator said, None when it was not asked

    The limits are those of each pass. The outcome has the most that a pass used.
    """
    feedback: Feedback = {}
    outcomes: list[CaseOutcome] = []
    while True:
        outcome, found = run(test, feedback)
        outcomes.append(outcome)
        accepted = found is not None and outcome.output_passed is not None and found.check.accepted
        if found is None or found.next_input is None or not accepted:
            break
        if outcome.judgement.verdict == "TLE":
            break
        if len(outcomes) == most:
            why = f"the validator asks for pass {most + 1}, but passes is {most}"
            ask = partial(unclear, why)
            outcome = outcome_of(outcome.execution, bounds, outcome.output, ask)
            break
        test = replace(test, input=found.next_input)
        feedback = found.feedback
    x = replace(
        outcome.execution,
        cpu_s=max(one.execution.cpu_s for one in outcomes),
        wall_s=sum(one.execution.wall_s for one in outcomes),
        memory_bytes=max(one.execution.memory_bytes or 0 for one in outcomes) or None,
    )
    talks = [one.transcript for one in outcomes if one.transcript is not None]
    return outcome._replace(
        execution=x,
        contended=any(one.contended for one in outcomes),
        transcript="\n".join(talks) if talks else None,
        passes=len(outcomes),
    )
