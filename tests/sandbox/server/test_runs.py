"""POST /gradebox/runs, the server's end: equal executions, admission, limits, hostile clients."""

from __future__ import annotations

import json
import random
import socket
import struct
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import requests

from gradebox.sandbox.errors import SandboxError
from gradebox.sandbox.model import Compiled, Execution, Limits, Program
from gradebox.sandbox.piston import PistonSandbox
from gradebox.sandbox.piston.runs import frames
from gradebox.sandbox.piston.runs.exchange import RunsRequest
from gradebox.sandbox.server import runs as route
from testing.fakes.scripted_sandbox import Answer, Call, FakeSandbox, ready

from .conftest import Served
from .test_serving import Gate, run_in_thread
from .test_slow_clients import connection, present, wait_until

Start = Callable[..., Served]
PROGRAM = Program("python", {"main.py": b"print(1)", "data.bin": b"\x00\xff"})
COMPILED = Compiled(PROGRAM, ok=True)
LIMITS = Limits(cpu_s=3, wall_s=9, output_bytes=5000, stderr_bytes=700)
NONCE = "n" * 32


def anything(call: Call) -> Answer:
    """Return an execution that depends on the input only."""
    rng = random.Random(call.stdin)
    stdout = rng.randbytes(rng.choice([0, 1, 700, 5000]))
    return Execution(
        exit_code=0,
        signal=None,
        cpu_s=rng.random(),
        wall_s=rng.random() * 9,
        memory_bytes=rng.choice([None, 0, 1 << 40]),
        stdout=stdout,
        stderr=rng.randbytes(rng.randrange(700)),
        stdout_bytes=len(stdout),
        stderr_cut=rng.random() < 0.5,
        contended=rng.random() < 0.5,
        forked=rng.random() < 0.5,
    )


def failing(call: Call) -> Answer:
    """Return the same, ended by a signal or a limit after every few runs."""
    one, rng = anything(call), random.Random(call.stdin + b"!")
    assert isinstance(one, Execution)
    ends = [{}] * 5 + [
        {"exit_code": 3},
        {"exit_code": None, "signal": 11},
        {"exit_code": None, "signal": 9, "killed_for": "memory"},
        {"exit_code": None, "signal": 9, "killed_for": "cpu", "limits_hit": frozenset({"cpu"})},
        {"stdout_cut": True, "stdout_bytes": 10**12, "limits_hit": frozenset({"output"})},
    ]
    return replace(one, **rng.choice(ends))


def all_of(groups: Any) -> list[Execution]:
    return [one for group in groups for one in group]


@pytest.mark.parametrize("script", [anything, failing])
def test_executions_through_the_server_are_those_of_its_sandbox(
    start: Start, script: Callable[[Call], Answer]
) -> None:
    server, rng = start(FakeSandbox(script=script)), random.Random(1)
    with PistonSandbox([server.url], slots=1) as client:
        for _ in range(25):
            stdins = [rng.randbytes(rng.choice([0, 5, 3000])) for _ in range(rng.randrange(1, 90))]
            limits = [replace(LIMITS, cpu_s=rng.choice([1, 2])) for _ in stdins]
            server.sandbox.calls.clear()
            got = all_of(client.run_many(COMPILED, limits, stdins))
            calls = list(server.sandbox.calls)
            assert got == [script(call) for call in calls]
            assert [c.stdin for c in calls] == stdins[: len(got)]
            assert [c.limits for c in calls] == limits[: len(got)]
            ended = got[-1].exit_code != 0 or got[-1].limits_hit or got[-1].killed_for
            assert len(got) == len(stdins) or ended
        assert all(call.program == PROGRAM for call in calls)
        one = client.run(COMPILED, LIMITS, stdin=b"\x80")
        assert one == script(server.sandbox.calls[-1])


def test_a_single_run_with_everything(start: Start) -> None:
    def script(call: Call) -> Answer:
        return ready(b"o", files={"out": b"\xfe\xff", "empty": b""})

    server = start(FakeSandbox(script=script))
    with PistonSandbox([server.url], slots=1) as client:
        got = client.run(
            COMPILED,
            LIMITS,
            stdin=b"\x00",
            args=("ä", ""),
            files={"in": b"\xff", "nothing": b""},
            collect=("out", "empty", "missing"),
            alone=True,
        )
    [call] = server.sandbox.calls
    assert (call.args, call.collect, call.alone) == (("ä", ""), ("out", "empty", "missing"), True)
    assert (call.stdin, call.files) == (b"\x00", {"in": b"\xff", "nothing": b""})
    assert got.files == {"out": b"\xfe\xff", "empty": b""}


