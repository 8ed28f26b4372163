"""POST /submit of SandboxFusion: its classes of rows, its answer, what is refused."""

import base64
import json
import pickle
import zlib
from collections.abc import Iterator
from typing import Any

import pytest

from gradebox.eval.api.dialects.fusion import NOT_SERVED
from gradebox.sandbox.errors import SandboxError
from gradebox.sandbox.opening import open_sandbox
from testing.fakes.scripted_sandbox import Call, ready
from testing.rows import named_rows
from tests.eval.api.dialects.conftest import Served
from tests.eval.api.serving import serving

ECHO = "```python\necho\n```"
OJ_TESTS = [
    {"input": {"stdin": "Yes\n"}, "output": {"stdout": "YES\n"}},
    {"input": {"stdin": "0.5\n"}, "output": {"stdout": "0.500001\n"}},
]
OJ = {"id": 7, "content": "Echo.", "labels": "{}", "test": json.dumps(OJ_TESTS)}


def echo(call: Call) -> Any:
    return call.stdin if "echo" in call.source else ready("?", exit_code=int("die" in call.source))


def body(kind: str, row: Any, completion: str, **config: Any) -> dict[str, Any]:
    config = {"dataset_type": kind, "provided_data": row, **config}
    return {"dataset": "x", "id": 7, "completion": completion, "config": config}


def oj(completion: str, row: Any = OJ, **config: Any) -> dict[str, Any]:
    return body("CommonOJDataset", row, completion, **{"language": "python", **config})


@pytest.fixture(scope="module")
def real() -> Iterator[Served]:
    """A server over the embedded sandbox."""
    with open_sandbox("local") as box, serving(box) as url:
        yield Served(url)


# ---- CommonOJ -----------------------------------------------------------------------------


def test_output_is_compared_as_theirs(start):
    status, answer = start(echo).post("/submit", oj(ECHO))
    assert status == 200
    fields = ["id", "accepted", "extracted_code", "full_code", "test_code", "tests"]
    assert list(answer) == [*fields, "extracted_type", "extra"]
    assert (answer["id"], answer["accepted"], answer["extracted_type"]) == (7, True, "fenced")
    assert answer["extracted_code"] == "echo"
    assert [test["passed"] for test in answer["tests"]] == [True, True]
    assert [test["test_info"] for test in answer["tests"]] == OJ_TESTS
    info = answer["tests"][0]["exec_info"]
    assert (info["status"], info["run_result"]["stdout"]) == ("Success", "Yes\n")
    assert (info["run_result"]["return_code"], info["verdict"]) == (0, "AC")


@pytest.mark.parametrize(
    ("code", "status", "code_of_exit", "verdict"),
    [("wrong", "Success", 0, "WA"), ("die", "Failed", 1, "RE")],
)
def test_the_first_failure_is_the_last_test(start, code, status, code_of_exit, verdict):
    _, answer = start(echo).post("/submit", oj(f"```python\n{code}\n```"))
    (test,) = answer["tests"]
    run = test["exec_info"]
    assert (answer["accepted"], test["passed"]) == (False, False)
    assert (run["status"], run["run_result"]["return_code"]) == (status, code_of_exit)
    assert run["verdict"] == verdict


def test_all_tests_run_on_request(start):
    request = oj("```python\nwrong\n```", extra={"run_all_cases": True})
    assert len(start(echo).post("/submit", request)[1]["tests"]) == 2


def test_inputs_of_passed_tests_are_cut(start):
    long = "x" * 3000
    row = {**OJ, "test": [{"input": {"stdin": long}, "output": {"stdout": long}}]}
    served = start(echo)
    _, cut = served.post("/submit", oj(ECHO, row))
    _, whole = served.post("/submit", oj(ECHO, row, extra={"return_full_case": True}))
    sizes = [len(a["tests"][0]["test_info"]["input"]["stdin"]) for a in (cut, whole)]
    assert sizes == [999, 3000]


def test_no_program_and_no_tests_are_not_accepted(start):
    served = start(echo)
    _, empty = served.post("/submit", oj("I can't."))
    assert (empty["accepted"], empty["tests"], empty["extracted_type"]) == (False, [], "empty")
    _, untested = served.post("/submit", oj(ECHO, {**OJ, "test": "[]"}))
    assert (untested["accepted"], untested["tests"]) == (False, [])


def test_a_fault_of_the_machine_is_no_verdict(start):
    status, answer = start(lambda call: SandboxError("no cgroup")).post("/submit", oj(ECHO))
    assert status == 503
    assert "not the program's fault" in answer["detail"]


# ---- the other classes, in the embedded sandbox -------------------------------------------

LIVE = {"inputs": ["[1, 2]\n3", "[]\n0"], "outputs": ["6", "0"], "fn_name": "total"}
TOTAL = (
    "```python\nclass Solution:\n  def total(self, xs: List[int], x):\n    return sum(xs) + x\n```"
)
AUTO = {
    "id": 7,
    "content": "?",
    "labels": {"programming_language": "python"},
    "test": {"code": "#<INSERT>\nassert add(int(open('n.txt').read()), 1) == 3",
             "asset": json.dumps({"n.txt": base64.b64encode(b"2").decode()})},
}  # fmt: skip
CPP = {
    "name": "HumanEval_900_twice",
    "language": "cpp",
    "prompt": "#include<assert.h>\n#include<bits/stdc++.h>\n// Twice x.\nlong twice(long x) {\n",
    "tests": "}\nint main() {\n    auto candidate = twice;\n    assert(candidate(2) == (4));\n}\n",
    "stop_tokens": ["\n}"],
}


