"""The servers that trainers ask for rewards: open-instruct's, OpenRLHF's and NeMo Gym's.

open-instruct   POST /test_program, /test_program_stdio
    {"program", "tests", "max_execution_time": 1.0} ─▶ {"results": [1, 0], "runtimes": [0.02, -1.0]}
OpenRLHF        POST /get_reward
    {"query": [prompt + answer], "prompts": […], "labels": [problem]}
        ─▶ {"rewards": [1.0], "scores": [0.75], "extra_logs": {"pass_rate": [0.75], …}}
NeMo Gym 0.7    POST /verify, /seed_session, /close_session … of a resources server
    {responses_create_params, response, verifier_metadata: {unit_tests: {inputs, outputs}}}
        ─▶ all that + reward, mask_sample, failure_kind, failure_reason, and code_gen's own fields
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import msgspec

from gradebox.eval.api.dialects.common import (
    BODY,
    grade_one,
    invalid,
    json_or_unpacked,
    live_problem,
    read,
    tests_run,
    unpacked,
    within,
)
from gradebox.eval.api.rewards.columns import problem_of
from gradebox.eval.api.rewards.values import answer_of, reward_of
from gradebox.eval.common.errors import InputError
from gradebox.eval.problems.formats.asserts import assert_problem
from gradebox.eval.problems.row.tests import TESTS_COLUMN
from gradebox.eval.solutions.extract_code import extract_code
from gradebox.sandbox.common.cancellation import Cancellation
from gradebox.sandbox.errors import BadRequest, SandboxError
from gradebox.sandbox.server.incoming import check_structure, structure_bytes
from gradebox.sandbox.server.settings import Answer, Routes, ServerRequest, telling

if TYPE_CHECKING:
    from gradebox.eval.api.service import GradeService


def routes(service: GradeService) -> Routes:
    """Return the routes of these dialects."""
    most_s = service.programs.ceilings.run_cpu_time / 1000

    def test_program(request: ServerRequest) -> Answer:
        asked, limit_s = _tested(request.body, most_s)
        tests = read(list[str], asked.tests, (*BODY, "tests"))
        problem = assert_problem("program", asked.program, tests, limit_s, apart=True)
        return _results(service, asked, problem, request.cancelled)

    def test_program_stdio(request: ServerRequest) -> Answer:
        asked, limit_s = _tested(request.body, most_s)
        pairs = read(list[_Pair], asked.tests, (*BODY, "tests"))
        tests = {"inputs": [p.input for p in pairs], "outputs": [p.output for p in pairs]}
        problem = live_problem("program", tests, time_limit=limit_s)
        return _results(service, asked, problem, request.cancelled)

    return {
        ("POST", "/test_program"): test_program,
        ("POST", "/test_program_stdio"): test_program_stdio,
        ("POST", "/get_reward"): lambda request: _get_reward(service, request),
        ("POST", "/verify"): lambda request: _verify(service, request),
        ("POST", "/seed_session"): _session,
        ("POST", "/close_session"): _session,
        ("POST", "/aggregate_metrics"): aggregate_metrics,
        ("GET", "/reverify_mode"): telling("stateless"),
    }


# ---- open-instruct: the server's general route answers its clients' GET /health ----

TIME_S = 1.0


class _Tested(msgspec.Struct):
    """A program and its tests.

    tests               a list, its JSON text, or packed: assert statements, or pairs
    max_execution_time  CPU seconds of each test
    """

    program: str
    tests: Any
    max_execution_time: float | None = None


class _Pair(msgspec.Struct):
    input: Any
    output: Any


def _tested(body: Any, most_s: float) -> tuple[_Tested, float]:
    asked = read(_Tested, body)
    limit_s = within(asked.max_execution_time, TIME_S, most_s, "max_execution_time")
    asked.tests = json_or_unpacked(asked.tests or [])
    return asked, limit_s


def _results(
    service: GradeService, asked: _Tested, problem: dict[str, Any], cancelled: Cancellation
) -> Answer:
    """Grade a program; a failed test has the runtime -1, as there."""
    if not asked.tests:
        return 200, {"results": [], "runtimes": []}
    solution = {"code": asked.program, "language": "python"}
    record = grade_one(service, solution, problem, cancelled, max_stored_output=0)
    tests = record["details"]
    passed = [test["passed"] is True for test in tests]
    times = [test["cpu_s"] or 0.0 for test in tests]
    return 200, {
        "results": [int(one) for one in passed],
        "runtimes": [s if one else -1.0 for one, s in zip(passed, times, strict=True)],
    }


# ---- OpenRLHF ----


class _Rewarded(msgspec.Struct):
    """A label is a ground truth as for the reward functions (rewards/columns.py)."""

    query: list[str]
    labels: list[Any]
    prompts: list[str] | None = None


def _get_reward(service: GradeService, request: ServerRequest) -> Answer:
    """A sample that could not be graded is 503: it is asked for again, then has no reward."""
    asked = read(_Rewarded, request.body)
    prompts = [""] * len(asked.query) if asked.prompts is None else asked.prompts
    if not len(asked.query) == len(prompts) == len(asked.labels):
        raise invalid((*BODY, "labels"), "query, prompts and labels must have the same length")
    rewards, scores = [], []
    for query, prompt, label in zip(asked.query, prompts, asked.labels, strict=True):
        reward, share = _score(service, answer_of(query, prompt), label, request.cancelled)
        rewards.append(reward)
        scores.append(share)
    passed = [float(reward == 1.0) for reward in rewards]
    logs = {"pass_rate": scores, "passed": passed}
    return 200, {"rewards": rewards, "scores": scores, "extra_logs": logs}


def _score(
    service: GradeService, answer: str, label: Any, cancelled: Cancellation
) -> tuple[float, float]:
    """Return the reward and the share of the tests that passed."""
    solution: dict[str, Any] = {"completion": answer}
    found = _labelled(label)
    problem = None if isinstance(found, str) else found
    if problem is None:
        solution["problem_id"] = found
    elif problem.get("language"):
        solution["language"] = problem["language"]
    record = grade_one(service, solution, problem, cancelled, max_stored_output=0)
    reward = reward_of(record, "pass_fail")
    if reward is None:
        why = record["error"] or record["status"]
        raise BadRequest(f"the label's problem gives no reward: {why}")
    tests = record["details"]
    share = sum(test["passed"] is True for test in tests) / len(tests) if tests else 0.0
    return reward, share


def _labelled(label: Any) -> Mapping[str, Any] | str:
    """Return a label's problem as a row, or its id in the server's data set."""
    if isinstance(label, str):
        check_structure(structure_bytes(label.encode("utf-8", "surrogatepass")))
    row = problem_of(label)
    if row.get(TESTS_COLUMN) is None and isinstance(row.get("id"), str):
        return str(row["id"])
    return row


# ---- NeMo Gym ----

MACHINE, VERIFIER = "provider_unavailable", "verifier_error"  # of Gym's failure_kinds
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


def _verify(service: GradeService, request: ServerRequest) -> Answer:
    """A sample that could not be graded has `mask_sample`: it is left out, without a reward."""
    asked = read(_Verified, request.body)
    text, metadata = output_text(asked.response), asked.verifier_metadata
    code, _ = extract_code(text, "python")
    answer = {
        **request.body,
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
        record = grade_one(
            service, solution, _unit_tests(metadata), request.cancelled, stop_on_first_failure=True
        )
    except SandboxError as error:
        return 200, {**answer, **_masked(MACHINE, str(error))}
    except (BadRequest, InputError) as error:
        return 200, {**answer, **_masked(VERIFIER, str(error))}
    if record["status"] == "no_tests":
        return 200, {**answer, **_masked(VERIFIER, "the row has no tests")}
    return 200, {**answer, **_measured(record)}


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


def _unit_tests(metadata: Mapping[str, Any]) -> dict[str, Any]:
    tests = metadata.get("unit_tests")
    if isinstance(tests, dict) and isinstance(tests.get("packed"), str):
        held = unpacked(tests["packed"])
        if not isinstance(held, dict):
            raise BadRequest("unit_tests.packed does not hold an object")
        tests = {**held, "fn_name": tests.get("fn_name")}
    return live_problem("row", tests)


def _masked(kind: str, reason: str) -> dict[str, Any]:
    return {"mask_sample": True, "failure_kind": kind, "failure_reason": reason}


def _measured(record: Mapping[str, Any]) -> dict[str, Any]:
    tests = tests_run(record)
    return {
        "reward": 1.0 if record["status"] == "passed" else 0.0,
        "result": [test["passed"] is True for test in tests],
        "metadata": {"verdict": record["verdict"], "error": record["error"]},
        "unit_tests_time_taken": sum(test["wall_s"] or 0.0 for test in tests),
    }


def _session(request: ServerRequest) -> Answer:
    """Answer with the caller's own name of the session: nothing is kept for it."""
    return 200, msgspec.to_builtins(read(_Session, request.body))


def aggregate_metrics(request: ServerRequest) -> Answer:
    """Answer with mean, max, min, median and std of all numbers, by task and over all.

    Masked samples are left out.
    """
    given = read(_Verdicts, request.body).verify_responses
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
