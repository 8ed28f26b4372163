"""When a failed call is tried again: exponential back-off with jitter and a budget in seconds."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from eval.sampling.errors import CallError

T = TypeVar("T")


@dataclass(frozen=True)
class RetryPolicy:
    """How often and how long a call is tried again.

    first_s      seconds before the second try, doubled each time
    longest_s    longest single wait in seconds
    jitter       share by which a wait may be shorter or longer
    budget_s     seconds from the first try after which no further one is started
    max_retries  tries after the first, None: as many as fit the budget
    """

    first_s: float = 1.0
    longest_s: float = 30.0
    jitter: float = 0.5
    budget_s: float = 120.0
    max_retries: int | None = None

    def wait_s(self, failures: int, retry_after_s: float | None, roll: float) -> float:
        """Seconds to wait after that many failures; `roll` in [0,1) places it in the jitter.

        A server that names a time is never asked sooner.
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
    """Awaits `call` until it succeeds, fails for good, or the policy ends.

    Raises the last CallError. `on_retry` is told of each failure and the wait that follows.
    """
    import asyncio

    from tenacity import AsyncRetrying, RetryCallState, retry_if_exception

    def again(error: BaseException) -> bool:
        return isinstance(error, CallError) and error.retry

    def error_of(state: RetryCallState) -> CallError:
        error = state.outcome.exception() if state.outcome else None
        assert isinstance(error, CallError)
        return error

    def wait(state: RetryCallState) -> float:
        return policy.wait_s(state.attempt_number, error_of(state).retry_after_s, roll())

    def stop(state: RetryCallState) -> bool:
        if policy.max_retries is not None and state.attempt_number > policy.max_retries:
            return True
        return (state.seconds_since_start or 0.0) + state.upcoming_sleep > policy.budget_s

    def before_sleep(state: RetryCallState) -> None:
        if on_retry is not None:
            on_retry(error_of(state), state.upcoming_sleep)

    retrying = AsyncRetrying(
        retry=retry_if_exception(again),
        wait=wait,
        stop=stop,
        before_sleep=before_sleep,
        sleep=sleep or asyncio.sleep,
        reraise=True,
    )
    return await retrying(call)
