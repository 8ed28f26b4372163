"""Assert tests that pass what is no data: they run with the program, and no cheat passes."""

from typing import Any

import pytest

import gradebox
from gradebox.eval.results.metrics import _kind_of

pytestmark = pytest.mark.slow(5)

PROMPT = "def area(shape, scale=1):\n    '''Return the scaled area of a shape.'''\n"
TEST = """\
import math
class Shape:
    def __init__(self, side):
        self.side = side
    def area(self):
        return self.side ** 2
def check(candidate):
    assert candidate(Shape(3)) == 9
    assert candidate(Shape(4), scale=2) == 32, 'no'
    assert math.isclose(candidate(Shape(1), 0.5), 0.5)
    assert sorted([candidate(Shape(2)), 1]) == [1, 4]
"""


def row(**changes: Any) -> dict[str, Any]:
    return {
        "task_id": "HumanEval/901",
        "prompt": PROMPT,
        "entry_point": "area",
        "canonical_solution": "    return shape.area() * scale\n",
        "test": TEST,
        **changes,
    }


def without_known(made: dict[str, Any]) -> dict[str, Any]:
    return {**made, "canonical_solution": ""}


def graded(grader: gradebox.Grader, made: dict[str, Any], *codes: str) -> list[dict[str, Any]]:
    return grader.grade([{"code": code} for code in codes], made)


def in_call(body: str, before: str = "") -> str:
    return f"{before}\ndef area(*args, **named):\n    {body}\n"


ANYTHING = """\
class Anything(int):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __call__(self, *args, **named): return self
    __lt__ = __le__ = __gt__ = __ge__ = __eq__
    __hash__ = None
    __sub__ = __rsub__ = __call__
"""
LOOK = """\
import sys, os
def found(frame):
    while frame:
        for value in [*frame.f_locals.values(), *frame.f_globals.values()]:
            if isinstance(value, (str, bytes)):
                yield value if isinstance(value, bytes) else value.encode('utf-8', 'replace')
        frame = frame.f_back
def area(*args, **named):
    for text in found(sys._getframe()):
        for number in range(70):
            try: os.write(number, b'\\n' + text[:400] + b'\\n')
            except OSError: pass
    os._exit(0)
"""
TRACE = """\
import sys
def skip(frame, event, arg):
    try: frame.f_lineno += 1
    except Exception: pass
    return skip
"""
CHEATS = {
    "nothing": in_call("pass"),
    "exit at once": "exit(0)",
    "os._exit at once": "import os\nos._exit(0)",
    "exit in a call": in_call("exit(0)"),
    "os._exit in a call": in_call("os._exit(0)", "import os"),
    "exit when the process ends": in_call(
        "exit(1)", "import atexit, os, sys\natexit.register(lambda: os._exit(0))"
    ),
    "sys.exit in atexit": in_call("exit(1)", "import atexit, sys\natexit.register(sys.exit, 0)"),
    "a thread that ends the process": in_call(
        "time.sleep(0.3)",
        "import os, threading, time\n"
        "threading.Thread(target=lambda: (time.sleep(0.05), os._exit(0))).start()",
    ),
    "an object equal to everything": in_call("return Anything()", ANYTHING),
    "the same, without a type": in_call("return Anything()", ANYTHING.replace("(int)", "")),
    "patched built-ins": in_call(
        "return None",
        "import builtins\nbuiltins.AssertionError = None\nbuiltins.__debug_ = False\n"
        "builtins.sorted = lambda x: [1, 4]\nbuiltins.__import__ = lambda *a, **k: None\n"
        "builtins.isinstance = lambda *a: True\n",
    ),
    "built-ins of its own": in_call("return 1", "sorted = len = AssertionError = lambda *a: 1"),
    "a patched module": in_call(
        "return {9: 9, 16: 32, 4: 4}.get(args[0].side ** 2, 7)",
        "import math\nmath.isclose = lambda *a: True",
    ),
    "a patched class of the tests": in_call(
        "type(args[0]).__eq__ = type(args[0]).__hash__ = lambda *a: True; return args[0]"
    ),
    "traces the tests": in_call(
        "f = sys._getframe()\n    while f: f.f_trace = skip; f = f.f_back\n    sys.settrace(skip)",
        TRACE,
    ),
    "a signal between the asserts": in_call(
        "signal.signal(14, lambda n, f: os._exit(0)); signal.setitimer(signal.ITIMER_REAL, 0.001)",
        "import os, signal",
    ),
    "another stdout": in_call(
        "return 0", "import io, sys\nsys.stdout = sys.__stdout__ = io.StringIO()"
    ),
    "patched os.write and os._exit": in_call(
        "return 0", "import os\nos.write = lambda *a: 1\nos._exit = lambda *a: None"
    ),
    "a patched main module": in_call(
        "return 0", "import __main__\n__main__.__dict__.update(step=id, run_all=id, clean=id)"
    ),
    "an own hook of exceptions": in_call("return 0", "import sys\nsys.excepthook = lambda *a: 0"),
    "reads stdin": in_call("return 0", "import os, sys\nos.write(1, os.read(0, 99))"),
    "looks for what the harness has": LOOK,
}


