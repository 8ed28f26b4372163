"""The data of a solution that the page holds: a row of the table, and the detail behind it.

Both are made of records that `check_types` (results/record.py) has passed: the page writes the
names of cases unquoted into a command that a user copies.

    record ─▶ row     [a value for each of COLUMNS]
           ─▶ detail  {command, line, error, key, compile, sandbox, skipped, reasons,
                       cases: [[a value for each of CASE_COLUMNS]…], texts: {case index: {…}},
                       source: {program, response, …} where the solutions file has it}

Rows are loaded with the page, details when a solution is opened. Every case keeps its figures.
Texts (outputs, stderr, checker messages) are kept for the first failing cases and a few others,
because those of 20,000 solutions with 100 cases would take gigabytes. The command shown with a
case prints the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gradebox.eval.debugging.page_parts import debug_command
from gradebox.eval.results.statistics.counts import empty_counts

COLUMNS = (
    *("problem", "sample", "solution", "language", "status", "verdict", "score", "rating"),
    *("tags", "passed", "judged", "cases", "cpu_s", "time_limit_s"),
    *("memory_bytes", "memory_limit_bytes", "error", "contest", "date"),
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


def row_of(record: Mapping[str, Any]) -> list[Any]:
    """Return the table's values of a solution, in the order of COLUMNS."""
    cases = record.get("details") or ()
    judged = [case for case in cases if case["verdict"] not in ("SK", "ER")]
    facts = empty_counts(record)
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
        "contest": facts.contest_id,
        "date": facts.month or (str(facts.year) if facts.year is not None else None),
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
