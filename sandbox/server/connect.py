"""The WebSocket /api/v2/connect: one job over one socket, in Piston's messages.

    in   init, data (stdin), eof, signal
    out  runtime, stage, data (stdout, stderr), exit, error; closes with 4999 at the end

A Sandbox runs a program whole, it does not stream. So stdin is gathered first: until
`{"type": "eof"}` (ours; Piston has no such message) or until nothing came for QUIET_S.
Output comes when the program has ended. A program that asks and waits for an answer needs
`Sandbox.interact`, not this route. Signals are checked and change nothing, as on a real
Piston, where they reach nobody.
"""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from aiohttp import WSMsgType, web

from sandbox.errors import BadRequest, SandboxError
from sandbox.server.admission import Abandoned, Full, Place
from sandbox.server.jobs import Job, Refusal

INIT_S = 1.0
QUIET_S = 0.5
STDIN_MAX = 64 << 20
MESSAGE_BYTES = 16 << 20  # the largest message; a socket holds a place of this size
SIGNALS = frozenset(s.name for s in signal.Signals)

ReadJob = Callable[[Any], Job]
Run = Callable[[Job], Awaitable[dict[str, Any]]]


class _Closed(Exception):
    """The conversation is over: close with this code and these words."""

    def __init__(self, code: int, words: str) -> None:
        super().__init__(words)
        self.code = code
        self.words = words


async def converse(
    socket: web.WebSocketResponse, read_job: ReadJob, run: Run, place: Place, upload_s: float
) -> None:
    """One socket from its first message to its close; its input must be there in `upload_s`."""
    try:
        try:
            job = read_job(await _init(socket))
            await _send(socket, type="runtime", **_runtime(job))
            gathered = await asyncio.wait_for(_stdin(socket, place), upload_s)
            answer = await run(replace(job, stdin=job.stdin + gathered))
            await _report(socket, answer)
        except (Refusal, BadRequest, SandboxError, Full, Abandoned) as fault:
            await _send(socket, type="error", message=str(fault) or "the client went away")
            raise _Closed(4002, "Notified Error") from fault
        except asyncio.TimeoutError as fault:
            words = f"the input did not arrive within {upload_s:g} s"
            await _send(socket, type="error", message=words)
            raise _Closed(4002, "Notified Error") from fault
        raise _Closed(4999, "Job Completed")
    except _Closed as end:
        await socket.close(code=end.code, message=end.words.encode())


def _runtime(job: Job) -> dict[str, str]:
    return {"language": job.runtime.language, "version": job.runtime.version}


async def _init(socket: web.WebSocketResponse) -> Any:
    message = await _message(socket, INIT_S)
    if message is None:
        raise _Closed(4001, "Initialization Timeout")
    if message.get("type") != "init":
        raise _Closed(4003, "Not yet initialized")
    return message


async def _stdin(socket: web.WebSocketResponse, place: Place) -> bytes:
    """What the client types before the program starts, counted with what all others hold."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await _message(socket, QUIET_S)
        kind = None if message is None else message.get("type")
        if message is None or kind == "eof":
            return b"".join(parts)
        if kind == "init":
            raise _Closed(4000, "Already Initialized")
        if kind == "signal" and str(message.get("signal")) not in SIGNALS:
            raise _Closed(4005, "Invalid signal")
        if kind != "data":
            continue
        if message.get("stream") != "stdin":
            raise _Closed(4004, "Can only write to stdin")
        parts.append(str(message.get("data", "")).encode("utf-8", "surrogatepass"))
        size += len(parts[-1])
        place.grow(len(parts[-1]))
        if size > STDIN_MAX:
            raise Refusal(f"stdin of over {STDIN_MAX} bytes; use POST /api/v2/execute")


async def _message(socket: web.WebSocketResponse, seconds: float) -> dict[str, Any] | None:
    """The next message; None when none came in time."""
    try:
        message = await socket.receive(timeout=seconds)
    except asyncio.TimeoutError:
        return None
    if message.type is not WSMsgType.TEXT:
        raise _Closed(1000, "closed")
    try:
        value = json.loads(message.data)
    except (ValueError, RecursionError) as error:
        raise Refusal(f"a message is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise Refusal("a message must be a JSON object")
    return value


async def _report(socket: web.WebSocketResponse, answer: dict[str, Any]) -> None:
    ran = answer.get("run") is not answer.get("compile")
    for name in ("compile", "run"):
        stage = answer.get(name)
        if stage is None or (name == "run" and not ran):
            continue
        await _send(socket, type="stage", stage=name)
        for stream in ("stdout", "stderr"):
            if stage[stream]:
                await _send(socket, type="data", stream=stream, data=stage[stream])
        ends = {"code": stage["code"], "signal": stage["signal"]}
        await _send(socket, type="exit", stage=name, **ends)


async def _send(socket: web.WebSocketResponse, **message: Any) -> None:
    if not socket.closed:
        await socket.send_str(json.dumps(message))
