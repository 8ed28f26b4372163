"""Pytest files of KodCode become assert tests; what is not translated says so."""

from __future__ import annotations

from typing import Any

import pytest

import gradebox
from gradebox.eval.common.errors import InputError
from gradebox.eval.problems.formats import find_format
from gradebox.eval.problems.formats.asserts.kodcode import translated
from gradebox.eval.problems.in_memory import parse_problem
from gradebox.eval.problems.row import RowError
from tests.sandbox.backends import open_backend

TESTS = """\
import pytest
from solution import (
    halve, add as plus,
)

def helper():
    return 4

def test_halve():
    assert halve(helper()) == 2
    assert halve(1) == pytest.approx(0.5)

def test_errors():
    with pytest.raises(ValueError, match="no"):
        halve("x")
    assert plus(1, 2) == 3

if __name__ == "__main__":
    pytest.main()
"""
SOLUTION = """\
def halve(x):
    if isinstance(x, str):
        raise ValueError("no text")
    return x / 2
def add(a, b):
    return a + b
"""
ROW: dict[str, Any] = {
    "style": "instruct",
    "subset": "Prefill",
    "question_id": "Prefill_1_I",
    "question": "Write halve and add.",
    "solution": SOLUTION,
    "test_code": TESTS,
    "test_info": [{"function_name": "halve"}],
    "gpt_difficulty": "easy",
}


def test_a_file_becomes_a_text_whose_lines_stay():
    body, names, functions, uses_pytest = translated(TESTS)
    assert (names, functions, uses_pytest) == (["halve", "add"], 2, True)
    lines = body.splitlines()
    assert lines[:5] == ["", "plus = add", "", "", ""]
    assert lines[8] == TESTS.splitlines()[8]
    assert lines[-2:] == ["test_halve()", "test_errors()"]
    assert "pytest.main" not in body


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("def test_a(tmp_path): assert f()", "test_a has arguments or a decorator"),
        ("@pytest.mark.x\ndef test_a(): assert f()", "test_a has arguments or a decorator"),
        ("class TestA:\n    def test_a(self): assert f()", "a class of tests, TestA"),
        ("import solution\ndef test_a(): assert solution.f()", "imports the module solution"),
        ("def test_a():\n    assert pytest.skip()", "uses pytest.skip"),
        ("def test_a(:", "no Python"),
    ],
)
def test_what_is_not_translated_says_so(code, why):
    with pytest.raises(RowError, match=why):
        translated(code)
    with pytest.raises(InputError, match=why):
        parse_problem({**ROW, "test_code": code})


def test_a_row_without_tests_has_none():
    assert find_format(ROW, None, "x").name == "kodcode"
    assert parse_problem(ROW).time_limit_s == 10.0
    for code in ("", "from solution import f\nassert f", "def test_a(): f()"):
        assert parse_problem({**ROW, "test_code": code}).tests == ()


@pytest.mark.slow  # two boxes a test
def test_rows_are_graded():
    with open_backend("box"):  # skips where no box works
        pass
    programs = [
        SOLUTION,
        SOLUTION.replace("no text", "text"),
        SOLUTION.replace("x / 2", "x // 2"),
        "import os\nos._exit(0)",
        "exit(0)",
        "def halve(x): exit(0)\nadd = halve",
        "class Any:\n    def __eq__(self, other): return True\n"
        "    def __call__(self, *a): return self\n"
        "halve = add = Any()",
    ]
    records = gradebox.grade([{"code": code} for code in programs], ROW, sandbox="local")
    assert [r["status"] for r in records] == ["passed", *["failed"] * 6], records[0]["details"]
