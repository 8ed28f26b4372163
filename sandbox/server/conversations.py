"""What a WebSocket's job does on the server's threads, each step in a slot (connect.py)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar, cast, runtime_checkable

from gradebox.sandbox.box.session import LiveRun
from gradebox.sandbox.errors import BadRequest
from gradebox.sandbox.model import Compiled, Execution, Limits
from gradebox.sandbox.protocol import Sandbox
from gradebox.sandbox.server.admission import Admission, ClientGone
from gradebox.sandbox.server.jobs.execute import check_files
from gradebox.sandbox.server.jobs.request import Job
from gradebox.sandbox.server.jobs.stages import stage_of
from gradebox.sandbox.server.metrics import Metrics
from gradebox.sandbox.server.streams import Streams

T = TypeVar("T")


@runtime_checkable
class Conversing(Protocol):
    """A sandbox that runs programs interactively; see `EmbeddedSandbox.converse`."""

    def converse(
        self,
        compiled: Compiled,
        limits: Limits,
        line: int,
        live: LiveRun,
        *,
        args: Sequence[str] = (),
        files: Mapping[str, bytes] | None = None,
    ) -> Execution: ...


@dataclass(frozen=True)
class Conversations:
    """What a socket needs of the server: each method but `parse` waits for a slot.

    parse_job  return the job of a decoded request
    run_whole  run a job without talking to it, and return Piston's answer
    """

    sandbox: Sandbox
    admission: Admission
    metrics: Metrics
    parse_job: Callable[..., Job]
    run_whole: Callable[[Job], dict[str, Any]]

    def parse(self, body: Any) -> Job:
        """Return the job of a message. Raises BadRequest, also when it cannot be talked to."""
        job = self.parse_job(body, talking=True)
        if job.evidence or not isinstance(self.sandbox, Conversing):
            raise BadRequest("this server cannot run the program interactively")
        check_files(job.unpacked, self.sandbox)
        return job

    async def execute(self, job: Job) -> dict[str, Any]:
        """Run a job whole and return Piston's answer."""
        return await self.admission.run(lambda: self.run_whole(job))

    async def compile(self, job: Job) -> Compiled:
        """Compile a program; one whose client disconnects meanwhile is freed."""
        compile = self.sandbox.compile
        handover = _Handover(
            lambda: compile(job.program, job.compile_limits, interpreted=False), Compiled.close
        )
        compiled = await handover.run(self.admission)
        if not compiled.ok:
            self.metrics.count(job.runtime.row, "CE")
        return compiled

    async def converse(
        self, job: Job, compiled: Compiled, streams: Streams, live: LiveRun
    ) -> Execution:
        """Run a program until its end; when cancelled, end it and wait for that."""
        sandbox = cast("Conversing", self.sandbox)

        def call() -> Execution:
            try:
                line = streams.line.fileno()
                return sandbox.converse(
                    compiled, job.limits, line, live, args=job.args, files=job.files
                )
            finally:
                streams.line.close()

        handover = _Handover(call, lambda execution: None, live.end)
        execution = await handover.run(self.admission)
        status = stage_of(execution, base64_output=False)["status"]
        self.metrics.count(job.runtime.row, status)
        return execution


class _Handover(Generic[T]):
    """A call in a thread that is waited for even when the waiting task is cancelled.

    What the call uses may be freed as soon as `run` has returned or raised.

    drop  frees a result that came after the cancellation
    hurry makes a call that has begun end soon
    """

    def __init__(
        self,
        call: Callable[[], T],
        drop: Callable[[T], None],
        hurry: Callable[[], None] = lambda: None,
    ) -> None:
        self._call = call
        self._drop = drop
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
                raise ClientGone
            self._began = True
        try:
            result = self._call()
            with self._lock:
                if not self._cancelled:
                    return result
            self._drop(result)
            raise ClientGone
        finally:
            loop.call_soon_threadsafe(ended.set)
