"""open-instruct's code server: POST /test_program and /test_program_stdio.

    {"program", "tests", "max_execution_time": 1.0} ─▶ {"results": [1, 0], "runtimes": [0.02, -1.0]}

`tests` is a list, its JSON text, or packed: assert statements, or {"input", "output"}. The limit
is CPU seconds of each test. A failed test has the runtime -1, as there. GET /health is the
server's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from gradebox.eval.api.dialects.common import (
    BODY,
    grade_one,
    json_or_unpacked,
    live_problem,
    read,
    within,
)
from gradebox.eval.api.dialects.programs import ProgramRunner
from gradebox.eval.api.grading_calls import GradingCalls
from gradebox.eval.problems.formats.asserts import assert_problem
from gradebox.sandbox.common.cancellation import Cancellation
from gradebox.sandbox.server.settings import Route

TIME_S = 1.0
TESTS = (*BODY, "tests")


class _Asked(msgspec.Struct):
    program: str
    tests: Any
    max_execution_time: float | None = None


class _Pair(msgspec.Struct):
    input: Any
    output: Any


def routes(calls: GradingCalls, programs: ProgramRunner) -> Mapping[tuple[str, str], Route]:
    """Return the routes of this dialect."""
    most_s = programs.ceilings.run_cpu_time / 1000

    def test_program(body: Any, cancelled: Cancellation) -> tuple[int, Any]:
        asked, limit_s = _read(body, most_s)
        tests = read(list[str], asked.tests, TESTS)
        problem = assert_problem("program", asked.program, tests, limit_s, apart=True)
        return _answer(calls, asked, problem, cancelled)

    def test_program_stdio(body: Any, cancelled: Cancellation) -> tuple[int, Any]:
        asked, limit_s = _read(body, most_s)
        pairs = read(list[_Pair], asked.tests, TESTS)
        tests = {"inputs": [p.input for p in pairs], "outputs": [p.output for p in pairs]}
        problem = live_problem("program", tests, time_limit=limit_s)
        return _answer(calls, asked, problem, cancelled)

    return {
        ("POST", "/test_program"): test_program,
        ("POST", "/test_program_stdio"): test_program_stdio,
    }


def _read(body: Any, most_s: float) -> tuple[_Asked, float]:
    asked = read(_Asked, body)
    limit_s = within(asked.max_execution_time, TIME_S, most_s, "max_execution_time")
    asked.tests = json_or_unpacked(asked.tests or [])
    return asked, limit_s


def _answer(
    calls: GradingCalls, asked: _Asked, problem: dict[str, Any], cancelled: Cancellation
) -> tuple[int, Any]:
    if not asked.tests:
        return 200, {"results": [], "runtimes": []}
    solution = {"code": asked.program, "language": "python"}
    tests = grade_one(calls, solution, problem, cancelled, max_stored_output=0).tests
    passed = [test["passed"] is True for test in tests]
    times = [test["cpu_s"] or 0.0 for test in tests]
    return 200, {
        "results": [int(one) for one in passed],
        "runtimes": [s if one else -1.0 for one, s in zip(passed, times, strict=True)],
    }
