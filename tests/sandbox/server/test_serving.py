"""The server: queue, token, health, metrics, shutdown, WebSockets."""

import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
import requests

from gradebox.sandbox.server.__main__ import ceilings_from, parser
from gradebox.sandbox.server.settings import ServerSettings
from testing.commands import ROOT, run_command
from testing.fakes.scripted_sandbox import Call, FakeSandbox
from tests.sandbox.backends import served

from .conftest import CODE


class Gate:
    """A program whose runs wait until `open` is set."""

    def __init__(self) -> None:
        self.entered = threading.Semaphore(0)
        self.open = threading.Event()

    def __call__(self, call: Call) -> bytes:
        self.entered.release()
        assert self.open.wait(60)
        return call.stdin


def run_in_thread(call: Callable[[], Any]) -> tuple[threading.Thread, list[Any]]:
    got: list[Any] = []
    thread = threading.Thread(target=lambda: got.append(call()))
    thread.start()
    return thread, got


def test_a_full_queue_answers_429_with_retry_after(start):
    gate = Gate()
    server = start(FakeSandbox(script=gate, slots=1), queue=1)
    waiting = [run_in_thread(lambda: server.python(stdin="x").status_code) for _ in range(2)]
    assert gate.entered.acquire(timeout=30)
    while server.get("/health").json()["present"] < 2:
        time.sleep(0.01)
    refused = server.python()
    assert refused.status_code == 429
    assert int(refused.headers["Retry-After"]) >= 1
    gate.open.set()
    for thread, _ in waiting:
        thread.join(60)
    assert [got for _, got in waiting] == [[200], [200]]
    assert server.python(stdin="y").json()["run"]["stdout"] == "y"


def test_the_bytes_of_all_bodies_are_limited(start):
    gate = Gate()
    server = start(FakeSandbox(script=gate, slots=1), held_bytes=50_000)
    first, got = run_in_thread(lambda: server.python(stdin="x" * 60_000).status_code)
    assert gate.entered.acquire(timeout=30)
    assert server.python(stdin="x" * 60_000).status_code == 429
    gate.open.set()
    first.join(60)
    assert got == [200]
    assert server.python(stdin="x" * 60_000).status_code == 200


def test_a_body_of_unknown_size_counts_as_the_largest(start):
    server = start(body_bytes=4096, held_bytes=6000)
    port = int(server.url.rpartition(":")[2])
    head = b"POST /api/v2/execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=10) as line:
        line.sendall(head + b"Transfer-Encoding: chunked\r\n\r\n")
        deadline = time.monotonic() + 10
        while server.get("/health").json()["present"] == 0 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert server.python(stdin="x" * 3000).status_code == 429


def test_requests_that_wait_are_refused_while_answers_are_not_read(start):
    gate, size = Gate(), 24 << 20
    big = FakeSandbox(script=lambda call: gate(call) * size, slots=1)
    server = start(big, held_bytes=size, queue=8)
    job = json.dumps({"language": "python", "version": "*", "files": [CODE], "stdin": "x"})
    head = b"POST /api/v2/execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    port = int(server.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port)) as unread:
        unread.sendall(head + b"Content-Length: %d\r\n\r\n" % len(job) + job.encode())
        assert gate.entered.acquire(timeout=60)
        waiting = [run_in_thread(lambda: server.python(stdin="y").status_code) for _ in range(4)]
        while server.get("/health").json()["present"] < 5:
            time.sleep(0.01)
        gate.open.set()
        for thread, _ in waiting:
            thread.join(60)
    assert [got for _, got in waiting] == [[429]] * 4
    assert len(big.calls) == 1


def test_a_request_that_never_arrives_releases_its_place(start):
    server = start(FakeSandbox(), queue=0, upload_s=0.3)
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as half:
        half.sendall(
            b"POST /api/v2/execute HTTP/1.1\r\nHost: localhost\r\n"
            b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
        )
        assert b" 408 " in half.recv(200)
    assert server.get("/health").json()["present"] == 0


def test_the_job_of_a_disconnected_client_is_not_run(start):
    gate = Gate()
    server = start(FakeSandbox(script=gate, slots=1))
    first, _ = run_in_thread(lambda: server.python(stdin="first"))
    assert gate.entered.acquire(timeout=30)
    body = {"language": "python", "version": "*", "files": [CODE], "stdin": "left"}
    with pytest.raises(requests.Timeout):
        requests.post(server.url + "/api/v2/execute", json=body, timeout=0.3)
    while server.get("/health").json()["present"] > 1:
        time.sleep(0.01)
    gate.open.set()
    first.join(60)
    server.python(stdin="last")
    assert [c.stdin for c in server.sandbox.calls] == [b"first", b"last"]


def test_slots_limit_the_programs_running_at_once(start):
    def script(call: Call) -> bytes:
        time.sleep(0.02)
        return b""

    server = start(FakeSandbox(script=script, slots=2))
    threads = [run_in_thread(server.python)[0] for _ in range(8)]
    for thread in threads:
        thread.join(60)
    assert server.sandbox.most_running <= 2
    assert len(server.sandbox.calls) == 8


