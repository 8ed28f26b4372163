"""BigCodeBench's and ClassEval's tests are classes of unittest: they run as it runs them."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

import gradebox
from gradebox.eval.cli.grade import main
from gradebox.eval.problems.formats import Recognised
from gradebox.eval.results.metrics import _kind_of
from tests.eval.grading.test_joined_asserts import ANYTHING
from tests.sandbox.backends import needs_box

pytestmark = pytest.mark.slow(5)

CODE_PROMPT = """\
import os
import random
LIMIT = 2
LAZY = type("Lazy", (), {"__class__": property(lambda self: 1 / 0)})()
def task_func(folder, n=LIMIT):
"""
TEST = """\
import json, unittest
from unittest.mock import patch
class TestCases(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = os.path.join(os.path.dirname(__file__), "made")
    def setUp(self):
        os.makedirs(self.folder)
    def tearDown(self):
        for name in os.listdir(self.folder):
            os.remove(os.path.join(self.folder, name))
        os.rmdir(self.folder)
    @patch("random.randint", return_value=7)
    def test_numbers(self, randint):
        self.assertEqual(task_func(self.folder), [7] * LIMIT)
        self.assertEqual(randint.call_count, 2)
    @patch(__name__ + ".LIMIT", 5)
    def test_files(self):
        for n in (1, 3):
            with self.subTest(n=n):
                task_func(self.folder, n)
                self.assertIn(f"{n}.txt", os.listdir(self.folder))
    @unittest.skip("not today")
    def test_skipped(self):
        self.fail()
    @unittest.expectedFailure
    def test_expected(self):
        self.assertEqual(len(task_func(self.folder)), -1)
    @patch("builtins.open", side_effect=OSError)
    def test_patched(self, opened):
        with self.assertRaises(OSError):
            task_func(self.folder)
        self.assertIs(open, opened)
    def test_error(self):
        self.assertNotIsInstance(open, unittest.mock.Mock)
        with self.assertRaises(ValueError) as caught:
            task_func(self.folder, -1)
        self.assertEqual(str(caught.exception), "n is negative")
"""
RIGHT = """\
    if n < 0:
        raise ValueError("n is negative")
    with open(os.path.join(folder, f"{n}.txt"), "w") as file:
        found = [random.randint(1, 9) for _ in range(n)]
        file.write(str(found))
    return found
"""
BIGCODEBENCH = {
    "task_id": "BigCodeBench/9000",
    "complete_prompt": CODE_PROMPT + '    """Write n random numbers."""\n',
    "instruct_prompt": "Write n random numbers.",
    "code_prompt": CODE_PROMPT,
    "canonical_solution": RIGHT,
    "test": TEST,
    "entry_point": "task_func",
    "doc_struct": "{}",
    "libs": "['os', 'random']",
}
CLASS = """\
class Counter:
    def __init__(self): self.n = 0
    def add(self, k): self.n += k; return self.n
    def show(self): print(math.floor(self.n))
"""
CLASSEVAL = {
    "task_id": "ClassEval_900",
    "class_name": "Counter",
    "skeleton": "",
    "import_statement": ["import math"],
    "solution_code": CLASS,
    "test_classes": ["CounterTestAdd", " CounterTestShow"],
    "test": """\
import contextlib, io, unittest
class CounterTestAdd(unittest.TestCase):
    def test_add(self):
        self.assertEqual(Counter().add(2), 2)
class CounterTestShow(unittest.TestCase):
    def test_show(self):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            Counter().show()
        self.assertEqual(out.getvalue(), "0\\n")
""",
}


def graded(grader: gradebox.Grader, row: dict[str, Any], *codes: str) -> list[dict[str, Any]]:
    return grader.grade([{"code": code} for code in codes], row)


def test_a_function_is_tested_in_its_process(grader):
    assert Recognised([BIGCODEBENCH]).one(None, "x").name == "bigcodebench"
    whole = CODE_PROMPT + RIGHT.replace("str(found)", "json.dumps(found)")  # the tests import it
    wrong = RIGHT.replace("negative", "bad"), "    return [7, 7]\n", "    return len(folder\n"
    body, complete, *failed = graded(grader, BIGCODEBENCH, RIGHT, whole, *wrong)
    assert [body["verdict"], complete["verdict"]] == ["AC", "AC"]
    assert [record["verdict"] for record in failed] == ["WA", "WA", "CE"]
    assert "'n is bad' != 'n is negative'" in failed[0]["details"][0]["error"]
    assert _kind_of(body) == "marked"


def test_each_class_of_tests_is_a_case_apart_if_it_can(grader):
    assert Recognised([CLASSEVAL]).one(None, "x").name == "classeval"
    right, wrong = graded(grader, CLASSEVAL, CLASS, CLASS.replace("+= k", "= 9"))
    assert [(c["test"], c["verdict"], "marked" in c) for c in right["details"]] == [
        ("CounterTestAdd", "AC", False),
        ("CounterTestShow", "AC", True),
    ]
    assert [c["verdict"] for c in wrong["details"]] == ["WA", "AC"]


def row_with(body: str, before: str = "") -> dict[str, Any]:
    text = f"import unittest\n{before}\nclass TestCases(unittest.TestCase):\n{body}"
    return {**BIGCODEBENCH, "test": text, "canonical_solution": ""}


PASSES = "    def test_a(self): self.assertIsNone(task_func(1))\n"
RUNS = {
    "passes": (row_with(PASSES), "AC", ""),
    "no test": (row_with("    pass # assert\n"), "WA", "ran no test"),
    "skipped": (row_with(PASSES, "@unittest.skip('')"), "WA", "ran no test"),
    "subtest": (
        row_with("    def test_a(self):\n        with self.subTest(): self.assertTrue(0)\n"),
        "WA",
        "0 is not true",
    ),
    "unexpected success": (
        row_with("    @unittest.expectedFailure\n" + PASSES),
        "WA",
        "expected to fail",
    ),
    "class": (
        row_with("    @classmethod\n    def setUpClass(cls): 1 / 0\n" + PASSES),
        "WA",
        "ZeroDivisionError",
    ),
    "library": (row_with(PASSES, "import nosuchlib"), "CU", "No module named 'nosuchlib'"),
    "prompt": (
        {**BIGCODEBENCH, "code_prompt": f"import nosuchlib\n{CODE_PROMPT}"},
        "CU",
        "No module named 'nosuchlib'",
    ),
}


def test_what_the_known_solution_fails_is_unclear(grader):
    known = {**BIGCODEBENCH, "canonical_solution": "    raise OSError('no network')\n"}
    right, wrong = graded(grader, known, RIGHT, "    return 1\n")
    assert (right["verdict"], wrong["verdict"]) == ("AC", "CU")
    assert "the known solution of the row fails here as well" in wrong["details"][0]["error"]


@pytest.mark.parametrize(("row", "verdict", "why"), RUNS.values(), ids=RUNS)
def test_only_tests_that_ran_pass(grader, row, verdict, why):
    [record] = graded(grader, row, "    return None\n")
    assert record["verdict"] == verdict
    assert why in record["details"][0]["error"]


PATCH = "[setattr(c, n, lambda *a, **k: None) for n in dir(c) if n[:6] == 'assert' or n in NAMES]"
CHEATS = {
    "exits": "import os\nos._exit(0)",
    "exits in a call": "def task_func(*a): raise SystemExit(0)",
    "skips": "import unittest\ndef task_func(*a): raise unittest.SkipTest",
    "patched TestCase": f"import unittest\nc, NAMES = unittest.TestCase, ['run']\n{PATCH}",
    "patched TestResult": "import unittest\nc, NAMES = unittest.TestResult, ['addError', "
    f"'addFailure', 'stop']\n{PATCH}",
    "no tests found": "import unittest\nunittest.TestLoader.getTestCaseNames = lambda *a: []",
    "another unittest": "import sys, types\nfake = types.ModuleType('unittest')\n"
    "fake.TestCase = object\nsys.modules.update({'unittest': fake, 'unittest.case': fake})",
    "patched asserts of the caller": "import sys\nNAMES = []\n"
    "def task_func(*a):\n    f = sys._getframe()\n"
    f"    while f:\n        c = type(f.f_locals.get('self'))\n        c is type(None) or {PATCH}\n"
    "        f = f.f_back\n    return 3",
    "ends in a thread": "import os, threading, atexit\natexit.register(os._exit, 0)\n"
    "threading.Thread(target=os._exit, args=(0,)).start()",
    "equal to everything": f"{ANYTHING}\ndef task_func(*a): return Anything()",
    "the same in a list": f"{ANYTHING}\ndef task_func(*a): return [Anything()] * 2",
    "the same without a type": f"{ANYTHING.replace('(int)', '')}\n"
    "def task_func(*a): return Anything()",
    "mock.ANY": "from unittest.mock import ANY\ndef task_func(*a): return ANY",
    "a mock": "from unittest.mock import MagicMock\nfound = MagicMock()\n"
    "found.__eq__.return_value = True\ndef task_func(*a): return found",
    "a proxy": f"import weakref\n{ANYTHING.replace('(int)', '')}\nfound = Anything()\n"
    "def task_func(*a): return weakref.proxy(found)",
    "a message": f"{ANYTHING.replace('(int)', '(str)')}\nclass Odd(ValueError):\n"
    "    def __str__(self): return Anything('x')\ndef task_func(*a):\n    raise Odd",
    "patched libraries": "import math, builtins\nmath.isclose = lambda *a, **k: True\n"
    "builtins.len = builtins.isinstance = builtins.all = lambda *a: True",
    "patched in a call": "import math\ndef task_func(*a):\n    math.isclose = lambda *a: True\n"
    "    return 3",
    "patched class": "import decimal, fractions\nfractions.Fraction.__eq__ = lambda *a: True\n"
    "def task_func(*a): return fractions.Fraction(5)",
}
ASKED = """\
import math, unittest
from fractions import Fraction
class TestCases(unittest.TestCase):
    def test_close(self):
        self.assertTrue(math.isclose(task_func(2), 4))
    def test_equal(self):
        assert task_func(2) == Fraction(4)
        self.assertEqual(task_func(2), 4)
    def test_error(self):
        with self.assertRaises(ValueError) as caught:
            task_func(None)
        self.assertEqual(str(caught.exception), "no number")
"""


@pytest.mark.parametrize("name", CHEATS)
def test_no_cheat_passes(grader, name):
    right = "def task_func(n):\n    if n is None: raise ValueError('no number')\n    return n * n\n"
    row = {**BIGCODEBENCH, "code_prompt": "def task_func(n):", "complete_prompt": "", "test": ASKED}
    row["canonical_solution"] = right
    code = CHEATS[name]
    if "task_func" not in code:
        code += "\ndef task_func(*a): return 3\n"
    known, cheat = graded(grader, row, right, code)
    assert known["verdict"] == "AC"
    assert cheat["verdict"] not in ("AC", "CU")


def test_a_run_says_which_libraries_are_missing(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [{**BIGCODEBENCH, "libs": ["os", "nosuchlib"]}, {**BIGCODEBENCH, "task_id": "x"}]
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("s.jsonl").write_text(json.dumps({"task_id": "x", "completion": RIGHT}) + "\n")
    flags = ["--dataset", "rows.jsonl", "--solutions-path", "s.jsonl", "--no-check-dataset"]
    needs_box()
    assert main([*flags, "--python", os.path.realpath(sys.executable)]) == 0
    note = "does not have nosuchlib: the cases of 1 problems are CU; install them"
    assert note in capsys.readouterr().out
    [record] = map(json.loads, Path("results/s/piston_eval_results.jsonl").read_text().splitlines())
    assert (record["verdict"], " packages " in record["sandbox"]["toolchain"]) == ("AC", True)
    assert main([*flags, "--python", "/dev/null"]) == 2
    assert "--python /dev/null: no program of this name" in capsys.readouterr().err