def live(test: Any) -> dict[str, Any]:
    return {"id": 7, "content": "?", "labels": "{}", "test": test}


def packed(value: Any) -> str:
    return base64.b64encode(zlib.compress(pickle.dumps(value))).decode()


BODIES: dict[str, tuple[bool, dict[str, Any]]] = named_rows(__file__, "bodies")


@pytest.mark.slow
@pytest.mark.parametrize("case", BODIES)
def test_a_row_of_each_class_is_graded(real, case):
    accepted, request = BODIES[case]
    status, answer = real.post("/submit", request)
    assert status == 200, answer
    assert answer["accepted"] is accepted, answer
    assert [test["passed"] for test in answer["tests"]].count(False) == (not accepted)
    for test in answer["tests"]:
        assert test["exec_info"]["status"] in ("Success", "Failed")


# ---- what is refused ----------------------------------------------------------------------

REFUSED: dict[str, tuple[int, dict[str, Any]]] = {
    "no dataset": (400, {"dataset": "x", "id": 1, "completion": "", "config": {}}),
    "no class": (400, body("X", OJ, "")),
    "no row": (400, body("CommonOJDataset", None, "", language="python")),
    "rows": (400, body("CommonOJDataset", [OJ], "", language="python")),
    "no language": (400, body("CommonOJDataset", OJ, ECHO)),
    "unknown language": (422, oj(ECHO, language="klingon")),
    "custom code": (400, oj(ECHO, custom_extract_logic="raise SystemExit")),
    "no id": (422, {"dataset": "x", "completion": "", "config": {}}),
    "id is a list": (422, {**oj(ECHO), "id": []}),
    "config is a text": (422, {**oj(ECHO), "config": "x"}),
    "extra is a list": (422, oj(ECHO, extra=[1])),
    "time is NaN": (422, oj(ECHO, run_timeout=float("nan"))),
    "time is huge": (422, oj(ECHO, run_timeout=1e9)),
    "test is no JSON": (400, oj(ECHO, {**OJ, "test": "{"})),
    "test is a number": (400, oj(ECHO, {**OJ, "test": 5})),
    "test has no input": (400, oj(ECHO, {**OJ, "test": [{}]})),
    "deep": (400, oj(ECHO, {**OJ, "test": "[" * 100_000})),
    "many parts": (413, oj(ECHO, {**OJ, "test": "[" + "{}," * 800_000 + "{}]"})),
    "live: class": (400, body("LiveCodeBenchDataset", live(packed(SandboxError("x"))), TOTAL)),
    "live: nothing": (400, body("LiveCodeBenchDataset", {"id": 1}, TOTAL)),
    "live: function": (
        400,
        body("LiveCodeBenchDataset", live({"input_output": {**LIVE, "fn_name": "a b"}}), TOTAL),
    ),
    "autoeval: language": (
        400,
        body("AutoEvalDataset", {**AUTO, "labels": {"programming_language": "lean"}}, ""),
    ),
    "autoeval: path": (
        422,
        body("AutoEvalDataset", {**AUTO, "test": {"code": "", "asset": {"../x": ""}}}, ECHO),
    ),
    "mbpp: tests": (400, body("MBPPDataset", {"test_list": [1]}, ECHO)),
    "humaneval: nothing": (400, body("HumanEvalDataset", {"id": 1}, ECHO)),
    "multipl-e: language": (400, body("MultiPLEDataset", {**CPP, "language": "d"}, "x")),
    "multipl-e: tokens": (400, body("MultiPLEDataset", {**CPP, "stop_tokens": 7}, "x")),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_graded_is_named(start, case):
    expected, request = REFUSED[case]
    status, answer = start(echo).post("/submit", request)
    assert status == expected, answer
    assert answer.get("detail") or answer["message"]


# ---- data sets ----------------------------------------------------------------------------


def test_the_servers_own_data_set_has_its_name(start, tmp_path):
    row = {"id": "1/A", "official_tests": [{"input": "a\n", "output": "a\n"}]}
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps(row) + "\n")
    served = start(echo, str(path))
    assert served.get("/list_datasets") == (200, ["mine"])
    assert served.post("/list_ids", {"dataset": "mine", "config": {}}) == (200, ["1/A"])
    request = {"dataset": "mine", "id": "1/A", "completion": ECHO, "config": {}}
    status, answer = served.post("/submit", request)
    assert (status, answer["accepted"], answer["id"]) == (200, True, "1/A")
    assert served.post("/submit", {**request, "id": "9/Z"})[0] == 400


@pytest.mark.parametrize("path", [*NOT_SERVED, "/list_ids"])
def test_there_are_no_rows_of_other_data_sets(start, path):
    status, answer = start(echo).post(path, {"dataset": "mbpp", "config": {}})
    assert status == (400 if path == "/list_ids" else 501)
    assert ("the client's own" in answer["detail"]) == (path != "/run_jupyter")
