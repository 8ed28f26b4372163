"""Which runs are near the limit, and the limits programs run with."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradebox.eval.grading.time_policy import bounds_of, must_run_alone, run_limits
from gradebox.eval.grading.verdict import Bounds, Match, judge
from gradebox.eval.problems.problem import Problem
from testing.fakes.scripted_sandbox import ready

MIB = 1 << 20


def test_limits_of_a_run():
    problem = Problem("1/A", time_limit_s=2.0, memory_limit_bytes=64 * MIB)
    limits = run_limits(bounds_of(problem), expected_bytes=10)
    assert (limits.cpu_s, limits.wall_s, limits.memory_bytes) == (2.5, 8.0, 64 * MIB)


def test_the_scale_multiplies_all_times():
    bounds = bounds_of(Problem("1/A", time_limit_s=2.0), scale=1.5)
    assert bounds.cpu_s == 3.0
    assert (run_limits(bounds).cpu_s, run_limits(bounds).wall_s) == (3.75, 11.0)


@given(st.integers(0, 1 << 32))
def test_the_expected_output_always_fits(expected_bytes):
    limits = run_limits(Bounds(1.0, MIB), expected_bytes)
    assert min(limits.output_bytes, limits.file_size_bytes, limits.disk_bytes) > expected_bytes


@pytest.mark.parametrize(
    ("execution", "alone"),
    [
        (ready(cpu_s=0.89), False),
        (ready(cpu_s=0.9), True),
        (ready(cpu_s=1.0), True),
        (ready(cpu_s=1.25), True),
        (ready(cpu_s=1.26), False),
        (ready(cpu_s=1.0, exit_code=1), True),
        (ready(cpu_s=1.25, killed_for="cpu"), False),
        (ready(cpu_s=0.1, killed_for="wall"), False),
        (ready(cpu_s=0.1, killed_for="wall", contended=True), True),
        (ready(cpu_s=0.1, signal=9), True),
        (ready(cpu_s=0.1, signal=11), False),
        (ready(cpu_s=0.1, signal=9, killed_for="memory"), False),
        (ready(cpu_s=0.1, signal=9, limits_hit=frozenset({"processes"})), False),
        (ready(memory_bytes=MIB), False),
        (ready(memory_bytes=MIB + 1), True),
        (ready(memory_bytes=MIB + 1, limits_hit=frozenset({"memory"}), exit_code=1), True),
        (ready(memory_bytes=MIB + 1, killed_for="output"), True),
        (ready(memory_bytes=MIB + 1, signal=9, killed_for="memory"), False),
        (ready(memory_bytes=MIB + 1, killed_for="wall"), False),
        (ready(memory_bytes=MIB, exit_code=1, limits_hit=frozenset({"memory"})), False),
        (ready(memory_bytes=None), False),
        (ready(memory_bytes=MIB - 1), False),
        (ready(memory_bytes=MIB - 1, forked=True), True),
        (ready(memory_bytes=MIB + 1, forked=True, signal=9, killed_for="memory"), True),
        (ready(memory_bytes=MIB // 2, forked=True), False),
        (ready(cpu_s=1.25, forked=True, killed_for="cpu"), False),
    ],
)
def test_which_runs_are_repeated_alone(execution, alone):
    assert must_run_alone(execution, Bounds(1.0, MIB)) is alone


@given(true=st.floats(0.01, 0.8) | st.floats(1.36, 5.0), noise=st.floats(0.0, 0.09))
def test_load_does_not_change_a_verdict_away_from_the_limit(true, noise):
    """CPU time varies by up to 9 % under load. Runs that are not repeated must tolerate that."""
    bounds = Bounds(1.0, MIB)
    loaded = ready(cpu_s=true * (1 + noise))
    if not must_run_alone(loaded, bounds):
        quiet = judge(ready(cpu_s=true), bounds, Match(True))
        assert judge(loaded, bounds, Match(True)).verdict == quiet.verdict