@pytest.mark.parametrize(("contended", "alone"), [(False, [False]), (True, [False, True])])
def test_the_server_knows_whether_a_wall_limit_was_met_by_load(
    start: Start, contended: bool, alone: list[bool]
) -> None:
    gate = Gate()

    def script(call: Call) -> Answer:
        if call.stdin == b"beside":
            return gate(call)
        if call.alone:
            return b"done"
        fields = {"exit_code": None, "signal": 9, "killed_for": "wall", "contended": contended}
        return ready(**fields)

    server = start(FakeSandbox(script=script))
    with PistonSandbox([server.url], slots=2) as client:
        beside, _ = run_in_thread(lambda: client.run(COMPILED, LIMITS, stdin=b"beside"))
        assert gate.entered.acquire(timeout=30)
        one, got = run_in_thread(lambda: client.run(COMPILED, LIMITS, stdin=b"one"))
        wait_until(lambda: len(server.sandbox.calls) == 2)
        gate.open.set()
        for thread in (beside, one):
            thread.join(30)
    assert [call.alone for call in server.sandbox.calls if call.stdin == b"one"] == alone
    assert [(g.killed_for, g.contended) for g in got] == [
        (None, False) if contended else ("wall", False)
    ]


def test_closing_cancels_what_has_not_run(start: Start) -> None:
    gate = Gate()

    def script(call: Call) -> Answer:
        return b"first" if call.stdin == b"0" else gate(call)

    server = start(FakeSandbox(script=script))
    with PistonSandbox([server.url], slots=1) as client:
        groups = client.run_many(COMPILED, [LIMITS] * 9, [b"%d" % i for i in range(9)])
        assert [one.stdout for one in next(groups)] == [b"first"]  # while the second runs
        assert gate.entered.acquire(timeout=30)
        groups.close()
        wait_until(lambda: present(server) == 0)
        gate.open.set()
        wait_until(lambda: server.sandbox.running == 0)
        assert client.run(COMPILED, LIMITS, stdin=b"0").stdout == b"first"
    assert len(server.sandbox.calls) == 3


def test_a_fault_of_the_sandbox_in_the_middle(start: Start) -> None:
    faults = [SandboxError("the box died")] * 2

    def script(call: Call) -> Answer:
        return faults.pop() if call.stdin == b"2" and faults else call.stdin

    server = start(FakeSandbox(script=script))
    stdins = [b"%d" % i for i in range(5)]
    with PistonSandbox([server.url], slots=1) as client:
        got = all_of(client.run_many(COMPILED, [LIMITS] * 5, stdins))
    assert [one.stdout for one in got] == stdins
    assert [call.stdin for call in server.sandbox.calls] == [b"0", b"1", b"2", b"2", *stdins[2:]]


def test_a_long_answer_ends_early_and_is_continued(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(route, "ANSWER_BYTES", 2000)
    server = start(FakeSandbox(script=lambda call: call.stdin * 1500))
    stdins = [b"%d" % i for i in range(5)]
    with PistonSandbox([server.url], slots=1) as client:
        got = all_of(client.run_many(COMPILED, [LIMITS] * 5, stdins))
    assert [one.stdout[:1] for one in got] == stdins
    assert len(server.sandbox.calls) == 5


# ---- admission -----------------------------------------------------------------------------


def body(count: int = 2, **changed: Any) -> bytes:
    """Return a request's body with some fields of its head replaced; None leaves one out."""
    raw = RunsRequest(PROGRAM, [LIMITS] * count, [b"in"] * count).body(NONCE)
    (size,) = frames.SIZE.unpack_from(raw)
    head = {**json.loads(raw[4 : 4 + size]), **changed}
    return frames.frame({k: v for k, v in head.items() if v is not None}, raw[4 + size :])


def post(server: Served, data: bytes, count: str = "2", **headers: str) -> requests.Response:
    known = {"Content-Type": frames.CONTENT_TYPE, frames.COUNT_HEADER: count}
    known |= {name.replace("_", "-"): value for name, value in headers.items()}
    return requests.post(server.url + frames.ROUTE, data=data, headers=known, timeout=60)


def test_a_request_counts_like_its_runs(start: Start) -> None:
    gate = Gate()
    server = start(FakeSandbox(script=gate, slots=1), queue=4)
    assert server.get("/").json()["gradebox"]["runs"] == {"version": 1, "most": 5}
    thread, got = run_in_thread(lambda: post(server, body(3), "3").status_code)
    assert gate.entered.acquire(timeout=30)
    assert present(server) == 3
    answer = post(server, body(3), "3")
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "1")
    gate.open.set()
    thread.join(30)
    assert got == [200]
    assert post(server, body(3), "3").status_code == 200
    assert present(server) == 0


