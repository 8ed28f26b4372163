"""The WebSocket /api/v2/connect: its messages, its limits, and programs that are talked to."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import pytest

from gradebox.sandbox.server import connect
from gradebox.sandbox.server.settings import Ceilings
from testing.fakes.scripted_sandbox import FakeSandbox
from tests.sandbox.backends import open_backend, served

from .conftest import CODE, Served
from .test_serving import Gate, run_in_thread

Start = Callable[..., Served]


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


def test_a_socket_runs_a_job(start: Start) -> None:
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
        ([{"type": "data", "stream": "stdin", "data": ""}], 4003, None),
        ([INIT, INIT], 4000, None),
        ([INIT, {"type": "data", "stream": "stdout", "data": ""}], 4004, None),
        ([INIT, {"type": "signal", "signal": "SIGNONE"}], 4005, None),
        ([INIT, {"type": "signal", "signal": ["SIGTERM"]}], 4005, None),
        ([{**INIT, "language": "cobol"}], 4002, "cobol-* runtime is unknown"),
        (["not json"], 4002, "not JSON"),
        (["[]"], 4002, "must be a JSON object"),
    ],
)
def test_a_socket_closes_with_pistons_codes(
    start: Start, messages: list[Any], code: int, error: str | None
) -> None:
    came, closed = talk(start().url, *messages)
    assert closed == code
    if error:
        assert came[-1]["type"] == "error"
        assert error in came[-1]["message"]


def test_a_socket_takes_a_place(start: Start) -> None:
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


def test_the_bytes_of_sockets_are_limited_too(start: Start) -> None:
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


def test_a_silent_socket_is_closed(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connect, "INIT_S", 0.1)
    assert talk(start().url)[1] == 4001


def test_a_socket_that_never_answers_gives_its_place_back(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_input_that_is_not_read_is_limited(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
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


class Line:
    """A socket to a server."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket
        self.text = {"stdout": "", "stderr": ""}
        self.end: dict[str, Any] = {}
        self.error = ""

    async def until(self, words: str, stream: str = "stdout") -> None:
        """Receive messages until the program has written these words."""
        while words not in self.text[stream]:
            assert await self.next(), (words, self.text, self.end, self.error)

    async def next(self) -> bool:
        message = await asyncio.wait_for(self.socket.receive(), 60)
        if message.type is not aiohttp.WSMsgType.TEXT:
            return False
        value = json.loads(message.data)
        if value["type"] == "data":
            self.text[value["stream"]] += value["data"]
        self.error = value.get("message", self.error)
        if value["type"] == "exit":
            self.end = value
        return True

    async def send(self, text: str) -> None:
        await self.socket.send_json({"type": "data", "stream": "stdin", "data": text})

    async def rest(self) -> tuple[Any, Any]:
        """Receive everything; return the exit code and signal."""
        while await self.next():
            pass
        return self.end.get("code"), self.end.get("signal")


def on_line(url: str, source: str, steps: Callable[[Line], Any], **job: Any) -> Any:
    async def run() -> Any:
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(url + "/api/v2/connect") as socket,
        ):
            await socket.send_json({**INIT, "files": [{"name": "m", "content": source}], **job})
            return await steps(Line(socket))

    return asyncio.run(run())


@pytest.mark.slow
def test_a_program_is_talked_to(box: str) -> None:
    async def steps(line: Line) -> Any:
        await line.until("name? ")
        await line.send("Ada\n")
        await line.until("Ada wird gehört", "stderr")
        await line.socket.send_json({"type": "eof"})
        return await line.rest()

    source = (
        "import sys\nname = input('name? ')\nprint(name, 'wird gehört', file=sys.stderr)\n"
        "sys.exit(len(sys.stdin.read()) + 3)\n"
    )
    assert on_line(box, source, steps) == (3, None)


@pytest.mark.slow(seconds=1)
def test_cpp_has_two_stages_and_its_streams_can_be_opened_again(box: str) -> None:
    async def steps(line: Line) -> Any:
        await line.until("ready")
        assert line.end == {"type": "exit", "stage": "compile", "code": 0, "signal": None}
        await line.send("21\n")
        await line.until("42")
        return await line.rest()

    source = (
        '#include <fstream>\n#include <iostream>\nint main() { std::cout << "ready" << std::endl;'
        'int x; std::ifstream("/dev/stdin") >> x; std::ofstream("/dev/stdout") << 2 * x; }'
    )
    assert on_line(box, source, steps, language="c++") == (0, None)


@pytest.mark.parametrize(
    ("name", "end", "said"),
    [("SIGUSR1", (7, None), "caught"), ("SIGTERM", (143, None), ""), ("SIGKILL", (137, None), "")],
)
def test_a_signal_reaches_the_program(box: str, name: str, end: tuple[Any, Any], said: str) -> None:
    async def steps(line: Line) -> Any:
        await line.until("ready")
        await line.socket.send_json({"type": "signal", "signal": name})
        ended = await line.rest()
        return ended, line.text["stdout"].removeprefix("ready\n").strip()

    source = (
        "import signal, sys, time\ndef catch(*_):\n    print('caught')\n    sys.exit(7)\n"
        "signal.signal(signal.SIGUSR1, catch)\nprint('ready', flush=True)\ntime.sleep(60)\n"
    )
    assert on_line(box, source, steps) == (end, said)


@pytest.mark.parametrize(
    ("source", "job", "end"),
    [
        ("input()", {"run_timeout": 200}, (None, "SIGKILL")),
        ("while True: pass", {"run_cpu_time": 100}, (None, "SIGKILL")),
        ("print('x' * 100_001, flush=True)\ninput()", {}, (None, "SIGKILL")),
        ("import os\nos.write(2, b'x' * 100_001)\ninput()", {}, (None, "SIGKILL")),
        ("print('x' * 99_999)", {}, (0, None)),
        ("import os\nos.kill(os.getpid(), 11)", {}, (139, None)),
        ("import os\nos.read(0, 1)\nx = bytearray(10**9)", {"stdin": "x"}, (137, None)),
    ],
)
def test_limits_hold(box: str, source: str, job: dict[str, Any], end: tuple[Any, Any]) -> None:
    async def steps(line: Line) -> Any:
        ended = await line.rest()
        assert max(len(text) for text in line.text.values()) <= 100_000
        return ended

    job = {"run_memory_limit": 100_000_000, **job}
    assert on_line(box, source, steps, **job) == end


def test_the_program_of_a_client_that_leaves_is_ended(box: str) -> None:
    async def steps(line: Line) -> None:
        await line.until("ready")

    on_line(box, "print('ready', flush=True)\ninput()", steps, run_timeout=250_000)

    async def running() -> int:
        async with aiohttp.ClientSession() as session, session.get(box + "/health") as answer:
            return int((await answer.json())["running"])

    deadline = time.monotonic() + 60
    while asyncio.run(running()) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert asyncio.run(running()) == 0


def test_no_descriptor_is_left(box: str) -> None:
    async def steps(line: Line) -> Any:
        await line.socket.send_json({"type": "eof"})
        return await line.rest()

    def pipes_after_a_run() -> int:
        assert on_line(box, "print(1)", steps) == (0, None)
        targets = []
        for link in Path("/proc/self/fd").iterdir():
            with contextlib.suppress(OSError):
                targets.append(str(link.readlink()))
        return sum(target.startswith("pipe:") for target in targets)

    before = pipes_after_a_run()
    assert max(pipes_after_a_run() for _ in range(3)) <= before