def test_right_and_wrong_solutions_are_judged_right(grader):
    right = ["    return shape.area() * scale\n", in_call("return args[0].side ** 2 * ([*args, "
             "*named.values(), 1][1])")]  # fmt: skip
    wrong = ["    return shape.area()\n", "    return shape.area() * scale + 1e-5\n"]
    for made in (row(), without_known(row())):
        records = graded(grader, made, *right, *wrong)
        assert [r["verdict"] for r in records] == ["AC", "AC", "WA", "WA"] or [
            r["status"] for r in records
        ] == ["passed", "passed", "failed", "failed"], records
        assert all("a value of type Shape" in r["details"][0]["marked"] for r in records)
        assert {_kind_of(r) for r in records} == {"marked"}


def test_no_cheat_passes():
    with gradebox.Grader(sandbox="local", time_limit_scale={"python": 0.2}) as grader:  # one waits
        records = graded(grader, row(), *CHEATS.values())
    passed = [name for name, r in zip(CHEATS, records, strict=True) if r["status"] != "failed"]
    assert passed == []
    assert sum("marked" in r["details"][0] for r in records if r["details"]) > 15


ENDLESS = row(
    prompt="def firsts(numbers, n):\n    '''Return the first n.'''\n",
    entry_point="firsts",
    canonical_solution="    return [next(numbers) for _ in range(n)]\n",
    test="import itertools\ndef check(candidate):\n    numbers = itertools.count(5)\n"
    "    assert candidate(numbers, 2) == [5, 6]\n    assert next(numbers) == 7\n",
)
FOREVER = row(
    prompt="def squares():\n    '''Generate all squares.'''\n",
    entry_point="squares",
    canonical_solution="    n = 0\n    while True:\n        yield n * n\n        n += 1\n",
    test="import itertools\ndef check(candidate):\n"
    "    assert list(itertools.islice(candidate(), 4)) == [0, 1, 4, 9]\n",
)
NODES = row(
    prompt="class Node:\n    def __init__(self, v, rest=None):\n"
    "        self.v, self.rest = v, rest\n"
    "\n\ndef last(node, key):\n    '''Return the last node.'''\n",
    entry_point="last",
    canonical_solution="    while node.rest: node = node.rest\n"
    "    assert isinstance(node, Node)\n    node.v = key(node.v)\n    return Node(node.v)\n",
    test="class Key:\n    def __call__(self, v):\n        return v + 1\n"
    "def check(candidate):\n    node = Node(1, Node(2))\n"
    "    found = candidate(node, Key())\n"
    "    assert isinstance(found, Node) and found.v == 3 and node.rest.v == 3\n",
)


@pytest.mark.parametrize("made", [ENDLESS, FOREVER, NODES], ids=["count", "generator", "prompt"])
def test_other_values_that_are_no_data(grader, made):
    known = made["canonical_solution"]
    records = graded(grader, made, known, "    return [0, 1, 4]\n", "    raise ValueError\n")
    assert [r["status"] for r in records] == ["passed", "failed", "failed"], records[0]["details"]
    assert "marked" in records[0]["details"][0]


def test_a_result_that_fits_into_memory_but_not_twice(grader):
    known = "def letters(n):\n    return 'x' * n\n"
    made = {
        "id": "letters",
        "test_kind": "assert",
        "time_limit": 1.0,
        "memory_limit": 80,
        "official_tests": [
            {
                "input": "assert len(letters(30_000_000)) == 30_000_000\n",
                "output": '{"entry": "", "names": [], "prompt": ""}',
            }
        ],
        "gold_solutions": [{"code": known, "expect": "passed"}],
    }
    endless = "def letters(n):\n    while True: pass\n"
    records = graded(grader, made, known, known.replace("* n", "* 9 * n"), endless)
    assert [r["verdict"] for r in records] == ["AC", "MLE", "TLE"], records
    assert "MB of memory, the limit is 80 MB" in records[0]["details"][0]["marked"]
    plain = {**made, "gold_solutions": []}
    assert [r["verdict"] for r in graded(grader, plain, known, endless)] == ["MLE", "TLE"]


def test_a_solution_cannot_choose_to_run_with_the_tests(grader):
    plain = row(
        test="def check(candidate):\n    assert candidate([]) == 3\n"
        "    assert candidate(candidate([4])) == 3\n",
        canonical_solution="    return 3\n",
    )
    codes = (
        "    while True:\n        yield 1\n",
        "    return map(str, iter(int, 1))\n",
        "    return type('Odd', (), {})()\n",
        "    return lambda: 0\n",
        "    import sys\n    return sys\n",
        "    raise type('Own', (Exception,), {})(object())\n",
        "    return iter([1] * 90_000) if shape == [] else 3\n",
    )
    for made in (plain, without_known(plain)):
        for record in graded(grader, made, *codes):
            assert record["status"] == "failed"
            assert "marked" not in record["details"][0]
            assert record["details"][0]["checker"]["exit_code"] in (1, 3)
