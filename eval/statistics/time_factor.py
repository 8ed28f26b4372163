"""What would have become of a solution under other time limits.

Programs may use 1.25 × their limit, so records tell what pass@1 would be at 0.8, 1 and 1.25
times the limits without running anything again:

    passed at 1  ─▶ at f < 1: every judged case used at most f × its limit
    failed at 1  ─▶ at f > 1: every case that failed did so by time alone, its output was right
                              and it used at most f × its limit
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

FACTORS = (0.8, 1.0, 1.25)
# What a case without a judgement says of its solution, by its verdict or reason.
_UNJUDGED = {"not_run_after_failure": None, "ER": None, "SK": True, "CU": False}


def passes_at(record: Mapping[str, Any], factor: float) -> bool | None:
    """Whether a passed or failed solution passes at `factor` × its time limits.

    None when the record does not say: CPU times or the limit are missing, the run stopped at
    its first failure, or what a late program printed was not judged.
    """
    passed = record.get("status") == "passed"
    if factor == 1 or (passed and factor > 1):
        return passed
    if not passed and factor < 1:
        return False
    details: Sequence[Mapping[str, Any]] = record.get("details") or ()
    limit = record.get("time_limit_s")
    if not details:
        return None if passed else False
    answers = [_case_passes(case, limit, factor) for case in details]
    if False in answers:
        return False
    return None if None in answers else True


def _case_passes(case: Mapping[str, Any], limit: float | None, factor: float) -> bool | None:
    if case.get("passed") is None:
        verdict = str(case.get("verdict"))
        return _UNJUDGED.get(str(case.get("reason")), _UNJUDGED.get(verdict))
    in_time = _in_time(case.get("cpu_s"), limit, factor)
    if case["passed"]:
        return in_time if factor < 1 else True
    if case.get("verdict") != "TLE" or in_time is False:
        return False
    if "output_passed" not in case:
        return None
    return in_time if case["output_passed"] else False


def _in_time(cpu_s: float | None, limit: float | None, factor: float) -> bool | None:
    if cpu_s is None or limit is None:
        return None
    return cpu_s <= factor * limit
