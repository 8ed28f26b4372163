"""Example records for tests: `record("name", field=value)`."""

from typing import Any

from msgspec import structs

from gradebox.eval.grading.cases.case_run import unjudged
from gradebox.eval.problems.problem import TestRef
from gradebox.eval.results.record import SCHEMA, CaseRecord, SolutionRecord


def case(**fields: Any) -> CaseRecord:
    """Return an official test that did not run, but for the fields that are given."""
    ref = TestRef("official", 0, 0)
    return structs.replace(unjudged(ref, "SK", "not_run_after_failure"), **fields)


CASE = case(
    passed=True,
    verdict="AC",
    score=1.0,
    output="é\u2028\n",
    expected="6",
    reason="passed_by_exact_match",
)


def record(solution_id: str = "1", **fields: Any) -> SolutionRecord:
    known: dict[str, Any] = {
        "schema": SCHEMA,
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
        "time_limit_s": None,
        "memory_limit_bytes": None,
        "contest_id": "",
        "contest_year": None,
        "has_checker": None,
    }
    return SolutionRecord(**{**known, **fields})
