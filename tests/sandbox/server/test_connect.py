"""The WebSocket /api/v2/connect: its messages, its limits, and programs that are talked to."""

import asyncio
import base64
import contextlib
import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import pytest

from gradebox.sandbox.server import connect
from gradebox.sandbox.server.settings import Ceilings
from testing.fakes.scripted_sandbox import FakeSandbox
from tests.sandbox.backends import open_backend, served

from .compared import conversations
from .compared.conversations import Conversation
from .conftest import CODE
from .test_serving import Gate, run_in_thread


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give a test's first message time: it may take long on a busy machine."""
    monkeypatch.setattr(connect, "INIT_S", 60.0)


def talk(url: str, *messages: Any) -> tuple[list[dict[str, Any]], int | None]:
    """Send messages over /connect; return the received messages and the closing code."""

    async def conversation() -> tuple[list[dict[str, Any]], int | None]:
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(url + "/api/v2/connect") as socket,
        ):
            for message in messages:
                text = message if isinstance(message, str) else json.dumps(message)
                await socket.send_str(text)
            came = [json.loads(m.data) async for m in socket if m.type is aiohttp.WSMsgType.TEXT]
            return came, socket.close_code

    return asyncio.run(conversation())


INIT = {"type": "init", "language": "python", "version": "*", "files": [CODE]}


def test_a_socket_runs_a_job(start):
    data = [{"type": "data", "stream": "stdin", "data": d} for d in ("1 ", "2\n")]
    came, code = talk(start().url, INIT, *data, {"type": "eof"})
    assert code == 4999
    assert came == [
        {"type": "runtime", "language": "python", "version": "3.11.0"},
        {"type": "stage", "stage": "run"},
        {"type": "data", "stream": "stdout", "data": "1 2\n"},
        {"type": "exit", "stage": "run", "code": 0, "signal": None},
    ]


@pytest.mark.parametrize(
    ("messages", "code", "error"),
    [
        ([INIT, {"type": "signal", "signal": ["SIGTERM"]}], 4005, None),
        (["[]"], 4002, "must be a JSON object"),
    ],
)
def test_a_socket_closes_with_pistons_codes(start, messages, code, error):
    came, closed = talk(start().url, *messages)
    assert closed == code
    if error:
        assert came[-1]["type"] == "error"
        assert error in came[-1]["message"]


def test_a_socket_takes_a_place(start):
    gate = Gate()
    server = start(FakeSandbox(script=gate, slots=1), queue=0)
    first, came = run_in_thread(lambda: talk(server.url, INIT, {"type": "eof"})[1])
    assert gate.entered.acquire(timeout=60)
    assert server.python().status_code == 429
    with pytest.raises(aiohttp.WSServerHandshakeError, match="429"):
        talk(server.url, INIT)
    gate.open.set()
    first.join(60)
    assert came == [4999]


def test_the_bytes_of_sockets_are_limited_too(start):
    server = start(body_bytes=100_000, held_bytes=450_000)
    job = json.dumps({**INIT, "args": ["x" * 60_000]})

    async def two_sockets() -> Any:
        route = server.url + "/api/v2/connect"
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(route),
            session.ws_connect(route) as other,
        ):
            await other.send_str(job)  # 200,000 reserved for each socket, and 60,000: over 450,000
            return await other.receive_json()

    answer = asyncio.run(two_sockets())
    assert answer["type"] == "error" and "busy" in answer["message"]
    while server.get("/health").json()["present"]:
        time.sleep(0.01)
    assert talk(server.url, job, {"type": "eof"})[1] == 4999  # a single request always fits


def test_a_silent_socket_is_closed(start, monkeypatch):
    monkeypatch.setattr(connect, "INIT_S", 0.1)
    assert talk(start().url)[1] == 4001


def test_a_socket_that_never_answers_gives_its_place_back(start, monkeypatch):
    monkeypatch.setattr(connect, "INIT_S", 0.1)
    server = start()
    key = base64.b64encode(bytes(16)).decode()
    head = (
        "GET /api/v2/connect HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
        f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n"
    )
    address = urlsplit(server.url)
    with socket.create_connection((address.hostname, address.port)) as line:
        line.sendall(head.encode())
        assert line.recv(4096).startswith(b"HTTP/1.1 101")
        began = time.monotonic()
        while server.get("/health").json()["present"]:
            assert time.monotonic() - began < 8, "aiohttp itself waits 10 s for the closing message"
            time.sleep(0.05)


def test_input_that_is_not_read_is_limited(start, monkeypatch):
    monkeypatch.setattr(connect, "PENDING_BYTES", 100_000)
    gate = Gate()
    server = start(FakeSandbox(script=gate, slots=1))
    first, _ = run_in_thread(server.python)
    assert gate.entered.acquire(timeout=60)  # the socket's job waits for the slot
    data = {"type": "data", "stream": "stdin", "data": "x" * 60_000}
    came, code = talk(server.url, INIT, data, data, data, data)
    assert (code, "input that it does not read" in came[-1]["message"]) == (4002, True)
    gate.open.set()
    first.join(60)


# ---- programs in the embedded box ----------------------------------------------------------------


@pytest.fixture(scope="module")
def box() -> Iterator[str]:
    ceilings = Ceilings(output_max_size=100_000)
    with open_backend("box") as sandbox, served(sandbox, ceilings=ceilings) as url:
        yield url


def test_the_program_of_a_client_that_leaves_is_ended(box):
    waits = conversations.init("print('ready', flush=True)\ninput()", run_timeout=250_000)

    async def leave() -> None:
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(box + "/api/v2/connect") as socket,
        ):
            await socket.send_json(waits)
            while "ready" not in await socket.receive_str(timeout=60):
                pass

    asyncio.run(leave())

    async def running() -> int:
        async with aiohttp.ClientSession() as session, session.get(box + "/health") as answer:
            return int((await answer.json())["running"])

    deadline = time.monotonic() + 60
    while asyncio.run(running()) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert asyncio.run(running()) == 0


def test_no_descriptor_is_left(box):
    ends = Conversation("ends", (conversations.init("print(1)"), {"type": "eof"}))

    def pipes_after_a_run() -> int:
        assert conversations.talk(box, ends)["exits"] == [["run", 0, None]]
        targets = []
        for link in Path("/proc/self/fd").iterdir():
            with contextlib.suppress(OSError):
                targets.append(str(link.readlink()))
        return sum(target.startswith("pipe:") for target in targets)

    before = pipes_after_a_run()
    assert max(pipes_after_a_run() for _ in range(3)) <= before


AGAIN = """
import os, time
print('ready', flush=True)
x = int(open('/dev/stdin').readline())
open('/dev/stdout', 'w').write(str(2 * x))
os.write(1, b'\\xc3')
time.sleep(0.1)
os.write(1, b'\\xa9')
"""


def test_streams_can_be_opened_again_and_characters_are_whole(box):
    found = conversations.talk(
        box, Conversation("again", (conversations.init(AGAIN), "ready", conversations.data("21\n")))
    )
    assert (found["stdout"], found["exits"]) == ("ready\n42é", [["run", 0, None]])
