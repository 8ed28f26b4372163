"""Whether a solution would pass at other time limits, without running it again.

Programs may use 1.25 × their limit and their CPU time is recorded:

    passed at 1  ─▶ passes at f < 1 when every judged case used at most f × its limit
    failed at 1  ─▶ passes at f > 1 when every failed case failed only by time: its output was
                    right and it used at most f × its limit
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

FACTORS = (0.8, 1.0, 1.25)
# Whether a solution can pass with a case that was not judged, by the case's reason or verdict.
_UNJUDGED = {"not_run_after_failure": None, "ER": None, "SK": True, "CU": False}


def passes_at(record: Mapping[str, Any], factor: float) -> bool | None:
    """Return whether a passed or failed solution passes at `factor` × its time limits.

    None when the record does not say: CPU times or the limit are missing, the run stopped at the
    first failure, or the output of a late program was not judged.
    """
    passed = record.get("status") == "passed"
    if factor == 1 or (passed and factor > 1):
        return passed
    if not passed and factor < 1:
        return False
    details: Sequence[Mapping[str, Any]] = record.get("details") or ()
    limit_s = record.get("time_limit_s")
    if not details:
        return None if passed else False
    cases = [_case_passes(case, limit_s, factor) for case in details]
    if False in cases:
        return False
    return None if None in cases else True


def _case_passes(case: Mapping[str, Any], limit_s: float | None, factor: float) -> bool | None:
    if case.get("passed") is None:
        verdict = str(case.get("verdict"))
        return _UNJUDGED.get(str(case.get("reason")), _UNJUDGED.get(verdict))
    cpu_s = case.get("cpu_s")
    in_time = None if cpu_s is None or limit_s is None else cpu_s <= factor * limit_s
    if case["passed"]:
        return in_time if factor < 1 else True
    if case.get("verdict") != "TLE" or in_time is False:
        return False
    if "output_passed" not in case:
        return None
    return in_time if case["output_passed"] else False
