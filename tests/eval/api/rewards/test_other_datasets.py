"""Rows of other data sets are rewarded as they are."""

from gradebox.eval.api.rewards.columns import batches_of
from gradebox.eval.problems.in_memory import parse_problem
from tests.eval.problems.dataset_rows import MBPP, call_row


def test_columns_of_another_data_set_become_problems():
    rows = [MBPP, {**MBPP, "task_id": 901}, MBPP]
    columns = {name: [row[name] for row in rows] for name in MBPP}
    (batch,) = batches_of(["a", "b", "c"], None, columns)
    assert [s["problem_id"] for s in batch.solutions] == ["900", "901", "900"]
    problem = parse_problem(batch.problems["900"])
    assert (problem.test_kind, len(problem.tests)) == ("assert", 1)
    assert problem.origin["dataset_format"] == "mbpp"


def test_an_unusable_row_does_not_stop_the_others():
    rows = [call_row(), call_row(question_id="bad", metadata="{")]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    (batch,) = batches_of(["a", "b"], None, columns)
    assert parse_problem(batch.problems["2900"]).test_kind == "call"
    assert batch.problems["bad"]["official_tests"].startswith("unusable: metadata is not JSON")


def test_rows_without_ids_are_named_by_their_tests():
    tests = ['[{"input": "1", "output": "2"}]', '[{"input": "1", "output": "3"}]']
    columns = {"problem": ["p"] * 3, "tests": [*tests, tests[0]]}
    (batch,) = batches_of(["a", "b", "c"], None, columns)
    first, second, third = (s["problem_id"] for s in batch.solutions)
    assert first == third != second
    assert parse_problem(batch.problems[second]).tests == ((b"1", b"3"),)
