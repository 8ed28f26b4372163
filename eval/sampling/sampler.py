"""Asks many questions at once, each with its deadline and its retries.

    iterator of Request ──▶ N workers ──(rate limit)──▶ server ──▶ on_outcome(Outcome)

A worker takes a request only when it is free, so that a run of millions holds N of them.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from eval.sampling.errors import CallError, ServerLost
from eval.sampling.http_json import post_json
from eval.sampling.key import redacted, without_key
from eval.sampling.model import Failure, Outcome, Reply, Request
from eval.sampling.retry import RetryPolicy, call_with_retries
from eval.sampling.servers import Server

if TYPE_CHECKING:
    import ssl

    import httpx

log = logging.getLogger("gradebox.sampling")

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True)
class SamplerOptions:
    """How a run asks.

    concurrency     calls under way at once
    interval_s      least seconds between the starts of two calls, retries included
    http_timeout_s  seconds one exchange may stand still
    call_timeout_s  seconds for a call with its retries, None: no limit
    lost_after      calls that fail on the network one after the other before the run stops;
                    0: max(8, concurrency), so that each call under way had its retries
    """

    concurrency: int = 8
    interval_s: float = 0.0
    http_timeout_s: float = 180.0
    call_timeout_s: float | None = 240.0
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    lost_after: int = 0


class Pace:
    """Lets calls start at least `interval_s` apart, in the order in which they ask."""

    def __init__(
        self,
        interval_s: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._interval_s = interval_s
        self._clock = clock
        self._sleep = sleep
        self._next = 0.0

    async def turn(self) -> None:
        """Waits until it is this caller's turn."""
        if self._interval_s <= 0:
            return
        now = self._clock()
        start = max(now, self._next)
        self._next = start + self._interval_s
        await self._sleep(start - now)


class Sampler:
    """Asks one server. A failed call is an Outcome with a failure; see `ServerLost` for the end."""

    def __init__(self, server: Server, options: SamplerOptions | None = None) -> None:
        self._server = server
        self._options = options or SamplerOptions()
        self._pace = Pace(self._options.interval_s)
        self._fallen = 0

    def run(self, requests: Iterable[Request], on_outcome: Callable[[Outcome], None]) -> None:
        """Asks everything; outcomes come as they are ready, in this thread.

        Raises ServerLost when nothing gets through any more.
        """
        asyncio.run(self.run_async(requests, on_outcome))

    async def run_async(
        self, requests: Iterable[Request], on_outcome: Callable[[Outcome], None]
    ) -> None:
        """The same for callers that have an event loop."""
        import httpx

        waiting = iter(requests)
        trusted = httpx.create_ssl_context()
        workers = [
            asyncio.create_task(self._work(trusted, waiting, on_outcome))
            for _ in range(max(1, self._options.concurrency))
        ]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    def _client(self, trusted: ssl.SSLContext) -> httpx.AsyncClient:
        """One connection. A pool shared by all workers looks through all of them each time."""
        import httpx

        return httpx.AsyncClient(
            timeout=httpx.Timeout(self._options.http_timeout_s),
            limits=httpx.Limits(max_connections=1, max_keepalive_connections=1),
            verify=trusted,
            # A proxy of the environment cannot reach a server on this very machine.
            trust_env=urlsplit(self._server.url).hostname not in LOOPBACK,
            follow_redirects=False,
        )

    async def _work(
        self,
        trusted: ssl.SSLContext,
        waiting: Iterator[Request],
        on_outcome: Callable[[Outcome], None],
    ) -> None:
        async with self._client(trusted) as client:
            for request in waiting:
                outcome = await self._ask(client, request)
                on_outcome(outcome)
                self._watch(outcome)

    def _watch(self, outcome: Outcome) -> None:
        if outcome.failure is None or outcome.failure.error != "NetworkError":
            self._fallen = 0
            return
        self._fallen += 1
        limit = self._options.lost_after or max(8, self._options.concurrency)
        if self._fallen >= limit:
            raise ServerLost(
                f"{self._server.url}: {self._fallen} calls in a row did not get through "
                f"(limit {limit}; last: {outcome.failure.message}); start the server and run "
                "the same command again to go on"
            )

    async def _ask(self, client: httpx.AsyncClient, request: Request) -> Outcome:
        """One request to its end: answered, failed for good, or out of time."""
        start = time.monotonic()
        attempts = 0
        last: CallError | None = None

        async def once() -> Reply:
            nonlocal attempts, last
            await self._pace.turn()
            attempts += 1
            body = self._server.body(request)
            try:
                answer = await post_json(client, self._server.url, body, self._server.headers())
                return self._server.reply(answer)
            except CallError as error:
                last = error
                raise

        reply, failure = None, None
        try:
            reply = await asyncio.wait_for(
                self._until_said(once, request), self._options.call_timeout_s
            )
        except asyncio.TimeoutError:
            failure = self._late(last)
        except CallError as error:
            failure = Failure(error.kind, self._clean(str(error)))
        if failure is not None:
            log.warning("%s #%d failed: %s", request.item, request.sample, failure.message)
        if reply is not None:
            reply = without_key(reply, self._server.secret)
        return Outcome(request, reply, failure, attempts, time.monotonic() - start)

    def _late(self, last: CallError | None) -> Failure:
        """A call out of time. One that never got through is the network's, as its tries were."""
        message = f"no answer within {self._options.call_timeout_s} seconds"
        if last is None:
            return Failure("TimeoutError", message)
        kind = "NetworkError" if last.kind == "NetworkError" else "TimeoutError"
        return Failure(kind, f"{message}; last: {self._clean(str(last))}")

    async def _until_said(self, once: Callable[[], Awaitable[Reply]], request: Request) -> Reply:
        """The reply; an empty one is asked for once more, unless the model refused."""
        reply = await self._retried(once, request)
        if reply.text.strip() or reply.refused:
            return reply
        log.warning("%s #%d: empty reply, asking once more", request.item, request.sample)
        return await self._retried(once, request)

    async def _retried(self, once: Callable[[], Awaitable[Reply]], request: Request) -> Reply:
        failures = 0

        def told(error: CallError, wait_s: float) -> None:
            nonlocal failures
            failures += 1
            # A server that is down would fill the terminal with the same line.
            log.log(
                logging.WARNING if failures == 1 else logging.DEBUG,
                "%s #%d: %s; again in %.1f s",
                request.item,
                request.sample,
                self._clean(str(error)),
                wait_s,
            )

        return await call_with_retries(once, self._options.retry, on_retry=told)

    def _clean(self, text: str) -> str:
        """A server may echo our key; it must not reach a log or a record."""
        return redacted(text, self._server.secret)
