"""Records for tests, built from the dataclasses so that their fields stay valid."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gradebox.eval.results.record import CaseRecord, as_json, encode
from testing.fakes.records import case as a_case
from testing.fakes.records import record

REASONS = {
    "AC": "passed_by_exact_match",
    "WA": "failed_outputs_match",
    "TLE": "time_limit_exceeded",
    "MLE": "memory_limit_exceeded",
    "RE": "runtime_error",
    "CE": "compile_error",
    "OLE": "output_limit_exceeded",
    "CU": "checker_unclear",
    "SK": "skipped_large_input",
    "ER": "sandbox_error",
}
NOT_RUN = {"SK", "ER"}
NOT_JUDGED = {*NOT_RUN, "CU"}


def case(verdict: str = "AC", index: int = 0, **fields: Any) -> CaseRecord:
    """Return a case with plausible values; `fields` replace some of them."""
    judged, ran = verdict not in NOT_JUDGED, verdict not in NOT_RUN
    defaults: dict[str, Any] = {
        "case_type": "official",
        "test_case_i": index,
        "passed": verdict == "AC" if judged else None,
        "verdict": verdict,
        "score": float(verdict == "AC") if judged else None,
        "output": "1\n" if verdict == "AC" else "2\n",
        "expected": "1\n",
        "error": "",
        "reason": REASONS[verdict],
        "cpu_s": 0.5 if ran else None,
        "wall_s": 0.6 if ran else None,
        "memory_bytes": 10 << 20 if ran else None,
        "exit_code": 0 if ran else None,
        "input_bytes": 4,
        "input_sha256": f"{index:064x}",
        "output_bytes": 2,
    }
    return a_case(**{**defaults, **fields})


def solution(
    problem_id: str = "1000/A",
    sample_i: int = 0,
    cases: Iterable[CaseRecord] = (),
    **fields: Any,
) -> dict[str, Any]:
    """Return a record as read from a file; its status and verdict follow from the cases."""
    details = tuple(cases) or (case(),)
    bad = next((c.verdict for c in details if c.verdict not in ("AC", "SK")), None)
    judged = [c for c in details if c.passed is not None]
    status = "no_tests"
    if judged or bad:
        status = {None: "passed", "ER": "error"}.get(bad, "failed")
    defaults: dict[str, Any] = {
        "problem_id": problem_id,
        "solution_id": f"s{sample_i}",
        "sample_i": sample_i,
        "line": sample_i + 1,
        "language": "python",
        "status": status,
        "verdict": bad or "AC",
        "score": 1.0 if status == "passed" else 0.0,
        "error": "",
        "rating": 1200,
        "tags": ("math",),
        "official_tests_complete": True,
        "num_official": len(details),
        "num_generated": 0,
        "num_skipped": 0,
        "compile": {},
        "details": details,
        "sandbox": {"backend": "box"},
        "key": f"{problem_id}:{sample_i}",
        "time_limit_s": 1.0,
        "memory_limit_bytes": 256 << 20,
        "contest_id": problem_id.partition("/")[0],
        "contest_year": 2020,
        "has_checker": False,
    }
    return as_json(record(**{**defaults, **fields}))


def write_results(
    folder: Path, records: Iterable[dict[str, Any]], metrics: dict[str, Any] | None = None
) -> Path:
    """Write a results folder like that of a finished run."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "piston_eval_results.jsonl").open("wb") as lines:
        lines.writelines(map(encode, records))
    if metrics is not None:
        path = folder / "piston_eval_metrics.json"
        path.write_text(json.dumps(metrics), encoding="utf-8")
    return folder
