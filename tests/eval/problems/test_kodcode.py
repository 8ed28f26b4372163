"""Pytest files of KodCode become assert tests; what is not translated says so."""

from typing import Any

import pytest

import gradebox
from gradebox.eval.common.errors import InputError, RowError
from gradebox.eval.problems.formats import Recognised
from gradebox.eval.problems.formats.suites import _PYTEST, translated
from gradebox.eval.problems.in_memory import parse_problem
from tests.sandbox.backends import needs_box

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

INFINITE = float("inf")


def test_a_file_becomes_a_text_whose_lines_stay():
    body, names, functions, uses_pytest = translated((TESTS, []))
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
        translated((code, []))
    with pytest.raises(InputError, match=why):
        parse_problem({**ROW, "test_code": code})


COPIED = """\
def helper(x):
    return x + 1

@print
def double(x):
    return 2 * x
def test_double():
    assert double(helper(1)) == 4
"""


@pytest.mark.parametrize("info", [[{"function_name": "double"}], None, "double", 3])
def test_a_copy_of_the_tested_function_is_left_out(info):
    solution = "def helper(x): ...\ndef double(x):\n    return x + x"
    row = {**ROW, "test_code": COPIED.replace("helper(1)", "2"), "test_info": info}
    text = parse_problem({**row, "solution": solution}).tests[0][0].decode()
    assert "def double" not in text and "@print" not in text
    assert "def helper" in text and text.splitlines()[-2] == "    assert double(2) == 4"
    imported = "from solution import halve\n" + row["test_code"]
    kept = parse_problem({**row, "test_code": imported, "solution": solution}).tests[0][0].decode()
    assert ("def double" in kept) is not isinstance(info, list)


def test_a_row_without_tests_has_none():
    assert Recognised([ROW]).one(None, "x").name == "kodcode"
    assert parse_problem(ROW).time_limit_s == 10.0
    for code in ("", "from solution import f\nassert f", "def test_a(): f()"):
        assert parse_problem({**ROW, "test_code": code}).tests == ()


@pytest.mark.slow  # two boxes a test
def test_rows_are_graded():
    needs_box()
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


CAPTURES = {
    "redirect_stdout": "import contextlib, io\ndef test_show():\n    out = io.StringIO()\n"
    "    with contextlib.redirect_stdout(out):\n        show([1, 2])\n"
    "    assert out.getvalue() == '1\\n2\\n'\n    assert show([]) is None\n",
    "sys.stdout": "import io, sys\ndef test_show():\n    first = sys.stdout\n"
    "    sys.stdout = io.StringIO()\n    show([3, 4])\n    found = sys.stdout.getvalue()\n"
    "    sys.stdout = first\n    assert found == '3\\n4\\n'\n",
    "a file": "import sys\ndef test_show():\n    first = sys.stdout\n"
    "    with open('out.txt', 'w') as f:\n        sys.stdout = f\n        show('ab')\n"
    "    sys.stdout = first\n    assert open('out.txt').read() == 'a\\nb\\n'\n",
    "mock": "import io\nfrom unittest.mock import patch\ndef test_show():\n"
    "    with patch('sys.stdout', new_callable=io.StringIO) as out:\n        show([5])\n"
    "    assert out.getvalue() == '5\\n'\n",
}
SHOW = "def show(items):\n    for item in items:\n        print(item)\n"
IN_SHOW = "import sys\n{}\ndef show(items):\n    {}\n"
NOT_SHOWN = [
    SHOW.replace("print(item)", "print(item, 0)"),
    SHOW.replace("print(item)", "pass"),
    IN_SHOW.format(
        "class Any(str):\n    def __eq__(self, other): return True\n    __hash__ = None",
        "sys.stdout.getvalue = sys.stdout.read = lambda: Any()",
    ),
    IN_SHOW.format("import io", "io.StringIO.getvalue = open = lambda *a: '1\\n2\\n'"),
    IN_SHOW.format("sys.stdout = sys.__stdout__ = None", "sys.stdout = open('other', 'w')"),
    IN_SHOW.format("import os", "sys.stdout.close(); os._exit(0)"),
    IN_SHOW.format(
        "import io\nclass Any(io.StringIO):\n"
        "    __eq__ = lambda *a: True\n    __hash__ = None\n    getvalue = lambda s: s\n"
        "sys.stdout = Any()",
        "sys.stdout = Any(); return sys.stdout",
    ),
    IN_SHOW.format(
        "import io, threading\nclass Any(io.StringIO):\n"
        "    __eq__ = lambda *a: True\n    __hash__ = None\n    getvalue = lambda s: s\n"
        "def forever():\n    while True: sys.stdout = Any()\n"
        "threading.Thread(target=forever, daemon=True).start()",
        "return sys.stdout",
    ),
]


@pytest.mark.slow(seconds=5)
@pytest.mark.parametrize("name", CAPTURES)
def test_what_a_solution_prints_is_captured_by_tests(name):
    needs_box()
    row = {
        **ROW,
        "solution": SHOW,
        "test_code": f"from solution import show\n{CAPTURES[name]}",
        "test_info": [{"function_name": "show"}],
    }
    shown = SHOW.replace("print(item)", "sys.stdout.write(f'{item}\\n')")
    programs = [SHOW, f"import sys\n{shown}", *NOT_SHOWN]
    records = gradebox.grade([{"code": code} for code in programs], row, sandbox="local")
    wanted = ["passed"] * 2 + ["failed"] * len(NOT_SHOWN)
    assert [r["status"] for r in records] == wanted, [r["details"][0]["error"] for r in records]
    assert "marked" in records[0]["details"][0]


@pytest.mark.slow(seconds=2)
def test_a_file_with_a_copy_of_the_function_tests_the_solutions():
    needs_box()
    copy = (
        "class Node:\n    def __init__(self, value, rest=None):\n"
        "        self.value, self.rest = value, rest\n"
        "def total(node: Node | None, seen: List[int]) -> List[int]:\n    return 0\n"
        "def chain() -> List[Node]:\n    return Node(1, Node(2))\n"
        "def test_total():\n    assert total(chain(), []) == 3\n"
    )
    right = "from typing import List\ndef total(node, seen):\n    return node.value + (total("
    right += "node.rest, seen) if node.rest else 0)\n"
    for info in ([{"function_name": "total"}], None):
        row = {**ROW, "solution": right, "test_code": copy, "test_info": info}
        programs = [right, right.replace("else 0", "else 1"), "def total(*a): return 0"]
        records = gradebox.grade([{"code": code} for code in programs], row, sandbox="local")
        assert [r["status"] for r in records] == ["passed", "failed", "failed"], records[0]


@pytest.mark.parametrize(
    ("found", "wanted", "equal"),
    [
        (0.1 + 0.2, 0.3, True),
        (0.31, 0.3, False),
        (INFINITE, INFINITE, True),
        (5, INFINITE, False),
        (-INFINITE, INFINITE, False),
        (INFINITE, 5, False),
        ([5], [INFINITE], False),
        ({"a": INFINITE}, {"a": INFINITE}, True),
        (float("nan"), float("nan"), False),
    ],
)
def test_approx_is_close_and_nothing_is_close_to_infinity(found, wanted, equal):
    namespace: dict[str, Any] = {}
    exec(_PYTEST, namespace)
    assert (found == namespace["pytest"].approx(wanted)) is equal
