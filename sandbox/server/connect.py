"""The WebSocket /api/v2/connect: one interactive run over one socket, in Piston's messages.

    in   init, data (stdin), eof, signal
    out  runtime, stage, data (stdout, stderr), exit, error; closes with 4999 at the end

    socket ─ listener ─▶ stdin           a thread: compile, then converse: one run in a box
           ◀─ data ─ forward ◀─ stdout, stderr

Messages of both directions are handled as they come; input that comes before the program starts
waits in its pipe. `eof`, which Piston does not have, ends stdin. A program whose client disconnects
is ended.
"""

from __future__ import annotations

import array
import asyncio
import codecs
import json
import os
import signal
import socket
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from aiohttp import WSMsgType, web

from gradebox.sandbox.box.run_request import LiveRun
from gradebox.sandbox.children.channel import blocking_pair
from gradebox.sandbox.common.cancellation import run_in_thread
from gradebox.sandbox.errors import BadRequest, MissingToolchain, RequestRefused, SandboxError
from gradebox.sandbox.languages import find
from gradebox.sandbox.model import Compiled, Execution
from gradebox.sandbox.server.execute import (
    check_files,
    compile_stage,
    stage_of,
    status_of,
)
from gradebox.sandbox.server.incoming import parse_text
from gradebox.sandbox.server.request import Job

if TYPE_CHECKING:
    from gradebox.sandbox.server.app import Server

INIT_S = 1.0
CLOSE_S = 1.0  # a client that does not answer the closing message keeps its place for so long
MESSAGE_BYTES = 16 << 20  # the largest message; a socket's place has twice this size
PENDING_BYTES = 16 << 20  # input that the program has not read yet, beside what its pipe holds
SIGNALS = {s.name: s for s in signal.Signals}

INLINE_CHARS = 1 << 16  # longer messages are parsed in a thread
PIECE_CHARS = 1 << 20  # of output in one message
PIECE_BYTES = 64 << 10
# Closing codes, which are raised as the status of a RequestRefused; an HTTP status is less.
CLOSED, NOTIFIED, COMPLETED = 1000, 4002, 4999

T = TypeVar("T")


async def converse(socket: web.WebSocketResponse, server: Server, held: ExitStack) -> None:
    """Serve one socket until it is closed; `held` are the bytes reserved for it until then."""
    talk = _Talk(socket, server)
    try:
        try:
            job = await talk.init(held)
            await talk.serve(job)
        except (
            BadRequest,
            MissingToolchain,
            RequestRefused,
            SandboxError,
            ConnectionAbortedError,
        ) as error:
            if isinstance(error, RequestRefused) and error.status >= CLOSED:
                raise
            await talk.send(type="error", message=str(error) or "the client disconnected")
            raise RequestRefused(NOTIFIED, "Notified Error") from error
    except RequestRefused as end:
        await socket.close(code=end.status, message=str(end).encode())


class Streams:
    """The pipes of a program. `line` is the socket for it, where it finds their far ends."""

    stdin: asyncio.WriteTransport
    stdout: asyncio.StreamReader
    stderr: asyncio.StreamReader

    def __init__(self) -> None:
        (stdin, feeding), (reading, stdout), (reading_errors, stderr) = (
            os.pipe2(os.O_CLOEXEC) for _ in range(3)
        )
        self._ends = [os.fdopen(feeding, "wb", 0)]
        self._ends += [os.fdopen(fd, "rb", 0) for fd in (reading, reading_errors)]
        self._transports: list[asyncio.BaseTransport] = []
        theirs = [stdin, stdout, stderr]
        ours, self.line = blocking_pair(socket.SOCK_STREAM)
        try:
            for fd in theirs:  # a program with another user id may open /dev/stdin again
                os.fchmod(fd, 0o666)
            rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", theirs))
            ours.sendmsg([b"\0"], [rights])
        finally:
            ours.close()  # what was sent stays in `line`
            for fd in theirs:
                os.close(fd)

    async def connect(self) -> None:
        """Let the event loop read and write our ends."""
        loop, (stdin, *outputs) = asyncio.get_running_loop(), self._ends
        self.stdin, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, stdin)
        self._transports.append(self.stdin)
        for name, end in zip(("stdout", "stderr"), outputs, strict=True):
            reader = asyncio.StreamReader()
            protocol = partial(asyncio.StreamReaderProtocol, reader)
            transport, _ = await loop.connect_read_pipe(protocol, end)
            self._transports.append(transport)
            setattr(self, name, reader)

    def feed(self, data: bytes) -> None:
        """Write input. Raises BadRequest when the program leaves too much unread."""
        if self.stdin.get_write_buffer_size() + len(data) > PENDING_BYTES:
            raise BadRequest(
                f"the program has over {PENDING_BYTES} bytes of input that it does not read"
            )
        if not self.stdin.is_closing():  # by the end of the input, or as nobody reads it
            self.stdin.write(data)

    def close(self) -> None:
        """Close our ends, and `line` if no program has received them."""
        self.line.close()
        for transport in self._transports:
            transport.close()  # what is not written then finds nobody who reads it
        for end in self._ends[len(self._transports) :]:
            end.close()


