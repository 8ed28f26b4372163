"""open-instruct's code server: POST /test_program and /test_program_stdio.

    {"program", "tests", "max_execution_time": 1.0} ─▶ {"results": [1, 0], "runtimes": [0.02, -1.0]}

`tests` is a list, its JSON text, or packed: assert statements, or {"input", "output"}. The limit
is CPU seconds of each test. A failed test has the runtime -1, as there. GET /health is the
server's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradebox.eval.api.dialects.bodies import Body
from gradebox.eval.api.dialects.grades import grade_one, json_or_unpacked, live_problem
from gradebox.eval.api.dialects.programs import ProgramRunner
from gradebox.eval.api.grading_calls import GradingCalls
from gradebox.eval.problems.formats.asserts import assert_problem
from gradebox.sandbox.common.cancellation import Cancellation
from gradebox.sandbox.server.plugins import Route

TIME_S = 1.0


def routes(calls: GradingCalls, programs: ProgramRunner) -> Mapping[tuple[str, str], Route]:
    """Return the routes of this dialect."""
    most_s = programs.ceilings.run_cpu_time / 1000

    def test_program(body: Any, cancelled: Cancellation) -> tuple[int, Any]:
        request = Body(body)
        code, tests, limit_s = request.text("program"), _tests(request), _limit(request, most_s)
        texts = Body({"tests": tests}, request.where).texts("tests")
        problem = assert_problem("program", code, texts, limit_s, apart=True)
        return _answer(calls, code, problem, len(texts), cancelled)

    def test_program_stdio(body: Any, cancelled: Cancellation) -> tuple[int, Any]:
        request = Body(body)
        code, tests, limit_s = request.text("program"), _tests(request), _limit(request, most_s)
        pairs = [Body(test, (*request.where, "tests", i)) for i, test in enumerate(tests)]
        unit_tests = {
            "inputs": [pair.need("input") for pair in pairs],
            "outputs": [pair.need("output") for pair in pairs],
        }
        problem = live_problem("program", unit_tests, time_limit=limit_s)
        return _answer(calls, code, problem, len(pairs), cancelled)

    return {
        ("POST", "/test_program"): test_program,
        ("POST", "/test_program_stdio"): test_program_stdio,
    }


def _tests(request: Body) -> list[Any]:
    value = request.need("tests") or []
    return Body({"tests": json_or_unpacked(value)}, request.where).list_of("tests")


def _limit(request: Body, most_s: float) -> float:
    return request.number("max_execution_time", TIME_S, most_s)


def _answer(
    calls: GradingCalls, code: str, problem: dict[str, Any], count: int, cancelled: Cancellation
) -> tuple[int, Any]:
    if not count:
        return 200, {"results": [], "runtimes": []}
    solution = {"code": code, "language": "python"}
    tests = grade_one(calls, solution, problem, cancelled, max_stored_output=0).tests
    passed = [test["passed"] is True for test in tests]
    times = [test["cpu_s"] or 0.0 for test in tests]
    return 200, {
        "results": [int(one) for one in passed],
        "runtimes": [s if one else -1.0 for one, s in zip(passed, times, strict=True)],
    }
