"""Try the checker of a case on three outputs, and print what follows from its results.

the program's output       the verdict depends on this result
the expected output        if it is rejected, the checker or the test is wrong
an empty output            if it is accepted, the checker may accept anything
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gradebox.checkers.check import Check
from gradebox.eval.common.errors import InputError
from gradebox.eval.common.terminal import Row, Span, row, wrap_words
from gradebox.eval.debugging.explain import run_again
from gradebox.eval.debugging.page_parts import block, heading, result_name, size, title
from gradebox.eval.debugging.reopen import OpenedCase
from gradebox.eval.grading.cases.case_run import checker_of
from gradebox.sandbox.errors import SandboxError

EXPECTED = "the expected output"
RESULT_STYLES = {"accepted": "good", "unclear": "warn"}


class Trial(NamedTuple):
    """The checker's result on one output."""

    name: str
    output: bytes
    check: Check


def try_checker(case: OpenedCase) -> list[Trial]:
    """Run the checker on the program's output, the expected output and an empty one.

    Raises InputError when there is no checker or no output, and when the sandbox fails.
    """
    checker, problem = case.resources.checker, case.solution_run.problem.id
    if case.interactive:
        raise InputError(
            f"problem {problem} has an interactor instead of a checker; leave --checker out"
        )
    if checker is None:
        raise InputError(
            f"problem {problem} has no checker; leave --checker out, or name one with "
            "--with-checker"
        )
    test = case.test
    checker = checker_of(case.resources.problem, checker, test) or checker
    outputs = (_program_output(case), (EXPECTED, test.expected), ("an empty output", b""))
    try:
        return [
            Trial(name, output, checker.check(test.input, output, test.expected))
            for name, output in outputs
        ]
    except SandboxError as e:
        raise InputError(f"the sandbox failed: {e}; try again") from None


def _program_output(case: OpenedCase) -> tuple[str, bytes]:
    """Return the recorded output if it is whole, else that of a new run, with its name."""
    stored = case.recorded_whole_output()
    if stored is not None:
        return "the recorded output", stored
    outcome = run_again(case).outcome
    if outcome is None or outcome.output is None:
        why = "does not compile" if outcome is None else "wrote no output"
        raise InputError(f"the program {why}, so there is nothing to check")
    return "the program's output (run again)", outcome.output


def conclusions(trials: list[Trial]) -> list[str]:
    """Return what the results on the three outputs mean together."""
    program, expected, empty = trials
    found: list[str] = []
    if program.output == expected.output:
        found.append("its bytes are the expected ones: it is accepted without running the checker")
    if not expected.check.full:
        found.append(
            "the checker does not accept the expected output itself "
            f"({result_name(expected.check)}): the checker or the test is at fault, not the "
            "solution"
        )
    elif program.check.outcome == "unclear":
        found.append("the checker failed on this output only: it can't parse the output")
    elif program.check.outcome == "rejected":
        found.append("the checker accepts the expected output and rejects this one")
    elif not program.check.full:
        found.append("the checker accepts the expected output, and this one only in part: WA")
    if empty.check.full and expected.output:
        found.append("the checker accepts an empty output: it may accept anything")
    return found


def checker_page(case: OpenedCase, width: int, *, full: bool) -> Iterator[Row]:
    """Yield the rows of the page: conclusions, each trial, input and expected output."""
    trials = try_checker(case)
    yield from title(case.record, case.name, width)
    yield row(f"checker {case.judge_name}")
    yield row("")
    for text in conclusions(trials):
        for line in wrap_words(text, width, "  "):
            yield row(Span(line, "warn"))
    for trial in trials:
        yield from _trial(trial, width, full=full)
    yield from block("input", case.test.input, width, full=full)
    yield from block("expected output", case.test.expected, width, full=full)


def _trial(trial: Trial, width: int, *, full: bool) -> Iterator[Row]:
    check = trial.check
    result = result_name(check)
    score = "" if check.score is None else f", score {check.score:g}"
    status = "" if check.exit_code is None else f", exit status {check.exit_code}"
    yield row("")
    yield heading(f"{trial.name}, {size(len(trial.output))}", width)
    yield row(
        Span("  " + result, RESULT_STYLES.get(result, "bad")), f" ({check.verdict}){score}{status}"
    )
    for line in wrap_words(check.message, width - 2):
        yield row("  " + line)
    if trial.output and trial.name != EXPECTED:
        yield from block("output", trial.output, width, full=full)
    if check.stdout:
        yield from block("checker's stdout", check.stdout, width, full=full)
    if check.stderr:
        yield from block("checker's stderr", check.stderr, width, full=full, tail=True)