def test_a_shutdown_finishes_admitted_requests_and_refuses_others():
    gate = Gate()
    with served(FakeSandbox(script=gate)) as url:
        session = requests.Session()
        assert session.get(url + "/health", timeout=30).json()["status"] == "ok"
        body = {"language": "python", "version": "*", "files": [CODE], "stdin": "kept"}
        thread, got = run_in_thread(
            lambda: requests.post(url + "/api/v2/execute", json=body, timeout=60).json()
        )
        assert gate.entered.acquire(timeout=30)
        opener = threading.Timer(0.4, gate.open.set)
        opener.start()
    thread.join(60)
    assert got[0]["run"]["stdout"] == "kept"
    with pytest.raises(requests.ConnectionError):
        requests.get(url + "/health", timeout=5)


def test_a_token_is_required(start):
    server = start(token="s3cret")
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "s3cret"}):
        answer = server.get("/api/v2/runtimes", **headers)
        assert (answer.status_code, answer.json()) == (
            401,
            {"message": "a bearer token is required"},
        )
    assert server.python().status_code == 401
    assert server.get("/api/v2/runtimes", Authorization="Bearer s3cret").status_code == 200
    assert server.get("/health").status_code == 200
    assert server.sandbox.calls == []


def test_a_token_that_is_not_utf8_is_refused(start):
    server = start(token="s3cret")
    port = int(server.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=30) as line:
        head = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        line.sendall(head + b"Authorization: Bearer \xff\xfe\r\n\r\n")
        assert line.makefile("rb").readline().split()[1] == b"401"


def test_unexpected_errors_are_answered_in_json(start):
    answer = start(FakeSandbox(script=lambda call: ZeroDivisionError)).python()
    assert answer.status_code == 500
    assert answer.json() == {"message": "the server failed; its log has the details"}


def test_a_body_over_the_limit_is_refused_before_it_is_sent(start):
    port = int(start().url.rpartition(":")[2])
    head = b"POST /api/v2/execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=10) as line:
        line.sendall(head + b"Connection: close\r\nContent-Length: 629145600\r\n\r\n")
        answer = b""
        while not answer.endswith(b"}"):
            answer += line.recv(65536)
    assert (answer.split()[1], b"--body-limit" in answer) == (b"413", True)


def test_metrics_count_executions_and_answers(start):
    server = start()
    server.python()
    server.python(language="cobol")
    text = server.get("/metrics").text
    assert 'gradebox_executions_total{language="python",status="OK"} 1.0' in text
    assert 'gradebox_http_answers_total{status="400"} 1.0' in text
    assert "gradebox_requests_present 0.0" in text


def test_limits_are_read_from_pistons_variables():
    environ = {"PISTON_RUN_TIMEOUT": "5000", "PISTON_RUN_MEMORY_LIMIT": "-1", "OTHER": "x"}
    ceilings = ceilings_from(environ)
    assert ceilings.run_timeout == 5000
    assert ceilings.run_memory_limit == ceilings_from({}).run_memory_limit
    with pytest.raises(ValueError, match="PISTON_RUN_TIMEOUT is 'soon'"):
        ceilings_from({"PISTON_RUN_TIMEOUT": "soon"})
    with pytest.raises(ValueError, match="must be a whole number"):
        ceilings_from({"PISTON_RUN_TIMEOUT": "5\u00b2"})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"port": 70000}, "port is 70000"),
        ({"queue": -1}, "queue is -1"),
        ({"slots": 0}, "slots is 0"),
        ({"body_bytes": 0}, "body_bytes is 0"),
    ],
)
def test_settings_out_of_range_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        ServerSettings(**change)  # type: ignore[arg-type]


def test_the_help_fits_on_a_screen():
    lines = parser().format_help().splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 90


@pytest.mark.slow
def test_the_command_serves_until_sigterm():
    command = [sys.executable, "-m", "gradebox.sandbox.server", "--port", "0", "--slots", "1"]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    lines = []
    for line in process.stderr:
        lines.append(line)
        if "listening at" in line:
            break
    else:
        process.wait(30)
        pytest.skip(f"no embedded box here: {''.join(lines)}")
    assert re.search(r", level \w+, 1 programs at once, no token; languages: \w", lines[-1])
    url = lines[-1].split()[2].rstrip(",")
    try:
        body = {"language": "python", "version": "*", "files": [{"content": "print(6 * 7)"}]}
        run = requests.post(url + "/api/v2/execute", json=body, timeout=60).json()["run"]
        assert run["stdout"] == "42\n"
        taken = run_command([*command[:4], url.rpartition(":")[2]], timeout=60)
        assert taken.returncode == 2
        assert "choose another --port" in taken.stderr
        address = ("127.0.0.1", int(url.rpartition(":")[2]))
        head = b"POST /api/v2/execute HTTP/1.1\r\nHost: localhost\r\n"
        head += b"Content-Type: application/json\r\n"
        with socket.create_connection(address) as one:
            one.sendall(head + b"Content-Length: -4\r\n\r\n")
            assert b" 400 " in one.recv(100)
        with socket.create_connection(address) as one:
            one.sendall(head + b"Content-Length: 9\r\nExpect: 100-continue\r\n\r\n")
            assert b" 100 " in one.recv(100)  # it waits for a body: half of it, then a reset
            one.sendall(b"{")
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        end = time.monotonic() + 60
        while 'status="499"' not in requests.get(url + "/metrics", timeout=60).text:
            assert time.monotonic() < end, "the request that was reset is not counted"
            time.sleep(0.01)
    finally:
        os.kill(process.pid, signal.SIGTERM)
        log = process.stderr.read()
        assert process.wait(60) == 0
    assert "BadHttpMessage 400" in log
    assert len(log.splitlines()) == 2, log  # no tracebacks for faulty clients
