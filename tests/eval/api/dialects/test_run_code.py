"""POST /run_code of SandboxFusion: its answers, what it refuses, whose fault it names."""

import base64
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests

from gradebox.sandbox.errors import SandboxError
from gradebox.sandbox.model import MIB
from gradebox.sandbox.opening import open_sandbox
from testing.fakes.scripted_sandbox import Call, FakeSandbox, ready
from testing.rows import rows
from tests.eval.api.dialects.conftest import Served
from tests.eval.api.serving import serving

PYTHON = {"code": "print(1)", "language": "python"}


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


# how a program ended → status, run_result's status and return_code, verdict
ENDS = {
    "well": ({}, ("Success", "Finished", 0, None)),
    "code": ({"exit_code": 3}, ("Failed", "Finished", 3, "RE")),
    "signal": ({"exit_code": None, "signal": 11}, ("Failed", "Finished", -11, "RE")),
    "cpu": ({"killed_for": "cpu"}, ("Failed", "TimeLimitExceeded", None, "TLE")),
    "wall": ({"killed_for": "wall"}, ("Failed", "TimeLimitExceeded", None, "TLE")),
    "memory": ({"killed_for": "memory"}, ("Failed", "Finished", -9, "MLE")),
    "output": ({"killed_for": "output"}, ("Failed", "Finished", -9, "OLE")),
    "processes": ({"killed_for": "processes"}, ("Failed", "Finished", -9, "RE")),
}


@pytest.mark.parametrize("end", ENDS)
def test_a_program_is_answered_for_and_never_blamed_on_the_machine(start, end):
    fields, expected = ENDS[end]
    served = start(lambda call: ready(b"out\xff", stderr=b"err", cpu_s=0.25, **fields))
    status, answer = served.post("/run_code", PYTHON)
    run = answer["run_result"]
    assert status == 200
    assert (answer["status"], run["status"], run["return_code"], answer["verdict"]) == expected
    assert (run["stdout"], run["stderr"], run["cpu_time"]) == ("out�", "err", 0.25)
    assert answer["compile_result"] is None
    assert answer["message"] == ""


def test_an_answer_has_the_fields_of_theirs(start):
    _, answer = start(lambda call: ready("1\n")).post("/run_code", PYTHON)
    theirs = ["status", "message", "compile_result", "run_result", "executor_pod_name", "files"]
    assert list(answer) == [*theirs, "cpu_time", "memory_bytes", "verdict"]
    of_a_run = ["status", "execution_time", "cpu_time", "return_code", "stdout", "stderr"]
    assert list(answer["run_result"]) == of_a_run


def test_a_program_that_does_not_compile_has_no_run(start):
    box = FakeSandbox(compile_log=lambda source: b"x undeclared")
    _, answer = start(box).post("/run_code", {"code": "x", "language": "cpp"})
    compiled = answer["compile_result"]
    assert (answer["status"], answer["verdict"]) == ("Failed", "CE")
    assert answer["run_result"] is None
    assert (compiled["status"], compiled["return_code"]) == ("Finished", 1)
    assert compiled["stderr"] == "x undeclared"


def test_python_that_does_not_compile_fails_when_it_runs(start):
    box = FakeSandbox(lambda call: ready(exit_code=1, stderr=b"SyntaxError"), lambda source: b"no")
    _, answer = start(box).post("/run_code", {"code": "x = (", "language": "python"})
    assert (answer["status"], answer["verdict"], answer["compile_result"]) == ("Failed", "RE", None)
    assert answer["run_result"]["stderr"] == "SyntaxError"


def test_the_machine_is_tried_again_then_named(start):
    faults: list[Any] = [SandboxError("no cgroup"), ready("1\n")]
    served = start(lambda call: faults.pop(0))
    assert served.post("/run_code", PYTHON)[1]["status"] == "Success"

    box = FakeSandbox(lambda call: SandboxError("no cgroup"))
    status, answer = start(box).post("/run_code", PYTHON)
    assert (status, answer["status"], answer["verdict"]) == (200, "SandboxError", "ER")
    assert answer["message"] == "the sandbox failed: no cgroup"
    assert len(box.calls) == 3


@pytest.mark.parametrize(
    ("language", "status", "message"),
    [
        ("R", 422, "Input should be 'python', 'cpp'"),
        (
            "java",
            400,
            "the language java is not installed on the server's machine (apt-get install",
        ),
        (
            "bash",
            400,
            "the language bash is not installed on the server's machine (apt-get install",
        ),
    ],
)
def test_a_language_that_cannot_run_is_no_verdict(start, monkeypatch, language, status, message):
    """Clients take the status Failed for a wrong program, and any HTTP status but 200 for none."""
    monkeypatch.setattr("gradebox.eval.api.dialects.programs._scripts", dict)
    served = start(lambda call: ready())
    found, answer = served.post("/run_code", {"code": "1", "language": language})
    assert (found, list(answer)) == (status, ["detail"])
    detail = answer["detail"]
    assert (detail if status == 400 else detail[0]["msg"]).startswith(message)


