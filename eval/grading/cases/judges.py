"""What judges a problem: its own checker, interactor or manager, or the checker of --checker.

A row's `interactor` is `testlib:FILE.cpp` or `kattis:FILE`. The file must be beside a local
dataset, so that a downloaded dataset cannot choose files of this machine. Interactive solutions run
against it, both in sandboxes.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path

from gradebox.checkers.check import Checker, CheckerError
from gradebox.checkers.interactive import Interactor, judge_interaction, open_interactor, open_sent
from gradebox.checkers.opening import checker_for_test, open_checker
from gradebox.checkers.programs import Pass, ProgramChecker, ProgramRuns
from gradebox.checkers.protocols import PROTOCOLS
from gradebox.checkers.values.outputs import OUTPUT_JUDGES
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
from gradebox.eval.grading.verdict import Bounds, judge, whole_output
from gradebox.eval.problems.problem import Problem, TestCase
from gradebox.eval.results.records import stored_text
from gradebox.eval.solutions.graded import checker_program, manager_program
from gradebox.sandbox.errors import BadRequest, SandboxError
from gradebox.sandbox.model import Compiled
from gradebox.sandbox.protocol import Sandbox, can_talk

DEFAULT_COMPARE = "open-r1"
log = logging.getLogger(__name__)


def open_judge(
    problem: Problem, name: str | None, options: Options, sandbox: Sandbox
) -> Checker | None:
    """Open the checker `name` if given, else the problem's own, None if it has none.

    Raises InputError for the named one, UnusableProblem for the problem's.
    """
    if name:
        return _open_named(name, options, sandbox)
    if problem.judge_program is not None:
        judge = _open_sent(problem, sandbox)
        return judge if isinstance(judge, ProgramChecker) else None
    if problem.test_kind == "graded":
        return open_checker_of(problem, sandbox)
    if problem.checker_name in OUTPUT_JUDGES and options.compare != DEFAULT_COMPARE:
        return None
    try:
        return open_checker(
            sandbox,
            source=problem.checker,
            name=problem.checker_name,
            testlib=options.testlib,
            testlib_source=problem.testlib_checker,
            programs=False,
            within=local_folder(options.dataset),
        )
    except CheckerError as e:
        raise UnusableProblem(f"problem {problem.id} is unusable: {e}") from None


def check_judge(problem: Problem, judge: Checker | Interactor | None) -> None:
    """Raise UnusableProblem for arguments of a test, or passes, that its judge does not have."""
    where = f"problem {problem.id} is unusable: "
    if problem.passes > 1 and not isinstance(judge, (ProgramChecker, Interactor)):
        raise UnusableProblem(
            f"{where}passes is {problem.passes}, but only a validator can ask for another pass: "
            "name one, such as kattis:FILE"
        )
    for args in {info.args for info in problem.test_info}:
        try:
            if not isinstance(judge, Interactor):
                checker_for_test(judge, args, None)
        except CheckerError as e:
            raise UnusableProblem(f"{where}args of a test, {' '.join(args)}: {e}") from None


def open_sent_interactor(problem: Problem, sandbox: Sandbox) -> Interactor | None:
    """Open the interactor that came with a problem. Raises UnusableProblem."""
    judge = None if problem.judge_program is None else _open_sent(problem, sandbox)
    return judge if isinstance(judge, Interactor) else None


def _open_sent(problem: Problem, sandbox: Sandbox) -> ProgramChecker | Interactor:
    try:
        return open_sent(problem.judge_program or {}, sandbox)
    except CheckerError as e:
        raise UnusableProblem(f"problem {problem.id} is unusable: {e}") from None


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
    finally:
        checker.close()


def _open_named(name: str, options: Options, sandbox: Sandbox) -> Checker | None:
    try:
        return open_checker(sandbox, source=None, name=name, testlib=options.testlib)
    except CheckerError as e:
        raise InputError(f"--checker {name}: {e}") from None


def open_checker_of(problem: Problem, sandbox: Sandbox) -> ProgramChecker | None:
    """Return the checker in the files of a graded problem, None when there is none."""
    program = checker_program(problem)
    if program is None:
        return None
    return ProgramChecker(sandbox, PROTOCOLS["cms"], program, name="checker.cpp", full_points=1.0)


def open_manager(problem: Problem, sandbox: Sandbox) -> Interactor | None:
    """Return the manager of a graded problem; None without one."""
    program = manager_program(problem)
    if program is None:
        return None
    runs = ProgramRuns(sandbox, program)
    return Interactor(PROTOCOLS["cms-manager"], runs, name="manager.cpp", full_points=1.0)


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

    def talk(test: TestCase, feedback: Feedback | None) -> tuple[CaseOutcome, Pass]:
        info = problem.info_of(test.case_type, test.index)
        result = judge_interaction(
            settings.sandbox,
            compiled,
            interactor.for_test(info.args, info.points),
            test.input,
            test.expected,
            run_limits(bounds),
            feedback,
        )
        settings.on_run(result.execution)
        asked = Pass(result.check, result.next_input, result.feedback)
        transcript = _transcript_text(result.transcript, settings.stored_bytes)
        # An accepted solution must also keep its limits. A rejected one may have been ended by
        # the rejection, which must not count as a second failure.
        accepted = result.check.accepted
        x = result.execution if accepted else result.execution_for_verdict
        if not whole_output(x, bounds):
            judgement = judge(x, bounds, None)
            return CaseOutcome(x, x.stdout, judgement, None, transcript=transcript), asked
        outcome = outcome_of(x, bounds, x.stdout, result.check, transcript=transcript)
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
