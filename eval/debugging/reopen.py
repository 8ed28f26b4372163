"""Reopen a recorded case with the flags, files and sandbox of its run.

    metrics["flags"] + Overrides ─▶ Options ─▶ GradingSession
    record, case ─▶ OpenedCase (program, test, checker, limits; unchanged since the run?)

Flags record paths as the user typed them. They are looked up in the folder in which the run was
started, in the current folder, and in those above the results.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from gradebox.checkers.check import CheckerError
from gradebox.checkers.opening import split_path
from gradebox.eval.common.errors import InputError, shown
from gradebox.eval.debugging.find import Json, Results, case_name
from gradebox.eval.grading.cases.case_run import CaseSettings
from gradebox.eval.grading.flag import flag_name
from gradebox.eval.grading.options import FLAGS, Options
from gradebox.eval.grading.resources import ProblemResources
from gradebox.eval.grading.session import GradingSession
from gradebox.eval.grading.solution_run import SolutionRun
from gradebox.eval.grading.verdict import Bounds
from gradebox.eval.problems.problem import TestCase, TestRef
from gradebox.eval.results.records import METRICS_NAME, recorded_output
from gradebox.eval.solutions.files import find_files
from gradebox.eval.solutions.program import program_of
from gradebox.eval.solutions.reader import recorded_solution
from gradebox.eval.solutions.solution import Solution
from gradebox.sandbox.common.loopback import is_loopback
from gradebox.sandbox.endpoints import endpoints_from, normalise
from gradebox.sandbox.errors import BadRequest, SandboxError
from gradebox.sandbox.model import Compiled
from gradebox.sandbox.protocol import Sandbox

TRANSCRIPT_BYTES = 1 << 16
_PATH_FLAGS = ("dataset", "generated_tests_dir", "testlib")
_SKIPPED_BY_CHOICE = ("skipped_large_input", "budget_exceeded")
_CHECKER_FILE_KINDS = ("python", "testlib", "kattis")


@dataclass(frozen=True)
class Overrides:
    """What the user gives instead of the run's flags; None keeps the run's.

    checker  judges instead of the run's checker (`--with-checker`)
    """

    solutions_path: str | None = None
    dataset: str | None = None
    generated_tests_dir: str | None = None
    testlib: str | None = None
    checker: str | None = None
    sandbox: str | None = None
    endpoint: tuple[str, ...] | None = None
    allow_unsafe_sandbox: bool = False
    workers: int = 0


def run_options(results: Results, overrides: Overrides) -> Options:
    """Return the run's options with the overrides applied; InputError when they are unusable.

    A folder from elsewhere must not disable isolation or choose where tests and the access token
    are sent: allow_unsafe_sandbox is never taken from the results, servers on other machines only
    when PISTON_ENDPOINTS names them too.
    """
    folders = _folders_of_paths(results)
    known = {name: flag_name(name) for name, flag in FLAGS.items() if flag.reopened}
    values = {n: results.flags[flag] for n, flag in known.items() if flag in results.flags}
    solutions = overrides.solutions_path or results.run.get("solutions_file")
    if not isinstance(solutions, str):
        raise InputError(
            f"{results.folder} has no usable {METRICS_NAME}: the run is unfinished; start it "
            "again, or give --solutions-path and --dataset"
        )
    for name in _PATH_FLAGS:
        if isinstance(values.get(name), str):
            values[name] = _find_path(values[name], folders)
    if isinstance(values.get("checker"), str):
        values["checker"] = _find_checker_file(values["checker"], folders)
    if overrides.solutions_path is None:
        solutions = _find_path(solutions, folders)
    values |= _sandbox_options(results, overrides)
    if values.get("sandbox") == "piston" and overrides.endpoint is None:
        _check_servers(results, values.get("endpoint"))
    of_run = ("solutions_path", "sandbox", "endpoint")
    given = {n: v for n, v in asdict(overrides).items() if v is not None and n not in of_run}
    try:
        return Options(solutions_path=solutions, **{**values, **given})
    except (InputError, TypeError, ValueError, AttributeError) as e:
        raise InputError(
            f"the flags in {results.folder / METRICS_NAME} are unusable: {e}; start the run again"
        ) from None


def solutions_file(results: Results, overrides: Overrides) -> Path:
    """Return the solutions file of a run; InputError when it can't be found."""
    return find_files(list(run_options(results, overrides).solutions_path))[0]


