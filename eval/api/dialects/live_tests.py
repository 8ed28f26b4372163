"""Tests in LiveCodeBench's form, which several servers take.

{"inputs": ["1\\n"], "outputs": ["2\\n"], "fn_name": null}   a run each
{"inputs": ["[1]\\n2"], "outputs": ["3"], "fn_name": "f"}   a call each; a line is an argument
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradebox.eval.api.dialects.grades import own_columns
from gradebox.sandbox.errors import BadRequest


def live_problem(name: str, tests: Any, **columns: Any) -> dict[str, Any]:
    """Return the problem of such tests, judged as LiveCodeBench's grader does.

    columns  replace our own columns of the problem

    Raises BadRequest.
    """
    if not isinstance(tests, Mapping):
        raise BadRequest("the tests must be an object with inputs and outputs")
    inputs, outputs = tests.get("inputs"), tests.get("outputs")
    if not isinstance(inputs, list) or not isinstance(outputs, list):
        raise BadRequest("the tests have no lists inputs and outputs")
    if len(inputs) != len(outputs):
        raise BadRequest(f"the tests have {len(inputs)} inputs, {len(outputs)} outputs")
    function = tests.get("fn_name")
    row = {
        "question_id": name,
        "public_test_cases": [
            {"input": _text(given), "output": _text(expected)}
            for given, expected in zip(inputs, outputs, strict=True)
        ],
        "metadata": {"func_name": function} if function else {},
    }
    return own_columns("livecodebench", row, **columns)


def _text(value: Any) -> Any:
    """Return a list of lines as a text."""
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "\n".join(value)
    return value
