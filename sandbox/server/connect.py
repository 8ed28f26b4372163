"""The WebSocket /api/v2/connect: one job over one socket, in Piston's messages.

    in   init, data (stdin), eof, signal
    out  runtime, stage, data (stdout, stderr), exit, error; closes with 4999 at the end

A sandbox runs a program whole and does not stream. So stdin is gathered first, until a message
`{"type": "eof"}` (which Piston does not have) or QUIET_S seconds of silence. Output is sent when
the program has ended. A program that waits for an answer to its output needs `Sandbox.interact`.
Signals are checked and ignored; on a real Piston they reach no process either.
"""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeVar

from aiohttp import WSMsgType, web

from gradebox.sandbox.common.async_bridge import run_in_thread
from gradebox.sandbox.errors import BadRequest, SandboxError
from gradebox.sandbox.server.admission import ClientGone, Place, QueueFull
from gradebox.sandbox.server.body import Refused, parse_text
from gradebox.sandbox.server.jobs.request import Job

INIT_S = 1.0
QUIET_S = 0.5
MAX_STDIN = 64 << 20
MESSAGE_BYTES = 16 << 20  # the largest message; a socket's place has this size
SIGNALS = frozenset(s.name for s in signal.Signals)

INLINE_CHARS = 1 << 16  # longer messages are parsed in a thread
PIECE_CHARS = 1 << 20  # of output in one message

T = TypeVar("T")
ParseJob = Callable[[Any], Job]
Run = Callable[[Job], Awaitable[dict[str, Any]]]


class _Close(Exception):
    """Close the socket with this code and message."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


async def converse(
    socket: web.WebSocketResponse, parse_job: ParseJob, run: Run, place: Place, upload_s: float
) -> None:
    """Serve one socket until it is closed.

    Its input must arrive within `upload_s` seconds, and its output be read within as many.
    """
    try:
        try:
            job = await _init(socket, parse_job, place)
            runtime = job.runtime
            await _send(socket, type="runtime", language=runtime.language, version=runtime.version)
            gathered = await asyncio.wait_for(_stdin(socket, place), upload_s)
            answer = await run(replace(job, stdin=job.stdin + gathered))
        except (BadRequest, Refused, SandboxError, QueueFull, ClientGone) as error:
            await _send(socket, type="error", message=str(error) or "the client disconnected")
            raise _Close(4002, "Notified Error") from error
        except asyncio.TimeoutError as error:
            message = f"the input did not arrive within {upload_s:g} s"
            await _send(socket, type="error", message=message)
            raise _Close(4002, "Notified Error") from error
        try:
            await asyncio.wait_for(_report(socket, answer), upload_s)
        except asyncio.TimeoutError as error:
            raise _Close(4002, "The output was not read") from error
        raise _Close(4999, "Job Completed")
    except _Close as end:
        await socket.close(code=end.code, message=end.message.encode())


async def _init(socket: web.WebSocketResponse, parse_job: ParseJob, place: Place) -> Job:
    message = await _message(socket, INIT_S)
    if message is None:
        raise _Close(4001, "Initialization Timeout")
    value, size = message
    if value.get("type") != "init":
        raise _Close(4003, "Not yet initialized")
    place.grow(size)
    return await _off_loop(size, lambda: parse_job(value))


async def _stdin(socket: web.WebSocketResponse, place: Place) -> bytes:
    """Return the input sent before the program starts, reserving its bytes."""
    parts: list[bytes] = []
    size = 0
    while True:
        found = await _message(socket, QUIET_S)
        message = {"type": "eof"} if found is None else found[0]
        kind = message.get("type")
        if kind == "eof":
            return b"".join(parts)
        if kind == "init":
            raise _Close(4000, "Already Initialized")
        if kind == "signal" and str(message.get("signal")) not in SIGNALS:
            raise _Close(4005, "Invalid signal")
        if kind != "data":
            continue
        if message.get("stream") != "stdin":
            raise _Close(4004, "Can only write to stdin")
        parts.append(str(message.get("data", "")).encode("utf-8", "surrogatepass"))
        size += len(parts[-1])
        place.grow(len(parts[-1]))
        if size > MAX_STDIN:
            raise BadRequest(f"stdin is over {MAX_STDIN} bytes; use POST /api/v2/execute")


async def _message(
    socket: web.WebSocketResponse, seconds: float
) -> tuple[dict[str, Any], int] | None:
    """Return the next message and its size; None when none arrives in time, whatever else does."""
    try:
        message = await asyncio.wait_for(socket.receive(), seconds)
    except asyncio.TimeoutError:
        return None
    if message.type is not WSMsgType.TEXT:
        raise _Close(1000, "closed")
    text: str = message.data
    value = await _off_loop(len(text), lambda: parse_text(text))
    if not isinstance(value, dict):
        raise BadRequest("a message must be a JSON object")
    return value, len(text)


async def _off_loop(size: int, call: Callable[[], T]) -> T:
    """Return the result of `call`, from a thread when it handles much."""
    return call() if size <= INLINE_CHARS else await run_in_thread(call, lambda: None)


async def _report(socket: web.WebSocketResponse, answer: dict[str, Any]) -> None:
    for name in ("compile", "run"):
        stage = answer.get(name)
        if stage is None or (name == "run" and stage is answer.get("compile")):
            continue
        await _send(socket, type="stage", stage=name)
        for stream in ("stdout", "stderr"):
            text = stage[stream]
            for start in range(0, len(text), PIECE_CHARS):
                piece = text[start : start + PIECE_CHARS]
                await _send(socket, type="data", stream=stream, data=piece)
        await _send(socket, type="exit", stage=name, code=stage["code"], signal=stage["signal"])


async def _send(socket: web.WebSocketResponse, **message: Any) -> None:
    if not socket.closed:
        await socket.send_str(json.dumps(message))
