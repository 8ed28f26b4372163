"""Grade solutions whose result is known: of --self-check, and of `gradebox verify`.

(KnownSolution, Problem) ─ the run's own jobs ─▶ on_record(known, problem, record)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from gradebox.eval.common.errors import InputError
from gradebox.eval.common.signals import Stopper
from gradebox.eval.grading.cases.case_run import CaseSettings
from gradebox.eval.grading.scheduler import Scheduler
from gradebox.eval.grading.session import GradingSession
from gradebox.eval.grading.solution_job import SolutionJob
from gradebox.eval.grading.solution_run import SolutionRun
from gradebox.eval.problems.problem import Problem
from gradebox.eval.results.record import SolutionRecord
from gradebox.eval.results.records import EncodedRecord
from gradebox.eval.solutions.files import read_lines
from gradebox.eval.solutions.reader import read_solutions
from gradebox.eval.solutions.solution import EXPECTED, KnownSolution
from gradebox.eval.solutions.submissions import as_line
from gradebox.sandbox.protocol import lent_cores

Pair = tuple[KnownSolution, Problem]
OnRecord = Callable[..., None]  # (known solution, problem, SolutionRecord or EncodedRecord)


def grade_known(
    session: GradingSession,
    settings: CaseSettings,
    known: Iterable[Pair],
    on_record: OnRecord,
    stopper: Stopper,
    *,
    stop: Callable[[KnownSolution, Problem], bool] = lambda known, problem: False,
    in_order: Callable[[KnownSolution], bool] = lambda known: False,
    on_case: Callable[..., None] = lambda verdict, number=1: None,
    tick: Callable[[], None] = lambda: None,
) -> bool:
    """Grade known solutions; return False when the run was stopped before its end.

    stop      whether the tests after a solution's first failing one are left out
    in_order  whether no test begins then before the one before it has ended

    Problems without a test, and solutions without code, are passed over. Raises InputError for a
    problem whose tests can't be read.
    """
    given: dict[int, tuple[KnownSolution, SolutionRun]] = {}  # the runs stay alive: id() is unique

    def record(run: SolutionRun, found: SolutionRecord | EncodedRecord) -> None:
        on_record(given[id(run)][0], run.problem, found)

    context = session.job_context(settings, record, on_case)
    brief = replace(context, stop_on_failure=True)
    ordered = replace(brief, in_order=True)

    def jobs() -> Iterator[SolutionJob]:
        for one, problem in known:
            try:
                test_set = session.resources.info(problem)
            except InputError:  # the run reports it
                continue
            if test_set.to_run and one.solution.code is not None:
                run = session.context.solution_run(one.solution, problem, test_set)
                given[id(run)] = one, run
                stopped = ordered if in_order(one) else brief
                yield SolutionJob(run, stopped if stop(one, problem) else context)

    scheduler = Scheduler(
        session.options.workers,
        is_full=lambda: session.resources.is_full,
        lent=lambda: lent_cores(session.sandbox),
    )
    with stopper.stopping(scheduler):
        return scheduler.run(jobs(), tick)


def known_in_file(
    session: GradingSession, file: Path, problems: Container[str]
) -> Iterator[KnownSolution]:
    """Yield the solutions of a file whose lines say what is expected. Raises InputError."""
    expect = expectations(file)
    for solution in read_solutions([file], resolve=session.problems.resolve):
        known = solution.line in expect and solution.error is None
        if known and solution.problem_id in problems:
            yield KnownSolution(solution, expect[solution.line])


def expectations(file: Path) -> dict[int, str]:
    """Return line number → expected status for the lines of a solutions file with `expect`.

    Raises InputError when the file is unreadable or has no such line.
    """
    found: dict[int, str] = {}
    if not file.is_file():
        raise InputError(f"{file} does not exist: give a JSON-lines file")
    for number, line in read_lines(file):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        expect = as_line(row).get("expect") if isinstance(row, dict) else None
        if isinstance(expect, dict):
            expect = expect.get("status")
        if expect in EXPECTED:
            found[number] = str(expect)
    if not found:
        raise InputError(f'{file}: no line has "expect": "passed" or "failed"')
    return found