@dataclass
class _Talk:
    socket: web.WebSocketResponse
    server: Server
    live: LiveRun = field(default_factory=LiveRun)

    async def init(self, held: ExitStack) -> Job:
        """Return the job of the first message, which must come at once."""
        try:
            value, size = await asyncio.wait_for(self._message(), INIT_S)
        except asyncio.TimeoutError:
            raise RequestRefused(4001, "Initialization Timeout") from None
        if value.get("type") != "init":
            raise RequestRefused(4003, "Not yet initialized")
        held.enter_context(self.server.admission.held(size))
        return await _off_loop(size, lambda: self._parse(value))

    async def serve(self, job: Job) -> None:
        """Run a job while messages come; whichever ends first ends the other."""
        streams = Streams()
        tasks: list[asyncio.Future[None]] = []
        try:
            await streams.connect()
            streams.feed(job.stdin)  # before any message, which may be the end of the input
            tasks = [
                asyncio.ensure_future(c) for c in (self._run(job, streams), self._listen(streams))
            ]
            work, listener = tasks
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            (listener if listener.done() and not work.done() else work).result()
        finally:
            self.live.end()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            streams.close()
        raise RequestRefused(COMPLETED, "Job Completed")

    async def send(self, **message: Any) -> None:
        """Send a message. Raises RequestRefused when the client does not read it."""
        if self.socket.closed:
            return
        # Before Python 3.12, wait_for loses a cancellation that comes when the message is sent.
        sending = asyncio.ensure_future(self.socket.send_str(json.dumps(message)))
        try:
            sent, _ = await asyncio.wait({sending}, timeout=self.server.settings.upload_s)
        finally:
            sending.cancel()
        if not sent:
            raise RequestRefused(NOTIFIED, "The output was not read")
        try:
            sending.result()
        except ConnectionError:
            raise RequestRefused(CLOSED, "closed") from None

    # ---- on the server's threads, each step in a slot ----

    def _parse(self, body: Any) -> Job:
        """Return the job of a message. Raises BadRequest."""
        job = self.server.parse_job(body, talking=True)
        check_files(job.unpacked, self.server.sandbox)
        return job

    async def _compile(self, job: Job) -> Compiled:
        """Compile a program; a client that disconnects meanwhile waits for its end."""
        compile, limits = self.server.sandbox.compile, job.compile_limits
        compiled = await self.server.admission.run_to_end(
            lambda: compile(job.program, limits, interpreted=False), lambda: None
        )
        if not compiled.ok:
            self.server.metrics.count(job.runtime.row, "CE")
        return compiled

    async def _converse(self, job: Job, compiled: Compiled, streams: Streams) -> Execution:
        """Run a program until its end; when cancelled, end it and wait for that."""
        sandbox: Any = self.server.sandbox  # of a machine of its own: `EmbeddedSandbox.converse`
        given = {"args": job.args, "files": job.files}

        def call() -> Execution:
            found: Execution = sandbox.converse(
                compiled, job.limits, streams.line.fileno(), self.live, **given
            )
            return found

        try:
            execution = await self.server.admission.run_to_end(call, self.live.end)
        finally:
            streams.line.close()  # a program that did not start has left its ends there
        self.server.metrics.count(job.runtime.row, status_of(execution))
        return execution

    # ---- from the program to the client ----

    async def _run(self, job: Job, streams: Streams) -> None:
        runtime = job.runtime
        await self.send(type="runtime", language=runtime.language, version=runtime.version)
        if job.codeforces:  # it reads no stdin, and its output is judged before it is shown
            answer = await self.server.admission.run(lambda: self.server.run(job))
            stages = {name: answer[name] for name in ("compile", "run") if name in answer}
            if stages.get("run") is stages.get("compile"):
                del stages["run"]
            for name, stage in stages.items():
                await self.send(type="stage", stage=name)
                await self._report(name, stage)
            return
        if find(job.program.language).compile is not None:
            await self.send(type="stage", stage="compile")
        compiled = await self._compile(job)
        stage = compile_stage(compiled, job)
        if stage is not None:
            await self._report("compile", stage)
        if compiled.ok:
            await self.send(type="stage", stage="run")
            await self._talk(job, compiled, streams)

    async def _talk(self, job: Job, compiled: Compiled, streams: Streams) -> None:
        most = job.limits.output_bytes
        found = await asyncio.gather(  # all of them end: a program that can't go on is ended
            self._converse(job, compiled, streams),
            self._forward("stdout", streams.stdout, most),
            self._forward("stderr", streams.stderr, most),
            return_exceptions=True,
        )
        for one in found:
            if isinstance(one, BaseException):
                raise one
        execution, *whole = found
        assert isinstance(execution, Execution)
        stage = stage_of(execution, base64_output=False, name=job.main)
        if not all(whole):
            stage |= {"code": None, "signal": "SIGKILL", "stderr": ""}
        await self._report("run", stage)

    async def _forward(self, stream: str, source: asyncio.StreamReader, most: int) -> bool:
        """Send what a program writes as text, until its end; False after `most` bytes."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        left, whole = most, False
        try:
            while left >= 0 and not whole:
                piece = await source.read(PIECE_BYTES)
                whole = not piece
                if text := decoder.decode(piece[:left], final=whole):
                    await self.send(type="data", stream=stream, data=text)
                left -= len(piece)
        finally:
            if not whole:
                self.live.end()
        return whole

    async def _report(self, name: str, stage: dict[str, Any]) -> None:
        """Send a stage's output and its end."""
        for stream in ("stdout", "stderr"):
            text = stage[stream]
            for start in range(0, len(text), PIECE_CHARS):
                piece = text[start : start + PIECE_CHARS]
                await self.send(type="data", stream=stream, data=piece)
        await self.send(type="exit", stage=name, code=stage["code"], signal=stage["signal"])

    # ---- from the client to the program ----

    async def _listen(self, streams: Streams) -> None:
        while True:
            message, _ = await self._message()
            kind = message.get("type")
            if kind == "init":
                raise RequestRefused(4000, "Already Initialized")
            if kind == "eof" and not streams.stdin.is_closing():
                streams.stdin.write_eof()
            elif kind == "signal":
                number = SIGNALS.get(str(message.get("signal")))
                if number is None:
                    raise RequestRefused(4005, "Invalid signal")
                self.live.send_signal(number)
            elif kind == "data":
                if message.get("stream") != "stdin":
                    raise RequestRefused(4004, "Can only write to stdin")
                streams.feed(str(message.get("data", "")).encode("utf-8", "surrogatepass"))

    async def _message(self) -> tuple[dict[str, Any], int]:
        """Return the next message and its size."""
        message = await self.socket.receive()
        if message.type is not WSMsgType.TEXT:
            raise RequestRefused(CLOSED, "closed")
        text: str = message.data
        value = await _off_loop(len(text), lambda: parse_text(text))
        if not isinstance(value, dict):
            raise BadRequest("a message must be a JSON object")
        return value, len(text)


async def _off_loop(size: int, call: Callable[[], T]) -> T:
    """Return the result of `call`, from a thread when it handles much."""
    return call() if size <= INLINE_CHARS else await run_in_thread(call, lambda: None)
