"""Which program of a completion is graded, and on which problem."""

from typing import Any

import pytest

from gradebox.eval.api.grader import Grader
from gradebox.eval.api.rewards import make_codeforces
from gradebox.eval.common.errors import InputError
from testing.fakes.scripted_sandbox import FakeSandbox, echo
from tests.eval.api.rewards.conftest import TESTS, fenced

NO_CODE = -1.0
# name → completion, language asked for, reward in mode pass_fail
COMPLETIONS: dict[str, tuple[Any, str | None, float]] = {
    "one fence": (fenced("echo"), "python", 1.0),
    "fence without a tag": (fenced("echo", ""), "python", 1.0),
    "no fence": ("echo", "python", NO_CODE),
    "the last of several": (fenced("wrong") + fenced("echo"), "python", 1.0),
    "the last of several is wrong": (fenced("echo") + fenced("wrong"), "python", 0.0),
    "sample output after the program": (fenced("echo") + fenced("1 2 3", ""), "python", 1.0),
    "another language than asked": (fenced("echo", "cpp"), "python", NO_CODE),
    "asked language among others": (fenced("echo", "cpp") + fenced("wrong", "py"), "cpp", 1.0),
    "no language asked": (fenced("echo", "cpp"), None, 1.0),
    "cut in the program": ("```python\necho", "python", 1.0),
    "cut before the program": ("First I sort, then", "python", NO_CODE),
    "cut in thought": ("<think>maybe\n" + fenced("echo"), "python", NO_CODE),
    "program only in thought": (f"<think>{fenced('echo')}</think>It can't be.", "python", NO_CODE),
    "thought, then program": (f"<think>{fenced('wrong')}</think>" + fenced("echo"), "python", 1.0),
    "empty fence": ("```python\n```", "python", NO_CODE),
    "chat": ([{"role": "assistant", "content": fenced("echo")}], "python", 1.0),
    "chat, last answer counts": (
        [
            {"role": "assistant", "content": fenced("wrong")},
            {"role": "user", "content": fenced("wrong")},
            {"role": "assistant", "content": fenced("echo")},
        ],
        "python",
        1.0,
    ),
    "chat without content": ([{"role": "assistant", "content": None}], "python", NO_CODE),
}


@pytest.mark.parametrize("name", COMPLETIONS)
def test_the_program_of_a_completion(fake, name):
    completion, language, reward = COMPLETIONS[name]
    grade = make_codeforces("pass_fail", grader=fake)
    assert grade([completion], official_tests=[TESTS], language=[language]) == [reward]


def test_rows_of_one_id_with_different_tests_are_different_problems(fake):
    never = [{"input": "1\n", "output": "5\n"}]
    rewards = make_codeforces("pass_fail", grader=fake)(
        [fenced("echo")] * 4, id=["1/A"] * 4, official_tests=[TESTS, never, TESTS, never]
    )
    assert rewards == [1.0, 0.0, 1.0, 0.0]


def test_rows_without_an_id_are_different_problems(fake):
    never = [{"input": "1\n", "output": "5\n"}]
    rewards = make_codeforces("pass_fail", grader=fake)(
        [fenced("echo")] * 3, official_tests=[TESTS, never, list(TESTS)]
    )
    assert rewards == [1.0, 0.0, 1.0]


def test_other_columns_are_ignored(fake):
    rewards = make_codeforces("pass_fail", grader=fake)(
        [fenced("echo")],
        prompts=[["p"]],
        completion_ids=[[1, 2]],
        trainer_state=object(),
        difficulty=["easy"],
        official_tests=[TESTS],
    )
    assert rewards == [1.0]


def test_a_column_of_another_length_is_refused(fake):
    with pytest.raises(InputError, match=r"official_tests is a list of 1 .* list of 2"):
        make_codeforces(grader=fake)([fenced("echo")] * 2, official_tests=[TESTS])


def test_a_completion_without_a_problem_is_refused(fake):
    with pytest.raises(InputError, match="no problem: give the column official_tests, or id"):
        make_codeforces(grader=fake)([fenced("echo")])


def test_an_unusable_row_affects_no_other(fake):
    rewards = make_codeforces("pass_fail", grader=fake)(
        [fenced("echo")] * 3,
        official_tests=[TESTS, TESTS, TESTS],
        time_limit=[1.0, -5, 1.0],
        checker=[None, None, "no_such_checker"],
        id=["1/A", "1/B", "1/C"],
    )
    assert rewards == [1.0, None, None]


def test_null_tests_are_no_tests_unless_a_dataset_has_them(caplog):
    answers = [fenced("echo")] * 2
    columns: Any = {"official_tests": [TESTS, None], "id": ["1/A", "1/B"]}
    with Grader(sandbox=FakeSandbox(echo), workers=1) as grader:
        reward = make_codeforces("pass_fail", grader=grader)
        assert reward(answers, **columns) == [1.0, None]
        assert "no reward for completion 1: no test to run" in caplog.text
    row = {"id": "1/B", "official_tests": TESTS}
    with Grader(sandbox=FakeSandbox(echo), problems=[row], workers=1) as grader:
        assert make_codeforces("pass_fail", grader=grader)(answers, **columns) == [1.0, 1.0]


def test_an_unknown_language_gives_no_reward(fake):
    grade = make_codeforces("pass_fail", grader=fake)
    assert grade([fenced("echo")], official_tests=[TESTS], language=["klingon"]) == [None]
