"""Which failed calls are retried, and when: exponential back-off with jitter and a time budget.

what happened                                   kind               retried
network fault, time-out                         NetworkError, …    yes
402, or 429 with a used-up quota                InsufficientQuota  no
429                                             RateLimited        yes
408, 425                                        RequestRefused     yes
another status under 500                        RequestRefused     no
500 and more                                    ServerError        yes
a reply that is not JSON, or has no choices     BadReply           yes
a reply that is too long, or lacks the field    BadReply           no
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from gradebox.eval.models.exchange import CallError, CallErrorKind

T = TypeVar("T")

RETRIED_STATUSES = frozenset({408, 425, 429})
QUOTA_PHRASES = (
    *("insufficient_quota", "insufficient quota", "insufficient credits"),
    "exceeded your current quota",
)


def error_of_status(
    status: int, message: str, detail: str = "", retry_after_s: float | None = None
) -> CallError:
    """Return the error of an HTTP status, from 300 on.

    detail  text of the server in which it says that a quota is used up, which waiting won't change
    """
    of_quota = any(phrase in detail.lower() for phrase in QUOTA_PHRASES)
    if status == 402 or (status == 429 and of_quota):
        return CallError("InsufficientQuota", message)
    kind: CallErrorKind = "ServerError" if status >= 500 else "RequestRefused"
    retry = status >= 500 or status in RETRIED_STATUSES
    return CallError(
        "RateLimited" if status == 429 else kind,
        message,
        retry=retry,
        retry_after_s=retry_after_s if retry else None,
    )


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
