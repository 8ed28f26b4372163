"""Grade solutions whose result is known: of --self-check, and of `gradebox verify`.

(KnownSolution, Problem) ─ the run's own jobs ─▶ on_record(known, problem, record)
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from gradebox.eval.common.errors import InputError
from gradebox.eval.common.signals import Stopper
from gradebox.eval.grading.cases.case_run import CaseSettings
from gradebox.eval.grading.scheduler import Scheduler
from gradebox.eval.grading.session import GradingSession
from gradebox.eval.grading.solution_job import SolutionJob
from gradebox.eval.grading.solution_run import SolutionRun
from gradebox.eval.problems.problem import Problem
from gradebox.eval.results.record import SolutionRecord, as_json
from gradebox.eval.results.records import EncodedRecord, fields_of
from gradebox.eval.solutions.reader import read_solutions
from gradebox.eval.solutions.solution import KnownSolution
from gradebox.sandbox.protocol import lent_cores

Pair = tuple[KnownSolution, Problem]
OnRecord = Callable[[KnownSolution, Problem, Mapping[str, Any]], None]  # the record's JSON object


def grade_known(
    session: GradingSession,
    settings: CaseSettings,
    known: Iterable[Pair],
    on_record: OnRecord,
    stopper: Stopper,
    *,
    on_case: Callable[..., None] = lambda verdict, number=1: None,
    tick: Callable[[], None] = lambda: None,
) -> bool:
    """Grade known solutions; return False when the run was stopped before its end.

    A solution ends at its first failing test, unless those behind it count. No test of one that
    must exceed the time limit begins before the one before it has ended.

    Problems without a test, and solutions without code, are passed over. Raises InputError for a
    problem whose tests can't be read.
    """
    given: dict[int, tuple[KnownSolution, SolutionRun]] = {}  # the runs stay alive: id() is unique

    def record(run: SolutionRun, found: SolutionRecord | EncodedRecord) -> None:
        fields = as_json(found) if isinstance(found, SolutionRecord) else fields_of(found)
        on_record(given[id(run)][0], run.problem, fields)

    context = session.job_context(settings, record, on_case)

    def jobs() -> Iterator[SolutionJob]:
        for one, problem in known:
            try:
                test_set = session.resources.info(problem)
            except InputError:  # the run reports it
                continue
            if test_set.to_run and one.solution.code is not None:
                run = session.context.solution_run(one.solution, problem, test_set)
                given[id(run)] = one, run
                stop = not (one.whole or problem.subtasks)
                in_order = stop and one.must_be_slow
                yield SolutionJob(run, replace(context, stop_on_failure=stop, in_order=in_order))

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
    """Yield the solutions of a file whose lines say what is expected.

    Raises InputError when the file is unreadable, and at its end when no line says so.
    """
    found = False
    for solution in read_solutions([file], resolve=session.problems.resolve):
        found = found or solution.expect != ""
        if solution.expect and solution.error is None and solution.problem_id in problems:
            yield KnownSolution(solution, solution.expect)
    if not found:
        raise InputError(f'{file}: no line has "expect": "passed" or "failed"')
