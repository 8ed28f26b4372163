"""The service of the server's routes that grade; `gradebox.sandbox.server` loads it by name.

    POST /grade
    {"solutions": [row…], "problem": row | id, "flags": {…}, "time_limit_s": …} ─▶ {"records": […]}

    POST /problems
    {"problem": row, "judge": …} ─▶ {"problem": name}   which /grade takes until it is forgotten

A request may have `problems`, a list of rows, instead of `problem`. Each route turns the body of
its request into one grading call (grading_calls.py), and the records into its answer. The routes
of other servers' dialects are in dialects/.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradebox.eval.api.dialects import dialect_routes
from gradebox.eval.api.dialects.programs import ProgramRunner
from gradebox.eval.api.grading_calls import KEPT, GradingCalls
from gradebox.eval.common.errors import InputError, shown
from gradebox.eval.problems.formats import JUDGES
from gradebox.eval.problems.in_memory import InMemoryProblems, Row
from gradebox.eval.results.records import line_of
from gradebox.sandbox.common.cancellation import Cancellation
from gradebox.sandbox.errors import BadRequest
from gradebox.sandbox.protocol import Sandbox
from gradebox.sandbox.server.jobs.request import is_number
from gradebox.sandbox.server.plugins import Route
from gradebox.sandbox.server.settings import ServerSettings

FIELDS = frozenset({"solutions", "problem", "problems", "flags", "time_limit_s"})


class GradeService:
    """The routes over one `GradingCalls`."""

    def __init__(self, calls: GradingCalls, programs: ProgramRunner) -> None:
        self._calls = calls
        self._programs = programs

    @property
    def routes(self) -> Mapping[tuple[str, str], Route]:
        """See `Grading.routes`."""
        own = {("POST", "/grade"): self.grade, ("POST", "/problems"): self.keep}
        return {**own, **dialect_routes(self._calls, self._programs)}

    def keep(self, body: Any, cancelled: Cancellation) -> tuple[int, Any]:
        """Answer POST /problems. Raises BadRequest for an unusable problem."""
        row, judge = (body.get("problem"), body.get("judge")) if isinstance(body, dict) else (0, 0)
        if not isinstance(row, dict) or judge not in (None, *JUDGES):
            raise BadRequest(f"give problem, a row, and judge, one of {', '.join(JUDGES)}")
        return 200, {"problem": self._calls.keep(row, judge or "strict")}

    def grade(self, body: Any, cancelled: Cancellation) -> tuple[int, Any]:
        """Answer POST /grade. Raises BadRequest for a request that cannot be graded."""
        if not isinstance(body, dict):
            raise BadRequest(f"the request is {shown(body)}; it must be an object")
        unknown = sorted(set(body) - FIELDS)
        if unknown:
            raise BadRequest(
                f"unknown field {shown(unknown[0])}; the fields are {', '.join(sorted(FIELDS))}"
            )
        flags = _flags(body.get("flags"))
        solutions = _solutions(body.get("solutions"))
        problem = body.get("problem")
        rows = _rows(problem, body.get("problems"))
        if isinstance(problem, str) and problem.startswith(KEPT):
            rows = self._calls.kept(problem)
            if rows is None:
                return 200, {"missing": problem}
        elif isinstance(problem, str):
            solutions = [{**row, "problem_id": problem} for row in solutions]
        time_limit_s = body.get("time_limit_s")
        if not (time_limit_s is None or is_number(time_limit_s)):
            raise BadRequest(f"time_limit_s is {shown(time_limit_s)}; it must be seconds or null")
        records = self._calls.grade(
            solutions, rows, flags=flags, time_limit_s=time_limit_s, cancelled=cancelled
        )
        return 200, {"records": [line_of(record) for record in records]}

    def close(self) -> None:
        """End running calls and close what they use, except the sandbox."""
        self._calls.close()


def open_service(sandbox: Sandbox, settings: ServerSettings) -> GradeService:
    """Return the service that the server runs. Raises BadRequest for an unusable dataset."""
    try:
        calls = GradingCalls(sandbox, settings)
        calls.warm_up()
    except InputError as error:
        raise BadRequest(str(error)) from None
    return GradeService(calls, ProgramRunner(sandbox, settings.ceilings))


def _rows(problem: object, problems: object) -> list[Row] | InMemoryProblems | None:
    """Return the rows of a request; None when it names problems of the dataset."""
    if isinstance(problem, dict):
        problems = [problem]
    if isinstance(problems, list):
        if not all(isinstance(row, dict) for row in problems):
            raise BadRequest("an element of problems is not an object; give a list of rows")
        return problems
    if problems is not None:
        raise BadRequest(f"problems is {shown(problems)}; give a list of rows")
    if problem is not None and not isinstance(problem, str):
        raise BadRequest(f"problem is {shown(problem)}; give a row or an id")
    return None


def _flags(value: object) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise BadRequest(f"flags is {shown(value)}; it must be an object")
    return value


def _solutions(value: object) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        raise BadRequest(f"solutions is {shown(value)}; give a list of objects")
    for i, row in enumerate(value):
        if not isinstance(row, dict):
            raise BadRequest(f"solutions[{i}] is {shown(row)}; give a list of objects")
    return value
