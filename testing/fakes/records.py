"""Example records for tests: `record("name", field=value)`."""

from __future__ import annotations

from typing import Any

from gradebox.eval.results.record import CaseRecord, SolutionRecord

CASE = CaseRecord("official", 0, True, "AC", 1.0, "é\u2028\n", "6", "", "passed_by_exact_match")


def record(solution_id: str = "1", **fields: Any) -> SolutionRecord:
    known: dict[str, Any] = {
        "problem_id": "1/A",
        "solution_id": solution_id,
        "sample_i": 0,
        "line": 1,
        "language": "python",
        "status": "passed",
        "verdict": "AC",
        "score": 1.0,
        "error": "",
        "rating": 800,
        "tags": ("math",),
        "official_tests_complete": False,
        "num_official": 1,
        "num_generated": 0,
        "num_skipped": 0,
        "compile": {"ok": True},
        "details": (CASE,),
        "sandbox": {"backend": "box"},
        "key": "k",
    }
    return SolutionRecord(**{**known, **fields})
