"""Clients that are slow, silent or gone, and those that open many connections."""

import asyncio
import contextlib
import json
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack

import aiohttp
import pytest

from gradebox.sandbox.server import app, connect, incoming
from testing.fakes.scripted_sandbox import FakeSandbox
from tests.sandbox.backends import served

from .conftest import CODE, Served
from .test_connect import INIT
from .test_serving import Gate, run_in_thread

HEAD = b"POST /api/v2/execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
JOB = json.dumps({"language": "python", "version": "*", "files": [CODE]}).encode()


def connection(server: Served) -> socket.socket:
    return socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2])), timeout=30)


def wait_until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def present(server: Served) -> int:
    return int(server.get("/health").json()["present"])


def ended(line: socket.socket) -> bool:
    """Return whether the server closed the connection; wait for what comes first."""
    try:
        return line.recv(1) == b""
    except ConnectionResetError:
        return True


@pytest.mark.parametrize("head", [b"", b"GE", HEAD[:40]], ids=["nothing", "a word", "half"])
def test_a_silent_connection_is_closed(start, head):
    with connection(start(head_s=0.2)) as line:
        line.sendall(head)
        assert ended(line)


def test_dripping_does_not_keep_a_head_open(start):
    with connection(start(head_s=0.3)) as line:
        line.sendall(HEAD)
        line.settimeout(0.02)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            try:
                line.sendall(b"X-More: 1\r\n"[:1])
                assert line.recv(1) == b""
                return
            except TimeoutError:
                continue
            except OSError:  # reset
                return
        pytest.fail("the connection is still open")


def test_dripping_does_not_keep_a_used_connection_open(start, monkeypatch):
    monkeypatch.setattr("gradebox.sandbox.server.admission.KEEP_ALIVE_S", 0.3)
    with connection(start()) as line:
        line.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\nGET /he")
        line.settimeout(0.02)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            try:
                line.sendall(b"a")
                if line.recv(4096) == b"":
                    return
            except TimeoutError:
                continue
            except OSError:
                return
        pytest.fail("the connection is still open")


def test_many_connections_lock_nobody_out(start, monkeypatch):
    monkeypatch.setattr(app, "SPARE_CONNECTIONS", 5)
    server = start(FakeSandbox(slots=1), queue=2, head_s=600.0)  # 8 connections
    with ExitStack() as stack:
        lines = []
        for _ in range(40):
            lines.append(stack.enter_context(connection(server)))
            lines[-1].sendall(HEAD[:20])
        assert all(ended(line) for line in lines[:30])
        assert server.python(stdin="served").json()["run"]["stdout"] == "served"
        lines[-1].settimeout(0.05)  # the newest ones stay
        with pytest.raises(TimeoutError):
            lines[-1].recv(1)


def test_waiting_requests_are_not_closed_for_new_connections(start, monkeypatch):
    monkeypatch.setattr(app, "SPARE_CONNECTIONS", 2)
    gate = Gate()
    server = start(FakeSandbox(script=gate, slots=1), queue=1)
    first, got = run_in_thread(lambda: server.python(stdin="kept").json()["run"]["stdout"])
    assert gate.entered.acquire(timeout=30)
    with ExitStack() as stack:
        for _ in range(20):
            stack.enter_context(connection(server)).sendall(b"G")
        assert present(server) == 1
        gate.open.set()
        first.join(30)
    assert got == ["kept"]


@pytest.mark.parametrize("chunked", [False, True])
def test_a_dripping_body_is_refused(start, monkeypatch, chunked):
    monkeypatch.setattr(incoming, "UPLOAD_GRACE_S", 0.3)
    server = start()
    with connection(server) as line:
        size = b"Transfer-Encoding: chunked" if chunked else b"Content-Length: 90000"
        line.sendall(HEAD + size + b"\r\n\r\n")
        line.settimeout(0.02)
        answer = b""
        while not answer:
            with contextlib.suppress(OSError):  # it may have been answered and closed
                line.sendall(b"1\r\n{\r\n" if chunked else b"{")
            try:
                answer = line.recv(4096)
            except TimeoutError:
                continue
        assert b" 408 " in answer
    wait_until(lambda: present(server) == 0)


def test_a_fast_body_may_take_longer_than_the_grace(start, monkeypatch):
    monkeypatch.setattr(incoming, "UPLOAD_GRACE_S", 0.2)
    monkeypatch.setattr(incoming, "SLOWEST_RATE", 100)
    raw = JOB + b" " * 2000
    with connection(start()) as line:
        line.sendall(HEAD + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(raw))
        line.sendall(raw[:-1])
        time.sleep(0.5)
        line.sendall(raw[-1:])
        assert line.makefile("rb").readline().split()[1] == b"200"


@pytest.mark.slow
def test_an_answer_is_counted_until_it_is_read(start):
    size = 24 << 20
    server = start(FakeSandbox(script=lambda call: b"x" * size), held_bytes=size)
    with connection(server) as line:
        line.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % len(JOB) + JOB)
        line.recv(1)
        assert present(server) == 1
        assert server.python().status_code == 429  # the answer fills the memory
        rest = line.makefile("rb")
        while present(server):
            rest.read(1 << 20)
    assert server.python().status_code == 200


def test_a_client_that_does_not_read_its_answer_is_disconnected(start):
    server = start(FakeSandbox(script=lambda call: b"x" * (24 << 20)), upload_s=0.5)
    with connection(server) as line:
        line.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % len(JOB) + JOB)
        line.recv(1)
        wait_until(lambda: present(server) == 0)


@pytest.mark.slow
@pytest.mark.timeout(40)
def test_a_shutdown_does_not_wait_for_unread_answers():
    with served(FakeSandbox()) as url:
        line = socket.socket()
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.connect(("127.0.0.1", int(url.rpartition(":")[2])))
        line.setblocking(False)
        for _ in range(60):  # requests without reading, until the server stops reading them
            with contextlib.suppress(BlockingIOError):
                while True:
                    line.send(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n" * 100)
            time.sleep(0.05)
    with line, contextlib.suppress(ConnectionResetError):
        line.settimeout(5)
        while line.recv(1 << 20):
            pass


def test_pings_do_not_keep_a_socket_open(start, monkeypatch):
    monkeypatch.setattr(connect, "INIT_S", 0.3)

    async def ping() -> int | None:
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(start().url + "/api/v2/connect") as socket,
        ):
            reading = asyncio.ensure_future(socket.receive())
            for _ in range(1000):
                if reading.done():
                    return socket.close_code
                await socket.ping()
                await asyncio.sleep(0.02)
        return None

    assert asyncio.run(ping()) == 4001


@pytest.mark.slow
def test_a_socket_whose_output_is_not_read_is_closed(start, monkeypatch):
    monkeypatch.setattr(connect, "INIT_S", 30.0)
    server = start(FakeSandbox(script=lambda call: b"x" * (24 << 20)), upload_s=0.5)

    async def silent() -> None:
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(server.url + "/api/v2/connect") as socket,
        ):
            await socket.send_json(INIT)
            await socket.send_json({"type": "eof"})
            await asyncio.to_thread(wait_until, lambda: server.sandbox.calls != [])
            await asyncio.to_thread(wait_until, lambda: present(server) == 0)

    asyncio.run(silent())
