"""Waits between retries."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradebox.eval.models.exchange import CallError, RetryPolicy


@pytest.mark.parametrize(
    ("failures", "middle_s"), [(1, 1), (2, 2), (3, 4), (4, 8), (5, 16), (6, 30), (7, 30), (99, 30)]
)
def test_waits_double_up_to_thirty_seconds(failures, middle_s):
    error = CallError("ServerError", "x", retry=True)
    assert RetryPolicy(jitter=0.0).wait_s(failures, error) == middle_s
    assert 0.5 * middle_s <= RetryPolicy().wait_s(failures, error) <= 1.5 * middle_s


@given(failures=st.integers(1, 50), asked=st.floats(0, 600))
def test_wait_is_never_shorter_than_retry_after(failures, asked):
    error = CallError("RateLimited", "x", retry=True, retry_after_s=asked)
    assert RetryPolicy().wait_s(failures, error) >= asked
