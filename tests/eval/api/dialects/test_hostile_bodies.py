"""Every value of a good body replaced by hostile ones: an answer in words, never an exception."""

from __future__ import annotations

import base64
import copy
import json
import pickle
import zlib
from collections.abc import Iterator
from typing import Any

import pytest

from gradebox.eval.api.dialects import dialect_routes
from gradebox.eval.api.dialects.programs import ProgramRunner
from gradebox.eval.api.grading_calls import GradingCalls
from gradebox.sandbox.common.cancellation import Cancellation
from gradebox.sandbox.errors import RequestRefused
from gradebox.sandbox.server.body import encode
from gradebox.sandbox.server.settings import ServerSettings
from testing.fakes.scripted_sandbox import FakeSandbox
from tests.eval.problems.dataset_rows import HUMANEVAL

CODE = "```python\nprint(input())\n```"
PAIRS = [{"input": "1\n", "output": "1\n"}]
LIVE = {"inputs": ["1\n"], "outputs": ["1\n"], "fn_name": None}
FUSION = {"dataset": "x", "id": 1, "completion": CODE}


def fusion(kind: str, row: Any, **config: Any) -> dict[str, Any]:
    return {**FUSION, "config": {"dataset_type": kind, "provided_data": row, **config}}


def oj_row() -> dict[str, Any]:
    test = [{"input": {"stdin": "1"}, "output": {"stdout": "1"}}]
    return {"id": 1, "content": "?", "labels": {"name": "x"}, "test": test}


BODIES: dict[str, tuple[str, Any]] = {
    "run_code": (
        "/run_code",
        {
            "code": "1",
            "language": "python",
            "stdin": "",
            "run_timeout": 1,
            "compile_timeout": 1,
            "memory_limit_MB": 9,
            "files": {"a": "QQ=="},
            "fetch_files": ["a"],
        },
    ),
    "common oj": (
        "/submit",
        fusion("CommonOJDataset", oj_row(), language="python", extra={"run_all_cases": True}),
    ),
    "live": (
        "/submit",
        fusion("LiveCodeBenchDataset", {"test": {"input_output": LIVE}, "labels": {}, "id": 1}),
    ),
    "humaneval": ("/submit", fusion("HumanEvalDataset", HUMANEVAL, extra={"is_freeform": True})),
    "mbpp": (
        "/submit",
        fusion("MBPPDataset", {"test_list": ["assert f()"]}, is_fewshot=True, locale="en"),
    ),
    "multipl-e": (
        "/submit",
        fusion(
            "MultiPLEDataset",
            {
                "name": "a",
                "language": "cpp",
                "prompt": "int f() {",
                "tests": "}assert(f());",
                "stop_tokens": ["\n}"],
            },
        ),
    ),
    "autoeval": (
        "/submit",
        fusion(
            "AutoEvalDataset",
            {
                "labels": {"programming_language": "python", "execution_language": "python"},
                "test": {"code": "1", "asset": {"a": "QQ=="}},
            },
            run_timeout=1,
            compile_timeout=1,
            extra={"append_flag": True, "repr_code": True},
        ),
    ),
    "prompts": ("/get_prompts", fusion("MBPPDataset", [{**oj_row(), "test_list": ["assert 1"]}])),
    "ids": ("/list_ids", fusion("CommonOJDataset", [oj_row()])),
    "open-instruct": ("/test_program", {"program": "1", "tests": ["assert f()"]}),
    "open-instruct, stdio": (
        "/test_program_stdio",
        {"program": "1", "tests": PAIRS, "max_execution_time": 1.0},
    ),
    "open-instruct, packed": (
        "/test_program_stdio",
        {
            "program": "1",
            "tests": base64.b64encode(zlib.compress(pickle.dumps(PAIRS))).decode(),
        },
    ),
    "openrlhf": (
        "/get_reward",
        {"query": [f"p{CODE}"], "prompts": ["p"], "labels": [{"id": "x", **LIVE}]},
    ),
    "nemo": (
        "/verify",
        {
            "responses_create_params": {"input": []},
            "response": {
                "output": [{"type": "message", "content": [{"type": "output_text", "text": CODE}]}]
            },
            "verifier_metadata": {"unit_tests": LIVE, "difficulty": "easy"},
        },
    ),
    "nemo, metrics": (
        "/aggregate_metrics",
        {"verify_responses": [{"reward": 1.0, "_ng_task_index": 0, "mask_sample": False}]},
    ),
    "nemo, session": ("/seed_session", {"resources_session_id": "a"}),
}
NEEDS_TWO_BOXES = ("humaneval", "mbpp", "open-instruct")  # which the scripted sandbox has not
HOSTILE: list[Any] = [
    *(None, True, -1, 0, 10**400, 1e308, float("nan"), float("-inf")),
    *("", "\0", "\ud800", "../x", "{", "[" * 2000, "9" * 5000, "x" * 500),
    *([], {}, [[]], [None], [{}], {"a": {}}, {"": []}, [1, "a"]),
]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield where the values of a body are."""
    yield path
    keys: Any = value if isinstance(value, dict) else ()
    if isinstance(value, list):
        keys = range(len(value))
    for key in keys:
        yield from places(value[key], (*path, key))


def replaced(body: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    body = copy.deepcopy(body)
    held = body
    for key in path[:-1]:
        held = held[key]
    held[path[-1]] = value
    return body


@pytest.fixture(scope="module")
def routes() -> Iterator[Any]:
    box, settings = FakeSandbox(record=False), ServerSettings(port=0)
    calls = GradingCalls(box, settings)
    yield dialect_routes(calls, ProgramRunner(box, settings.ceilings))
    calls.close()


@pytest.mark.slow
@pytest.mark.parametrize("case", BODIES)
def test_no_value_leads_to_an_exception(routes: Any, case: str) -> None:
    path, body = BODIES[case]
    route = routes["POST", path]
    good = 400 if case in NEEDS_TWO_BOXES else 200
    assert route(copy.deepcopy(body), Cancellation())[0] == good
    for place in places(body):
        for value in HOSTILE:
            try:
                status, answer = route(replaced(body, place, value), Cancellation())
            except RequestRefused as refused:
                status, answer = refused.status, str(refused)
            text = encode(answer).getvalue()
            assert status in (200, 400, 413, 422), (place, value, answer)
            assert status == 200 or len(text) < 3000, (place, value)
            json.loads(text)
