"""The WebSocket /api/v2/connect: one interactive run over one socket, in Piston's messages.

    in   init, data (stdin), eof, signal
    out  runtime, stage, data (stdout, stderr), exit, error; closes with 4999 at the end

    socket ─ listener ─▶ Feed ─▶ stdin        a thread: compile, then converse: one run in a box
           ◀─ data ─ forward ◀─ stdout, stderr

Messages of both directions are handled as they come. `eof`, which Piston does not have, ends stdin.
A program whose client disconnects is ended.
"""

from __future__ import annotations

import asyncio
import json
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from aiohttp import WSMsgType, web

from gradebox.sandbox.box.run_request import LiveRun
from gradebox.sandbox.common.cancellation import run_in_thread
from gradebox.sandbox.errors import BadRequest, MissingToolchain, RequestRefused, SandboxError
from gradebox.sandbox.languages import find
from gradebox.sandbox.model import Compiled, Execution
from gradebox.sandbox.server.admission import Admission, Place
from gradebox.sandbox.server.body import parse_text
from gradebox.sandbox.server.jobs.execute import (
    check_files,
    compile_stage,
    stage_of,
    status_of,
)
from gradebox.sandbox.server.jobs.request import Job
from gradebox.sandbox.server.streams import Feed, Streams, forward

if TYPE_CHECKING:
    from gradebox.sandbox.server.app import Server

INIT_S = 1.0
CLOSE_S = 1.0  # a client that does not answer the closing message keeps its place for so long
MESSAGE_BYTES = 16 << 20  # the largest message; a socket's place has twice this size
SIGNALS = {s.name: s for s in signal.Signals}

INLINE_CHARS = 1 << 16  # longer messages are parsed in a thread
PIECE_CHARS = 1 << 20  # of output in one message

T = TypeVar("T")


