"""Which runs are near the limit, and the limits programs run with."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradebox.eval.grading.time_policy import (
    bounds_of,
    impossible_limits,
    must_run_alone,
    run_limits,
)
from gradebox.eval.grading.verdict import Bounds, Match, judge
from gradebox.eval.problems.problem import Problem
from gradebox.sandbox.model import Limits
from testing.fakes.scripted_sandbox import ending, ready
from testing.rows import rows

MIB = 1 << 20


def test_limits_of_a_run():
    problem = Problem("1/A", time_limit_s=2.0, memory_limit_bytes=64 * MIB)
    limits = run_limits(bounds_of(problem), expected_bytes=10)
    assert (limits.cpu_s, limits.wall_s, limits.memory_bytes) == (2.5, 6.0, 64 * MIB)


def test_the_scale_multiplies_all_times():
    bounds = bounds_of(Problem("1/A", time_limit_s=2.0), scale=1.5)
    assert bounds.cpu_s == 3.0
    assert (run_limits(bounds).cpu_s, run_limits(bounds).wall_s) == (3.75, 7.5)


@pytest.mark.parametrize(
    ("expected_bytes", "output_bytes"),
    [(0, 16 * MIB), (7 * MIB, 16 * MIB), (10 * MIB, 21 * MIB), (512 * MIB, 1025 * MIB)],
)
def test_the_output_may_be_twice_as_large_as_expected(expected_bytes, output_bytes):
    limits = run_limits(Bounds(1.0, MIB), expected_bytes)
    assert limits.output_bytes == output_bytes
    assert limits.file_size_bytes == max(Limits().file_size_bytes, output_bytes)
    assert limits.disk_bytes == max(Limits().disk_bytes, 2 * output_bytes)
    assert run_limits(Bounds(1.0, MIB)) == run_limits(Bounds(1.0, MIB), 0)


@pytest.mark.parametrize(
    ("seconds", "memory", "scale", "why"),
    [
        (0.001, MIB, 1, None),
        (60_000.0, MIB, 1, None),
        (2.0, 1 << 40, 3.0, None),
        (0.0009, MIB, 1, "time limit 0.0009 s: 0.001 to 60000 s are possible"),
        (60_001.0, MIB, 1, "time limit 60001 s: 0.001 to"),
        (30_001.0, MIB, 2, "time limit 60002 s (30001 s times 2): 0.001 to"),
        (0.001, MIB, 0.5, "time limit 0.0005 s (0.001 s times 0.5): 0.001 to"),
        (1.0, MIB - 1, 1, "memory limit 1048575 bytes: 1 MiB at least is needed"),
    ],
)
def test_limits_that_no_sandbox_supports_are_refused(seconds, memory, scale, why):
    problem = Problem("1/A", time_limit_s=seconds, memory_limit_bytes=memory)
    refused = impossible_limits(problem, scale)
    assert refused is why is None or (refused or "").startswith(why or "-")


@pytest.mark.parametrize(
    ("fields", "alone"),
    rows(__file__, "repeated"),
)
def test_which_runs_are_repeated_alone(fields, alone):
    assert must_run_alone(ending(fields), Bounds(1.0, MIB)) is alone


@pytest.mark.parametrize(
    ("cpu_s", "alone"), [(3.59, False), (3.6, True), (5.0, True), (5.01, False)]
)
def test_the_window_is_a_share_of_the_time_limit(cpu_s, alone):
    assert must_run_alone(ready(cpu_s=cpu_s), Bounds(4.0, MIB)) is alone


def test_a_forked_run_is_near_its_memory_limit_from_nine_tenths_on():
    for memory, alone in ((900, True), (899, False)):
        run = ready(memory_bytes=memory * MIB, forked=True)
        assert must_run_alone(run, Bounds(1.0, 1000 * MIB)) is alone


@given(true=st.floats(0.01, 0.8) | st.floats(1.36, 5.0), noise=st.floats(0.0, 0.09))
def test_load_does_not_change_a_verdict_away_from_the_limit(true, noise):
    """CPU time varies by up to 9 % under load. Runs that are not repeated must tolerate that."""
    bounds = Bounds(1.0, MIB)
    loaded = ready(cpu_s=true * (1 + noise))
    if not must_run_alone(loaded, bounds):
        quiet = judge(ready(cpu_s=true), bounds, Match(True))
        assert judge(loaded, bounds, Match(True)).verdict == quiet.verdict
