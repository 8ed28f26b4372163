"""What a Ray worker process does: grade one solution a task, and keep its session open.

    SolutionRun, Setup ─▶ TaskResult(record, verdicts of its cases)   or TaskResult(error)

The worker reads tests and checkers itself, from the dataset's path or name. Only the solution
and the facts about its problem are sent to it.
"""

from __future__ import annotations

import os
import socket
import threading
from dataclasses import dataclass, field, replace
from pathlib import Path

from gradebox.eval.common.errors import InputError
from gradebox.eval.grading.executors.setup import Setup
from gradebox.eval.grading.options import Options
from gradebox.eval.grading.scheduling.scheduler import Scheduler
from gradebox.eval.grading.session import GradingSession
from gradebox.eval.grading.solution_job import SolutionJob
from gradebox.eval.grading.solution_run import SolutionRun
from gradebox.eval.results.record import CaseVerdict, SolutionRecord
from gradebox.sandbox.common.cpus import usable_cores


@dataclass
class TaskResult:
    """The result of a task. `error` is the text of an InputError, which ends the run."""

    record: SolutionRecord | None = None
    cases: list[CaseVerdict] = field(default_factory=list)
    error: str = ""


def grade_one(run: SolutionRun, setup: Setup) -> TaskResult:
    """Grade one solution. Called by Ray; later calls in this process reuse the open session."""
    try:
        return _grade(run, _session(setup))
    except InputError as error:
        return TaskResult(error=f"node {socket.gethostname()}: {error}")


_sessions: dict[str, GradingSession] = {}
_opening = threading.Lock()


def _session(setup: Setup) -> GradingSession:
    key = repr((sorted(setup.options.items(), key=str), setup.folder))
    with _opening:
        if key not in _sessions:
            if Path(setup.folder).is_dir():
                os.chdir(setup.folder)
            # Each task runs one program at a time, on any free core of the node.
            options = replace(Options(**setup.options), workers=usable_cores())
            _sessions[key] = GradingSession(options)
        return _sessions[key]


def _grade(run: SolutionRun, session: GradingSession) -> TaskResult:
    """Return the solution's result; raise InputError when this node would judge differently."""
    _check_same(run, session)
    result = TaskResult()

    def keep(_: SolutionRun, record: SolutionRecord) -> None:
        result.record = record

    context = session.job_context(session.case_settings(), keep, result.cases.append)
    scheduler = Scheduler(1, stop_on_failure=context.stop_on_failure)
    scheduler.run([SolutionJob(run, context)])
    return result


def _check_same(run: SolutionRun, session: GradingSession) -> None:
    """Raise InputError unless sandbox, tests and checker are those that the record states."""
    own = session.context.sandbox_fields(run.language)
    differing = [k for k in own if own[k] != run.sandbox.get(k)]
    if differing:
        name = differing[0]
        raise InputError(
            f"its {name} for {run.language} is {own[name]!r}, the command's "
            f"{run.sandbox.get(name)!r}; give all nodes the same image"
        )
    test_set = session.resources.info(run.problem)
    if (test_set.tests, test_set.checker) != (run.test_set.tests, run.test_set.checker):
        raise InputError(
            f"its tests or checker of {run.problem.id} are not the command's; give all "
            "nodes the same dataset and generated tests"
        )
