"""`run_piston_test`: one test case of one solution, for callers of the older script.

It is the grader's own way of running and judging (eval/grade_case.py), nothing beside it.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, TypedDict

from checkers import open_checker
from eval.grade_case import Bench, CaseGrader
from eval.model import Problem, TestCase, TestRef
from eval.time_policy import bounds_of
from sandbox import languages
from sandbox.errors import SandboxError
from sandbox.model import MIB, Program
from sandbox.protocol import Sandbox

DEFAULT_ENDPOINT = "http://localhost:2000"
STORED_BYTES = 1 << 20

_open: dict[str, Sandbox] = {}
_lock = threading.Lock()


class PistonTestResult(TypedDict):
    """`passed` None: nothing was judged, the machine failed (`reason` sandbox_error)."""

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
    """Runs one case on the Piston server at `endpoint` and judges it.

    problem_data  a row of the dataset: time_limit (s), memory_limit (MB), input_mode,
                  generated_checker
    test_case     `input` and `output`, text
    extension     kept for older callers; the language table names the file
    session       kept for older callers; connections are kept per thread and endpoint

    Raises UnknownLanguage and other BadRequest; faults of the machine come back as a
    result whose `passed` is None.
    """
    row = languages.find(language)
    test = TestCase("official", 0, _bytes(test_case.get("input")), _bytes(test_case.get("output")))
    try:
        return _graded(_sandbox(endpoint), row, source_code, _problem(problem_data), test)
    except SandboxError as fault:
        expected = test.expected.decode("utf-8", "replace")
        return {
            "passed": None,
            "output": "",
            "expected": expected,
            "error": str(fault),
            "reason": "sandbox_error",
        }


class _One:
    """A test that is already here."""

    def __init__(self, test: TestCase) -> None:
        self._test = test

    def load(self, ref: TestRef) -> TestCase:
        return self._test


def _graded(
    sandbox: Sandbox, row: languages.Language, source: str, problem: Problem, test: TestCase
) -> PistonTestResult:
    program = Program(row.name, {row.source: source.encode("utf-8", "surrogatepass")})
    compiled = sandbox.compile(program)
    if not compiled.ok:
        log = compiled.log.decode("utf-8", "replace")
        expected = test.expected.decode("utf-8", "replace")
        return {
            "passed": False,
            "output": "",
            "expected": expected,
            "error": log,
            "reason": "compile_error",
        }
    checker = open_checker(sandbox, source=problem.checker, name=None)
    try:
        grader = CaseGrader(
            Bench(sandbox, stored_bytes=STORED_BYTES),
            problem,
            bounds_of(problem),
            compiled,
            checker,
            _One(test),
        )
        record = grader.grade(TestRef("official", 0, len(test.input)))
    finally:
        if checker is not None:
            checker.close()
        compiled.close()
    return {
        "passed": record.passed,
        "output": record.output,
        "expected": record.expected,
        "error": record.error,
        "reason": record.reason,
    }


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
    """One client an endpoint, kept: it has learnt the server's limits."""
    from sandbox.piston import PistonSandbox

    with _lock:
        if endpoint not in _open:
            _open[endpoint] = PistonSandbox([endpoint], slots=0)
        return _open[endpoint]
