"""`run_piston_test`: grade one test case of one solution, for callers of the older script."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from gradebox.eval.api.calls import shared_grader
from gradebox.eval.common.errors import InputError
from gradebox.sandbox import languages
from gradebox.sandbox.endpoints import DEFAULT

STORED_BYTES = 1 << 20
_COLUMNS = ("id", "time_limit", "memory_limit", "input_mode", "generated_checker")


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
    endpoint: str = DEFAULT,
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
    languages.find(language)
    row = {name: problem_data.get(name) for name in _COLUMNS}
    given, expected = (_text(test_case.get(name)) for name in ("input", "output"))
    tests = [{"input": given, "output": expected}]
    grader = shared_grader(
        sandbox="piston",
        endpoint=(endpoint,),
        max_stored_output=STORED_BYTES,
        no_check_dataset=True,
    )
    solution = {"code": source_code, "language": language}
    try:
        [record] = grader.grade([solution], {**row, "official_tests": tests})
    except InputError as error:  # no server answers
        record = {"details": [], "compile": {}, "error": str(error)}
    [case] = record["details"] or [{}]
    ran = case.get("reason") not in (None, "compile_error", "sandbox_error")
    log = record["compile"].get("log") or case.get("error") or record["error"]
    return {
        "passed": case.get("passed"),
        "output": case.get("output", ""),
        "expected": case.get("expected") or expected,
        "error": case["error"] if ran else log,
        "reason": case.get("reason", "sandbox_error"),
    }


def _text(value: object) -> str:
    return str(value if value is not None else "").encode("utf-8", "replace").decode()
