"""Progress of a sampling run: a bar on a terminal, otherwise a log line every half minute."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gradebox.eval.models.backoff import RetryPolicy, call_with_retries
from gradebox.eval.models.exchange import (
    CallError,
    ModelReply,
    Request,
    RequestOutcome,
    ServerLost,
)
from gradebox.eval.models.http_json import (
    on_this_machine,
    post_json,
    redact,
    redact_reply,
    tls_context,
)
from gradebox.eval.models.servers import Server
from gradebox.sandbox.common.cleanup import Closeable

if TYPE_CHECKING:
    import httpx

log = logging.getLogger("gradebox.sampling")

LOG_EVERY_S = 30.0


class SamplingProgress(Closeable):
    """Count outcomes and show them on stderr."""

    def __init__(self, total: int, label: str) -> None:
        self.answered = 0
        self.failed = 0
        self._tokens_out = 0
        self._total = total
        self._label = label
        self._last_logged = time.monotonic()
        self._bar = None
        self._stack = contextlib.ExitStack()
        if sys.stderr.isatty():
            from tqdm import tqdm
            from tqdm.contrib.logging import logging_redirect_tqdm

            # Log lines appear above the bar instead of inside it.
            self._stack.enter_context(logging_redirect_tqdm())
            self._bar = self._stack.enter_context(tqdm(total=total, desc=label, unit="call"))

    def add(self, outcome: RequestOutcome) -> None:
        """Count an outcome and update the display."""
        if outcome.reply is None:
            self.failed += 1
        else:
            self.answered += 1
            self._tokens_out += outcome.reply.tokens_out or 0
        if self._bar is not None:
            self._bar.set_postfix(failed=self.failed, tokens=self._tokens_out, refresh=False)
            self._bar.update(1)
        elif time.monotonic() - self._last_logged >= LOG_EVERY_S:
            self._last_logged = time.monotonic()
            done = self.answered + self.failed
            log.info("%s: %d of %d calls, %d failed", self._label, done, self._total, self.failed)

    def close(self) -> None:
        """Remove the bar. May be called more than once."""
        self._stack.close()


log = logging.getLogger("gradebox.sampling")


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


class RateLimit:
    """Space the starts of calls at least `interval_s` seconds apart, first come first served."""

    def __init__(
        self,
        interval_s: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._interval_s = interval_s
        self._clock = clock
        self._sleep = sleep
        self._next_start = 0.0

    async def wait(self) -> None:
        """Return when the caller may start its call."""
        if self._interval_s <= 0:
            return
        now = self._clock()
        start = max(now, self._next_start)
        self._next_start = start + self._interval_s
        await self._sleep(start - now)


class Sampler:
    """Ask one server."""

    def __init__(self, server: Server, options: SamplerOptions | None = None) -> None:
        self._server = server
        self._options = options or SamplerOptions()
        self._rate_limit = RateLimit(self._options.interval_s)
        self._network_failures = 0

    def run(
        self, requests: Iterable[Request], on_outcome: Callable[[RequestOutcome], None]
    ) -> None:
        """Send every request; call `on_outcome` in this thread as results arrive.

        A failed call is a RequestOutcome with a failure. Raises ServerLost when `lost_after` calls
        in a row failed on the network.
        """
        asyncio.run(self._run(requests, on_outcome))

    async def _run(
        self, requests: Iterable[Request], on_outcome: Callable[[RequestOutcome], None]
    ) -> None:
        pending = iter(requests)
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
        async with httpx.AsyncClient(
            timeout=httpx.Timeout(self._options.http_timeout_s),
            limits=httpx.Limits(max_connections=1, max_keepalive_connections=1),
            verify=tls_context(),
            trust_env=not on_this_machine(self._server.url),
            follow_redirects=False,
        ) as client:
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
            raise ServerLost(
                f"{self._server.url}: {self._network_failures} calls in a row failed on the "
                f"network (limit {limit}; last error: {outcome.failure}); start the "
                "server and run the same command again to continue"
            )

    async def _ask(self, client: httpx.AsyncClient, request: Request) -> RequestOutcome:
        """Return the outcome of a request: a reply, a final error, or a time-out."""
        start = time.monotonic()
        attempts = 0
        last_error: CallError | None = None

        async def call_once() -> ModelReply:
            nonlocal attempts, last_error
            await self._rate_limit.wait()
            attempts += 1
            body = self._server.body(request)
            try:
                answer = await post_json(client, self._server.url, body, self._server.headers())
                return self._server.reply(answer)
            except CallError as error:
                last_error = error
                raise

        reply, failure = None, None
        try:
            reply = await asyncio.wait_for(
                self._get_reply(call_once, request), self._options.call_timeout_s
            )
            reply = redact_reply(reply, self._server.api_key)
        except asyncio.TimeoutError:
            failure = self._timeout_failure(last_error)
        except CallError as error:
            failure = CallError(error.kind, self._redact(error))
        if failure is not None:
            log.warning("%s #%d failed: %s", request.item, request.sample, failure)
        return RequestOutcome(request, reply, failure, attempts, time.monotonic() - start)

    def _timeout_failure(self, last_error: CallError | None) -> CallError:
        """Return the failure of a call that ran out of time.

        It is a NetworkError when the last attempt was one: the server was never reached.
        """
        message = f"no answer within {self._options.call_timeout_s} seconds"
        if last_error is None:
            return CallError("TimeoutError", message)
        message += f"; last error: {self._redact(last_error)}"
        unreached = last_error.kind == "NetworkError"
        return CallError("NetworkError" if unreached else "TimeoutError", message)

    async def _get_reply(
        self, call_once: Callable[[], Awaitable[ModelReply]], request: Request
    ) -> ModelReply:
        """Return the reply. An empty one is asked for once more, unless the model refused."""
        reply = await self._call(call_once, request)
        if reply.text.strip() or reply.refused:
            return reply
        log.warning("%s #%d: empty reply, asking once more", request.item, request.sample)
        return await self._call(call_once, request)

    async def _call(
        self, call_once: Callable[[], Awaitable[ModelReply]], request: Request
    ) -> ModelReply:
        failures = 0

        def log_retry(error: CallError, wait_s: float) -> None:
            nonlocal failures
            failures += 1
            # Later ones are hidden: a server that is down would repeat one line endlessly.
            log.log(
                logging.WARNING if failures == 1 else logging.DEBUG,
                "%s #%d: %s; retrying in %.1f s",
                request.item,
                request.sample,
                self._redact(error),
                wait_s,
            )

        return await call_with_retries(call_once, self._options.retry, on_retry=log_retry)

    def _redact(self, error: CallError) -> str:
        return redact(str(error), self._server.api_key)
