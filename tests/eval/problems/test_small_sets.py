"""Rows of CRUXEval, ENAMEL and of DeepSeek-Coder's LeetCode contests."""

import re
from typing import Any

import pytest

import gradebox
from gradebox.eval.common.errors import InputError, RowError
from gradebox.eval.problems import open_problems
from gradebox.eval.problems.formats import FORMATS, Reading
from gradebox.eval.problems.formats.asserts import expression_of
from gradebox.eval.problems.in_memory import parse_problem
from tests.eval.problems.dataset_rows import ENAMEL
from tests.eval.problems.test_formats import write
from tests.sandbox.backends import needs_box

CRUX = {
    "id": "sample_900",
    "code": "def f(x, y=1):\n    return [x, (y,)]",
    "input": "'a', y=2",
    "output": "['a', (2,)]",
}
CONTEST = {
    "task_id": "weekly-contest-900-add",
    "title": "add",
    "url": "",
    "meta": "",
    "prompt": '"""Add."""\nclass Solution:\n'
    "    def add(self, a: int, b: List[int]) -> int:\n        ",
    "prompt_sft": "Add.",
    "test": "\nmy_solution = Solution()\n\ntest_input = { 'a': 1, 'b': [2] }\n"
    "assert my_solution.add(**test_input) == 3\n",
    "start_time": "1",
}
ANYTHING = "type('A', (), {'__eq__': lambda s, o: True, '__hash__': None})()"
PATCHED = "exec('import builtins; builtins.AssertionError = builtins.type = None') or 1"
CHEATS = ("__import__('os')._exit(0)", ANYTHING, "('a', 2)", PATCHED, "print('passed')")
ANSWERS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {  # of a format: right, wrong
    "cruxeval-output": (
        ("['a', (2,)]", "[ANSWER]assert f('a', y=2) == ['a', (2,)][/ANSWER]"),
        (*CHEATS, "['a', [2]]", "f('a', y=2)", "f"),
    ),
    "cruxeval-input": (
        ("f('a', 2)", "f(y=2, x='a')", "assert f('a', y=2) == ['a', (2,)]"),
        (*CHEATS, *(f"f({cheat})" for cheat in CHEATS), "f('a')", "['a', (2,)]"),
    ),
    "enamel": (
        ("    return text[:n], [text[n:]]", "def halves(text, n): return (text[:n], [text[n:]])"),
        (
            *("    exit(0)", "    return text", f"    return {ANYTHING}", "    print('passed')"),
            "    return [text[:n], [text[n:]]]",
            f"{PATCHED}\ndef halves(text, n): return None",
        ),
    ),
    "deepseek-leetcode": (
        (
            "return a + b[0]",
            "class Solution:\n    def add(self, a, b: List[int]): return a + sum(b)",
        ),
        (
            *("exit(0)", "return b", "print('passed')", f"return {ANYTHING}"),
            f"{PATCHED}\nclass Solution:\n    def add(self, a, b): return None",
            f"{ANYTHING}\nclass Solution:\n    def add(self, a, b): return self",
        ),
    ),
}


@pytest.mark.slow(4)
@pytest.mark.parametrize("name", ANSWERS)
def test_right_answers_pass_and_no_cheat_does(name, tmp_path):
    needs_box()
    row = {"deepseek-leetcode": CONTEST, "enamel": ENAMEL}.get(name, CRUX)
    path = write(tmp_path / "p.jsonl", [row])
    right, wrong = ANSWERS[name]
    lines = [{"id": row.get("id", row.get("task_id")), "code": code} for code in (*right, *wrong)]
    with gradebox.Grader(path, dataset_format=name, sandbox="local") as grader:
        records = grader.grade(lines)
    found = {line["code"]: r["status"] for line, r in zip(lines, records, strict=True)}
    assert found == {**dict.fromkeys(right, "passed"), **dict.fromkeys(wrong, "failed")}


def test_the_task_of_cruxeval_must_be_stated(tmp_path):
    path = write(tmp_path / "p.jsonl", [CRUX])
    with pytest.raises(InputError, match="say which with --dataset-format cruxeval-output"):
        open_problems(path)
    assert open_problems(path, format_name="cruxeval-input").ids() == ["sample_900"]


@pytest.mark.parametrize(
    ("answer", "output", "call"),
    [
        ("7", "7", "7"),
        ("f(1) == '=='", "'=='", "f(1) == '"),
        ("x [ANSWER] assert f(1) == 2 [/ANSWER] y", "2", "f(1)"),
        ("[ANSWER]3", "3", "3"),
    ],
)
def test_the_expression_of_an_answer_is_found(answer, output, call):
    assert expression_of(answer, "cruxeval-output") == output
    assert expression_of(answer, "cruxeval-input") == call
    assert expression_of(answer, "humaneval") == answer


def test_bad_rows_say_why():
    reading = Reading(FORMATS["cruxeval-output"])
    for changes, message in (
        ({"output": "1) or (1"}, "output is not a value in Python's notation"),
        ({"input": "1; 2"}, "input is not a value in Python's notation"),
        ({"code": "def g(): 1"}, "code does not define f"),
    ):
        with pytest.raises(RowError, match=re.escape(message)):
            reading.columns({**CRUX, **changes})
    nodes: dict[str, Any] = {**CONTEST, "test": "s = Solution()\nassert s.f(ListNode(1)) == 1\n"}
    with pytest.raises(InputError, match="test makes nodes, of a class that the row does not have"):
        parse_problem(nodes)
