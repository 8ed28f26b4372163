"""Retries of failed calls: exponential back-off with jitter and a time budget."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from gradebox.eval.models.errors import CallError

T = TypeVar("T")


@dataclass(frozen=True)
class RetryPolicy:
    """How often and for how long a call is retried.

    first_s      seconds before the first retry, doubled for each further one
    longest_s    longest wait in seconds
    jitter       share by which a wait may be shorter or longer
    budget_s     a retry that would start later than this after the first call is not made
    max_retries  calls after the first; None: as many as the budget allows
    """

    first_s: float = 1.0
    longest_s: float = 30.0
    jitter: float = 0.5
    budget_s: float = 120.0
    max_retries: int | None = None

    def wait_s(self, failures: int, retry_after_s: float | None, roll: float) -> float:
        """Return the seconds to wait after `failures` failed calls.

        `roll` in [0, 1) selects a point in the jitter. The wait is never shorter than
        `retry_after_s`, which the server asked for.
        """
        doubled = self.first_s * 2.0 ** min(failures - 1, 60)
        wait = min(self.longest_s, doubled) * (1 - self.jitter + 2 * self.jitter * roll)
        return max(wait, retry_after_s or 0.0)


async def call_with_retries(
    call: Callable[[], Awaitable[T]],
    policy: RetryPolicy,
    *,
    sleep: Callable[[float], Awaitable[None]] | None = None,
    on_retry: Callable[[CallError, float], None] | None = None,
    roll: Callable[[], float] = random.random,
) -> T:
    """Await `call` until it succeeds, fails with a final error, or the policy ends.

    `on_retry` receives each error and the seconds until the next call. Raises the last CallError.
    """
    import asyncio

    import tenacity
    from tenacity import RetryCallState

    def error_of(state: RetryCallState) -> CallError:
        error = state.outcome.exception() if state.outcome else None
        assert isinstance(error, CallError)
        return error

    def wait(state: RetryCallState) -> float:
        return policy.wait_s(state.attempt_number, error_of(state).retry_after_s, roll())

    def report(state: RetryCallState) -> None:
        if on_retry is not None:
            on_retry(error_of(state), state.upcoming_sleep)

    stop: tenacity.stop.stop_base = tenacity.stop_before_delay(policy.budget_s)
    if policy.max_retries is not None:
        stop = stop | tenacity.stop_after_attempt(policy.max_retries + 1)
    retrying = tenacity.AsyncRetrying(
        retry=tenacity.retry_if_exception(lambda e: isinstance(e, CallError) and e.retry),
        wait=wait,
        stop=stop,
        before_sleep=report,
        sleep=sleep or asyncio.sleep,
        reraise=True,
    )
    return await retrying(call)
