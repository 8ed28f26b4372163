"""Shared by dialects: packed values, tests in LiveCodeBench's form, grading one solution.

{"inputs": ["1\\n"], "outputs": ["2\\n"], "fn_name": null}   a run each
{"inputs": ["[1]\\n2"], "outputs": ["3"], "fn_name": "f"}   a call each; a line is an argument
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gradebox.eval.api.grading_calls import GradingCalls
from gradebox.eval.common.errors import RowError
from gradebox.eval.problems.formats import FORMATS, Judge, Reading, packed
from gradebox.eval.results.records import fields_of
from gradebox.sandbox.common.cancellation import Cancellation
from gradebox.sandbox.errors import BadRequest, SandboxError
from gradebox.sandbox.server.body import check_structure, structure_bytes


def unpacked(text: str) -> Any:
    """Return a packed value. Raises BadRequest."""
    try:
        return packed.unpacked(text, "the packed value")
    except RowError as error:
        raise BadRequest(str(error)) from None


def json_or_unpacked(value: Any) -> Any:
    """Return a value that may be JSON text or packed. Raises BadRequest, Refused."""
    if not isinstance(value, str):
        return value
    if value.lstrip()[:1] in ("[", "{", '"'):
        return json_text(value)
    return unpacked(value)


def json_text(text: str) -> Any:
    """Return the value of JSON text, which may have line breaks in strings.

    Raises BadRequest; Refused for one of too many parts.
    """
    check_structure(structure_bytes(text.encode("utf-8", "surrogatepass")))
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"the value is not JSON: {str(error)[:100]}") from None


NOT_RUN = "SK"  # the verdict of a test behind the first that failed


@dataclass(frozen=True)
class Graded:
    """A record, its tests in order, and those of them that were run."""

    record: Mapping[str, Any]

    @property
    def tests(self) -> list[Mapping[str, Any]]:
        """All tests."""
        return list(self.record["details"])

    @property
    def run(self) -> list[Mapping[str, Any]]:
        """The tests up to the first failed one, or all."""
        return [test for test in self.tests if test["verdict"] != NOT_RUN]

    @property
    def passed(self) -> bool:
        """Whether there are tests and all are passed."""
        return bool(self.record["status"] == "passed")


def grade_one(
    calls: GradingCalls,
    solution: Mapping[str, Any],
    problem: Mapping[str, Any] | None,
    cancelled: Cancellation,
    **flags: Any,
) -> Graded:
    """Grade one solution.

    problem  a row; None: the solution names one of the server's data set

    Raises SandboxError when the machine failed, BadRequest for a problem or solution that cannot be
    graded, whatever the program does.
    """
    problems = None if problem is None else [problem]
    (graded,) = calls.grade([solution], problems, flags=flags, cancelled=cancelled)
    record = fields_of(graded)
    if record["status"] == "error":
        raise SandboxError(f"not graded, which is not the program's fault: {record['error']}")
    if record["status"] in ("invalid", "unsupported"):
        raise BadRequest(str(record["error"]))
    return Graded(record)


def own_columns(
    format_name: str, row: Mapping[str, Any], judge: Judge = "reference", **columns: Any
) -> dict[str, Any]:
    """Return a row of a data set in our own columns, some of them replaced. Raises BadRequest."""
    try:
        found = Reading(FORMATS[format_name], judge).columns(row)
    except RowError as error:
        raise BadRequest(f"the problem is unusable: {error}") from None
    return {**found, **columns}


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