def test_a_sandbox_without_batches_gets_single_runs(start: Start) -> None:
    server = start(FakeSandbox(capabilities=frozenset({"collect"})))
    with PistonSandbox([server.url], slots=1) as client:
        assert "batch" not in client.capabilities
        assert client.run(COMPILED, LIMITS, stdin=b"\xff").stdout == b"\xff"
    assert post(server, body()).status_code == 400


def test_the_token_is_required(start: Start) -> None:
    server = start(token="secret")
    assert post(server, body()).status_code == 401
    assert post(server, body(), Authorization="Bearer secret").status_code == 200
    with PistonSandbox([server.url], slots=1, token="secret") as client:
        assert len(all_of(client.run_many(COMPILED, [LIMITS] * 2, [b"", b""]))) == 2


def test_a_body_over_the_limit_is_not_read(start: Start) -> None:
    server = start(body_bytes=2048)
    assert post(server, bytes(3000)).status_code == 413


def test_a_program_that_no_longer_compiles_has_no_verdict(start: Start) -> None:
    server = start(FakeSandbox(compile_log=lambda source: b"no"))
    code = {"files": [["main.cpp", 8], ["data.bin", 2]], "language": "c++17"}
    answer = post(server, body(**code))
    assert (answer.status_code, "does not compile" in answer.text) == (409, True)


# ---- hostile clients -----------------------------------------------------------------------

GOOD = body()
LIMIT = vars(LIMITS)
HOSTILE: list[tuple[str, bytes, dict[str, str], int]] = [
    ("JSON", GOOD, {"Content_Type": "application/json"}, 415),
    ("compressed", GOOD, {"Content_Encoding": "gzip"}, 415),
    ("from a page", GOOD, {"Origin": "http://evil.example"}, 403),
    ("count 0", GOOD, {"count": "0"}, 400),
    ("count is no number", GOOD, {"count": "2x"}, 400),
    ("count is negative", GOOD, {"count": "-2"}, 400),
    ("count is not ASCII", GOOD, {"count": "\xb2"}, 400),
    ("count is too large", GOOD, {"count": "65"}, 400),
    ("count has many digits", GOOD, {"count": "9" * 5000}, 400),
    ("count is another one", GOOD, {"count": "3"}, 400),
    ("empty", b"", {}, 400),
    ("a head that is cut", GOOD[:50], {}, 400),
    ("bytes missing", GOOD[:-1], {}, 400),
    ("bytes too many", GOOD + b"x", {}, 400),
    ("a huge head", struct.pack(">I", 1 << 31) + bytes(500), {}, 400),
    ("a head that is not JSON", struct.pack(">I", 9) + b"{" * 9, {}, 400),
    ("a head that is deep", struct.pack(">I", 90_000) + b"[" * 90_000, {}, 400),
    ("a head that is a list", struct.pack(">I", 2) + b"[]", {}, 400),
    *(
        (f"{field}: {str(value)[:40]}", body(**{field: value}), {}, 400)
        for field, value in [
            ("nonce", None),
            ("nonce", ""),
            ("nonce", 5),
            ("nonce", "x" * 65),
            ("language", "brainfuck"),
            ("language", ["python"]),
            ("files", []),
            ("files", {}),
            ("files", [["main.py", 8], ["main.py", 2]]),
            ("files", [["main.py", 8], ["../data", 2]]),
            ("files", [["main.py", 8], ["/data", 2]]),
            ("files", [["main.py", 8], [5, 2]]),
            ("files", [["main.py", 8], ["\ud800", 2]]),
            ("files", [["main.py", 8.0], ["x", 2]]),
            ("files", [["main.py", -8], ["x", 18]]),
            ("files", [["main.py", True], ["x", 9]]),
            ("files", [["main.py", 10**30], ["x", 2]]),
            ("files", [["a", 10], ["a/b", 0]]),
            ("files", [[f"f{i}", 0] for i in range(257)]),
            ("runs", []),
            ("runs", [[2, 0]]),
            ("runs", [[2, 0], [2, 1]]),
            ("runs", [[2, 0], [2, -1]]),
            ("runs", [[5, 0], [-1, 0]]),
            ("runs", [[2, 0], [2]]),
            ("runs", [[2, 0], [2, None]]),
            ("runs", "ab"),
            ("limits", []),
            ("limits", [LIMIT] * 3),
            ("limits", [{"cpu_s": 1e9}]),
            ("limits", [{"cpu_s": float("nan")}]),
            ("limits", [{"power": 1}]),
            ("limits", [5]),
            ("limits", LIMIT),
            ("compile_limits", {"memory_bytes": 1 << 60}),
            ("args", ["x"]),
            ("args", "x"),
            ("run_files", [["x", 0]]),
            ("collect", ["x"]),
            ("collect", [None]),
            ("alone", True),
        ]
    ),
]


