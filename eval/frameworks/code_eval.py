"""`compute`: the metric code_eval of Hugging Face's evaluate, on our sandbox.

    predictions [[program, …], …] × references [tests, …]
        ─ one grading call for all ─▶ ({"pass@1": …}, {task: [(i, {"passed", "result", …}), …]})

The tests run in another box than the program, which gets neither their text nor their answers: it
can't pass them by ending early or with objects that equal everything. Tests that use values which
cannot be sent as data (instances of the tests' own classes) run in the program's process instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from gradebox.eval.api.calls import shared_grader
from gradebox.eval.api.grader import Grader
from gradebox.eval.common.errors import InputError
from gradebox.eval.grading.cases.asserts import marked_run
from gradebox.eval.grading.retry import Retry
from gradebox.eval.problems.formats.asserts import assert_problem
from gradebox.eval.results.statistics.intervals import defined_pass_at_k
from gradebox.sandbox.errors import SandboxError
from gradebox.sandbox.model import MIB, Execution, Limits

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


def _graded(grader: Grader, pairs: Sequence[tuple[str, str]], timeout: float) -> list[str]:
    """Return why each (tests, program) failed, "" for one that passed."""
    rows: dict[str, dict[str, Any]] = {}
    solutions = []
    for tests, code in pairs:
        row = assert_problem("", code, [tests], timeout, apart=False)
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
    with grader.use_sandbox() as sandbox, ThreadPoolExecutor(max(1, sandbox.slots)) as pool:
        whys = [
            pool.submit(run_together, grader, code, tests, timeout)
            if record["verdict"] == "CU"
            else _why(record)
            for record, (tests, code) in zip(records, pairs, strict=True)
        ]
        return [why if isinstance(why, str) else why.result() for why in whys]


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


MEMORY_BYTES = 1024 * MIB
_PROGRAM = """\
import os
def run(text):
    secret, out = os.read(0, 64).strip(), os.dup(1)
    null = os.open("/dev/null", os.O_RDWR)
    os.dup2(null, 0), os.dup2(null, 1)
    exec(compile(text, "<program>", "exec"), {{}})
    os.write(out, b"\\n%s\\n" % secret)
    os._exit(0)
run({text!r})
"""


def run_together(grader: Grader, code: str, tests: str, cpu_s: float) -> str:
    """Run a program with its tests; return "" when it passed them, "timed out", or why it failed.

    cpu_s  limit of CPU time

    Raises SandboxError for a fault of the machine that three attempts did not solve.
    """
    limits = Limits(cpu_s=cpu_s, wall_s=3 * cpu_s + 2, memory_bytes=MEMORY_BYTES)
    program = _PROGRAM.format(text=f"{code}\n{tests}")

    def run(stdin: bytes) -> Execution:
        return grader.run(program, stdin=stdin, limits=limits)

    what = "a program with its tests"
    execution, held = Retry(attempts=3).call(lambda: marked_run(run), what)
    if execution.killed_for in ("cpu", "wall"):
        return "timed out"
    if execution.killed_for:
        return f"the limit of {execution.killed_for} was exceeded"
    if held:
        return ""
    last = execution.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
    return last or "the program ended before its tests did"
