"""A resources server of NeMo Gym 0.7: POST /verify, /seed_session, /close_session …

    {responses_create_params, response, verifier_metadata: {unit_tests: {inputs, outputs}}}
        ─▶ all that + reward, mask_sample, failure_kind, failure_reason, and code_gen's own fields

A sample that could not be graded has `mask_sample`: it is left out, instead of a reward of 0.
Tests may be packed, as for LiveCodeBench there.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

import msgspec

from gradebox.eval.api.dialects.common import Graded, grade_one, live_problem, read, unpacked
from gradebox.eval.api.dialects.programs import ProgramRunner
from gradebox.eval.api.grading_calls import GradingCalls
from gradebox.eval.common.errors import InputError
from gradebox.eval.solutions.extract_code import extract_code
from gradebox.sandbox.common.cancellation import Cancellation
from gradebox.sandbox.errors import BadRequest, SandboxError
from gradebox.sandbox.server.settings import Route

MACHINE, TESTS = "provider_unavailable", "verifier_error"  # of Gym's failure_kinds
TASK_INDEX = "_ng_task_index"


class _Response(msgspec.Struct):
    output_text: str | None = None
    output: list[Any] = []


class _Verified(msgspec.Struct):
    responses_create_params: dict[str, Any]
    response: _Response
    verifier_metadata: dict[str, Any] = {}


class _Session(msgspec.Struct, omit_defaults=True):
    resources_session_id: str | None = None


class _Verdicts(msgspec.Struct):
    verify_responses: list[Any]


def routes(calls: GradingCalls, _programs: ProgramRunner) -> Mapping[tuple[str, str], Route]:
    """Return the routes of this dialect."""

    def verify(body: Any, cancelled: Cancellation) -> tuple[int, Any]:
        asked = read(_Verified, body)
        text, metadata = output_text(asked.response), asked.verifier_metadata
        code, _ = extract_code(text, "python")
        answer = {
            **body,
            "reward": 0.0,
            "mask_sample": False,
            "failure_kind": None,
            "failure_reason": None,
            "extracted_model_output": text or None,
            "extracted_model_code": code,
            "result": None,
            "metadata": None,
            "unit_tests_time_taken": None,
            "difficulty": metadata.get("difficulty"),
        }
        if not code:
            return 200, answer
        try:
            solution = {"code": code, "language": "python"}
            graded = grade_one(
                calls, solution, _problem(metadata), cancelled, stop_on_first_failure=True
            )
        except SandboxError as error:
            return 200, {**answer, **_masked(MACHINE, str(error))}
        except (BadRequest, InputError) as error:
            return 200, {**answer, **_masked(TESTS, str(error))}
        if graded.record["status"] == "no_tests":
            return 200, {**answer, **_masked(TESTS, "the row has no tests")}
        return 200, {**answer, **_measured(graded)}

    return {
        ("POST", "/verify"): verify,
        ("POST", "/seed_session"): _session,
        ("POST", "/close_session"): _session,
        ("POST", "/aggregate_metrics"): aggregate_metrics,
        ("GET", "/reverify_mode"): lambda _body, _cancelled: (200, "stateless"),
    }


def output_text(response: _Response) -> str:
    """Return the text of a response of OpenAI's Responses API."""
    if response.output_text is not None:
        return response.output_text
    found = []
    for item in response.output:
        parts = item.get("content") if isinstance(item, dict) else None
        if isinstance(item, dict) and item.get("type") == "message" and isinstance(parts, list):
            found += [
                part["text"]
                for part in parts
                if isinstance(part, dict) and isinstance(part.get("text"), str)
            ]
    return "".join(found)


def _problem(metadata: Mapping[str, Any]) -> dict[str, Any]:
    tests = metadata.get("unit_tests")
    if isinstance(tests, dict) and isinstance(tests.get("packed"), str):
        held = unpacked(tests["packed"])
        if not isinstance(held, dict):
            raise BadRequest("unit_tests.packed does not hold an object")
        tests = {**held, "fn_name": tests.get("fn_name")}
    return live_problem("row", tests)


def _masked(kind: str, reason: str) -> dict[str, Any]:
    return {"mask_sample": True, "failure_kind": kind, "failure_reason": reason}


def _measured(graded: Graded) -> dict[str, Any]:
    record, tests = graded.record, graded.run
    return {
        "reward": 1.0 if graded.passed else 0.0,
        "result": [test["passed"] is True for test in tests],
        "metadata": {"verdict": record["verdict"], "error": record["error"]},
        "unit_tests_time_taken": sum(test["wall_s"] or 0.0 for test in tests),
    }


def _session(body: Any, _cancelled: Cancellation) -> tuple[int, Any]:
    """Answer with the caller's own name of the session: nothing is kept for it."""
    return 200, msgspec.to_builtins(read(_Session, body))


def aggregate_metrics(body: Any, _cancelled: Cancellation) -> tuple[int, Any]:
    """Answer with mean, max, min, median and std of all numbers, by task and over all.

    Masked samples are left out.
    """
    given = read(_Verdicts, body).verify_responses
    kept = [one for one in given if isinstance(one, dict) and not one.get("mask_sample")]
    # Sorted, not keys of a dict: 40,000 numbers that have one hash took minutes.
    tasks = groupby(sorted(kept, key=_task_index), key=_task_index)
    groups = [{**_described(list(task)), TASK_INDEX: index} for index, task in tasks]
    overall = _described(kept)
    key = {name: value for name, value in overall.items() if name.startswith("mean/")}
    return 200, {"group_level_metrics": groups, "agent_metrics": overall, "key_metrics": key}


def _task_index(response: Mapping[str, Any]) -> int:
    index = response.get(TASK_INDEX, 0)
    return index if isinstance(index, int) else 0


def _described(responses: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    columns: dict[str, list[float]] = defaultdict(list)
    for one in responses:
        for name, value in one.items():
            if isinstance(value, (int, float)) and abs(value) < 1e300 and name[:3] != "_ng":
                columns[name].append(float(value))
    return {
        f"{kind}/{name}": measure(values)
        for name, values in columns.items()
        for kind, measure in _MEASURES.items()
    }


def _std(values: Sequence[float]) -> float:
    return statistics.stdev(values) if len(values) > 1 else 0.0


_MEASURES: Mapping[str, Callable[[Sequence[float]], float]] = {
    "mean": statistics.fmean,
    "max": max,
    "min": min,
    "median": statistics.median,
    "std": _std,
}
