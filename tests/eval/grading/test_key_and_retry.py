"""Keys differ with every part; retries are bounded and end when the run is stopped."""

from dataclasses import replace
from threading import Event
from typing import Any

import pytest

from gradebox.eval.common.errors import Interrupted, Retry
from gradebox.eval.grading.resources import TestSetInfo
from gradebox.eval.grading.solution_run import RunContext
from gradebox.eval.problems.problem import Problem
from gradebox.eval.solutions.solution import Solution
from gradebox.sandbox.errors import MissingToolchain, SandboxError
from gradebox.sandbox.model import Description

PROBLEM = Problem("1/A")
TEST_SET = TestSetInfo(tests="t", checker="c", to_run=1)
CONTEXT = RunContext(Description("box", "full", frozenset({"cpu"}), {"python": "3.11", "c": "12"}))


def key(
    problem: Problem = PROBLEM,
    context: RunContext = CONTEXT,
    test_set: TestSetInfo = TEST_SET,
    **fields: Any,
) -> str:
    solution = replace(Solution("1/A", "s", 0, 1, "python", "print(1)"), **fields)
    return context.solution_run(solution, problem, test_set).key


@pytest.mark.parametrize(
    "other",
    [
        {"problem": replace(PROBLEM, time_limit_s=3.0)},
        {"problem": replace(PROBLEM, memory_limit_bytes=1 << 20)},
        {"problem": replace(PROBLEM, input_mode="file")},
        {"problem": replace(PROBLEM, prelude="import math")},
        {"problem": replace(PROBLEM, test_kind="call", entry_point="f")},
        {"context": replace(CONTEXT, flags={"compare": "exact"})},
        {"context": replace(CONTEXT, time_limit_scale={"python": 2.0})},
        {"context": replace(CONTEXT, description=replace(CONTEXT.description, level="none"))},
        {"context": replace(CONTEXT, description=replace(CONTEXT.description, toolchains={}))},
        {"test_set": replace(TEST_SET, tests="u")},
        {"test_set": replace(TEST_SET, checker="")},
        {"code": "print(2)"},
        {"language": "c"},
    ],
)
def test_what_decides_a_verdict_changes_the_key_of_a_solution(other):
    assert key(**other) != key()


@pytest.mark.parametrize(
    "other",
    [
        {"problem": replace(PROBLEM, rating=800, tags=("math",), title="Sums")},
        {"test_set": replace(TEST_SET, number=5)},
        {"solution_id": "t", "sample_i": 4, "line": 9},
    ],
)
def test_what_only_describes_it_does_not(other):
    assert key(**other) == key()


@pytest.mark.parametrize("change", [{"entry_point": "g"}, {"prelude": "import re"}])
def test_what_calls_a_program_changes_its_key(change):
    called = replace(PROBLEM, test_kind="call", entry_point="f")
    assert key(problem=replace(called, **change)) != key(problem=called)


GONE = SandboxError("gone")


def failing(times: int, error: Exception = GONE):
    calls = []

    def action() -> str:
        calls.append(1)
        if len(calls) <= times:
            raise error
        return "done"

    return action, calls


QUICK = Retry(attempts=3, first_s=0.0)


def test_a_transient_fault_is_retried():
    action, calls = failing(2)
    assert QUICK.call(action, "x") == "done"
    assert len(calls) == 3


def test_a_repeated_fault_is_raised_after_the_last_attempt():
    action, calls = failing(99)
    with pytest.raises(SandboxError, match="gone"):
        QUICK.call(action, "x")
    assert len(calls) == 3


@pytest.mark.parametrize("error", [MissingToolchain("apt-get install g++"), ValueError("bug")])
def test_lasting_faults_and_bugs_are_raised_at_once(error):
    action, calls = failing(99, error)
    with pytest.raises(type(error)):
        QUICK.call(action, "x")
    assert len(calls) == 1


def test_stopping_ends_the_pause():
    stop = Event()
    stop.set()
    action, calls = failing(99)
    with pytest.raises(Interrupted):
        Retry(first_s=1000.0, cap_s=1000.0, stop=stop).call(action, "x")
    assert len(calls) == 1
