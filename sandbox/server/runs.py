"""POST /gradebox/runs: several runs of one program for gradebox's own client, as raw bytes.

    in a thread: parse, compile, run ─▶ groups of executions ─▶ queue ─▶ chunked answer

A thread never waits for the client. An answer over ANSWER_BYTES ends early instead, and the client
asks for the rest. A client that disconnects ends its runs after the one that is running.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from typing import cast

from aiohttp import web

from gradebox.sandbox.errors import SandboxError
from gradebox.sandbox.model import MIB, Compiled, Execution
from gradebox.sandbox.piston.runs import frames
from gradebox.sandbox.protocol import BatchSandbox, Sandbox
from gradebox.sandbox.server.admission import Admission
from gradebox.sandbox.server.body import Refused, check_size, receive
from gradebox.sandbox.server.jobs.runs import RunsJob, parse_runs
from gradebox.sandbox.server.jobs.runtimes import Runtime
from gradebox.sandbox.server.jobs.stages import status_of
from gradebox.sandbox.server.metrics import Metrics
from gradebox.sandbox.server.settings import ServerSettings

log = logging.getLogger("gradebox.server")

ANSWER_BYTES = 16 * MIB  # no further run begins when an answer has so many


class Runs:
    """The route. `most` runs in a request; it is part of GET /."""

    def __init__(
        self,
        sandbox: Sandbox,
        settings: ServerSettings,
        runtimes: list[Runtime],
        admission: Admission,
        metrics: Metrics,
    ) -> None:
        self._sandbox = sandbox
        self._settings = settings
        self._runtimes = runtimes
        self._admission = admission
        self._metrics = metrics
        batches = "batch" in sandbox.capabilities
        self.most = min(frames.MOST_RUNS, admission.slots + admission.queue) if batches else 1

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer a request, which counts like as many requests as it has runs."""
        if request.content_type != frames.CONTENT_TYPE:
            raise Refused(415, f"requests must be of type {frames.CONTENT_TYPE}")
        if request.headers.get("Content-Encoding"):
            raise Refused(415, "this route takes no Content-Encoding")
        count, size = self._count(request), request.content_length
        if size is None:
            raise Refused(411, "the request needs a Content-Length")
        check_size(size, self._settings.body_bytes)  # before it is sent
        began = time.monotonic()
        with self._admission.place(size, count) as place:
            body = await receive(request, self._settings.body_bytes, self._settings.upload_s)
            answer = _Answer(request, self._settings.upload_s)
            loop, parts = asyncio.get_running_loop(), asyncio.Queue[bytes | None]()
            gone = threading.Event()

            def put(part: bytes) -> None:
                with contextlib.suppress(RuntimeError):  # the server has ended
                    loop.call_soon_threadsafe(parts.put_nowait, part)

            runs = self._admission.run(lambda: self._run(body, count, put, gone), count)
            task = asyncio.ensure_future(runs)
            task.add_done_callback(lambda _: parts.put_nowait(None))
            try:
                while (part := await parts.get()) is not None:
                    place.hold(len(part))
                    if count == 1:
                        answer.content_length = len(part)  # cheaper than chunks
                    await answer.send(part)
                await task
                await answer.end()
            except (asyncio.CancelledError, ConnectionError):
                raise
            except Exception:
                if not answer.prepared:
                    raise
                log.exception("%s failed after its answer had begun", request.path)
                answer.abort()
            finally:
                gone.set()
                task.cancel()
        self._metrics.seconds.observe(time.monotonic() - began)
        return answer

    def _count(self, request: web.Request) -> int:
        text = request.headers.get(frames.COUNT_HEADER, "")
        if not (text.isascii() and text.isdigit() and len(text) < 9):
            raise Refused(400, f"the header {frames.COUNT_HEADER} must have the number of runs")
        if not 0 < int(text) <= self.most:
            raise Refused(400, f"the request has {text} runs; 1 to {self.most} are possible")
        return int(text)

    def _run(
        self, body: bytearray, count: int, put: Callable[[bytes], None], gone: threading.Event
    ) -> None:
        """Run in a thread; hand over the frames of the answer."""
        job = parse_runs(body, count, self._runtimes, self._settings.ceilings)
        compiled = self._sandbox.compile(job.program, job.compile_limits, interpreted=False)
        done = size = 0
        try:
            if not compiled.ok:
                raise Refused(409, "the program does not compile on this server")
            with closing(self._groups(job, compiled)) as groups:
                for group in groups:
                    part = frames.write_group(job.nonce, done, group)
                    done, size = done + len(group), size + len(part)
                    put(part)
                    for execution in group:
                        self._metrics.count(job.runtime.row, status_of(execution))
                    if gone.is_set() or size > ANSWER_BYTES:
                        break
        except SandboxError as error:
            if not done:
                raise
            log.error("the sandbox failed: %s", error)
            put(frames.write_end(job.nonce, done, str(error)))
        else:
            if done < count:
                put(frames.write_end(job.nonce, done))
        finally:
            compiled.close()

    def _groups(self, job: RunsJob, compiled: Compiled) -> Generator[list[Execution], None, None]:
        if job.plain and len(job.stdins) > 1:
            sandbox = cast("BatchSandbox", self._sandbox)
            yield from sandbox.run_many(compiled, job.limits, job.stdins)
            return
        yield [
            self._sandbox.run(
                compiled,
                job.limits[0],
                stdin=job.stdins[0],
                args=job.args,
                files=job.files,
                collect=job.collect,
                alone=job.alone,
            )
        ]


class _Answer(web.StreamResponse):
    """A chunked answer. A client that leaves it unread for `read_s` in all is disconnected."""

    def __init__(self, request: web.Request, read_s: float) -> None:
        super().__init__(headers={"Content-Type": frames.CONTENT_TYPE})
        self._request = request
        self._left_s = read_s

    async def send(self, data: bytes) -> None:
        with self._waiting():
            if not self.prepared:
                await self.prepare(self._request)
            await self.write(data)

    async def end(self) -> None:
        with self._waiting():
            await self.write_eof()

    def abort(self) -> None:
        """Disconnect the client."""
        if self._request.transport is not None:
            self._request.transport.abort()

    @contextlib.contextmanager
    def _waiting(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        began = loop.time()
        timer = loop.call_later(max(0.0, self._left_s), self.abort)
        try:
            yield
        finally:
            timer.cancel()
            self._left_s -= loop.time() - began
