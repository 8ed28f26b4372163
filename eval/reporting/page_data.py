"""The data of a solution that the page holds: a row of the table, and the detail behind it.

Both are made of records that `check_types` (results/record.py) has passed: the page writes the
names of cases unquoted into a command that a user copies.

    record ─▶ row     [a value for each of COLUMNS]
           ─▶ detail  {command, line, error, key, compile, sandbox, skipped, reasons,
                       cases: [[a value for each of CASE_COLUMNS]…], texts: {case index: {…}},
                       source: {program, response, …} where the solutions file has it}
           ─▶ LimitUsage {"time": [[share_from, share_to, passed, failed]…], "memory": […]}

Rows are loaded with the page, details when a solution is opened. Every case keeps its figures.
Texts (outputs, stderr, checker messages) are kept for the first failing cases and a few others,
because those of 20,000 solutions with 100 cases would take gigabytes. The command shown with a
case prints the others.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any

from gradebox.eval.debugging.page_parts import debug_command
from gradebox.eval.results.statistics.counts import COUNTED_STATUSES

COLUMNS = (
    *("problem", "sample", "solution", "language", "status", "verdict", "score", "rating"),
    *("tags", "passed", "judged", "cases", "cpu_s", "time_limit_s"),
    *("memory_bytes", "memory_limit_bytes", "error"),
)
CASE_COLUMNS = (
    *("type", "number", "verdict", "reason", "score", "cpu_s", "wall_s", "memory_bytes"),
    *("contended", "exit_code", "signal", "input_bytes", "output_bytes"),
)
TEXTS = (
    *("input", "output", "expected", "error", "stderr", "checker", "transcript"),
    *("input_sha256", "output_sha256", "output_passed", "repeats"),
)
FAILING_WITH_TEXTS = 12
PASSED_WITH_TEXTS = 3
ERROR_CHARS_IN_ROW = 120
# Upper ends of the plots' columns. They are finer near the limit, where the verdict is decided,
# and near zero, where most programs are.
USAGE_EDGES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0, 1.25)
_LIMITED = {"time": ("cpu_s", "time_limit_s"), "memory": ("memory_bytes", "memory_limit_bytes")}


def row_of(record: Mapping[str, Any]) -> list[Any]:
    """Return the table's values of a solution, in the order of COLUMNS."""
    cases = record.get("details") or ()
    judged = [case for case in cases if case["verdict"] not in ("SK", "ER")]
    values = {
        **record,
        "problem": record["problem_id"],
        "sample": record.get("sample_i"),
        "solution": record.get("solution_id"),
        "status": record["status"],
        "tags": list(record.get("tags") or ()),
        "passed": sum(case.get("passed") is True for case in judged),
        "judged": len(judged),
        "cases": len(cases),
        "cpu_s": _largest(cases, "cpu_s"),
        "memory_bytes": _largest(cases, "memory_bytes"),
        "error": str(record.get("error") or "")[:ERROR_CHARS_IN_ROW],
    }
    return [values.get(name) for name in COLUMNS]


def _largest(cases: Sequence[Mapping[str, Any]], name: str) -> float | None:
    """Return the largest measured value of the cases; None when none was measured."""
    return max((case[name] for case in cases if case.get(name) is not None), default=None)


def detail_of(
    record: Mapping[str, Any], results: str, *, every_text: bool = False
) -> dict[str, Any]:
    """Return what an opened solution shows.

    results     the path that the user gave
    every_text  keep the texts of all cases
    """
    cases = record.get("details") or ()
    reasons = sorted({case["reason"] for case in cases})
    return {
        "command": " ".join(debug_command(results, record)),
        "line": record.get("line"),
        "error": record.get("error") or "",
        "key": record.get("key"),
        "compile": record.get("compile") or {},
        "sandbox": record.get("sandbox") or {},
        "skipped": record.get("num_skipped"),
        "reasons": reasons,
        "cases": [_case_values(case, reasons) for case in cases],
        "texts": {
            str(index): _texts(cases[index])
            for index in (range(len(cases)) if every_text else _cases_with_texts(cases))
        },
    }


def _case_values(case: Mapping[str, Any], reasons: list[str]) -> list[Any]:
    kind, number = case["case_type"], case["test_case_i"]
    values = {**case, "type": kind, "number": number, "reason": reasons.index(case["reason"])}
    return [values.get(name) for name in CASE_COLUMNS]


def _cases_with_texts(cases: Sequence[Mapping[str, Any]]) -> list[int]:
    failing = [i for i, case in enumerate(cases) if case["verdict"] not in ("AC", "SK")]
    passed = [i for i, case in enumerate(cases) if case["verdict"] == "AC"]
    return sorted(failing[:FAILING_WITH_TEXTS] + passed[:PASSED_WITH_TEXTS])


def _texts(case: Mapping[str, Any]) -> dict[str, Any]:
    return {name: case[name] for name in TEXTS if case.get(name) not in (None, "", [])}


class LimitUsage:
    """Count solutions by the share of their time and memory limits that they used.

    A solution counts once, by its slowest case and by its largest case.
    """

    def __init__(self) -> None:
        self._counts = {name: [[0, 0] for _ in range(len(USAGE_EDGES) + 1)] for name in _LIMITED}

    def add(self, record: Mapping[str, Any]) -> None:
        """Count a solution that is in the denominator and has measurements and limits."""
        if record["status"] not in COUNTED_STATUSES:
            return
        for name, (used_name, limit_name) in _LIMITED.items():
            used = _largest(record.get("details") or (), used_name)
            limit = record.get(limit_name)
            if used is not None and limit:
                column = bisect_left(USAGE_EDGES, used / limit)
                self._counts[name][column][record["status"] != "passed"] += 1

    def result(self) -> dict[str, list[list[float | None]]]:
        """Return the histogram of each limit as columns [from, to, passed, not passed].

        `from` and `to` are shares of the limit, ascending; `to` is None in the last column.
        """
        columns = list(zip((0.0, *USAGE_EDGES), (*USAGE_EDGES, None), strict=True))
        return {
            name: [[low, high, *n] for (low, high), n in zip(columns, counts, strict=True)]
            for name, counts in self._counts.items()
        }
