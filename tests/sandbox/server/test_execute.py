"""POST /api/v2/execute: Piston's fields, statuses and errors."""

from __future__ import annotations

import base64
import dataclasses
import json
from collections.abc import Callable
from typing import Any

import pytest
import requests

from gradebox.sandbox import Execution, Limits, SandboxError
from gradebox.sandbox.server.settings import Ceilings
from testing.fakes.scripted_sandbox import FakeSandbox, ready
from testing.rows import rows

from .conftest import CODE, Served

Start = Callable[..., Served]


def answering(execution: Execution | bytes | Exception) -> FakeSandbox:
    return FakeSandbox(script=lambda call: execution)


def test_a_run_has_pistons_fields(start: Start) -> None:
    run = start(answering(ready("out\n", stderr=b"err\n", cpu_s=0.25, wall_s=0.5))).python()
    assert run.status_code == 200
    assert run.json() == {
        "language": "python",
        "version": "3.11.0",
        "run": {
            "stdout": "out\n",
            "stderr": "err\n",
            "output": "out\nerr\n",
            "code": 0,
            "signal": None,
            "message": None,
            "status": None,
            "cpu_time": 250.0,
            "wall_time": 500.0,
            "memory": 1 << 20,
        },
    }


def single(served: Served, **body: Any) -> requests.Response:
    """Ask for a run as gradebox's own client does."""
    source = base64.b64encode(b"print(1)").decode()
    own = {"language": "python", "files": {"main.py": source}, "compile_limits": {}, **body}
    return served.post("/gradebox/run", **own)


def test_python_that_does_not_compile_is_run_as_in_piston_and_reported_to_our_client(
    start: Start,
) -> None:
    sandbox = FakeSandbox(lambda call: ready(exit_code=1), lambda source: b"SyntaxError: no")
    served = start(sandbox)
    answer = served.python().json()
    assert "compile" not in answer
    assert answer["run"]["code"] == 1
    native = single(served).json()["compiled"]
    assert native["ok"] is False
    assert base64.b64decode(native["log"]) == b"SyntaxError: no"


@pytest.mark.parametrize(
    ("fields", "status", "signal", "code"),
    rows(__file__, "statuses"),
)
def test_statuses_of_runs(
    start: Start, fields: dict[str, Any], status: str | None, signal: str | None, code: int | None
) -> None:
    run = start(answering(ready(**fields))).python().json()["run"]
    assert (run["status"], run["signal"], run["code"]) == (status, signal, code)


@pytest.mark.parametrize(
    ("number", "report"),
    [
        (11, "run: line 1:     3 Segmentation fault      main.py\n"),
        (9, "run: line 1:     3 Killed                  main.py\n"),
        (34, "run: line 1:     3 Real-time signal 0      main.py\n"),
        (15, "Terminated\n"),
        (2, ""),
        (13, ""),
    ],
)
def test_a_signal_is_reported_as_a_shell_does(start: Start, number: int, report: str) -> None:
    ended = ready(exit_code=None, signal=number, stderr=b"before\n")
    run = start(answering(ended)).python().json()["run"]
    assert (run["code"], run["stderr"]) == (128 + number, "before\n" + report)
    assert run["gradebox_signal"].startswith("SIG")


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"language": None}, "language is required as a string"),
    ({"language": 5}, "language is required as a string"),
    ({"version": ""}, "version is required as a string"),
    ({"files": None}, "files is required as an array"),
    ({"files": [None]}, "files[0].content is required as a string"),
    ({"files": [CODE, {"content": 1}]}, "files[1].content is required as a string"),
    ({"language": "cobol"}, "cobol-* runtime is unknown"),
    ({"version": "2.7"}, "python-2.7 runtime is unknown"),
    (
        {"files": [{"content": "eA==", "encoding": "base64"}]},
        "files must include at least one utf8 encoded file",
    ),
    ({"run_timeout": 10**9}, "run_timeout cannot exceed the configured limit of 300000"),
    ({"run_cpu_time": "1"}, "If specified, run_cpu_time must be a number"),
    ({"run_timeout": -1}, "run_timeout must be non-negative"),
    ({"compile_memory_limit": 10**15}, "compile_memory_limit cannot exceed the configured limit"),
    ({"run_timeout": float("nan")}, "run_timeout cannot exceed the configured limit"),
    ({"stdin": 5}, "If specified, stdin must be a string"),
    ({"stdin": "%", "stdin_encoding": "base64"}, "stdin is not base64"),
    ({"args": "x"}, "If specified, args must be an array of strings"),
    ({"args": [True]}, "If specified, args must be an array of strings"),
    *(
        ({"files": [{"name": name, "content": ""}]}, "must be a path inside the working folder")
        for name in ("../x", "a/../b", "/etc/x", "/", ".", "..", "a/", "a/.", "a\0b")
    ),
    ({"files": [CODE, {"name": 5, "content": ""}]}, "files[1].name is '5'"),
    ({"files": [{"name": "x" * 256, "content": ""}]}, "names have at most 255 bytes"),
    ({"files": [{"name": "x/" * 500 + "y", "content": ""}]}, "paths 1000"),
    ({"files": [{"name": ".gradebox-files", "content": ""}]}, "are the server's own"),
    (
        {"files": [{"name": "a", "content": ""}, {"name": "a/b", "content": ""}]},
        "'a' is a file and the folder of 'a/b'",
    ),
    ({"files": [CODE, {"content": "%", "encoding": "base64"}]}, "files[1].content is not base64"),
    ({"files": [CODE, {"content": "zz", "encoding": "hex"}]}, "files[1].content is not hex"),
    ({"files": [CODE] * 500}, "500 files; at most 256"),
    ({"files": [{"name": "\ud800", "content": ""}]}, "files[0].name is not text"),
    ({"files": [{"content": "\ud800"}]}, "files[0].content is not"),
    ({"args": ["\ud800"]}, "args is not text"),
    ({"collect": ["\ud800"]}, "collect is not text"),
    ({"version": "9" * 5000}, "runtime is unknown"),
]


