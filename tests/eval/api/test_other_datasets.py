"""Rows of HumanEval, MBPP and LiveCodeBench by every way in: grade, rewards, sample; and Piston."""

from collections.abc import Iterator

import pytest

import gradebox
from gradebox.eval.api.rewards import make_codeforces
from testing.fakes.scripted_sandbox import FakeSandbox
from tests.eval.problems.dataset_rows import HUMANEVAL, MBPP, call_row, stdin_row

RIGHT = {
    "humaneval": (HUMANEVAL, "def double(xs):\n    return [2 * x for x in xs]"),
    "mbpp": (MBPP, "def sum(a, b):\n    return a + b\nclass Box:\n    pass"),
    "calls": (call_row(), "class Solution:\n    def add(self, a, b):\n        return a + b"),
    "programs": (stdin_row(), "print('NO' if int(input()) % 2 else 'YES')"),
}
WRONG = {
    "humaneval": "def double(xs):\n    return [x for x in xs]",
    "mbpp": "def sum(a, b):\n    return a\nclass Box:\n    pass",
    "calls": "class Solution:\n    def add(self, a, b):\n        return a - b",
    "programs": "print('YES')",
}


@pytest.fixture(scope="module")
def grader() -> Iterator[gradebox.Grader]:
    with gradebox.Grader(sandbox="local", workers=1) as opened:
        yield opened


@pytest.mark.slow
def test_grade_takes_rows_and_chat_answers(grader):
    for name, (row, right) in RIGHT.items():
        codes = [f"So:\n```python\n{right}\n```\n", WRONG[name], "no program"]
        found = grader.grade([{"completion": text} for text in codes], row)
        assert [r["status"] for r in found] == ["passed", "failed", "failed"], (name, found)


@pytest.mark.slow
def test_rewards_take_columns_of_rows(grader):
    reward = make_codeforces("pass_fail", grader=grader)
    for name, (row, right) in RIGHT.items():
        columns = {column: [value] * 2 for column, value in row.items()}
        answers = [f"```python\n{code}\n```" for code in (right, WRONG[name])]
        assert reward(answers, **columns) == [1.0, 0.0], name


def test_a_sandbox_that_joins_no_programs_says_so():
    with gradebox.Grader(sandbox=FakeSandbox(lambda call: b"")) as grader:
        (record,) = grader.grade([{"code": RIGHT["humaneval"][1]}], HUMANEVAL)
    assert record["status"] == "unsupported"
    assert record["error"].endswith("use --sandbox local")


@pytest.mark.parametrize("row", [{**HUMANEVAL, "test": ""}, {**MBPP, "test_list": []}])
def test_a_row_without_tests_has_no_tests(row):
    with gradebox.Grader(sandbox=FakeSandbox(lambda call: b"")) as grader:
        (record,) = grader.grade([{"code": "x = 1"}], row)
    assert (record["status"], record["details"]) == ("no_tests", [])
