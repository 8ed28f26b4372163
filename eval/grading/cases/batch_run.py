"""Several cases of one solution in one request to the sandbox, or in one process.

    TestRef… ─load▶ TestCase… ─run_many▶ Execution… ─▶ judged at once, or after the last run

What needs the sandbox again, a checker program or a run alone, follows when the runs have ended:
until then they hold a core, and it may need one as well.

Some data sets' own graders make all calls of a solution's function in one process:

    tests ──▶ one run, a line of stdin each ──▶ "ns⇥value⇥result" a line ──▶ an Execution each

What one call leaves behind, the next one finds. The whole process has the CPU time of one test, so
that no test can take more than its own: the test at which it ended is the first of another
process, and when that one ends at it as well, its run is the test's. A program may lie about how
its time was divided between its tests, not about the sum.
"""

from __future__ import annotations

import logging
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import cast

from gradebox.checkers.values.call_side import MANY
from gradebox.eval.common.errors import InputError, Interrupted
from gradebox.eval.grading.cases.case_run import CaseGrader, check_evidence, unjudged
from gradebox.eval.grading.time_policy import run_limits
from gradebox.eval.grading.verdict import fails
from gradebox.eval.problems.problem import TestCase, TestRef
from gradebox.eval.results.record import CaseRecord
from gradebox.sandbox.errors import SandboxError
from gradebox.sandbox.model import Compiled, Execution, Limits
from gradebox.sandbox.protocol import (
    MOST_BYTES,
    BatchSandbox,
    Sandbox,
    count_within,
    goes_on_after,
)

FIRST_CASES, MOST_CASES = 16, 128  # of one request
REQUEST_S = 1.0  # of its runs; then a request is left, and others may take the rest of its cases
MOST_IN_ONE = 64 << 20  # bytes of the inputs of one process
log = logging.getLogger(__name__)


def grade_some(
    grader: CaseGrader, refs: Sequence[TestRef], *, stop_on_failure: bool
) -> list[CaseRecord | None]:
    """Return the records of the first one or more of these cases, in order.

    None stands for a case that did not run because an earlier one failed. Raises like
    `CaseGrader.grade`.
    """
    sizes = (ref.input_bytes if ref.skip is None else 0 for ref in refs)
    refs = refs[: count_within(sizes, MOST_IN_ONE if grader.one_process else MOST_BYTES)]
    to_run = [i for i, ref in enumerate(refs) if ref.skip is None]
    if len(to_run) < 2 or not grader.runs_many:
        return [grader.grade(refs[0])]
    records: list[CaseRecord | None] = [
        unjudged(ref, "SK", ref.skip) if ref.skip is not None else None for ref in refs
    ]
    unfinished: list[tuple[int, Execution]] = []
    failed, ran = len(refs), 0
    try:
        tests = [grader.load(refs[i]) for i in to_run]
        with closing(run_many(grader, tests)) as runs:
            for execution in runs:
                check_evidence(execution)
                i, test = to_run[ran], tests[ran]
                outcome = grader.judge_at_once(test, execution)
                if outcome is None:
                    unfinished.append((i, execution))
                else:
                    record = records[i] = grader.record(refs[i], test, outcome)
                    if stop_on_failure and fails(record.verdict):
                        failed = i
                ran += 1
                if failed == i:
                    break
    except (Interrupted, InputError):
        raise
    except SandboxError as e:  # the case that it was about is graded alone, with retries
        log.warning("%s: a run of several cases failed: %s", grader.problem_id, e)
    except Exception:  # so is this one, and its record says why
        log.exception("%s: unexpected error of the grader", grader.problem_id)
    if not ran:
        return [grader.grade(refs[0])]
    for i, execution in unfinished:
        if i < failed:
            record = records[i] = grader.grade(refs[i], execution)
            if stop_on_failure and fails(record.verdict):
                failed = i
    all_known = failed < len(refs) or ran == len(to_run)
    return records if all_known else records[: to_run[ran]]


def share_after(cases: Sequence[CaseRecord | None]) -> int:
    """Return how many cases are worth one request, where these ran before them.

    Others can take what is not requested, so that a solution whose cases take long, perhaps because
    it sleeps, is spread over the cores at the end of all work.
    """
    times = [case.wall_s for case in cases if case is not None and case.wall_s is not None]
    if not times:
        return FIRST_CASES
    return max(1, min(MOST_CASES, int(REQUEST_S * len(times) / max(sum(times), 1e-9))))


def run_many(grader: CaseGrader, tests: Sequence[TestCase]) -> Generator[Execution, None, None]:
    """Run the program for the first one or more tests, in order."""
    settings = grader.settings
    limits = [run_limits(grader.bounds, len(test.expected)) for test in tests]
    if grader.one_process:
        whole, parts = run_in_one_process(settings.sandbox, grader.compiled, limits, tests)
        settings.on_run(whole)
        yield from parts
        return
    inputs = [test.input for test in tests]
    sandbox = cast("BatchSandbox", settings.sandbox)
    ran_s = 0.0
    with closing(sandbox.run_many(grader.compiled, limits, inputs)) as runs:
        for executions in runs:
            for execution in executions:
                settings.on_run(execution)
            yield from executions
            ran_s += sum(execution.wall_s for execution in executions)
            if ran_s > REQUEST_S or settings.retry.stop.is_set():  # stop: the run is ending early
                return


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