def test_invalid_requests_get_pistons_errors_and_nothing_runs(start: Start) -> None:
    server = start()
    for change, message in REFUSED:
        body = {"language": "python", "version": "*", "files": [CODE], **change}
        answer = requests.post(
            server.url + "/api/v2/execute",
            data=json.dumps(body),
            headers={"Content-Type": "application/json"},
            timeout=30,
        )
        assert answer.status_code == 400, change
        assert message in answer.json()["message"], change
    assert server.sandbox.calls == []


@pytest.mark.parametrize("raw", [b"", b"{", b"[" * 100_000, b"null", b"[]", b'"x"', b"\xff"])
def test_a_body_that_is_not_a_request_is_refused(start: Start, raw: bytes) -> None:
    answer = requests.post(
        start().url + "/api/v2/execute",
        data=raw,
        headers={"Content-Type": "application/json"},
        timeout=30,
    )
    assert answer.status_code == 400
    assert answer.json()["message"]


def test_another_content_type_is_refused(start: Start) -> None:
    answer = requests.post(start().url + "/api/v2/execute", data="x", timeout=30)
    assert answer.status_code == 415
    assert answer.json() == {"message": "requests must be of type application/json"}


def test_a_body_over_the_limit_is_refused(start: Start) -> None:
    server = start(body_bytes=2000)
    answer = server.python(stdin="x" * 5000)
    assert answer.status_code == 413
    assert "over 2000 bytes" in answer.json()["message"]
    assert server.sandbox.calls == []


def test_stdin_arrives_unchanged(start: Start) -> None:
    server = start()
    assert server.python(stdin="no newline").json()["run"]["stdout"] == "no newline"
    assert server.python().json()["run"]["stdout"] == ""
    big = "x" * 3_000_000
    assert server.python(stdin=big).json()["run"]["stdout"] == big


def test_bytes_are_base64_on_request(start: Start) -> None:
    data = bytes(range(256)) * 3
    text = base64.b64encode(data).decode()
    run = (
        start().python(stdin=text, stdin_encoding="base64", output_encoding="base64").json()["run"]
    )
    assert (run["encoding"], base64.b64decode(run["stdout"])) == ("base64", data)


def test_multibyte_characters_are_not_split(start: Start) -> None:
    text = "漢" * 100_001
    assert start().python(stdin=text).json()["run"]["stdout"] == text


def test_a_compile_error_is_also_the_run_stage(start: Start) -> None:
    server = start(FakeSandbox(compile_log=lambda source: b"main.cpp:1: error"))
    answer = server.post(language="c++", version="*", files=[{"content": "int"}]).json()
    assert answer["compile"]["code"] == 1
    assert answer["compile"]["stderr"] == "file0.code:1: error"
    assert answer["run"] == answer["compile"]
    assert server.sandbox.calls == []


def test_limits_reach_the_sandbox(start: Start) -> None:
    server = start()
    server.python(run_cpu_time=1500, run_timeout=4000, run_memory_limit=100_000_000)
    limits = server.sandbox.calls[0].limits
    assert (limits.cpu_s, limits.wall_s, limits.memory_bytes) == (1.5, 4.0, 100_000_000)


SMALL = {
    "run_cpu_time": 1500,
    "run_timeout": 4000,
    "run_memory_limit": 64 << 20,
    "output_max_size": 1000,
    "max_process_count": 5,
    "max_open_files": 9,
    "max_file_size": 2000,
    "max_disk_size": 3000,
    "run_cpu_time_default": 9000,
    "compile_cpu_time": 2500,
    "compile_output_max_size": 4000,
}
MOST = vars(Ceilings(**SMALL).run_limits())


def test_every_limit_has_a_ceiling() -> None:
    assert {f.name for f in dataclasses.fields(Limits)} == set(MOST)
    assert MOST["processes"] == 5 and MOST["disk_bytes"] == 3000
    compiler = Ceilings(**SMALL).compile_limits()
    assert (compiler.cpu_s, compiler.output_bytes, compiler.processes) == (2.5, 4000, 5)


def test_limits_stay_under_the_servers(start: Start) -> None:
    server = start(ceilings=Ceilings(**SMALL))
    assert server.python().status_code == 200
    assert all(value <= MOST[name] for name, value in vars(server.sandbox.calls[0].limits).items())


