"""`compute`: the metric code_eval of Hugging Face's evaluate, on our sandbox.

    predictions [[program, …], …] × references [tests, …]
        ─ one grading call for all ─▶ ({"pass@1": …}, {task: [(i, {"passed", "result", …}), …]})

The tests run in another box than the program, which gets neither their text nor their answers: it
can't pass them by ending early or with objects that equal everything. Tests that use values which
cannot be sent as data (instances of the tests' own classes) run in the program's process instead.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from gradebox.eval.api.calls import shared_grader
from gradebox.eval.api.grader import Grader
from gradebox.eval.common.errors import InputError
from gradebox.eval.problems.formats.asserts import assert_problem
from gradebox.eval.results.statistics.intervals import defined_pass_at_k
from gradebox.sandbox.errors import SandboxError

Results = dict[int, list[tuple[int, dict[str, Any]]]]
TIMED_OUT = "timed out"


def compute(
    predictions: Sequence[Sequence[str]],
    references: Sequence[str],
    k: Sequence[int] = (1, 10, 100),
    num_workers: int = 4,
    timeout: float = 3.0,
    *,
    grader: Grader | None = None,
) -> tuple[dict[str, float], Results]:
    """Return pass@k over tasks, and for each task (number, result) of every candidate.

    predictions  for each task its candidates: Python programs
    references   for each task a text of tests, which fails by an exception
    k            pass@k is returned for those that every task has enough candidates for
    num_workers  without effect: all cores are used
    timeout      CPU seconds of a candidate with its tests
    grader       of the embedded sandbox; None: one that this process shares

    A result is {"task_id", "completion_id", "passed", "result"}; the last is "passed", "timed
    out" or "failed: " and why. Raises SandboxError when the machine failed after retries, which
    is no candidate's fault, and InputError for unusable arguments.
    """
    if len(predictions) != len(references):
        raise InputError(
            f"{len(predictions)} predictions for {len(references)} references: give as many"
        )
    if any(isinstance(candidates, str) for candidates in predictions):
        raise InputError("predictions has a text: give a list of candidates for each task")
    if not timeout > 0:
        raise InputError(f"timeout {timeout}: give seconds over 0")
    found = grader or shared_grader()
    pairs = [
        (task, number, candidate)
        for task, candidates in enumerate(predictions)
        for number, candidate in enumerate(candidates)
    ]
    whys = _graded(found, [(references[task], code) for task, _, code in pairs], timeout)
    results: Results = {}
    for (task, number, _), why in zip(pairs, whys, strict=True):
        text = "passed" if not why else why if why == TIMED_OUT else f"failed: {why}"
        names = {"task_id": task, "passed": not why, "result": text, "completion_id": number}
        results.setdefault(task, []).append((number, names))
    counts = [(len(some), sum(one["passed"] for _, one in some)) for some in results.values()]
    return defined_pass_at_k(counts, k), results


def _graded(
    grader: Grader, pairs: Sequence[tuple[str, str]], timeout: float, *, together: bool = False
) -> list[str]:
    """Return why each (tests, program) failed, "" for one that passed.

    together  the tests run in the program's process, else only those that can't run apart
    """
    rows: dict[str, dict[str, Any]] = {}
    solutions = []
    for tests, code in pairs:
        row = assert_problem("", code, [tests], timeout, apart=False)
        if together:
            (test,) = row["official_tests"]
            test["output"] = json.dumps({**json.loads(test["output"]), "together": True})
        key = repr(row["official_tests"])
        row["id"] = f"task-{len(rows)}"
        row = rows.setdefault(key, row)
        # a text without code is no program to grade
        solutions.append(
            {
                "problem_id": row["id"],
                "code": code if code.strip() else "pass",
                "language": "python",
            }
        )
    records = grader.grade(solutions, list(rows.values())) if solutions else []
    whys = [_why(record) for record in records]
    unclear = [i for i, record in enumerate(records) if record["verdict"] == "CU" and not together]
    again = _graded(grader, [pairs[i] for i in unclear], timeout, together=True) if unclear else ()
    for i, why in zip(unclear, again, strict=True):
        whys[i] = why
    return whys


def _why(record: Mapping[str, Any]) -> str:
    if record["status"] == "passed":
        return ""
    if record["status"] == "error":
        raise SandboxError(f"not graded, which is not the program's fault: {record['error']}")
    if record["status"] != "failed":
        raise InputError(f"a candidate cannot be graded: {record['error'] or record['status']}")
    if record["verdict"] == "TLE":
        return TIMED_OUT
    cases = (case["error"] for case in record["details"] if case["error"])
    return str(record["error"] or next(cases, None) or record["verdict"])
