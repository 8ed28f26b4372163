"""What a run grades with, opened from its options: files, problems, tests, sandbox."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from checkers.choose import open_checker
from checkers.errors import CheckerError
from checkers.protocol import Checker
from eval.generated_tests import GeneratedTests, open_generated_tests
from eval.idle_flags import idle_flags
from eval.input_error import InputError, UnusableProblem
from eval.interactive import interactor_of
from eval.kits import Kit, KitShelf, UnsupportedTests
from eval.model import Problem, TestRef
from eval.options import Options
from eval.problems import ProblemSet, open_problems
from eval.results_folder import make_folder, stem_of
from eval.solution_files import find_files
from eval.solutions import read_solutions
from eval.test_store import OfficialTests, open_tests
from sandbox.errors import BadRequest, SandboxError
from sandbox.model import Description
from sandbox.protocol import Sandbox

LOOK_AT_SOLUTIONS = 1000
SHOWN_MISSING = 5


@dataclass
class Materials:
    """Everything a run has open; `close` by leaving the context."""

    options: Options
    files: list[Path]
    problems: ProblemSet
    generated: GeneratedTests | None
    sandbox: Sandbox
    description: Description
    first_notes: list[str] = field(default_factory=list)
    shelf: KitShelf = field(init=False)

    def __post_init__(self) -> None:
        self.shelf = KitShelf(self._make_kit)

    def notes(self) -> list[str]:
        """Flags without effect; what was passed over in the problems and the generated tests."""
        generated = self.generated.notes.messages() if self.generated is not None else []
        idle = idle_flags(self.options, boxed=self.description.backend == "box")
        return [*self.first_notes, *idle, *self.problems.messages(), *generated]

    def about_sandbox(self) -> str:
        """One line on the sandbox that was chosen."""
        d = self.description
        exact = ", ".join(sorted(d.exact)) or "nothing"
        return f"sandbox {d.backend}, level {d.level}, exact: {exact}"

    def try_named_checker(self) -> None:
        """Raises InputError when the checker that the user named can't be had."""
        checker = named_checker(self.sandbox, self.options)
        if checker is not None:
            checker.close()

    def _make_kit(self, problem: Problem) -> Kit:
        return make_kit(problem, self.problems, self.generated, self.sandbox, self.options)


def make_kit(
    problem: Problem,
    official: OfficialTests,
    generated: GeneratedTests | None,
    sandbox: Sandbox,
    options: Options,
) -> Kit:
    """The problem's chosen tests and what judges them, opened."""
    interactor = interactor_of(problem, sandbox, options.dataset, options.testlib)
    if problem.interactive and interactor is None:
        sizes = official.official_sizes(problem.id)
        refs = [TestRef("official", i, size) for i, size in enumerate(sizes)]
        return Kit(problem, UnsupportedTests(refs), None)
    tests = open_tests(official, generated, problem, options.choice())
    try:
        checker = None if interactor is not None else checker_of(problem, sandbox, options)
        return Kit(problem, tests, checker, interactor)
    except BaseException:
        tests.close()
        raise


def checker_of(problem: Problem, sandbox: Sandbox, options: Options) -> Checker | None:
    """The checker the user named, else the problem's: by name a built-in, or its program.

    Raises InputError for the user's, UnusableProblem for the problem's.
    """
    if options.checker:
        return named_checker(sandbox, options)
    try:
        return open_checker(
            sandbox,
            source=problem.checker,
            name=problem.checker_name,
            testlib=options.testlib,
            programs=False,
        )
    except CheckerError as e:
        raise UnusableProblem(f"problem {problem.id} is unusable: {e}") from None


def named_checker(sandbox: Sandbox, options: Options) -> Checker | None:
    """The checker that --checker names, if it does; InputError when it can't be had."""
    try:
        return open_checker(sandbox, source=None, name=options.checker, testlib=options.testlib)
    except CheckerError as e:
        raise InputError(f"--checker {options.checker}: {e}") from None


@contextlib.contextmanager
def open_materials(
    options: Options, sandbox: Sandbox | None, *, for_results: bool = True
) -> Iterator[Materials]:
    """Opens all; raises InputError for whatever of it can't be had.

    sandbox      use this one
    for_results  make the results folders; False for looking at those of an earlier run
    """
    with contextlib.ExitStack() as stack:
        files = find_files(options.solutions_path)
        problems = open_problems(
            options.dataset, split=options.dataset_split, subsets=tuple(options.dataset_subsets)
        )
        stack.callback(problems.close)
        notes = unknown_problems(options, problems)
        generated = open_generated_tests(options)
        if for_results:
            _make_folders(files, options.results_dir)
        if sandbox is None:
            sandbox = stack.enter_context(open_sandbox_of(options, _languages(files)))
        try:
            description = sandbox.describe()
        except SandboxError as e:
            raise InputError(f"the sandbox can't be used: {e}") from None
        materials = Materials(options, files, problems, generated, sandbox, description, notes)
        stack.callback(materials.shelf.close)
        yield materials


def unknown_problems(options: Options, problems: ProblemSet) -> list[str]:
    """What --problems names that the dataset has not; InputError when it has none of them."""
    wanted = options.problems or ()
    missing = [name for name in wanted if problems.resolve(name) is None]
    told = [f"--problems: {problems.why_missing(name)}" for name in missing[:SHOWN_MISSING]]
    if missing and len(missing) == len(wanted):
        raise InputError(told[0])
    if len(missing) > SHOWN_MISSING:
        told.append(f"--problems: {len(missing)} ids in all are unknown")
    return told


def check_stems(files: list[Path]) -> None:
    """Raises InputError for two files that would share a results folder."""
    seen: dict[str, Path] = {}
    for file in files:
        twin = seen.setdefault(stem_of(file), file)
        if twin != file:
            raise InputError(
                f"{twin} and {file} would share the results folder {stem_of(file)!r}; "
                "rename one, or grade them with two --results-dir"
            )


def _make_folders(files: list[Path], results_dir: Path) -> None:
    """A results folder for each file, before anything costly is opened."""
    check_stems(files)
    for file in files:
        make_folder(results_dir / stem_of(file))


def open_sandbox_of(options: Options, languages: list[str]) -> Sandbox:
    """The sandbox the options ask for; InputError when it can't be had."""
    from sandbox.choose import Kind, open_sandbox

    try:
        return open_sandbox(
            cast("Kind", options.sandbox),
            endpoints=tuple(options.endpoint) or None,
            slots=options.workers,
            languages=languages,
            options={
                "endpoint_concurrency": options.endpoint_concurrency,
                "package": options.piston_package,
                "allow_unsafe": options.allow_unsafe_sandbox,
            },
        )
    except (SandboxError, BadRequest) as e:
        raise InputError(str(e)) from None


def _languages(files: list[Path]) -> list[str]:
    """Languages of the first solutions: what a sandbox must have to be chosen."""
    found: dict[str, None] = {}
    for solution in read_solutions(files, limit=LOOK_AT_SOLUTIONS):
        if solution.error is None:
            found.setdefault(solution.language)
    return list(found)
