"""Admission control: `slots` requests run, `queue` requests wait, further ones are refused.

place ─▶ body arrives ─▶ run in a thread ─▶ answer
  └ RequestRefused: 429 when the queue is full, 503 while shutting down, both with Retry-After

    connection opened ─▶ waits for a head ─▶ busy with a request ─▶ waits ─▶ … ─▶ closed
                           └ too long, or too many connections: the one that waits longest is closed

A client that sends its request at once is therefore served however many silent ones there are.
aiohttp has a time limit for idle connections, but none for their number.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import math
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from aiohttp import web
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from gradebox.sandbox.common.cancellation import Cancellation, run_in_thread
from gradebox.sandbox.errors import RequestRefused

T = TypeVar("T")


@dataclass
class Place:
    """The place of one admitted request, with the bytes reserved for it, until it is answered."""

    size: int
    answered: bool = False


class Admission:
    """Count requests from before their body arrives until they are answered."""

    def __init__(self, slots: int, queue: int, held_bytes: int = 1 << 62) -> None:
        self.slots = slots
        self.queue = queue
        self._bytes_left = held_bytes
        self.present = 0
        self.running = 0
        self.closing = False
        self._mean_s = 0.5
        self._idle = asyncio.Event()
        self._idle.set()
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(slots, thread_name_prefix="execute")

    @contextlib.contextmanager
    def place(self, size: int = 0) -> Iterator[Place]:
        """Admit a request of `size` bytes. Raises RequestRefused."""
        if self.closing:
            raise RequestRefused(503, "the server is shutting down", 5)
        if self.present >= self.slots + self.queue:
            raise self._full()
        self.reserve(size, others=self.present)
        self.present += 1
        self._idle.clear()
        place = Place(size)
        try:
            yield place
        finally:
            self.present -= 1
            with self._lock:
                place.answered = True
                self._bytes_left += place.size
            if not self.present:
                self._idle.set()

    @contextlib.contextmanager
    def held(self, size: int) -> Iterator[None]:
        """Reserve bytes for an answer without a place, or a message. Raises RequestRefused."""
        self.reserve(size, others=1)
        try:
            yield
        finally:
            with self._lock:
                self._bytes_left += size

    def reserve(self, size: int, others: int) -> None:
        """Reserve bytes for a request beside `others`; a single request always fits.

        Raises RequestRefused.
        """
        with self._lock:
            if others and size > self._bytes_left:
                raise self._full()
            self._bytes_left -= size

    def hold(self, place: Place, size: int) -> None:
        """Reserve the bytes of an answer, at once, in the thread that made it."""
        with self._lock:
            if not place.answered:  # else its client has gone
                self._bytes_left -= size
                place.size += size

    def _full(self) -> RequestRefused:
        after_s = self.retry_after_s()
        return RequestRefused(429, f"the server is busy; try again in {after_s} s", after_s)

    def retry_after_s(self) -> int:
        """Return the seconds until a place is likely free: the time half of the queue takes."""
        seconds = self._mean_s * self.present / self.slots / 2
        return max(1, min(60, math.ceil(seconds)))

    async def run(self, call: Callable[[], T], cancelled: Cancellation | None = None) -> T:
        """Run `call` in a thread; it is not started if the caller is cancelled before.

        cancelled  is cancelled together with the caller

        Raises what `call` raises, ConnectionAbortedError, and RequestRefused when the answers of
        others take all bytes by now.
        """
        cancelled = cancelled or Cancellation()
        timed = functools.partial(self._timed, call, cancelled)
        return await run_in_thread(timed, cancelled.cancel, self._pool)

    async def run_to_end(self, call: Callable[[], T], hurry: Callable[[], object]) -> T:
        """Like `run`, but wait for a call that has begun: afterwards what it uses may be freed.

        hurry  makes the call end soon, for a caller that is cancelled
        """
        begun = self._pool.submit(self._timed, call, Cancellation())
        ended = asyncio.wrap_future(begun)
        try:
            return await asyncio.shield(ended)
        except asyncio.CancelledError:
            if not begun.cancel():
                hurry()
                await asyncio.wait({ended})
            raise

    async def drain(self, grace_s: float) -> bool:
        """Admit nothing more and wait for all admitted requests; False after `grace_s`."""
        self.closing = True
        try:
            await asyncio.wait_for(self._idle.wait(), grace_s)
        except asyncio.TimeoutError:
            return False
        return True

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _timed(self, call: Callable[[], T], cancelled: Cancellation) -> T:
        if cancelled.is_cancelled:
            raise ConnectionAbortedError("the client disconnected")
        if self._bytes_left < 0 and self.present > 1:  # others do not read their answers
            raise self._full()
        with self._lock:
            self.running += 1
        began = time.monotonic()
        try:
            return call()
        finally:
            with self._lock:
                self.running -= 1
                self._mean_s = 0.9 * self._mean_s + 0.1 * (time.monotonic() - began)


# ---- connections ----

KEEP_ALIVE_S = 75.0  # an idle connection stays open for so long after an answer


class Connections:
    """The open connections of a server.

    most    connections at once
    head_s  seconds from the opening of a connection to the end of its first request's head
    """

    def __init__(self, most: int, head_s: float) -> None:
        self._most = most
        self._head_s = head_s
        self._open: set[asyncio.BaseTransport] = set()
        self._waiting: dict[asyncio.BaseTransport, asyncio.TimerHandle] = {}  # longest first

    def opened(self, transport: asyncio.Transport) -> None:
        self._open.add(transport)
        self._wait(transport, self._head_s)
        if len(self._open) > self._most:
            self._abort(next(iter(self._waiting)))

    def busy(self, transport: asyncio.BaseTransport | None) -> None:
        """Note that the head of a request arrived."""
        timer = self._waiting.pop(transport, None) if transport else None
        if timer is not None:
            timer.cancel()

    def idle(self, transport: asyncio.BaseTransport | None) -> None:
        """Note that a request was answered."""
        if transport in self._open:
            self._wait(transport, KEEP_ALIVE_S)

    def closed(self, transport: asyncio.BaseTransport) -> None:
        self.busy(transport)
        self._open.discard(transport)

    def abort(self) -> None:
        """Close every connection at once."""
        for transport in list(self._open):
            self._abort(transport)

    def _wait(self, transport: Any, seconds: float) -> None:
        self.busy(transport)
        loop = asyncio.get_running_loop()
        self._waiting[transport] = loop.call_later(seconds, self._abort, transport)

    def _abort(self, transport: Any) -> None:
        self.closed(transport)
        transport.abort()


class Connection(web.RequestHandler):
    """One HTTP connection, which reports its opening and its end."""

    def __init__(self, connections: Connections, manager: web.Server, **settings: Any) -> None:
        super().__init__(manager, loop=asyncio.get_running_loop(), **settings)
        self._connections = connections
        self._opened: asyncio.BaseTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._opened = transport
        self._connections.opened(transport)  # type: ignore[arg-type]

    def connection_lost(self, error: BaseException | None) -> None:
        if self._opened is not None:
            self._connections.closed(self._opened)
        super().connection_lost(error)


# ---- GET /metrics ----

_SECONDS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100)


class Metrics:
    """Counters of one server, in a registry of its own so that two servers never mix."""

    content_type = "text/plain; version=0.0.4; charset=utf-8"

    def __init__(self, admission: Admission) -> None:
        self.registry = CollectorRegistry()
        self.executions = Counter(
            "gradebox_executions",
            "Programs run, by language and status (OK, RE, TO, OL, EL, CE)",
            ["language", "status"],
            registry=self.registry,
        )
        self.answers = Counter(
            "gradebox_http_answers", "Answers by HTTP status", ["status"], registry=self.registry
        )
        self.seconds = Histogram(
            "gradebox_execute_seconds",
            "Seconds from a request's admission to its answer",
            buckets=_SECONDS,
            registry=self.registry,
        )
        present = Gauge("gradebox_requests_present", "Requests admitted", registry=self.registry)
        present.set_function(lambda: admission.present)
        running = Gauge("gradebox_requests_running", "Requests running", registry=self.registry)
        running.set_function(lambda: admission.running)

    def count(self, language: str, status: str | None) -> None:
        """Count one execution; None: it ended with code 0."""
        self.executions.labels(language, status or "OK").inc()

    def text(self) -> bytes:
        return generate_latest(self.registry)
