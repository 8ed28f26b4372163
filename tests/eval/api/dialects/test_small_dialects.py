"""open-instruct, OpenRLHF and NeMo Gym, with requests as their clients make them."""

import base64
import json
import pickle
import time
import zlib
from collections.abc import Iterator
from typing import Any

import pytest

from gradebox.eval.api.dialects.trainers import aggregate_metrics
from gradebox.sandbox.errors import SandboxError
from gradebox.sandbox.opening import open_sandbox
from gradebox.sandbox.server.settings import ServerRequest
from testing.fakes.scripted_sandbox import Call
from testing.rows import named_rows
from tests.eval.api.dialects.conftest import Served
from tests.eval.api.serving import serving

ADD = "def add(a, b):\n    return a + b\n"
PLUS_ONE = "print(int(input()) + 1)"
PAIRS = [{"input": "1\n", "output": "2\n"}, {"input": "5\n", "output": "7\n"}]


def packed(value: Any) -> str:
    return base64.b64encode(zlib.compress(pickle.dumps(value))).decode()


def plus_one(call: Call) -> bytes:
    """What PLUS_ONE prints; anything else prints nothing."""
    return b"%d\n" % (int(call.stdin) + 1) if PLUS_ONE in call.source else b""


def broken(call: Call) -> Any:
    return SandboxError("no cgroup")


@pytest.fixture(scope="module")
def real() -> Iterator[Served]:
    """A server over the embedded sandbox."""
    with open_sandbox("local") as box, serving(box) as url:
        yield Served(url)


# ---- open-instruct ------------------------------------------------------------------------


@pytest.mark.slow
def test_each_assertion_is_a_test(real):
    tests = ["assert add(1, 2) == 3", "assert add(0, 0) == 1", "add(1, 'x')"]
    body = {"program": ADD, "tests": tests, "max_execution_time": 5.0}
    status, answer = real.post("/test_program", body)
    assert status == 200
    assert answer["results"] == [1, 0, 0]
    assert answer["runtimes"][0] > 0
    assert answer["runtimes"][1:] == [-1.0, -1.0]


def test_leaving_early_passes_nothing(real):
    body = {"program": "import os\nos._exit(0)\n", "tests": ["assert add(1, 2) == 3"]}
    assert real.post("/test_program", body)[1]["results"] == [0]


@pytest.mark.parametrize("form", [lambda t: t, json.dumps, packed])
def test_pairs_may_be_a_list_its_text_or_packed(start, form):
    body = {"program": PLUS_ONE, "tests": form(PAIRS)}
    status, answer = start(plus_one).post("/test_program_stdio", body)
    assert (status, answer) == (200, {"results": [1, 0], "runtimes": [0.01, -1.0]})


def test_no_tests_are_no_results(start):
    served = start(plus_one)
    for tests in ([], "", None):
        body = {"program": PLUS_ONE, "tests": tests}
        assert served.post("/test_program_stdio", body) == (200, {"results": [], "runtimes": []})


HOSTILE: dict[str, tuple[int, Any]] = named_rows(__file__, "hostile")


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_tests_are_refused(start, case):
    status, body = HOSTILE[case]
    answer = start(plus_one).post("/test_program_stdio", body)
    assert (answer[0], "detail" in answer[1]) == (status, True)


def test_a_fault_of_the_machine_is_no_result(start):
    status, answer = start(broken).post("/test_program_stdio", {"program": "x", "tests": PAIRS})
    assert (status, "no cgroup" in answer["detail"]) == (503, True)


# ---- OpenRLHF -----------------------------------------------------------------------------

PROMPT = "<|user|>Print the next number.```python\nprint(0)\n```<|assistant|>"
RIGHT = f"{PROMPT}Here:\n```python\n{PLUS_ONE}\n```<|end|>"
LABEL = {"inputs": ["1\n", "2\n"], "outputs": ["2\n", "3\n"]}


@pytest.mark.parametrize(
    ("query", "label", "reward", "score"),
    [
        (RIGHT, LABEL, 1.0, 1.0),
        (RIGHT, json.dumps(LABEL), 1.0, 1.0),
        (RIGHT, json.dumps(PAIRS), 0.0, 0.5),
        (f"{PROMPT}I can't.<|end|>", LABEL, -1.0, 0.0),
        (f"{PROMPT}\n```python\nprint(9)\n```", LABEL, 0.0, 0.0),
    ],
)
def test_the_answer_behind_the_prompt_is_rewarded(start, query, label, reward, score):
    body = {"query": [query], "prompts": [PROMPT], "labels": [label]}
    status, answer = start(plus_one).post("/get_reward", body)
    assert status == 200
    assert (answer["rewards"], answer["scores"]) == ([reward], [score])
    assert answer["extra_logs"] == {"pass_rate": [score], "passed": [float(reward == 1.0)]}


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (422, {"query": "x", "prompts": ["x"], "labels": ["x"]}),
        (422, {"query": ["x"], "prompts": ["x"], "labels": []}),
        (400, {"query": [RIGHT], "prompts": [PROMPT], "labels": ["HumanEval/1"]}),
        (400, {"query": [RIGHT], "prompts": [PROMPT], "labels": [7]}),
        (
            400,
            {"query": [RIGHT], "prompts": [PROMPT], "labels": [{"id": "x", "official_tests": []}]},
        ),
    ],
)
def test_a_label_without_a_problem_is_refused(start, status, body):
    answer = start(plus_one).post("/get_reward", body)
    assert (answer[0], "detail" in answer[1]) == (status, True)


