"""What the page holds of a solution: a row of its table, and the detail behind it.

    record ─▶ row     [value of each of COLUMNS]
           ─▶ detail  {command, line, error, key, compile, sandbox, reasons,
                       cases: [[value of each of CASE_COLUMNS]…], texts: {place: {…}}}

Rows are loaded with the page, details when a solution is opened. Every case keeps its numbers;
texts (outputs, stderr, checker's words) are kept for the first cases that failed and for a few
others, since 20,000 solutions of 100 cases would be gigabytes: the command shown with a case
brings back the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from eval.model import CaseType
from eval.report_parts.shell_word import option, shell_word

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
    *("output", "expected", "error", "stderr", "checker", "transcript"),
    *("input_sha256", "output_sha256", "output_passed", "repeats"),
)
CASE_TYPES = get_args(CaseType)
FAILING_TEXTS = 12
OTHER_TEXTS = 3
ERROR_IN_ROW = 120


def row_of(record: Mapping[str, Any]) -> list[Any]:
    """The table's line of a solution: values in the order of COLUMNS."""
    cases = record.get("details") or ()
    judged = [case for case in cases if case["verdict"] not in ("SK", "ER")]
    values = {
        "problem": record["problem_id"],
        "sample": record.get("sample_i"),
        "solution": record.get("solution_id"),
        "language": record.get("language"),
        "status": record["status"],
        "verdict": record.get("verdict"),
        "score": record.get("score"),
        "rating": record.get("rating"),
        "tags": list(record.get("tags") or ()),
        "passed": sum(case["passed"] is True for case in judged),
        "judged": len(judged),
        "cases": len(cases),
        "cpu_s": largest(cases, "cpu_s"),
        "time_limit_s": record.get("time_limit_s"),
        "memory_bytes": largest(cases, "memory_bytes"),
        "memory_limit_bytes": record.get("memory_limit_bytes"),
        "error": str(record.get("error") or "")[:ERROR_IN_ROW],
    }
    return [values[name] for name in COLUMNS]


def largest(cases: Sequence[Mapping[str, Any]], name: str) -> float | None:
    """The largest measured value over the cases; None when none was measured."""
    return max((case[name] for case in cases if case.get(name) is not None), default=None)


def detail_of(record: Mapping[str, Any], results: str) -> dict[str, Any]:
    """What is shown of an opened solution; `results` is how the user named the results."""
    cases = record.get("details") or ()
    reasons = sorted({case["reason"] for case in cases})
    numbers = {reason: place for place, reason in enumerate(reasons)}
    return {
        "command": command(record, results),
        "line": record.get("line"),
        "error": record.get("error") or "",
        "key": record.get("key"),
        "compile": record.get("compile") or {},
        "sandbox": record.get("sandbox") or {},
        "skipped": record.get("num_skipped"),
        "reasons": reasons,
        "cases": [_case(case, numbers) for case in cases],
        "texts": {str(place): _texts(cases[place]) for place in _places_with_texts(cases)},
    }


def command(record: Mapping[str, Any], results: str) -> str:
    """The command that debugs this solution, but for `--case`."""
    words = ["python eval/debug_case.py", shell_word(results)]
    words.append(option("--problem", str(record["problem_id"])))
    words.append(option("--sample", str(record.get("sample_i"))))
    return " ".join(words)


def _case(case: Mapping[str, Any], reasons: Mapping[str, int]) -> list[Any]:
    renamed = {"type": case["case_type"], "number": case["test_case_i"]}
    if renamed["type"] not in CASE_TYPES or not isinstance(renamed["number"], int):
        raise ValueError(f"no such case: {renamed}")  # both stand in a command to be copied
    values = {**case, **renamed, "reason": reasons[case["reason"]]}
    return [values.get(name) for name in CASE_COLUMNS]


def _places_with_texts(cases: Sequence[Mapping[str, Any]]) -> list[int]:
    failing = [p for p, case in enumerate(cases) if case["verdict"] not in ("AC", "SK")]
    other = [p for p, case in enumerate(cases) if case["verdict"] == "AC"]
    return sorted(failing[:FAILING_TEXTS] + other[:OTHER_TEXTS])


def _texts(case: Mapping[str, Any]) -> dict[str, Any]:
    return {name: case[name] for name in TEXTS if case.get(name) not in (None, "", [])}
