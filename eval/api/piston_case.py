"""`run_piston_test`: grade one test case of one solution, for callers of the older script.

It runs and judges like a grading run (eval/grading/case_run.py).
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, TypedDict

from gradebox.checkers import open_checker
from gradebox.eval.grading.case_run import CaseGrader, CaseSettings
from gradebox.eval.grading.resources import ProblemResources
from gradebox.eval.grading.time_policy import bounds_of
from gradebox.eval.problems.chosen_tests import ProblemTests
from gradebox.eval.problems.problem import Problem, TestCase, TestRef
from gradebox.sandbox import languages
from gradebox.sandbox.errors import SandboxError
from gradebox.sandbox.model import MIB, Program
from gradebox.sandbox.protocol import Sandbox

DEFAULT_ENDPOINT = "http://localhost:2000"
STORED_BYTES = 1 << 20

_open: dict[str, Sandbox] = {}
_lock = threading.Lock()


class PistonTestResult(TypedDict):
    """`passed` is None when the sandbox failed (`reason` sandbox_error)."""

    passed: bool | None
    output: str
    expected: str
    error: str
    reason: str


def run_piston_test(
    source_code: str,
    problem_data: Mapping[str, Any],
    test_case: Mapping[str, Any],
    language: str = "python",
    extension: str = "py",
    endpoint: str = DEFAULT_ENDPOINT,
    session: object = None,
) -> PistonTestResult:
    """Run one case on the Piston server at `endpoint` and judge it.

    problem_data  a row of the dataset: time_limit (s), memory_limit (MB), input_mode,
                  generated_checker
    test_case     `input` and `output`, text
    extension     ignored; the language table names the file
    session       ignored; connections are kept per thread and endpoint

    Raises UnknownLanguage and other BadRequest. A fault of the sandbox is a result whose
    `passed` is None.
    """
    row = languages.find(language)
    test = TestCase("official", 0, _bytes(test_case.get("input")), _bytes(test_case.get("output")))
    try:
        return _grade(_sandbox(endpoint), row, source_code, _problem(problem_data), test)
    except SandboxError as fault:
        return _result(test, None, str(fault), "sandbox_error")


def _grade(
    sandbox: Sandbox, row: languages.Language, source: str, problem: Problem, test: TestCase
) -> PistonTestResult:
    program = Program(row.name, {row.source: source.encode("utf-8", "surrogatepass")})
    compiled = sandbox.compile(program)
    try:
        if not compiled.ok:
            log = compiled.log.decode("utf-8", "replace")
            return _result(test, False, log, "compile_error")
        checker = open_checker(sandbox, source=problem.checker, name=None)
        ref = TestRef("official", 0, len(test.input))
        with ProblemResources(problem, ProblemTests.of(problem.id, [test]), checker) as resources:
            settings = CaseSettings(sandbox, stored_bytes=STORED_BYTES)
            record = CaseGrader(settings, resources, bounds_of(problem), compiled).grade(ref)
    finally:
        compiled.close()
    return {
        "passed": record.passed,
        "output": record.output,
        "expected": record.expected,
        "error": record.error,
        "reason": record.reason,
    }


def _result(test: TestCase, passed: bool | None, error: str, reason: str) -> PistonTestResult:
    """Return the result of a test without an output."""
    expected = test.expected.decode("utf-8", "replace")
    return {"passed": passed, "output": "", "expected": expected, "error": error, "reason": reason}


def _problem(data: Mapping[str, Any]) -> Problem:
    plain = Problem(id=str(data.get("id", "")))
    seconds, megabytes = data.get("time_limit"), data.get("memory_limit")
    return Problem(
        id=plain.id,
        time_limit_s=float(seconds) if seconds else plain.time_limit_s,
        memory_limit_bytes=int(float(megabytes) * MIB) if megabytes else plain.memory_limit_bytes,
        input_mode="file" if data.get("input_mode") == "file" else "stdio",
        checker=data.get("generated_checker") or None,
    )


def _bytes(value: object) -> bytes:
    return str(value if value is not None else "").encode("utf-8", "surrogatepass")


def _sandbox(endpoint: str) -> Sandbox:
    """Return the endpoint's client, kept because it has learnt the server's limits."""
    from gradebox.sandbox.piston import PistonSandbox

    with _lock:
        if endpoint not in _open:
            _open[endpoint] = PistonSandbox([endpoint], slots=0)
        return _open[endpoint]