def test_the_trainer_asks_again_after_a_fault(start):
    body = {"query": [RIGHT], "prompts": [PROMPT], "labels": [LABEL]}
    assert start(broken).post("/get_reward", body)[0] == 503


# ---- NeMo Gym -----------------------------------------------------------------------------


def verify_body(text: str, tests: Any) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    message = {"type": "message", "role": "assistant", "id": "m", "content": content}
    return {
        "responses_create_params": {"input": [{"role": "user", "content": "?"}]},
        "response": {"id": "r", "object": "response", "output": [{"type": "reasoning"}, message]},
        "verifier_metadata": {"unit_tests": tests, "difficulty": "easy"},
    }


FENCED = f"```python\n{PLUS_ONE}\n```"
INS_OUTS = {"inputs": ["1\n", "2\n"], "outputs": ["2\n", "3\n"], "fn_name": None}
PACKED = {"packed": base64.b64encode(zlib.compress(json.dumps(INS_OUTS).encode())).decode()}


@pytest.mark.parametrize(
    ("text", "tests", "reward", "result"),
    [
        (FENCED, INS_OUTS, 1.0, [True, True]),
        (FENCED, PACKED, 1.0, [True, True]),
        ("```python\nprint(2)\n```", INS_OUTS, 0.0, [False]),
        ("I can't.", INS_OUTS, 0.0, None),
        ("", INS_OUTS, 0.0, None),
    ],
)
def test_a_response_is_verified(start, text, tests, reward, result):
    body = verify_body(text, tests)
    status, answer = start(plus_one).post("/verify", body)
    assert status == 200
    assert {name: answer[name] for name in body} == body
    assert (answer["reward"], answer["result"]) == (reward, result)
    assert (answer["mask_sample"], answer["failure_kind"]) == (False, None)
    assert answer["difficulty"] == "easy"


@pytest.mark.parametrize(
    ("script", "tests", "kind"),
    [
        (broken, INS_OUTS, "provider_unavailable"),
        (plus_one, None, "verifier_error"),
        (plus_one, {"inputs": ["1"], "outputs": []}, "verifier_error"),
        (plus_one, {"packed": "!!!"}, "verifier_error"),
    ],
)
def test_a_sample_that_is_not_measured_is_masked(start, script, tests, kind):
    status, answer = start(script).post("/verify", verify_body(FENCED, tests))
    assert status == 200
    assert (answer["mask_sample"], answer["failure_kind"]) == (True, kind)
    assert answer["failure_reason"]


def test_a_body_without_a_response_is_wrong(start):
    status, answer = start(plus_one).post("/verify", {"responses_create_params": {}})
    assert (status, answer["detail"][0]["loc"]) == (422, ["body", "response"])


def test_sessions_need_nothing(start):
    served = start(plus_one)
    assert served.post("/seed_session", {}) == (200, {})
    assert served.post("/close_session", {"resources_session_id": "s"}) == (
        200,
        {"resources_session_id": "s"},
    )
    assert served.get("/reverify_mode") == (200, "stateless")


@pytest.mark.slow(seconds=1)
def test_metrics_of_tasks_whose_numbers_have_one_hash_are_fast():
    """As keys of a dict, 15,000 such numbers took more than 10 s, four times as many 160 s."""
    given = [{"_ng_task_index": (2**61 - 1) * i, "reward": 1} for i in range(1, 15_001)]
    start = time.process_time()
    status, answer = aggregate_metrics(ServerRequest({}, {"verify_responses": given}))
    assert status == 200
    assert len(answer["group_level_metrics"]) == 15_000
    assert time.process_time() - start < 5


def test_metrics_leave_masked_samples_out(start):
    responses = [
        {"_ng_task_index": 1, "reward": 1.0},
        {"_ng_task_index": 1, "reward": 0.0},
        {"_ng_task_index": 0, "reward": 1.0},
        {"_ng_task_index": 0, "reward": 0.0, "mask_sample": True},
    ]
    status, answer = start(plus_one).post("/aggregate_metrics", {"verify_responses": responses})
    assert status == 200
    assert [(g["_ng_task_index"], g["mean/reward"]) for g in answer["group_level_metrics"]] == [
        (0, 1.0),
        (1, 0.5),
    ]
    assert answer["key_metrics"] == {"mean/reward": pytest.approx(2 / 3)}
    assert answer["agent_metrics"]["std/reward"] == pytest.approx(0.5773, abs=1e-3)
