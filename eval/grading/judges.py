"""Open the checker that judges a problem: its own, or the one of --checker."""

from __future__ import annotations

import logging
from pathlib import Path

from gradebox.checkers.check import Checker, CheckerError
from gradebox.checkers.interactive import Interactor, open_sent
from gradebox.checkers.opening import open_checker
from gradebox.checkers.programs import ProgramChecker
from gradebox.checkers.values.outputs import OUTPUT_JUDGES
from gradebox.eval.common.errors import InputError, UnusableProblem
from gradebox.eval.grading.attempts.graded import open_checker_of
from gradebox.eval.grading.options import Options
from gradebox.eval.problems.problem import Problem
from gradebox.sandbox.errors import BadRequest, SandboxError
from gradebox.sandbox.protocol import Sandbox

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
