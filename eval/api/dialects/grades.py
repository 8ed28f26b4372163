"""One solution, one grading call: the record, or whose fault it is that there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gradebox.eval.api.dialects.bodies import MachineFault
from gradebox.eval.api.grading_calls import GradingCalls
from gradebox.eval.problems.formats import FORMATS, Judge, Reading
from gradebox.eval.problems.row import RowError
from gradebox.eval.results.records import fields_of
from gradebox.sandbox.common.cancellation import Cancellation
from gradebox.sandbox.errors import BadRequest

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

    Raises Fault when the machine failed, BadRequest for a problem or solution that cannot be
    graded, whatever the program does.
    """
    problems = None if problem is None else [problem]
    (graded,) = calls.grade([solution], problems, flags=flags, cancelled=cancelled)
    record = fields_of(graded)
    if record["status"] == "error":
        raise MachineFault(f"not graded, which is not the program's fault: {record['error']}")
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
