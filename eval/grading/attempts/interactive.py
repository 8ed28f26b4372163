"""Interactive problems: the solution runs against the problem's interactor, both in sandboxes.

The problem's `interactor` field is `testlib:FILE.cpp` or `kattis:FILE`. The file must be beside
a local dataset, so that a downloaded dataset cannot choose files of this machine.
"""

from __future__ import annotations

from collections.abc import Iterable

from gradebox.checkers.check import CheckerError
from gradebox.checkers.interactive import Interactor, judge_interaction, open_interactor
from gradebox.eval.common.errors import UnusableProblem
from gradebox.eval.grading.attempts.graded import open_manager
from gradebox.eval.grading.case_run import Attempt, CaseOutcome, CaseSettings, outcome_of
from gradebox.eval.grading.judges import local_folder, open_sent_interactor
from gradebox.eval.grading.time_policy import run_limits
from gradebox.eval.grading.verdict import Bounds, judge, whole_output
from gradebox.eval.problems.problem import Problem, TestCase
from gradebox.eval.results.records import stored_text
from gradebox.sandbox.model import Compiled
from gradebox.sandbox.protocol import Sandbox, can_talk


def open_problem_interactor(
    problem: Problem, sandbox: Sandbox, dataset: str, testlib: str | None
) -> Interactor | None:
    """Return the problem's interactor, None when it has none or the sandbox supports none.

    Raises UnusableProblem for a file that is unreadable or outside the dataset's folder.
    """
    folder = local_folder(dataset)
    if not can_talk(sandbox):
        return None
    if problem.judge_program is not None:
        return open_sent_interactor(problem, sandbox)
    if problem.test_kind == "graded":
        return open_manager(problem, sandbox)
    if problem.interactor is None or folder is None:
        return None
    try:
        return open_interactor(sandbox, problem.interactor, testlib=testlib, within=folder)
    except CheckerError as e:
        raise UnusableProblem(f"problem {problem.id} is unusable: {e}") from None


def interactive_attempt(
    settings: CaseSettings, bounds: Bounds, compiled: Compiled, interactor: Interactor
) -> Attempt:
    """Return a function that runs and judges one case of an interactive problem.

    A run near the time limit is not repeated alone, because the dialogue may change from run
    to run.
    """

    def attempt(test: TestCase) -> CaseOutcome:
        result = judge_interaction(
            settings.sandbox, compiled, interactor, test.input, test.expected, run_limits(bounds)
        )
        settings.on_run(result.execution)
        transcript = _transcript_text(result.transcript, settings.stored_bytes)
        # An accepted solution must also keep its limits. A rejected one may have been ended by
        # the rejection, which must not count as a second failure.
        accepted = result.check.accepted
        x = result.execution if accepted else result.execution_for_verdict
        if not whole_output(x, bounds):
            return CaseOutcome(x, x.stdout, judge(x, bounds, None), None, transcript=transcript)
        outcome = outcome_of(x, bounds, x.stdout, result.check, transcript=transcript)
        return outcome._replace(execution=result.execution)

    return attempt


def _transcript_text(transcript: Iterable[tuple[str, bytes]], limit: int) -> str:
    """Return the dialogue with a line for each message: `solution: …`, `interactor: …`."""
    names = {"first": "solution", "second": "interactor"}
    lines, left = [], limit
    for writer, data in transcript:
        if left <= 0:
            break
        lines.append(f"{names[writer]}: {stored_text(data, left)}")
        left -= len(data)
    return "\n".join(line.rstrip("\n") for line in lines)
