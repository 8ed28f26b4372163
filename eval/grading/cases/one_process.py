"""Calls of a solution's function in one process, as data sets' own graders make them.

    tests ──▶ one run, a line of stdin each ──▶ "ns⇥value⇥result" a line ──▶ an Execution each

What one call leaves behind, the next one finds. The whole process has the CPU time of one test, so
that no test can take more than its own: the test at which it ended is the first of another
process, and when that one ends at it as well, its run is the test's. A program may lie about how
its time was divided between its tests, not about the sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gradebox.checkers.values.call_side import MANY
from gradebox.checkers.values.judging import IN_ONE_PROCESS
from gradebox.eval.problems.problem import Problem, TestCase
from gradebox.sandbox.model import Compiled, Execution, Limits
from gradebox.sandbox.protocol import Sandbox, goes_on_after

MOST_BYTES = 64 << 20  # of the inputs of one process


def shares_a_process(problem: Problem) -> bool:
    """Return whether all tests of a solution are calls in one process."""
    return problem.test_kind == "call" and problem.checker_name in IN_ONE_PROCESS


def run_in_one_process(
    sandbox: Sandbox, compiled: Compiled, limits: Sequence[Limits], tests: Sequence[TestCase]
) -> tuple[Execution, list[Execution]]:
    """Run a program for the first one or more tests. Return the run, and each test's part of it."""
    inputs = [test.input for test in tests]
    together = next((i for i, data in enumerate(inputs) if b"\n" in data), len(inputs))
    if together < 2:
        execution = sandbox.run(compiled, limits[0], stdin=inputs[0])
        return execution, [execution]
    largest = max(limits[:together], key=lambda one: one.output_bytes)
    execution = sandbox.run(compiled, largest, stdin=MANY + b"\n".join(inputs[:together]))
    return execution, parts_of(execution, together)


def parts_of(execution: Execution, tests: int) -> list[Execution]:
    """Return each test's part of a run of several tests, of those that it has finished.

    If it has finished none, its run is that of the first one.
    """
    *lines, _ = execution.stdout.split(b"\n")
    found = [line.split(b"\t", 2) for line in lines[:tests]]
    good = next((i for i, parts in enumerate(found) if not _is_answer(parts)), len(found))
    if good == tests and not goes_on_after(execution):
        good -= 1  # what ended it came after the last answer, or not: the last test shows it
    if not good:
        return [execution if execution.exit_code != 0 else replace(execution, stdout=b"")]
    times = [int(ns) / 1e9 for ns, _, _ in found[:good]]
    total, began = execution.cpu_s, max(0.0, execution.cpu_s - sum(times))
    scale = min(1.0, total / sum(times)) if sum(times) else 1.0
    executions = []
    for i, (seconds, (_, kind, text)) in enumerate(zip(times, found, strict=False)):
        cpu_s = seconds * scale + (0.0 if i else began)
        executions.append(
            replace(
                execution,
                exit_code=int(kind == b"raised"),
                signal=None,
                killed_for=None,
                limits_hit=frozenset(),
                cpu_s=cpu_s,
                wall_s=execution.wall_s * (cpu_s / total if total else 1 / good),
                stdout=b"" if kind == b"raised" else text,
                stdout_bytes=len(text),
                stdout_cut=False,
                stderr=text if kind == b"raised" else execution.stderr,
            )
        )
    return executions


def _is_answer(parts: list[bytes]) -> bool:
    return (
        len(parts) == 3
        and parts[0].isdigit()
        and len(parts[0]) < 16
        and parts[1] in (b"value", b"raised")
    )
