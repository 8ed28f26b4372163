"""Ask a server many requests at once, with retries, a pace, and a display of the progress.

    Sampler(server, SamplerOptions(…)).run(requests, on_outcome)

`SamplingProgress` is a bar on a terminal, otherwise a line every half minute.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gradebox.eval.common.progress import ProgressDisplay
from gradebox.eval.models.exchange import (
    CallError,
    ModelReply,
    Request,
    RequestOutcome,
    RetryPolicy,
    client_settings,
    exchange_json,
)
from gradebox.eval.models.servers import Server
from gradebox.sandbox.common.cleanup import Closeable

if TYPE_CHECKING:
    import httpx
    from tenacity import RetryCallState

log = logging.getLogger("gradebox.sampling")

LINE_EVERY_S = 30.0


class SamplingProgress(Closeable):
    """Count outcomes and show them on stderr."""

    def __init__(self, total: int, label: str) -> None:
        self.answered = self.failed = self._tokens_out = 0
        self._total, self._label = total, label
        self._display = ProgressDisplay(
            total, "call", self._done, self._text, line_every_s=LINE_EVERY_S
        )

    def _done(self) -> int:
        return self.answered + self.failed

    def _text(self, as_line: bool) -> str:
        if as_line:
            return f"{self._label}: {self._done()} of {self._total} calls, {self.failed} failed"
        return f"{self._label}, failed={self.failed}, tokens={self._tokens_out}"

    def add(self, outcome: RequestOutcome) -> None:
        """Count an outcome and update the display."""
        self.failed += outcome.reply is None
        self.answered += outcome.reply is not None
        self._tokens_out += (outcome.reply.tokens_out if outcome.reply else None) or 0
        self._display.tick()

    def close(self) -> None:
        """Remove the bar. May be called more than once."""
        self._display.close(last_line=False)


@dataclass(frozen=True)
class SamplerOptions:
    """Concurrency, pace, time limits and retries of a run.

    concurrency     calls in progress at once
    interval_s      minimum seconds between the starts of two calls, retries included
    http_timeout_s  seconds without a byte after which an HTTP exchange fails
    call_timeout_s  seconds for a call with its retries; None: no limit
    lost_after      consecutive network failures after which the run stops;
                    0: max(8, concurrency), so that every call in progress had its retries
    """

    concurrency: int = 8
    interval_s: float = 0.0
    http_timeout_s: float = 180.0
    call_timeout_s: float | None = 240.0
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    lost_after: int = 0


class Sampler:
    """Ask one server."""

    def __init__(self, server: Server, options: SamplerOptions | None = None) -> None:
        self._server = server
        self._options = options or SamplerOptions()
        self._next_start = 0.0
        self._network_failures = 0

    def run(
        self, requests: Iterable[Request], on_outcome: Callable[[RequestOutcome], None]
    ) -> None:
        """Send every request; call `on_outcome` in this thread as results arrive.

        A failed call is a RequestOutcome with a failure. Raises CallError (ServerLost) when
        `lost_after` calls in a row failed on the network.
        """
        asyncio.run(self._run(iter(requests), on_outcome))

    async def _run(
        self, pending: Iterator[Request], on_outcome: Callable[[RequestOutcome], None]
    ) -> None:
        workers = [
            asyncio.create_task(self._work(pending, on_outcome))
            for _ in range(max(1, self._options.concurrency))
        ]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    async def _work(
        self, pending: Iterator[Request], on_outcome: Callable[[RequestOutcome], None]
    ) -> None:
        import httpx

        # A client with one connection per worker: a shared pool scans all its connections for
        # each request.
        limits = httpx.Limits(max_connections=1, max_keepalive_connections=1)
        settings = client_settings(self._server.url, self._options.http_timeout_s)
        async with httpx.AsyncClient(limits=limits, follow_redirects=False, **settings) as client:
            for request in pending:
                outcome = await self._ask(client, request)
                on_outcome(outcome)
                self._check_server(outcome)

    def _check_server(self, outcome: RequestOutcome) -> None:
        if outcome.failure is None or outcome.failure.kind != "NetworkError":
            self._network_failures = 0
            return
        self._network_failures += 1
        limit = self._options.lost_after or max(8, self._options.concurrency)
        if self._network_failures >= limit:
            raise CallError(
                "ServerLost",
                f"{self._server.url}: {self._network_failures} calls in a row failed on the "
                f"network (limit {limit}; last error: {outcome.failure}); start the "
                "server and run the same command again to continue",
            )

    async def _ask(self, client: httpx.AsyncClient, request: Request) -> RequestOutcome:
        """Return the outcome of a request: a reply, a final error, or a time-out."""
        start, reply, failure = time.monotonic(), None, None
        calls: list[CallError | None] = []  # with their errors

        async def call() -> ModelReply:
            calls.append(None)
            try:
                return await self._call(client, request)
            except CallError as error:
                calls[-1] = error
                raise

        limit_s = self._options.call_timeout_s
        try:
            reply = await asyncio.wait_for(self._reply(request, call), limit_s)
        except asyncio.TimeoutError:
            # A NetworkError when the last error was one: the server was never reached.
            last, message = next(filter(None, reversed(calls)), None), "no answer within"
            text = f"{message} {limit_s} seconds" + (f"; last error: {last}" if last else "")
            unreached = last is not None and last.kind == "NetworkError"
            failure = CallError("NetworkError" if unreached else "TimeoutError", text)
        except CallError as error:
            failure = CallError(error.kind, str(error))
        if failure is not None:
            log.warning("%s #%d failed: %s", request.item, request.sample, failure)
        return RequestOutcome(request, reply, failure, len(calls), time.monotonic() - start)

    async def _call(self, client: httpx.AsyncClient, request: Request) -> ModelReply:
        """Return the reply of one call, which starts `interval_s` after the one before."""
        now, server = time.monotonic(), self._server
        start = max(now, self._next_start)
        self._next_start = start + self._options.interval_s
        if start > now:
            await asyncio.sleep(start - now)
        answer = await exchange_json(client, server.url, server.body(request), server.api_key)
        return server.reply(answer)

    async def _reply(
        self, request: Request, call: Callable[[], Awaitable[ModelReply]]
    ) -> ModelReply:
        """Return the reply. An empty one is asked for once more, unless the model refused."""
        import tenacity

        def report(state: RetryCallState) -> None:
            # Later ones are hidden: a server that is down would repeat one line endlessly.
            level = logging.WARNING if state.attempt_number == 1 else logging.DEBUG
            about = *name, _error_of(state), state.upcoming_sleep
            log.log(level, "%s #%d: %s; retrying in %.1f s", *about)

        name, policy = (request.item, request.sample), self._options.retry
        stop: tenacity.stop.stop_base = tenacity.stop_before_delay(policy.budget_s)
        if policy.max_retries is not None:
            stop = stop | tenacity.stop_after_attempt(policy.max_retries + 1)
        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception(lambda e: isinstance(e, CallError) and e.retry),
            wait=lambda state: policy.wait_s(state.attempt_number, _error_of(state)),
            stop=stop,
            before_sleep=report,
            reraise=True,
        )
        reply: ModelReply = await retrying(call)
        if not (reply.text.strip() or reply.refused):
            log.warning("%s #%d: empty reply, asking once more", *name)
            reply = await retrying(call)
        return reply


def _error_of(state: RetryCallState) -> CallError:
    error = state.outcome.exception() if state.outcome else None
    assert isinstance(error, CallError)
    return error
