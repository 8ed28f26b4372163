"""Graded problems: who judges their outputs, and the points of their subtasks.

a test     a score 0 … 1, from the checker, the manager, or a comparison
a subtask  the lowest score of its tests, rounded, times its points
a problem  the sum over its subtasks; of several solutions, the sum of the best of each
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gradebox.checkers.interactive import Interactor
from gradebox.checkers.programs import PROTOCOLS, ProgramChecker, ProgramRuns
from gradebox.eval.problems.problem import Problem
from gradebox.eval.results.record import CaseRecord
from gradebox.eval.solutions.graded import checker_program, manager_program
from gradebox.sandbox.protocol import Sandbox


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


def subtask_points(problem: Problem, cases: Sequence[CaseRecord]) -> list[Mapping[str, Any]]:
    """Return {name, points, of} of each subtask; a test that was not judged scores 0."""
    scores = {case.test_case_i: case.score or 0.0 for case in cases}
    return [
        {
            "name": subtask.name,
            "points": round(
                round(min((scores.get(i, 0.0) for i in subtask.tests), default=0.0), subtask.digits)
                * subtask.points,
                6,
            ),
            "of": subtask.points,
        }
        for subtask in problem.subtasks
    ]