def test_a_hostile_request_runs_nothing(start: Start) -> None:
    server = start()
    for name, data, options, status in HOSTILE:
        answer = post(server, data, **options)
        assert (name, answer.status_code) == (name, status)
        assert answer.json()["message"], name
    assert server.sandbox.calls == []
    assert present(server) == 0
    assert post(server, GOOD).status_code == 200


def test_a_body_of_unknown_size_is_refused(start: Start) -> None:
    server = start()
    headers = {"Content-Type": frames.CONTENT_TYPE, frames.COUNT_HEADER: "2"}
    url = server.url + frames.ROUTE
    assert requests.post(url, iter([GOOD]), headers=headers, timeout=60).status_code == 411


def test_a_damaged_body_never_fails_the_server(start: Start) -> None:
    server, rng, seen = start(), random.Random(2), set()
    with requests.Session() as session:
        for _ in range(150):
            data = bytearray(GOOD)
            for _ in range(rng.randrange(1, 4)):
                data[rng.randrange(len(data) - 14)] = rng.randrange(256)
            headers = {"Content-Type": frames.CONTENT_TYPE, frames.COUNT_HEADER: "2"}
            answer = session.post(
                server.url + frames.ROUTE, bytes(data), headers=headers, timeout=60
            )
            seen.add(answer.status_code)
    assert seen <= {200, 400} and 400 in seen


def head_of(size: int, count: int) -> bytes:
    return (
        b"POST /gradebox/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\n%s: %d\r\n"
        b"Content-Length: %d\r\n\r\n"
        % (frames.CONTENT_TYPE.encode(), frames.COUNT_HEADER.encode(), count, size)
    )


def test_a_client_that_does_not_read_is_disconnected_and_holds_no_thread(start: Start) -> None:
    server = start(FakeSandbox(script=lambda call: b"x" * (6 << 20), slots=1), upload_s=0.5)
    with connection(server) as line:
        limits = [{"output_bytes": 8 << 20}]
        data = body(9, limits=limits)
        line.sendall(head_of(len(data), 9) + data)
        assert line.recv(1) == b"H"
        wait_until(lambda: present(server) == 0)
    assert 3 <= len(server.sandbox.calls) < 9  # it did not run on without end


def test_reading_drop_by_drop_does_not_keep_a_place(start: Start) -> None:
    server = start(FakeSandbox(script=lambda call: b"x" * (6 << 20)), upload_s=0.4)
    with connection(server) as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        data = body(2, limits=[{"output_bytes": 8 << 20}])
        line.sendall(head_of(len(data), 2) + data)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            try:
                if not line.recv(100):
                    break
            except ConnectionResetError:
                break
            if present(server) == 0:
                break
        assert present(server) == 0


def test_a_body_that_does_not_arrive(start: Start) -> None:
    server = start(upload_s=0.3)
    with connection(server) as line:
        line.sendall(head_of(len(GOOD), 2) + GOOD[:-1])
        assert line.recv(12) == b"HTTP/1.1 408"
    wait_until(lambda: present(server) == 0)


def test_a_client_with_http_1_0_gets_the_whole_answer(start: Start) -> None:
    server = start()
    with connection(server) as line:
        line.sendall(head_of(len(GOOD), 2).replace(b"HTTP/1.1", b"HTTP/1.0") + GOOD)
        answer = b"".join(iter(lambda: line.recv(1 << 16), b""))
    assert answer.count(NONCE.encode()) == 2
