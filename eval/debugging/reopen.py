"""What a case was graded with, opened again from what the run wrote down.

    metrics["flags"] + what the user overrides ─▶ Options ─▶ Materials
    record, case ─▶ CaseAtHand(program, test, checker, limits; the same as then?)

Paths in the flags are as they were typed: they are looked for in the folder the run was
started in, in this one, and in those above the results.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from checkers.choose import split_path
from checkers.errors import CheckerError
from eval.debugging.find import Json, Results, name_of
from eval.grade_case import Bench
from eval.grade_solution import Subject
from eval.input_error import InputError, shown
from eval.kits import Kit
from eval.materials import Materials, open_materials
from eval.model import Solution, TestCase, TestRef
from eval.options import Options
from eval.plan import Terms, subject_of
from eval.results_folder import METRICS_NAME
from eval.solutions import read_solutions
from eval.time_policy import bounds_of
from eval.verdict import Bounds
from sandbox.protocol import Sandbox

TRANSCRIPT_BYTES = 1 << 16
PATHS = ("dataset", "generated_tests_dir", "testlib")
# Not for the file to say: what this process does, and whether it gives up isolation.
NOT_FROM_RESULTS = frozenset((
    "solutions_path", "workers", "fresh", "dry_run", "log_file", "cache", "limit", "results_dir",
    "allow_unsafe_sandbox", "self_check", "self_check_solutions", "executor", "ray_address",
))  # fmt: skip
_LEFT_OUT = ("skipped_large_input", "budget_exceeded")
_PROGRAM_KINDS = ("python", "testlib", "kattis")


@dataclass(frozen=True)
class Overrides:
    """What the user says instead of the run's flags; None leaves it as it was.

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


def options_of(results: Results, over: Overrides) -> Options:
    """The run's options, for another look; InputError for flags that can't be used."""
    bases = _bases(results)
    values = _recorded(results)
    source = over.solutions_path or results.run.get("solutions_file")
    if not isinstance(source, str):
        raise InputError(
            f"{results.folder} has no usable {METRICS_NAME}, so the run has not ended: start it "
            "again, or give --solutions-path and --dataset"
        )
    for name in PATHS:
        if isinstance(values.get(name), str):
            values[name] = str(_located(values[name], bases))
    if isinstance(values.get("checker"), str):
        values["checker"] = located_checker(results, values["checker"])
    if over.solutions_path is None:
        source = str(_located(source, bases))
    values |= _backend(results, over)
    names = ("dataset", "generated_tests_dir", "testlib", "checker", "workers")
    values |= {n: getattr(over, n) for n in names if getattr(over, n) is not None}
    values["allow_unsafe_sandbox"] = over.allow_unsafe_sandbox
    try:
        return Options(solutions_path=source, **values)
    except (TypeError, ValueError, AttributeError) as e:
        raise InputError(
            f"the flags in {results.folder / METRICS_NAME} can't be used: {e}; start the run again"
        ) from None


def _recorded(results: Results) -> dict[str, Any]:
    known = {f.name for f in fields(Options)} - NOT_FROM_RESULTS
    named = {flag.removeprefix("--").replace("-", "_"): v for flag, v in results.flags.items()}
    return {name: value for name, value in named.items() if name in known}


def _backend(results: Results, over: Overrides) -> dict[str, Any]:
    """The kind of sandbox of the run, unless the user names another."""
    if over.endpoint is not None:
        return {"sandbox": over.sandbox or "piston", "endpoint": over.endpoint}
    if over.sandbox is not None:
        return {"sandbox": over.sandbox, **({"endpoint": ()} if over.sandbox == "local" else {})}
    box = results.metrics.get("sandbox")
    backend = box.get("backend") if isinstance(box, dict) else None
    if backend == "piston":
        return {"sandbox": "piston"}
    return {"sandbox": "local", "endpoint": ()}


def _bases(results: Results) -> list[Path]:
    started = results.run.get("folder")
    first = [Path(started)] if isinstance(started, str) else []
    above = results.folder.resolve()
    return [*first, Path(), above, *above.parents]


def _located(text: str, bases: list[Path]) -> Path | str:
    """The path under the first base where it exists; the text itself when there is none."""
    for base in bases:
        with contextlib.suppress(OSError, ValueError):
            path = base / Path(text).expanduser()
            if path.exists():
                return path
    return text


