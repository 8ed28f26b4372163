"""What `gradebox.sandbox.server` loads by name: the routes that grade, and a judge of outputs.

    POST /grade
    {"solutions": [row…], "problem": row | id, "flags": {…}, "time_limit_s": …} ─▶ {"records": […]}

    POST /problems
    {"problem": row, "judge": …} ─▶ {"problem": name}   which /grade takes until it is forgotten

A request may have `problems`, a list of rows, instead of `problem`. Each route turns the body of
its request into one grading call (grading_calls.py), and the records into its answer. The routes
of other servers' dialects are in dialects/.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from gradebox.checkers import open_checker
from gradebox.checkers.check import Checker
from gradebox.checkers.long_outputs import first_difference
from gradebox.eval.api.dialects import dialect_routes
from gradebox.eval.api.dialects.programs import ProgramRunner
from gradebox.eval.api.grading_calls import KEPT, GradingCalls
from gradebox.eval.common.errors import InputError
from gradebox.eval.problems.formats import Judge
from gradebox.eval.problems.in_memory import InMemoryProblems, Row
from gradebox.eval.results.records import line_of
from gradebox.sandbox.common.lru_cache import LruCache
from gradebox.sandbox.errors import BadRequest
from gradebox.sandbox.protocol import Sandbox
from gradebox.sandbox.server.settings import (
    Answer,
    Judgement,
    Routes,
    ServerRequest,
    ServerSettings,
)

T = TypeVar("T")


class GradeBody(msgspec.Struct, forbid_unknown_fields=True):
    """What POST /grade is asked; `problem` is a row, or an id of the data set or of /problems."""

    solutions: list[dict[str, Any]]
    problem: dict[str, Any] | str | None = None
    problems: list[Row] | None = None
    flags: dict[str, Any] | None = None
    time_limit_s: float | None = None


class KeepBody(msgspec.Struct):
    """What POST /problems is asked."""

    problem: dict[str, Any]
    judge: Judge | None = None


class GradeService:
    """The routes over one `GradingCalls`."""

    def __init__(self, calls: GradingCalls, programs: ProgramRunner) -> None:
        self._calls = calls
        self._programs = programs
        # Each checker is compiled once for many cases. A dropped one may still be in use, so it is
        # not closed but freed with its last user.
        self._checkers: LruCache[str, Checker] = LruCache(64)

    @property
    def routes(self) -> Routes:
        """See `Grading.routes`."""
        own = {("POST", "/grade"): self.grade, ("POST", "/problems"): self.keep}
        return {**own, **dialect_routes(self._calls, self._programs)}

    def keep(self, request: ServerRequest) -> Answer:
        """Answer POST /problems. Raises BadRequest for an unusable problem."""
        asked = _read(KeepBody, request.body)
        return 200, {"problem": self._calls.keep(asked.problem, asked.judge or "strict")}

    def grade(self, request: ServerRequest) -> Answer:
        """Answer POST /grade. Raises BadRequest for a request that cannot be graded."""
        asked = _read(GradeBody, request.body)
        solutions, problem = asked.solutions, asked.problem
        rows: list[Row] | InMemoryProblems | None = asked.problems
        if isinstance(problem, dict):
            rows = [problem]
        elif problem is not None and problem.startswith(KEPT):
            rows = self._calls.kept(problem)
            if rows is None:
                return 200, {"missing": problem}
        elif problem is not None:
            solutions = [{**row, "problem_id": problem} for row in solutions]
        records = self._calls.grade(
            solutions,
            rows,
            flags=asked.flags,
            time_limit_s=asked.time_limit_s,
            cancelled=request.cancelled,
        )
        return 200, {"records": [line_of(record) for record in records]}

    def judge(self, input: bytes, output: bytes, expected: bytes, checker: str | None) -> Judgement:
        """See `Grading.judge`; `checker` is the source of a Python checker.

        The checker decides, in a sandbox that contains only the solution's output, unless that has
        the very bytes of the expected one. Without a checker the two are compared (open-r1
        comparison).
        """
        program = None if checker is None else self._checker(checker)
        why = first_difference(output, expected, "open-r1" if program is None else "exact")
        if program is None or not why:
            return Judgement("rejected" if why else "accepted", "diff", why)
        check = program.check(input, output, expected)
        return Judgement(check.outcome, "checker", check.message)

    def _checker(self, source: str) -> Checker | None:
        found = self._checkers.get(source)
        if found is None:
            found = open_checker(self._programs.sandbox, source=source, name=None)
            if found is not None:
                self._checkers.put(source, found)
        return found

    def close(self) -> None:
        """End running calls and close what they use, except the sandbox."""
        self._programs.close()
        self._calls.close()


def open_service(sandbox: Sandbox, settings: ServerSettings) -> GradeService:
    """Return the service that the server runs. Raises BadRequest for an unusable dataset."""
    try:
        calls = GradingCalls(sandbox, settings)
        calls.warm_up()
    except InputError as error:
        raise BadRequest(str(error)) from None
    return GradeService(calls, ProgramRunner(sandbox, settings.ceilings))


def _read(kind: type[T], body: Any) -> T:
    try:
        return msgspec.convert(body, kind)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise BadRequest(f"the request is wrong: {error} (its fields: docs/server.md)") from None
