"""POST /api/v2/execute: Piston's fields, statuses and errors."""

import base64
import dataclasses
import json
from typing import Any

import pytest
import requests

from gradebox.sandbox import Execution, Limits, SandboxError
from gradebox.sandbox.server.settings import Ceilings
from testing.fakes.scripted_sandbox import FakeSandbox, ready
from testing.rows import named_rows, rows

from .conftest import CODE, Served


def answering(execution: Execution | bytes | Exception) -> FakeSandbox:
    return FakeSandbox(script=lambda call: execution)


def test_a_run_has_pistons_fields(start):
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


def test_python_that_does_not_compile_is_run_as_in_piston_and_reported_to_our_client(start):
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
def test_statuses_of_runs(start, fields, status, signal, code):
    run = start(answering(ready(**fields))).python().json()["run"]
    assert (run["status"], run["signal"], run["code"]) == (status, signal, code)


@pytest.mark.parametrize(("number", "report"), [(34, "Real-time signal 0      main.py"), (13, "")])
def test_a_signal_is_reported_as_a_shell_does(start, number, report):
    ended = ready(exit_code=None, signal=number, stderr=b"before\n")
    run = start(answering(ended)).python().json()["run"]
    said = f"run: line 1:     3 {report}\n" if report else ""
    assert (run["code"], run["stderr"]) == (128 + number, f"before\n{said}")
    assert run["gradebox_signal"].startswith("SIG")


# What a request of the comparison (compared/requests.jsonl) has is not repeated here.
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"compile_memory_limit": 10**15}, "compile_memory_limit cannot exceed the configured limit"),
    ({"run_timeout": float("nan")}, "run_timeout cannot exceed the configured limit"),
    ({"stdin": "%", "stdin_encoding": "base64"}, "stdin is not base64"),
    ({"args": [True]}, "If specified, args must be an array of strings"),
    *(
        ({"files": [{"name": name, "content": ""}]}, "must be a path inside the working folder")
        for name in ("/", ".", "a/", "a/.", "a\0b")
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


def test_invalid_requests_get_pistons_errors_and_nothing_runs(start):
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


def test_a_body_over_the_limit_is_refused(start):
    server = start(body_bytes=2000)
    answer = server.python(stdin="x" * 5000)
    assert answer.status_code == 413
    assert "over 2000 bytes" in answer.json()["message"]
    assert server.sandbox.calls == []


def test_bytes_are_base64_on_request(start):
    data = bytes(range(256)) * 3
    text = base64.b64encode(data).decode()
    run = (
        start().python(stdin=text, stdin_encoding="base64", output_encoding="base64").json()["run"]
    )
    assert (run["encoding"], base64.b64decode(run["stdout"])) == ("base64", data)


def test_limits_reach_the_sandbox(start):
    server = start()
    server.python(run_cpu_time=1500, run_timeout=4000, run_memory_limit=100_000_000)
    limits = server.sandbox.calls[0].limits
    assert (limits.cpu_s, limits.wall_s, limits.memory_bytes) == (1.5, 4.0, 100_000_000)


SMALL = named_rows(__file__, "small")
MOST = vars(Ceilings(**SMALL).run_limits())


def test_every_limit_has_a_ceiling():
    assert {f.name for f in dataclasses.fields(Limits)} == set(MOST)
    assert MOST["processes"] == 5 and MOST["disk_bytes"] == 3000
    compiler = Ceilings(**SMALL).compile_limits()
    assert (compiler.cpu_s, compiler.output_bytes, compiler.processes) == (2.5, 4000, 5)


def test_limits_stay_under_the_servers(start):
    server = start(ceilings=Ceilings(**SMALL))
    assert server.python().status_code == 200
    assert all(value <= MOST[name] for name, value in vars(server.sandbox.calls[0].limits).items())


@pytest.mark.parametrize("kind", ["compile_limits", "run_limits"])
@pytest.mark.parametrize("name", [f.name for f in dataclasses.fields(Limits)])
def test_gradeboxs_own_client_cannot_exceed_the_ceilings(start, name, kind):
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
def test_a_wrong_request_of_our_own_client_is_refused(start, change, message):
    answer = single(start(), **change)
    assert (answer.status_code, message in answer.json()["message"]) == (400, True)


@pytest.mark.parametrize(("field", "most"), [("args", 1024), ("collect", 256)])
def test_lists_have_a_ceiling(start, field, most):
    server = start()
    assert server.python(**{field: ["x"] * most}).status_code == 200
    answer = server.python(**{field: ["x"] * (most + 1)})
    assert (answer.status_code, f"at most {most}" in answer.text) == (400, True)


@pytest.mark.parametrize("field", ["args", "collect"])
def test_a_number_that_is_no_double_is_refused(start, field):
    answer = start().python(**{field: [10**400]})
    assert (answer.status_code, "over 1.8e308" in answer.text) == (400, True)


@pytest.mark.parametrize("memory", [None, 0, -1, -1000.5])
def test_missing_limits_are_the_servers_defaults(start, memory):
    server = start()
    server.python(run_timeout=0, run_memory_limit=memory, compile_memory_limit=memory)
    limits = server.sandbox.calls[0].limits
    assert limits.wall_s * 1000 == Ceilings().run_timeout_default
    assert limits.memory_bytes == Ceilings().run_memory_default


@pytest.mark.parametrize("text", ["+/8=", "-_8", "\n +/\r\n8 ", "+/8"])
def test_base64_is_decoded_as_node_does(start, text):
    server = start()
    data = {"name": "data", "content": text, "encoding": "base64"}
    assert server.python(files=[CODE, data]).status_code == 200
    assert server.sandbox.calls[0].files["data"] == b"\xfb\xff"


def test_a_sandbox_error_is_a_500(start):
    answer = start(answering(SandboxError("no box could be made"))).python()
    assert answer.status_code == 500
    assert answer.json() == {"message": "the sandbox failed: no box could be made"}


def test_collected_files_are_returned(start):
    server = start(answering(ready(files={"out": b"\xff"})))
    assert server.python(collect=["out"]).json()["run"]["files"] == {"out": "/w=="}


def test_runtimes_and_packages(start):
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