@pytest.mark.parametrize("kind", ["compile_limits", "run_limits"])
@pytest.mark.parametrize("name", [f.name for f in dataclasses.fields(Limits)])
def test_gradeboxs_own_client_cannot_exceed_the_ceilings(
    start: Start, name: str, kind: str
) -> None:
    ceilings = Ceilings(**SMALL)
    most = vars(getattr(ceilings, kind)())
    server = start(ceilings=ceilings)
    own = {"compile_limits": vars(ceilings.compile_limits()), kind: most}
    assert single(server, **own).json()["compiled"]["ok"] is True
    answer = single(server, **{**own, kind: {**most, name: most[name] + 1}})
    assert answer.status_code == 400
    assert f"limit {name} of" in answer.json()["message"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"compile_limits": {"processes": 1.5}}, "got `float` - at `$.compile_limits.processes"),
        ({"run_limits": {"cpu_s": 10**400}}, "out of range"),
        ({"run_files": "x"}, "Expected `object`"),
        ({"files": {"main.py": "no base64!"}}, "base64"),
        ({"args": ["x"] * 1025}, "args has 1025 elements; at most 1024"),
        ({"other": 1}, "unknown field `other`; is the client another version?"),
        ({"language": "cobol"}, "cobol"),
    ],
)
def test_a_wrong_request_of_our_own_client_is_refused(
    start: Start, change: dict[str, Any], message: str
) -> None:
    answer = single(start(), **change)
    assert (answer.status_code, message in answer.json()["message"]) == (400, True)


@pytest.mark.parametrize(("field", "most"), [("args", 1024), ("collect", 256)])
def test_lists_have_a_ceiling(start: Start, field: str, most: int) -> None:
    server = start()
    assert server.python(**{field: ["x"] * most}).status_code == 200
    answer = server.python(**{field: ["x"] * (most + 1)})
    assert (answer.status_code, f"at most {most}" in answer.text) == (400, True)


@pytest.mark.parametrize("field", ["args", "collect"])
def test_a_number_that_is_no_double_is_refused(start: Start, field: str) -> None:
    answer = start().python(**{field: [10**400]})
    assert (answer.status_code, "over 1.8e308" in answer.text) == (400, True)


@pytest.mark.parametrize("memory", [None, 0, -1, -1000.5])
def test_missing_limits_are_the_servers_defaults(start: Start, memory: float | None) -> None:
    server = start()
    server.python(run_timeout=0, run_memory_limit=memory, compile_memory_limit=memory)
    limits = server.sandbox.calls[0].limits
    assert limits.wall_s * 1000 == Ceilings().run_timeout_default
    assert limits.memory_bytes == Ceilings().run_memory_default


@pytest.mark.parametrize("text", ["+/8=", "-_8", "\n +/\r\n8 ", "+/8"])
def test_base64_is_decoded_as_node_does(start: Start, text: str) -> None:
    server = start()
    data = {"name": "data", "content": text, "encoding": "base64"}
    assert server.python(files=[CODE, data]).status_code == 200
    assert server.sandbox.calls[0].files["data"] == b"\xfb\xff"


def test_a_sandbox_error_is_a_500(start: Start) -> None:
    answer = start(answering(SandboxError("no box could be made"))).python()
    assert answer.status_code == 500
    assert answer.json() == {"message": "the sandbox failed: no box could be made"}


def test_collected_files_are_returned(start: Start) -> None:
    server = start(answering(ready(files={"out": b"\xff"})))
    assert server.python(collect=["out"]).json()["run"]["files"] == {"out": "/w=="}


def test_runtimes_and_packages(start: Start) -> None:
    server = start()
    listed = {r["language"]: r for r in server.get("/api/v2/runtimes").json()}
    assert {"python", "c++", "python3", "c++17"} <= set(listed)
    assert "cf_python3" in listed["python3"]["aliases"]
    assert "c++17" in listed["c++"]["aliases"]
    packages = server.get("/api/v2/packages").json()
    assert {"language": "python", "language_version": "3.11.0", "installed": True} in packages
    route = "/api/v2/packages"
    assert server.post(route, language="python", version="*").status_code == 200
    assert server.post(route, language="codeforces", version="1.0.0").status_code == 200
    refused = server.post(route, language="cobol", version="*")
    assert refused.status_code == 404
    assert "apt-get install" in refused.json()["message"]
    for raw in ("[]", "null", "{}", '{"language": null}', '{"language": ["python"]}'):
        headers = {"Content-Type": "application/json"}
        odd = requests.post(server.url + route, data=raw, headers=headers, timeout=30)
        assert (odd.status_code, list(odd.json())) == (404, ["message"]), raw


def test_a_slash_at_the_end_of_a_path_is_allowed(start: Start) -> None:
    server = start()
    assert server.post("/api/v2/execute/", language="python", version="*", files=[CODE]).ok
    for route in ("/", "/health/", "/api/v2/runtimes/", "/api/v2/packages/"):
        assert server.get(route).status_code == 200
    assert server.get("/api/v2//runtimes").status_code == 404
