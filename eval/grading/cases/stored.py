"""Cases that need no run because an earlier record has them: copied, or judged by their output.

earlier record, selected cases ─ stored_cases ─▶ StoredCases, a field of SolutionRun
StoredCases, ProblemResources ─ known_cases ─▶ a CaseRecord for each test that does not run
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gradebox.eval.grading.cases.case_run import (
    CaseGrader,
    CaseSettings,
    checker_of,
    shares_a_process,
    unjudged,
)
from gradebox.eval.grading.cases.outcome import CaseOutcome, outcome_of
from gradebox.eval.grading.resources import ProblemResources
from gradebox.eval.grading.verdict import Bounds, compare_output, fails
from gradebox.eval.problems.problem import Problem, TestCase
from gradebox.eval.results.record import CaseRecord, read_case
from gradebox.sandbox.model import Compiled, Execution, Program

CaseKey = tuple[str, int]
Json = Mapping[str, Any]
# Reasons that depend on the output alone: the program ended normally and within its limits.
_BY_OUTPUT = frozenset((
    "passed_by_exact_match", "passed_by_checker", "failed_outputs_match", "failed_checker",
    "presentation_error", "checker_unclear", "partial_points",
))  # fmt: skip


@dataclass(frozen=True, eq=False)  # solutions are duplicates only when neither has stored cases
class StoredCases:
    """Cases of an earlier record of the same program and tests, by case type and number.

    copied   stay as they are
    outputs  are judged by their stored output
    compile  the record's field, for a solution of which no case runs
    """

    copied: Mapping[CaseKey, Json] = field(default_factory=dict)
    outputs: Mapping[CaseKey, Json] = field(default_factory=dict)
    compile: Json = field(default_factory=dict)


def case_key(case: Json) -> CaseKey:
    """Return what identifies a case in its record."""
    return case["case_type"], case["test_case_i"]


def stored_cases(
    record: Json, problem: Problem, selected: frozenset[CaseKey], *, interactive: bool
) -> StoredCases:
    """Return the cases that need no run when the selected ones are judged again.

    record       of the same program and tests; its checker may be another one
    selected     cases to judge; an empty set selects all
    interactive  the output alone decides no verdict
    """
    copied, outputs, all_known = dict[CaseKey, Json](), dict[CaseKey, Json](), True
    for case in record["details"]:
        key = case_key(case)
        if selected and key not in selected and case["reason"] != "not_run_after_failure":
            copied[key] = case
        elif not interactive and _decided_by_output(case, problem):
            outputs[key] = case
        elif case["verdict"] != "SK" or case["reason"] == "not_run_after_failure":
            all_known = False
    if not all_known and shares_a_process(problem):  # its calls depend on those before them
        return StoredCases()
    return StoredCases(copied, outputs, dict(record.get("compile") or {}))


def stored_output(case: Json) -> bytes | None:
    """Return the whole output in a recorded case; None when it was cut or not valid text."""
    data = str(case.get("output") or "").encode("utf-8", "surrogatepass")
    if len(data) != case.get("output_bytes"):
        return None
    return data if hashlib.sha256(data).hexdigest() == case.get("output_sha256") else None


def _decided_by_output(case: Json, problem: Problem) -> bool:
    if case["reason"] not in _BY_OUTPUT or case.get("exit_code") != 0:
        return False
    output = stored_output(case)
    # An empty output may mean that the output file was not written.
    return bool(output) if problem.input_mode == "file" else output is not None


def known_cases(
    stored: StoredCases,
    settings: CaseSettings,
    resources: ProblemResources,
    bounds: Bounds,
    stop_on_failure: bool,
) -> list[CaseRecord | None]:
    """Return the record of each test of the plan that need not run, None for the others.

    stop_on_failure  the first failing case is the last one that is judged

    Raises like `CaseGrader.grade`.
    """
    cases: list[CaseRecord | None] = []
    failed = False
    for ref in resources.tests.plan:
        key, case = (ref.case_type, ref.index), None
        if failed and stop_on_failure:
            case = unjudged(ref, "SK", ref.skip or "not_run_after_failure")
        elif key in stored.copied:
            case = read_case(stored.copied[key])
        elif ref.skip is not None or key in stored.outputs:
            grader = _output_grader(stored.outputs.get(key, {}), settings, resources, bounds)
            case = grader.grade(ref)
        failed = failed or (case is not None and fails(case.verdict))
        cases.append(case)
    return cases


def _output_grader(
    recorded: Json, settings: CaseSettings, resources: ProblemResources, bounds: Bounds
) -> CaseGrader:
    """Return a grader that takes the recorded run instead of running the program."""

    def attempt(test: TestCase) -> CaseOutcome:
        output = stored_output(recorded) or b""
        execution = Execution(
            exit_code=0,
            signal=None,
            cpu_s=float(recorded.get("cpu_s") or 0.0),
            wall_s=float(recorded.get("wall_s") or 0.0),
            memory_bytes=recorded.get("memory_bytes"),
            stdout=output,
            stderr=str(recorded.get("stderr") or "").encode("utf-8", "surrogatepass"),
            stdout_bytes=len(output),
        )
        checker = checker_of(resources.problem, resources.checker, test)
        return outcome_of(
            execution,
            bounds,
            output,
            lambda: compare_output(test, output, checker, settings.compare),
            contended=bool(recorded.get("contended")),
        )

    not_compiled = Compiled(Program("", {}), ok=True)
    return CaseGrader(settings, resources, bounds, not_compiled, attempt=attempt)