def located_checker(results: Results, name: str) -> str:
    """The name of a checker as the run was given it, with its file's path found."""
    kind, colon, rest = name.partition(":")
    if not colon or kind not in _PROGRAM_KINDS:
        return name
    with contextlib.suppress(CheckerError):
        path, _ = split_path(rest, kind)
        found = _located(str(path), _bases(results))
        return f"{kind}:{rest.replace(str(path), str(found), 1)}"
    return name


@contextlib.contextmanager
def reopened(options: Options, sandbox: Sandbox | None = None) -> Iterator[Materials]:
    """Everything the run had open, but for its results folder."""
    with open_materials(options, sandbox, for_results=False) as materials:
        yield materials


def terms_of(materials: Materials) -> Terms:
    """What is graded under: goes into keys."""
    options = materials.options
    return Terms(materials.description, options.time_limit_scale, options.record_flags())


def solution_of(materials: Materials, record: Json) -> Solution:
    """The solution a record is of; InputError where the file has another one on its line."""
    file = materials.files[0]
    wanted, name = record.get("line"), record.get("solution_id")
    found = None
    for solution in read_solutions([file], resolve=materials.problems.resolve):
        if solution.line == wanted:
            found = solution
            break
    if found is None:
        raise InputError(f"{file} has no line {wanted}: it was cut; give --solutions-path")
    if (found.problem_id, found.solution_id) != (record.get("problem_id"), name):
        raise InputError(
            f"line {wanted} of {file} is {shown(found.solution_id)} of problem "
            f"{shown(found.problem_id)} now, the record is of {shown(name)}: the file was changed; "
            "give the run's own with --solutions-path"
        )
    if found.error is not None:
        raise InputError(f"{file}: {found.error}; this line was not graded")
    return found


@dataclass
class CaseAtHand:
    """One case with all that it takes to grade it.

    then       the case as recorded, of `record`
    as_before  whether all that a verdict depends on is as it was then; None: not known
    """

    record: Json
    then: Json
    subject: Subject
    kit: Kit
    test: TestCase
    ref: TestRef
    bench: Bench
    materials: Materials
    as_before: bool | None

    @property
    def bounds(self) -> Bounds:
        """The limits verdicts are given by."""
        return bounds_of(self.subject.problem, self.subject.scale)

    @property
    def name(self) -> str:
        return name_of(self.then)


def check_runnable(record: Json, case: Json | None) -> None:
    """Raises InputError for what no run can tell more of."""
    if case is not None and case.get("reason") == "unsupported_interactive":
        raise InputError(
            "an interactive problem without an interactor: there is nothing to run; "
            "see docs/checkers.md"
        )
    if case is None and not record.get("details"):
        why = str(record.get("error") or "no test").rstrip(".")
        raise InputError(f"no case was run, status {shown(record.get('status'))}: {why}")


@contextlib.contextmanager
def at_hand(
    results: Results, record: Json, case: Json, over: Overrides, sandbox: Sandbox | None = None
) -> Iterator[CaseAtHand]:
    """Opens one case; InputError for what can't be found any more."""
    check_runnable(record, case)
    options = options_of(results, over)
    left_out = case.get("reason") in _LEFT_OUT
    if left_out:
        options = replace(options, skip_large_inputs_over=-1, max_generated_bytes_per_problem=-1)
    with reopened(options, sandbox) as materials:
        solution = solution_of(materials, record)
        problem = materials.problems.get(solution.problem_id)
        if problem is None:
            raise InputError(materials.problems.why_missing(solution.problem_id))
        kit = materials.shelf.borrow(problem)
        facts = materials.shelf.facts(problem)
        subject = subject_of(solution, problem, facts, terms_of(materials))
        ref = _ref_of(kit, case, materials)
        bench = Bench(
            materials.sandbox,
            compare=options.compare,  # type: ignore[arg-type]
            stored_bytes=TRANSCRIPT_BYTES,
        )
        yield CaseAtHand(
            record=record,
            then=case,
            subject=subject,
            kit=kit,
            test=kit.tests.load(ref),
            ref=ref,
            bench=bench,
            materials=materials,
            as_before=None if left_out or over.checker else subject.key == record.get("key"),
        )


def _ref_of(kit: Kit, case: Mapping[str, Any], materials: Materials) -> TestRef:
    for ref in kit.tests.plan:
        if (ref.case_type, ref.index) == (case["case_type"], case["test_case_i"]) and not ref.skip:
            return ref
    options = materials.options
    raise InputError(
        f"test {name_of(case)} of problem {kit.problem.id} is not in {options.dataset} or "
        f"{options.generated_tests_dir or 'any folder of generated tests'} any more; "
        "give --dataset or --generated-tests-dir"
    )
