"""Waits between retries."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradebox.eval.models.backoff import RetryPolicy, call_with_retries
from gradebox.eval.models.exchange import CallError

ROLLS = st.floats(0, 1, exclude_max=True)


@pytest.mark.parametrize(
    ("failures", "middle_s"), [(1, 1), (2, 2), (3, 4), (4, 8), (5, 16), (6, 30), (7, 30), (99, 30)]
)
def test_waits_double_up_to_thirty_seconds(failures: int, middle_s: float) -> None:
    policy = RetryPolicy()
    assert policy.wait_s(failures, None, 0.0) == middle_s * 0.5
    assert policy.wait_s(failures, None, 0.5) == middle_s


@given(failures=st.integers(1, 10_000), roll=ROLLS)
def test_jitter_is_at_most_half_of_the_wait(failures: int, roll: float) -> None:
    policy = RetryPolicy()
    middle = policy.wait_s(failures, None, 0.5)
    assert 0.5 * middle <= policy.wait_s(failures, None, roll) <= 1.5 * middle


@given(failures=st.integers(1, 50), roll=ROLLS, asked=st.floats(0, 600))
def test_wait_is_never_shorter_than_retry_after(failures: int, roll: float, asked: float) -> None:
    assert RetryPolicy().wait_s(failures, asked, roll) >= asked


def count_failing_calls(slept: list[float], error: CallError, policy: RetryPolicy) -> int:
    """Return the number of calls of one that always fails; append the waits to `slept`."""
    calls = 0

    async def call() -> None:
        nonlocal calls
        calls += 1
        raise error

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    with pytest.raises(CallError) as caught:
        asyncio.run(call_with_retries(call, policy, sleep=sleep, roll=lambda: 0.5))
    assert caught.value is error
    return calls


def test_retries_end_after_max_retries() -> None:
    slept: list[float] = []
    error = CallError("ServerError", "x", retry=True)
    assert count_failing_calls(slept, error, RetryPolicy(max_retries=3, budget_s=1e9)) == 4
    assert slept == [1, 2, 4]


def test_no_retry_after_the_budget() -> None:
    slept: list[float] = []
    error = CallError("RateLimited", "x", retry=True, retry_after_s=500)
    assert count_failing_calls(slept, error, RetryPolicy()) == 1
    assert slept == []


def test_a_final_error_is_not_retried() -> None:
    slept: list[float] = []
    assert count_failing_calls(slept, CallError("RequestRefused", "x"), RetryPolicy()) == 1
    assert slept == []
