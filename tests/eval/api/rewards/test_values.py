"""The rewards of completions and of records are open-r1's values."""

import asyncio
from typing import Any

import pytest

from gradebox.eval.api.grader import Grader
from gradebox.eval.api.rewards import MODES, make_codeforces, reward_of
from gradebox.eval.common.errors import InputError
from testing.fakes.scripted_sandbox import FakeSandbox, ready
from tests.eval.api.rewards.conftest import TESTS, fenced

# completion, pass_fail, partial, weighted_sum
TABLE: list[tuple[str, float | None, float | None, float | None]] = [
    (fenced("echo"), 1.0, 1.0, 1.1),
    (fenced("wrong"), 0.0, 0.0, 0.0),
    (fenced("half"), 0.0, 0.5, 0.05),
    (fenced("broken", "cpp"), -0.1, -0.1, -0.1),
    ("I don't know.", -1.0, -1.0, -1.0),
    ("", -1.0, -1.0, -1.0),
    (fenced("fault"), None, None, None),
    (fenced("fault_late"), None, None, None),
]


@pytest.mark.parametrize("mode", MODES)
def test_rewards_are_open_r1s(fake, mode):
    reward = make_codeforces(mode, grader=fake)
    completions = [row[0] for row in TABLE]
    rewards = reward(completions, prompts=["p"] * len(TABLE), official_tests=[TESTS] * len(TABLE))
    column = 1 + MODES.index(mode)
    assert rewards == pytest.approx([row[column] for row in TABLE])


@pytest.mark.parametrize("mode", MODES)
def test_async_rewards_are_the_same(fake, mode):
    reward = make_codeforces(mode, grader=fake)
    completions = [row[0] for row in TABLE]
    columns = {"official_tests": [TESTS] * len(TABLE)}
    again = asyncio.run(reward.async_call(completions, **columns))
    assert again == reward(completions, **columns)


def record(status: str, verdict: str | None, *cases: tuple[str, str]) -> dict[str, Any]:
    details = [{"verdict": v, "reason": r} for v, r in cases]
    return {"status": status, "verdict": verdict, "details": details}


AC, WA = ("AC", "passed_by_exact_match"), ("WA", "failed_outputs_match")
CU, ER = ("CU", "checker_unclear"), ("ER", "sandbox_error")
LARGE, LATER = ("SK", "skipped_large_input"), ("SK", "not_run_after_failure")


@pytest.mark.parametrize(
    ("of", "pass_fail", "partial"),
    [
        (record("passed", "AC", AC, LARGE), 1.0, 1.0),
        (record("failed", "WA", AC, WA, LATER, LATER), 0.0, 0.25),
        (record("failed", "CU", AC, CU), 0.0, 0.5),
        # a failure and a fault: failed for certain, but the share is unknown
        (record("failed", "WA", WA, ER), 0.0, None),
        (record("error", "ER", AC, ER), None, None),
        (record("no_tests", None), None, None),
        (record("unsupported", "SK", ("SK", "unsupported_interactive")), None, None),
        (record("invalid", None), None, None),
        (record("failed", None), -1.0, -1.0),
        (record("failed", "CE", ("CE", "compile_error")), -0.1, -0.1),
    ],
)
def test_the_reward_of_each_record(of, pass_fail, partial):
    assert reward_of(of, "pass_fail") == pass_fail
    assert reward_of(of, "partial") == partial


def test_a_problem_without_usable_tests_gives_no_reward(fake):
    reward = make_codeforces(grader=fake)
    columns = {"official_tests": [[], None, "no JSON"], "id": ["1/A", "1/B", "1/C"]}
    columns["official_tests"][1] = [{"input": "1\n"}]
    assert reward([fenced("echo")] * 3, **columns) == [None, None, None]


def test_an_unknown_mode_names_the_modes():
    with pytest.raises(InputError, match="mode 'all': choose one of pass_fail, partial, weighted"):
        make_codeforces("all")  # type: ignore[arg-type]


def test_completions_left_by_the_time_limit_have_no_reward():
    box = FakeSandbox(lambda call: ready(call.stdin, wall_s=5.0))
    with Grader(sandbox=box, workers=1) as grader:
        reward = make_codeforces("pass_fail", grader=grader, time_limit_s=3.0)
        answers = [fenced(f"echo {i}") for i in range(3)]
        assert reward(answers, official_tests=[TESTS[:1]] * 3) == [1.0, None, None]
