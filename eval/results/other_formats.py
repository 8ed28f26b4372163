"""The results of a run in the formats of other graders (`--also-write FORMAT=PATH`).

| format        | file                                                                             |
|---------------|----------------------------------------------------------------------------------|
| livecodebench | as its `…_eval_all.json`: a list of {question_id, contest_date, difficulty,      |
|               | platform, code_list, graded_list, pass@1, metadata}, for its compute_scores      |
| evalplus      | as its `…eval_results.json`: {date, hash, eval: {task_id: [{task_id, solution,   |
|               | base_status, plus_status, base_fail_tests, plus_fail_tests}]}, pass_at_k}        |

Only solutions that count (passed or failed) are written. Programs and statements are not in
records: the first come from the solutions file, the second are left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gradebox.eval.common.errors import InputError
from gradebox.eval.common.files import write_json
from gradebox.eval.results.statistics.counts import COUNTED_STATUSES
from gradebox.eval.results.statistics.intervals import defined_pass_at_k

Record = Mapping[str, Any]
# Verdicts as LiveCodeBench's error codes; other failures are -4, a runtime error.
_CODES = {"WA": (-2, "Wrong Answer"), "TLE": (-3, "Time Limit Exceeded")}
_KS = (1, 10, 100)
_USED = ("problem_id", "sample_i", "status", "verdict", "origin", "contest_id")
_OF_CASES = ("test_case_i", "verdict", "cpu_s")


def _graded(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Return the records that count, by problem, in the order of their samples."""
    found: dict[str, list[Record]] = {}
    for record in records:
        if record["status"] in COUNTED_STATUSES:
            slim = {name: record.get(name) for name in _USED}  # without outputs
            slim["details"] = [{name: c[name] for name in _OF_CASES} for c in record["details"]]
            found.setdefault(str(record["problem_id"]), []).append(slim)
    return {name: sorted(some, key=lambda r: r["sample_i"]) for name, some in found.items()}


def livecodebench(records: Iterable[Record], code_of: Callable[[Record], str]) -> Any:
    """Return what LiveCodeBench's evaluator writes, sorted by question_id."""
    rows = []
    for name, some in sorted(_graded(records).items()):
        origin, codes = some[0].get("origin") or {}, [code_of(record) for record in some]
        passed = [record["status"] == "passed" for record in some]
        date = origin.get("contest_date", "")
        rows.append(
            {
                "question_id": name,
                "contest_id": some[0].get("contest_id") or "",
                "contest_date": f"{date}T00:00:00" if date else "",
                "difficulty": origin.get("difficulty", ""),
                "platform": origin.get("platform", ""),
                "output_list": codes,
                "code_list": codes,
                "graded_list": passed,
                "pass@1": sum(passed) / len(passed),
                "metadata": [json.dumps(_metadata(record)) for record in some],
            }
        )
    return rows


def _metadata(record: Record) -> dict[str, Any]:
    if record["status"] == "passed":
        return {"execution time": sum(case["cpu_s"] or 0.0 for case in record["details"])}
    code, message = _CODES.get(str(record["verdict"]), (-4, "Runtime Error"))
    return {"error_code": code, "error_message": message, "verdict": record["verdict"]}


def evalplus(records: Iterable[Record], code_of: Callable[[Record], str]) -> Any:
    """Return what EvalPlus writes; without plus tests in the rows, plus_status is null."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for name, some in _graded(records).items():
        rows[name] = [
            {
                "task_id": name,
                "solution": code_of(record),
                **dict(zip(("base_status", "plus_status"), _statuses(record), strict=True)),
                "base_fail_tests": [],
                "plus_fail_tests": [],
            }
            for record in some
        ]
    both = {"base": ("base_status",), "plus": ("base_status", "plus_status")}
    has_plus = any(row["plus_status"] for some in rows.values() for row in some)
    numbers = {
        which: _pass_at_k(rows.values(), statuses)
        for which, statuses in both.items()
        if has_plus or which == "base"
    }
    return {"date": "", "hash": "", "eval": rows, "pass_at_k": numbers}


def _statuses(record: Record) -> tuple[str, str | None]:
    base = (record.get("origin") or {}).get("base_tests", "")
    cases, passed = record["details"], record["status"] == "passed"
    if not base.isdecimal() or not cases:
        status = "pass" if passed else "timeout" if record["verdict"] == "TLE" else "fail"
        return status, "fail" if base.isdecimal() else None
    parts = (
        [c["verdict"] for c in cases if (c["test_case_i"] < int(base)) == first]
        for first in (True, False)
    )
    first, second = map(_status, parts)
    return first, second


def _status(verdicts: Sequence[str]) -> str:
    if verdicts and all(verdict == "AC" for verdict in verdicts):
        return "pass"
    return "timeout" if "TLE" in verdicts else "fail"


def _pass_at_k(rows: Iterable[list[dict[str, Any]]], statuses: Sequence[str]) -> dict[str, float]:
    counts = [
        (len(some), sum(all(row[s] == "pass" for s in statuses) for row in some)) for some in rows
    ]
    return defined_pass_at_k(counts, _KS)


FORMATS: Mapping[str, Callable[[Iterable[Record], Callable[[Record], str]], Any]] = {
    "livecodebench": livecodebench,
    "evalplus": evalplus,
}


def targets(given: Sequence[str] | None) -> dict[str, Path]:
    """Return the path of each format of `FORMAT=PATH`. Raises InputError."""
    found = {}
    for text in given or ():
        name, equals, path = text.partition("=")
        if name not in FORMATS or not equals or not path:
            raise InputError(
                f"--also-write {text}: give FORMAT=PATH, FORMAT one of {', '.join(FORMATS)}"
            )
        found[name] = Path(path)
    return found


def write_others(
    wanted: Mapping[str, Path],
    read: Callable[[], Iterable[Record]],
    codes: Mapping[tuple[str, int], str],
) -> None:
    """Write a run's records in other formats.

    read   returns the records
    codes  the programs by problem and number of the sample
    """
    for name, path in wanted.items():
        document = FORMATS[name](
            read(), lambda record: codes.get((record["problem_id"], record["sample_i"]), "")
        )
        write_json(path, document)