def _sandbox_options(results: Results, overrides: Overrides) -> dict[str, Any]:
    """Return the options that open the kind of sandbox of the run, or the one given."""
    if overrides.endpoint is not None:
        return {"sandbox": overrides.sandbox or "piston", "endpoint": overrides.endpoint}
    if overrides.sandbox not in (None, "local"):
        return {"sandbox": overrides.sandbox}
    if results.part("sandbox").get("backend") == "piston" and overrides.sandbox is None:
        return {"sandbox": "piston"}
    return {"sandbox": "local", "endpoint": ()}


def _check_servers(results: Results, recorded: Any) -> None:
    """Raise InputError for a recorded server that neither this machine nor the user vouches for."""
    try:
        servers = [normalise(url) for url in recorded or ()]
        known = set(endpoints_from(()))
    except (TypeError, AttributeError, SandboxError):
        return  # unusable values are reported where they are used
    for server in servers:
        if server not in known and not is_loopback(urlsplit(server).hostname):
            raise InputError(
                f"{results.folder / METRICS_NAME} names the server {shown(server)}, and a results "
                "folder does not decide where tests are sent: give --endpoint yourself"
            )


def _folders_of_paths(results: Results) -> list[Path]:
    started = results.run.get("folder")
    first = [Path(started)] if isinstance(started, str) else []
    folder = results.folder.resolve()
    return [*first, Path(), folder, *folder.parents]


def _find_path(text: str, folders: list[Path]) -> str:
    """Return the path in the first folder where it exists; else the text unchanged."""
    for folder in folders:
        with contextlib.suppress(OSError, ValueError):
            path = folder / Path(text).expanduser()
            if path.exists():
                return str(path)
    return text


def _find_checker_file(name: str, folders: list[Path]) -> str:
    """Return a recorded name of a checker with the path of its file found again."""
    kind, colon, rest = name.partition(":")
    if not colon or kind not in _CHECKER_FILE_KINDS:
        return name
    with contextlib.suppress(CheckerError):
        path, _ = split_path(rest, kind)
        found = _find_path(str(path), folders)
        return f"{kind}:{rest.replace(str(path), found, 1)}"
    return name


def _solution_of(session: GradingSession, record: Json) -> Solution:
    """Return the solution of a record; InputError when its line holds another solution now."""
    file = session.files[0]
    found, _ = recorded_solution(file, record)
    problem = session.problems.resolve(found.problem_id) or found.problem_id
    if problem != record.get("problem_id"):
        raise InputError(
            f"line {found.line} of {file} is now of problem {shown(problem)}, but the record is of "
            f"{shown(record.get('problem_id'))}; give the run's own file with --solutions-path"
        )
    if found.error is not None:
        raise InputError(f"{file}: {found.error}; this line was not graded")
    names = {name: record[name] for name in ("problem_id", "solution_id", "sample_i")}
    return replace(found, **names)