class _Close(Exception):
    """Close the socket with this code and message."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


async def converse(socket: web.WebSocketResponse, server: Server, place: Place) -> None:
    """Serve one socket until it is closed."""
    talk = _Talk(socket, server)
    try:
        try:
            job = await talk.init(place)
            await talk.serve(job)
        except (
            BadRequest,
            MissingToolchain,
            RequestRefused,
            SandboxError,
            ConnectionAbortedError,
        ) as error:
            await talk.send(type="error", message=str(error) or "the client disconnected")
            raise _Close(4002, "Notified Error") from error
    except _Close as end:
        await socket.close(code=end.code, message=end.message.encode())


@dataclass
class _Talk:
    socket: web.WebSocketResponse
    server: Server

    def __post_init__(self) -> None:
        self.feed = Feed()
        self.live = LiveRun()

    async def init(self, place: Place) -> Job:
        """Return the job of the first message, which must come at once."""
        try:
            value, size = await asyncio.wait_for(self._message(), INIT_S)
        except asyncio.TimeoutError:
            raise _Close(4001, "Initialization Timeout") from None
        if value.get("type") != "init":
            raise _Close(4003, "Not yet initialized")
        self.server.admission.grow(place, size)
        return await _off_loop(size, lambda: self._parse(value))

    async def serve(self, job: Job) -> None:
        """Run a job while messages come; whichever ends first ends the other."""
        self.feed.add(job.stdin)  # before any message, which may be the end of the input
        work = asyncio.ensure_future(self._run(job))
        listener = asyncio.ensure_future(self._listen())
        try:
            await asyncio.wait({work, listener}, return_when=asyncio.FIRST_COMPLETED)
            (listener if listener.done() and not work.done() else work).result()
        finally:
            self.live.end()
            for task in (work, listener):
                task.cancel()
            await asyncio.gather(work, listener, return_exceptions=True)
        raise _Close(4999, "Job Completed")

    async def send(self, **message: Any) -> None:
        """Send a message. Raises _Close when the client does not read it."""
        if self.socket.closed:
            return
        # Before Python 3.12, wait_for loses a cancellation that comes when the message is sent.
        sending = asyncio.ensure_future(self.socket.send_str(json.dumps(message)))
        try:
            sent, _ = await asyncio.wait({sending}, timeout=self.server.settings.upload_s)
        finally:
            sending.cancel()
        if not sent:
            raise _Close(4002, "The output was not read")
        try:
            sending.result()
        except ConnectionError:
            raise _Close(1000, "closed") from None

    # ---- on the server's threads, each step in a slot ----

    def _parse(self, body: Any) -> Job:
        """Return the job of a message. Raises BadRequest, also when it cannot be talked to."""
        job = self.server.parse_job(body, talking=True)
        if not hasattr(self.server.sandbox, "converse"):
            raise BadRequest("this server cannot run the program interactively")
        check_files(job.unpacked, self.server.sandbox)
        return job

    async def _compile(self, job: Job) -> Compiled:
        """Compile a program; a client that disconnects meanwhile waits for its end."""
        compile = self.server.sandbox.compile
        handover = _Handover(lambda: compile(job.program, job.compile_limits, interpreted=False))
        compiled = await handover.run(self.server.admission)
        if not compiled.ok:
            self.server.metrics.count(job.runtime.row, "CE")
        return compiled

    async def _converse(self, job: Job, compiled: Compiled, streams: Streams) -> Execution:
        """Run a program until its end; when cancelled, end it and wait for that."""
        sandbox: Any = self.server.sandbox  # of a machine of its own: `EmbeddedSandbox.converse`

        def call() -> Execution:
            try:
                fd = streams.line.fileno()
                given = {"args": job.args, "files": job.files}
                found: Execution = sandbox.converse(compiled, job.limits, fd, self.live, **given)
                return found
            finally:
                streams.line.close()

        handover = _Handover(call, self.live.end)
        execution = await handover.run(self.server.admission)
        self.server.metrics.count(job.runtime.row, status_of(execution))
        return execution

    # ---- from the program to the client ----

    async def _run(self, job: Job) -> None:
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
            await self._talk(job, compiled)

    async def _talk(self, job: Job, compiled: Compiled) -> None:
        streams = Streams()
        most = job.limits.output_bytes
        out, err, feeding = (
            asyncio.ensure_future(coroutine)
            for coroutine in (
                self._forward("stdout", streams.stdout, most),
                self._forward("stderr", streams.stderr, most),
                self.feed.write_to(streams),
            )
        )
        try:
            execution = await self._converse(job, compiled, streams)
            whole = all(await asyncio.gather(out, err))
        finally:
            for task in (out, err, feeding):
                task.cancel()
            await asyncio.gather(out, err, feeding, return_exceptions=True)
            streams.close()
        stage = stage_of(execution, base64_output=False, name=job.main)
        if not whole:
            stage |= {"code": None, "signal": "SIGKILL", "stderr": ""}
        await self._report("run", stage)

    async def _forward(self, stream: str, fd: int, most: int) -> bool:
        async def send(text: str) -> None:
            await self.send(type="data", stream=stream, data=text)

        try:
            whole = await forward(fd, send, most)
        except BaseException:
            self.live.end()
            raise
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

    async def _listen(self) -> None:
        while True:
            message, _ = await self._message()
            await self._handle(message)

    async def _handle(self, message: dict[str, Any]) -> None:
        kind = message.get("type")
        if kind == "init":
            raise _Close(4000, "Already Initialized")
        if kind == "eof":
            self.feed.end()
        elif kind == "signal":
            number = SIGNALS.get(str(message.get("signal")))
            if number is None:
                raise _Close(4005, "Invalid signal")
            self.live.send_signal(number)
        elif kind == "data":
            if message.get("stream") != "stdin":
                raise _Close(4004, "Can only write to stdin")
            self.feed.add(str(message.get("data", "")).encode("utf-8", "surrogatepass"))

    async def _message(self) -> tuple[dict[str, Any], int]:
        """Return the next message and its size."""
        message = await self.socket.receive()
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


class _Handover(Generic[T]):
    """A call in a thread that is waited for even when the waiting task is cancelled.

    What the call uses may be freed as soon as `run` has returned or raised.

    hurry makes a call that has begun end soon
    """

    def __init__(
        self,
        call: Callable[[], T],
        hurry: Callable[[], None] = lambda: None,
    ) -> None:
        self._call = call
        self._hurry = hurry
        self._lock = threading.Lock()
        self._began = self._cancelled = False

    async def run(self, admission: Admission) -> T:
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()
        try:
            return await admission.run(lambda: self._in_thread(loop, ended))
        except asyncio.CancelledError:
            with self._lock:
                self._cancelled = True
            if self._began:
                self._hurry()
                await ended.wait()
            raise

    def _in_thread(self, loop: asyncio.AbstractEventLoop, ended: asyncio.Event) -> T:
        with self._lock:
            if self._cancelled:
                raise ConnectionAbortedError("the client disconnected")
            self._began = True
        try:
            result = self._call()
            with self._lock:
                if not self._cancelled:
                    return result
            raise ConnectionAbortedError("the client disconnected")
        finally:
            loop.call_soon_threadsafe(ended.set)