def test_limits_are_those_of_the_request(start):
    box = FakeSandbox(lambda call: ready())
    served = start(box)
    served.post("/run_code", {**PYTHON, "run_timeout": 4, "memory_limit_MB": 300})
    served.post("/run_code", {**PYTHON, "memory_limit_MB": -1, "stdin": None})
    given, default = (call.limits for call in box.calls)
    assert (given.cpu_s, given.wall_s, given.memory_bytes) == (4, 7, 300 * MIB)
    assert (default.cpu_s, default.wall_s, default.memory_bytes) == (10, 16, 1024 * MIB)


def test_fetched_files_share_the_limit_of_the_output(start):
    box = FakeSandbox(lambda call: ready())
    served = start(box)
    files = {"name": "main.py", "content": "1"}
    execute = {"language": "python", "version": "*", "files": [files]}
    served.post("/run_code", {**PYTHON, "fetch_files": list("abcd")})
    served.post("/api/v2/execute", {**execute, "collect": list("abcd")})
    served.post("/api/v2/execute", {**execute, "collect": ["a"]})
    assert [call.limits.output_bytes for call in box.calls] == [16 * MIB, 16 * MIB, 64 * MIB]


def test_files_go_in_and_come_back(start):
    box = FakeSandbox(lambda call: ready(files={"out.bin": b"\0\1"}))
    body = {
        **PYTHON,
        "files": {
            "./data.txt": b64(b"7"),
            "main.py": b64(b"theirs"),
            "none": None,
            "IGNORE_THIS_FILE_x": "?",
            "lines": "N w==\n".replace(" ", "\n"),
        },
        "fetch_files": ["out.bin", "./out.bin"],
    }
    status, answer = start(box).post("/run_code", body)
    (call,) = box.calls
    assert status == 200
    assert call.collect == ("out.bin",)
    assert dict(call.files) == {
        "program_main.py": b"print(1)",
        "data.txt": b"7",
        "main.py": b"theirs",
        "lines": b"7",
    }
    assert call.args == ("program_main.py",)
    assert answer["files"] == {"out.bin": b64(b"\0\1")}


HOSTILE: dict[str, Any] = {
    **{name: {**PYTHON, **change} for name, change in rows(__file__, "hostile")},
    "no object": [1],
    "no code": {"language": "python"},
    "time is huge": {**PYTHON, "compile_timeout": 10**400},
    "path is long": {**PYTHON, "files": {"a" * 300: ""}},
    "many files": {**PYTHON, "files": {str(i): "" for i in range(257)}},
    "fetch much": {**PYTHON, "fetch_files": ["a"] * 33},
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_body_runs_nothing_and_is_named(start, case):
    box = FakeSandbox()
    status, answer = start(box).post("/run_code", HOSTILE[case])
    assert status == 422
    (detail,) = answer["detail"]
    assert detail["loc"][0] == "body"
    assert detail["msg"]
    assert len(json.dumps(answer)) < 2000
    assert box.compiled == []


def test_ping_and_notebooks(start):
    served = start(FakeSandbox())
    assert served.get("/v1/ping") == (200, "pong")
    status, answer = served.post("/run_jupyter", {"cells": ["1"]})
    assert status == 501
    assert "/run_code" in answer["detail"]


def test_a_full_server_says_when_to_come_back(start):
    gate = threading.Event()

    def wait(call: Call) -> Any:
        gate.wait(30)
        return ready("1\n")

    url = start(wait, slots=1, queue=1).url
    with ThreadPoolExecutor(2) as pool:
        try:
            admitted = [pool.submit(requests.post, f"{url}/run_code", json=PYTHON) for _ in "ab"]
            while requests.get(f"{url}/health", timeout=30).json()["present"] < 2:
                time.sleep(0.01)
            refused = requests.post(f"{url}/run_code", json=PYTHON, timeout=30)
        finally:
            gate.set()
        assert (refused.status_code, int(refused.headers["Retry-After"]) >= 1) == (429, True)
        assert [one.result().json()["status"] for one in admitted] == ["Success"] * 2


SCRIPTS = {  # each adds one to 4
    "bash": "read n; echo $((n + 1)) | cat",
    "perl": "use strict; use List::Util qw(sum); print sum(<STDIN>, 1), qq(\\n);",
    "lua": "print(io.read('n') + 1)",
    "php": "<?php echo fgets(STDIN) + 1, PHP_EOL;",
    "sql": "create table t(n int); insert into t values (4), (1); select sum(n) from t;",
}


@pytest.mark.slow
def test_scripts_run_where_their_interpreter_is_installed():
    with open_sandbox("local") as box, serving(box) as url:
        for language, code in SCRIPTS.items():
            body = {"code": code, "language": language, "stdin": "4"}
            status, answer = Served(url).post("/run_code", body)
            if status == 400:
                assert f"the language {language} is not installed" in answer["detail"]
            else:
                assert (answer["status"], answer["run_result"]["stdout"]) == ("Success", "5\n")