@dataclass
class OpenedCase:
    """A recorded case with everything that grades it.

    record     of the solution
    recorded   the case in it
    unchanged  whether everything that the verdict depends on is as in the run; None: unknown
    """

    record: Json
    recorded: Json
    solution_run: SolutionRun
    resources: ProblemResources
    test: TestCase
    ref: TestRef
    settings: CaseSettings
    session: GradingSession
    unchanged: bool | None

    @property
    def bounds(self) -> Bounds:
        """The limits that decide the verdict."""
        return self.solution_run.bounds

    @property
    def name(self) -> str:
        """The case as --case takes it."""
        return case_name(self.recorded)

    @property
    def judge_name(self) -> str:
        """The name of the checker or interactor; "" when outputs are only compared."""
        judge = self.resources.judge
        return judge.name if judge is not None else ""

    @property
    def interactive(self) -> bool:
        return self.resources.interactor is not None

    @property
    def by_file(self) -> bool:
        """Whether the program reads input.txt and writes output.txt."""
        return self.solution_run.problem.input_mode == "file"

    def recorded_whole_output(self) -> bytes | None:
        """Return the recorded output of a program that ended normally; None if cut."""
        return recorded_output(self.recorded) if self.recorded.get("exit_code") == 0 else None

    def compile(self) -> Compiled:
        """Compile the program. Raises InputError for a solution without code, and SandboxError."""
        solution = self.solution_run.solution
        if solution.code is None:
            raise InputError(f"line {solution.line} has no code, so there is nothing to run")
        settings, run = self.settings, self.solution_run
        program = program_of(solution.code, run.language, run.problem, solution.files)
        try:
            return settings.retry.call(lambda: settings.sandbox.compile(program), "compiling")
        except BadRequest as e:  # the sandbox refuses the program
            return Compiled(program, ok=False, log=str(e).encode())


def check_runnable(record: Json, case: Json | None) -> None:
    """Raise InputError for a solution or a case that no run can judge."""
    if case is not None and case.get("reason") == "unsupported_interactive":
        raise InputError(
            "an interactive problem without an interactor can't be run; docs/checkers.md "
            "describes how to add one"
        )
    if case is None and not record.get("details"):
        why = str(record.get("error") or "no test").rstrip(".")
        raise InputError(f"no case was run, status {shown(record.get('status'))}: {why}")


@contextlib.contextmanager
def open_case(
    results: Results,
    record: Json,
    case: Json,
    overrides: Overrides,
    sandbox: Sandbox | None = None,
) -> Iterator[OpenedCase]:
    """Open a case of a record until the block ends.

    sandbox  the sandbox to use; None: that of the run is opened

    Raises InputError when something that the run used is missing.
    """
    check_runnable(record, case)
    options = run_options(results, overrides)
    skipped = case.get("reason") in _SKIPPED_BY_CHOICE
    if skipped:
        options = replace(options, skip_large_inputs_over=-1, max_generated_bytes_per_problem=-1)
    with GradingSession(options, sandbox) as session, case_in(session, record, case) as opened:
        if skipped or overrides.checker:
            opened.unchanged = None
        yield opened


@contextlib.contextmanager
def case_in(
    session: GradingSession, record: Json, case: Json, solution: Solution | None = None
) -> Iterator[OpenedCase]:
    """Open a case of a record in a session until the block ends.

    solution  is run instead of the record's, which is read from the solutions file

    Raises InputError when something that the run used is missing.
    """
    solution = solution or _solution_of(session, record)
    problem = session.problems.get(solution.problem_id)
    if problem is None:
        raise InputError(session.problems.why_missing(solution.problem_id))
    resources = session.resources.acquire(problem)
    try:
        test_set = session.resources.info(problem)
        solution_run = session.context.solution_run(solution, problem, test_set)
        ref = _find_test(resources, case, session.options)
        yield OpenedCase(
            record=record,
            recorded=case,
            solution_run=solution_run,
            resources=resources,
            test=resources.tests.load(ref),
            ref=ref,
            settings=session.case_settings(stored_bytes=TRANSCRIPT_BYTES, repeat=1),
            session=session,
            unchanged=solution_run.key == record.get("key"),
        )
    finally:
        session.resources.release(resources)


def _find_test(resources: ProblemResources, case: Json, options: Options) -> TestRef:
    for ref in resources.tests.plan:
        if (ref.case_type, ref.index) == (case["case_type"], case["test_case_i"]) and not ref.skip:
            return ref
    raise InputError(
        f"test {case_name(case)} of problem {resources.problem.id} is no longer in "
        f"{options.dataset} or {options.generated_tests_dir or 'a folder of generated tests'}; "
        "give --dataset or --generated-tests-dir"
    )
