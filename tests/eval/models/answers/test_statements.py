"""Prompts for rows of other data sets, and what is graded of the answers."""

import json
from typing import Any

import pytest

from gradebox.eval.api.rewards.columns import batches_of, language_of
from gradebox.eval.cli.commands.sample_solutions import main
from gradebox.eval.common.errors import InputError
from gradebox.eval.models.answers.code_prompts import STATEMENTS, read_rows
from gradebox.eval.problems.formats import FORMATS
from gradebox.eval.problems.in_memory import parse_problem
from gradebox.eval.problems.problem import Problem
from gradebox.eval.solutions.program import solution_of
from gradebox.eval.solutions.reader import read_rows as read_solutions
from tests.eval.grading.test_ioi import ROWS as IOI_ROWS
from tests.eval.grading.test_ioi import TESTS as IOI_TESTS
from tests.eval.models.fake_server import Answer, Call, FakeServer, as_json, chat
from tests.eval.problems.dataset_rows import HUMANEVAL, LEETCODE, MBPP, call_row, stdin_row
from tests.eval.problems.test_archives import icpc
from tests.eval.problems.test_stdin_formats import apps, contests, deepcoder, prime, taco
from tests.eval.solutions.calling_rows import RIGHT, ROWS

LISTS: dict[str, Any] = {"inputs": ["1"], "outputs": ["SECRET"]}
WANTED = {
    "humaneval": (HUMANEVAL, "```python\ndef half(x):", "HumanEval/900"),
    "mbpp": (MBPP, "assert sum(1, 2) == 3", "900"),
    "leetcode": ({**LEETCODE, "problem_description": "Double."}, "class Solution:", "double-all"),
    "calls": ({**call_row(), "question_content": "Add."}, "keep its names", "2900"),
    "programs": ({**stdin_row(), "question_content": "Even?"}, "reads standard input", "1900_A"),
    "multipl-e": (ROWS["cpp"], "```cpp\n#include<assert.h>", "cpp/HumanEval_900_twice"),
    "apps": (apps(LISTS, starter_code="def f(x):"), "def f(x):", "7"),
    "taco": (taco(LISTS), "reads standard input", "0"),
    "code-contests": (contests(description="Mice."), "Mice.", "76_B. Mice"),
    "deepcoder": (deepcoder(LISTS), "q", "0"),
    "prime": (prime([]), "q", "v_1"),
    "icpc-eval": (
        icpc([["1", "SECRET"]], description="Add.", input="A line.", output="Its sum."),
        "Add.\n\nInput\n\nA line.\n\nOutput\n\nIts sum.",
        "5",
    ),
}


@pytest.mark.parametrize("name", WANTED)
def test_a_prompt_has_the_statement_and_no_tests(tmp_path, name):
    row, shown, problem_id = WANTED[name]
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(row) + "\n")
    (found,) = read_rows(str(path), "test", ["default"])
    assert shown in found["description"]
    assert str(found["id"]) == problem_id
    assert "SECRET" not in found["description"]
    assert "check(" not in found["description"]


def test_every_format_has_a_statement():
    none = {"cruxeval-output", "cruxeval-input"}  # prompts of one's own are needed
    assert set(FORMATS) - set(STATEMENTS) == {"codeforces", *none}
    for name, where in STATEMENTS.items():
        assert where.text, name


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"id": "s_1", "code": "def f(): pass", "input": "", "output": "1"}, "title, description"),
        ({**HUMANEVAL, "prompt": " "}, "prompt have no text"),
    ],
)
def test_a_row_without_a_statement_is_no_prompt(tmp_path, row, why):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(row) + "\n")
    with pytest.raises(InputError, match=f"row 1: no statement: {why}"):
        list(read_rows(str(path), "test", ["default"]))


def test_subtasks_of_ioi_are_asked_for_once(tmp_path):
    for name, rows in (("a", IOI_ROWS), ("b", IOI_TESTS)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    (found,) = read_rows(str(tmp_path), "test", ["default"])
    assert (found["id"], found["description"].split("\n")[0]) == ("2024/largest", "statement")


def answer(call: Call) -> Answer:
    if call.path.endswith("/models"):
        return as_json({"data": [{"id": "m"}]})
    assert "Use javascript." in json.dumps(call.body["messages"])
    return chat(f"So:\n```js\n{RIGHT['js']['whole']}```\nTry:\n```js\nconsole.log(1)\n```")


def test_the_answers_in_the_language_of_the_tests_are_found(tmp_path):
    data, out = tmp_path / "d.jsonl", tmp_path / "s.jsonl"
    data.write_text(json.dumps(ROWS["js"]) + "\n")
    with FakeServer(answer) as server:
        arguments = ["--server-url", server.url, "--dataset", str(data), "--output", str(out)]
        assert main([*arguments, "--max-retries", "0"]) == 0
    (solution,) = read_solutions([json.loads(out.read_text())])
    found = solution_of(solution, parse_problem(ROWS["js"]))
    assert (found.code, found.language) == (RIGHT["js"]["whole"], "javascript")


def test_answers_for_graders_are_cpp():
    line = {"id": "x", "completion": "```cpp\nint x;\n```"}
    for given in read_solutions([line, {**line, "language": "python"}]):
        found = solution_of(given, Problem("x", test_kind="graded"))
        assert (found.code, found.language) == ("int x;\n", "c++17")


def test_rewards_take_the_language_of_tests_for_no_language_of_answers():
    columns = {name: [value] for name, value in ROWS["js"].items()}
    assert language_of(columns) is None
    assert language_of({"id": ["1/A"], "language": ["cpp"]}) == ["cpp"]
    (batch,) = batches_of(["x"], language_of(columns), columns)
    (problem,) = batch.problems.values()
    assert parse_problem(problem).language == "javascript"
    assert "language" not in batch.solutions[0]


def test_a_file_may_be_one_array(tmp_path):
    path = tmp_path / "rows.json"
    path.write_text(json.dumps([MBPP, {**MBPP, "task_id": 901}], indent=1))
    assert [row["id"] for row in read_rows(str(path), "test", ["default"])] == [900, 901]
