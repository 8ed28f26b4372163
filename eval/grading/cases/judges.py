"""What judges a problem: its own checker, interactor or manager, or the checker of --checker.

A row's `interactor` is `testlib:FILE.cpp` or `kattis:FILE`. The file must be beside a local
dataset, so that a downloaded dataset cannot choose files of this machine. Interactive solutions run
against it, both in sandboxes.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterable, Iterator
from pathlib import Path

from gradebox.checkers.check import Checker, CheckerError
from gradebox.checkers.interactive import Interactor, judge_interaction, open_interactor, open_sent
from gradebox.checkers.opening import open_checker
from gradebox.checkers.programs import Pass, ProgramChecker, ProgramJudge
from gradebox.checkers.protocols import PROTOCOLS
from gradebox.checkers.values.outputs import OUTPUT_JUDGES, SEVERAL_JUDGES
from gradebox.eval.common.errors import InputError, UnusableProblem
from gradebox.eval.grading.cases.case_run import CaseSettings
from gradebox.eval.grading.cases.outcome import (
    Attempt,
    CaseOutcome,
    Feedback,
    in_passes,
    outcome_of,
)
from gradebox.eval.grading.options import Options
from gradebox.eval.grading.time_policy import run_limits
from gradebox.eval.grading.verdict import Bounds
from gradebox.eval.problems.problem import Problem, TestCase
from gradebox.eval.results.records import stored_text
from gradebox.eval.solutions.graded import checker_program, manager_program
from gradebox.sandbox.errors import BadRequest, SandboxError
from gradebox.sandbox.model import Compiled
from gradebox.sandbox.protocol import Sandbox, can_talk

DEFAULT_COMPARE = "open-r1"
MOST_RESULTS_BYTES = 128 << 20  # sent by a solution of assert tests; 147 MB of a row of HumanEval+
log = logging.getLogger(__name__)


def open_judge(problem: Problem, options: Options, sandbox: Sandbox) -> Checker | Interactor | None:
    """Open the interactor of a problem, the checker that the options name, or its own checker.

    None: outputs are compared; of an interactive problem, that it can't be run. Raises InputError
    for the named checker, UnusableProblem for the problem's, such as a file that is unreadable or
    outside the dataset's folder.
    """
    with _unusable(problem):
        found = _own_program(problem, options, sandbox)
    if isinstance(found, Interactor) or problem.interactive:
        return found if isinstance(found, Interactor) and can_talk(sandbox) else None
    plain = options.compare == DEFAULT_COMPARE
    if problem.checker_name in SEVERAL_JUDGES and (options.checker or not plain):
        raise UnusableProblem(
            f"problem {problem.id} is unusable: its tests have several right outputs, which only "
            "its own judge compares: leave out --checker and --compare"
        )
    if options.checker:
        return _open_named(options.checker, options, sandbox)
    if found is not None or problem.test_kind == "graded":
        return found
    if problem.checker_name in OUTPUT_JUDGES and not plain:
        return None
    with _unusable(problem):
        return open_checker(
            sandbox,
            source=problem.checker,
            name=problem.checker_name,
            testlib=options.testlib,
            testlib_source=problem.testlib_checker,
            programs=False,
            within=local_folder(options.dataset),
        )


def _own_program(
    problem: Problem, options: Options, sandbox: Sandbox
) -> ProgramChecker | Interactor | None:
    """Return a problem's interactor, or its checker where the row has it whole."""
    if problem.judge_program is not None:
        return open_sent(problem.judge_program, sandbox)
    if problem.test_kind == "graded":
        if manager := manager_program(problem):
            cms, name = PROTOCOLS["cms-manager"], "manager.cpp"
            return Interactor(sandbox, cms, manager, name=name, full_points=1.0)
        if checker := checker_program(problem):
            cms, name = PROTOCOLS["cms"], "checker.cpp"
            return ProgramChecker(sandbox, cms, checker, name=name, full_points=1.0)
    folder = local_folder(options.dataset)
    if problem.interactor is None or folder is None:
        return None
    return open_interactor(sandbox, problem.interactor, testlib=options.testlib, within=folder)


@contextlib.contextmanager
def _unusable(problem: Problem, what: str = "") -> Iterator[None]:
    try:
        yield
    except CheckerError as e:
        raise UnusableProblem(f"problem {problem.id} is unusable: {what}{e}") from None


def check_judge(problem: Problem, judge: Checker | Interactor | None) -> None:
    """Raise UnusableProblem for arguments of a test, or passes, that its judge does not have."""
    if problem.passes > 1 and not isinstance(judge, ProgramJudge):
        raise UnusableProblem(
            f"problem {problem.id} is unusable: passes is {problem.passes}, but only a validator "
            "can ask for another pass: name one, such as kattis:FILE"
        )
    for args in {info.args for info in problem.test_info}:
        with _unusable(problem, f"args of a test, {' '.join(args)}: "):
            if judge is not None:
                judge.for_test(args, None)


def local_folder(dataset: str) -> Path | None:
    """Return the folder in which rows of a data set may name files, None for one of the hub."""
    path = Path(dataset).expanduser()
    if path.is_dir():
        return path.resolve()
    return path.resolve().parent if path.is_file() else None


def try_named_checker(options: Options, sandbox: Sandbox) -> None:
    """Raise InputError when the checker of --checker cannot be opened or compiled."""
    name = options.checker or ""
    checker = _open_named(name, options, sandbox)
    if checker is None:
        return
    try:
        checker.prepare()
    except (CheckerError, BadRequest) as e:
        raise InputError(f"--checker {name}: {e}") from None
    except SandboxError as e:
        if e.lasting:
            raise InputError(f"--checker {name}: {e}") from None
        log.warning("--checker %s: %s; it is tried again with the first case", name, e)


def _open_named(name: str, options: Options, sandbox: Sandbox) -> Checker | None:
    try:
        return open_checker(sandbox, source=None, name=name, testlib=options.testlib)
    except CheckerError as e:
        raise InputError(f"--checker {name}: {e}") from None


def interactive_attempt(
    settings: CaseSettings,
    bounds: Bounds,
    compiled: Compiled,
    interactor: Interactor,
    problem: Problem,
) -> Attempt:
    """Return a function that runs and judges one case of an interactive problem.

    A run near the time limit is not repeated alone, because the dialogue may change from run
    to run.
    """

    def attempt(test: TestCase) -> CaseOutcome:
        if problem.passes == 1:
            return talk(test, None)[0]
        return in_passes(test, problem.passes, bounds, talk)

    def talk(test: TestCase, feedback: Feedback | None) -> tuple[CaseOutcome, Pass | None]:
        info = problem.info_of(test.case_type, test.index)
        expected_bytes = MOST_RESULTS_BYTES if problem.test_kind == "assert" else 0
        result = judge_interaction(
            settings.sandbox,
            compiled,
            interactor.for_test(info.args, info.points),
            test.input,
            test.expected,
            run_limits(bounds, expected_bytes),
            feedback,
        )
        settings.on_run(result.execution)
        asked = result.asked
        transcript = _transcript_text(result.transcript, settings.stored_bytes)
        # An accepted solution must also keep its limits. A rejected one may have been ended by
        # the rejection, which must not count as a second failure.
        accepted = result.check.accepted
        x = result.execution if accepted else result.execution_for_verdict
        check = result.check
        outcome = outcome_of(x, bounds, x.stdout, lambda: check, transcript=transcript)
        return outcome._replace(execution=result.execution), asked

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
