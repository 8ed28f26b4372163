"""Call and assert tests with the real sandbox: right answers pass, and no cheat does."""

from typing import Any

import pytest

import gradebox
from tests.eval.problems.dataset_rows import (
    EVALPLUS,
    HUMANEVAL,
    LEETCODE,
    MBPP,
    call_row,
    stdin_row,
)
from tests.sandbox.backends import needs_box

pytestmark = pytest.mark.slow(3)

ADD = "class Solution:\n    def add(self, a: int, b: List[int]) -> int:\n        return a + b\n"
EVEN = "n = int(input())\nprint('NO' if n % 2 else 'YES')\n"
# Each is a whole answer: names are those of all the rows above.
NAMES = ("double", "sum", "add", "Box")
ANYTHING = """\
class Anything:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __bool__(self): return True
    def __getattr__(self, name): return self
    def __call__(self, *args, **named): return self
    def __iter__(self): return iter([])
    def __len__(self): return 0
    def __getitem__(self, key): return self
    __hash__ = None
    __lt__ = __le__ = __gt__ = __ge__ = __eq__
    __add__ = __sub__ = __mul__ = __rsub__ = __radd__ = __truediv__ = __call__
double = sum = add = Box = Anything()
class Solution:
    double = add = lambda self, *args, **named: Anything()
"""
LOOK = """\
import gc, os, sys
def look(*args, **named):
    seen = [*sys.argv, str(os.environ), *sys.modules]
    for number in range(100):
        for where in ("/proc/self/fd/%d" % number, "/dev/fd/%d" % number):
            try:
                fd = os.open(where, os.O_NONBLOCK)  # what is on a pipe now
                seen.append(os.read(fd, 10).decode("latin-1"))
            except BaseException: pass
    for name in ("/program/main.py", "input.txt", "answer.txt"):
        try: seen.append(open(name).read())
        except OSError: pass
    frame = sys._getframe()
    while frame:
        seen += [str(value) for value in frame.f_locals.values()]
        frame = frame.f_back
    for text in seen: print(text[:200]); sys.stderr.write(text[:200])
    for number in (1, 2, 63):
        try: os.write(number, b'{"value":true,"nodes":[]}\\n')
        except OSError: pass
    return True
double = sum = add = Box = look
class Solution:
    double = add = look
"""


def functions(body: str) -> str:
    return (
        f"def cheat(*args, **named):\n    {body}\n"
        + "".join(f"{name} = cheat\n" for name in NAMES)
        + "class Solution:\n    double = add = cheat\n"
    )


CHEATS = {
    "nothing": functions("pass"),
    "an empty answer": "pass",
    "exit at once": "exit(0)",
    "os._exit at once": "import os\nos._exit(0)",
    "exit in a call": functions("exit(0)"),
    "os._exit in a call": functions("import os; os._exit(0)"),
    "a thread that ends the process": "import os, threading, time\n"
    "threading.Thread(target=lambda: (time.sleep(0.05), os._exit(0))).start()\n"
    + functions("import time; time.sleep(0.3)"),
    "an object equal to everything": ANYTHING,
    "looks for answers and writes": LOOK,
    "patched builtins": "import builtins\nbuiltins.AssertionError = builtins.isinstance = None\n"
    "builtins.len = builtins.all = lambda *a: True\n" + functions("return None"),
    "raises what asserts raise": functions("raise AssertionError"),
    "calls back for the tests": functions(
        "import sys; p = sys._getframe(1).f_locals.get('self'); "
        "return p.request('get', 5, '__globals__') if p else None"
    ),
    "writes answers": 'import os\nos.write(63, b\'{"value":true,"nodes":[]}\\n\' * 50)\n',
    "much": functions("return [1] * 10**6"),
}


def graded(grader: gradebox.Grader, row: dict[str, Any], *codes: str) -> list[dict[str, Any]]:
    return grader.grade([{"code": code} for code in codes], row)


RIGHT = {
    "a body": (HUMANEVAL, HUMANEVAL["canonical_solution"]),
    "a whole function": (HUMANEVAL, "def double(xs):\n    return [x + x for x in xs]"),
    "it needs the prompt": (HUMANEVAL, "def double(xs):\n    return [x / half(1) for x in xs]"),
    "the future": (HUMANEVAL, "from __future__ import annotations\ndef double(xs: Never):\n"
                              "    return [x + x for x in xs]"),
    "it prints and reads": (HUMANEVAL, "def double(xs):\n    print('x')\n    try: input()\n"
                                       "    except EOFError: return [x + x for x in xs]"),
    "guarded main": (HUMANEVAL, "def double(xs):\n    return [x + x for x in xs]\n"
                                "if __name__ == '__main__':\n    exit(1)"),
    "setup with a class, a built-in's name": (MBPP, MBPP["code"]),
    "node classes, changed in place": (LEETCODE, LEETCODE["completion"]),
    "a method": (call_row(), ADD),
    "a function": (call_row(), "def add(a, b):\n    return a + b"),
    "a program": (stdin_row(), EVEN),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_right_answers_pass(grader, name):
    row, code = RIGHT[name]
    (record,) = graded(grader, row, code)
    assert record["verdict"] == "AC", record["details"]
    assert record["origin"]["judge"] == "strict"


@pytest.mark.parametrize("row", [HUMANEVAL, EVALPLUS, MBPP, LEETCODE, call_row()],
                         ids=lambda row: row.get(
    "task_id", "call"))  # fmt: skip
def test_no_cheat_passes(grader, row):
    records = graded(grader, row, *CHEATS.values())
    passed = [name for name, r in zip(CHEATS, records, strict=True) if r["status"] != "failed"]
    assert passed == []


def test_a_failed_assert_is_shown_with_its_line(grader):
    (record,) = graded(grader, HUMANEVAL, "    return [2 * x for x in xs][:1]")
    (case,) = record["details"]
    assert (case["verdict"], case["error"]) == (
        "WA",
        "line 3: assert candidate([i, 1]) == [2 * i, 2]",
    )


def test_an_exception_crosses_with_its_class(grader):
    row = {**HUMANEVAL, "test": "def check(candidate):\n    try:\n        candidate(None)\n"
           "    except KeyError as error:\n        assert error.args == ('x',)\n"
           "    else:\n        assert False\n"}  # fmt: skip
    row["canonical_solution"] = ""  # it would make what fails unclear: it fails as well
    right, wrong = graded(grader, row, "    raise KeyError('x')", "    raise ValueError('x')")
    assert (right["verdict"], wrong["verdict"]) == ("AC", "WA")


def test_no_error_of_the_connection_is_an_exception_of_the_program(grader):
    def row(kind: str) -> dict[str, Any]:
        return {**HUMANEVAL, "test": "def check(candidate):\n    try:\n        candidate(None)\n"
                f"    except {kind}:\n        return\n    assert False\n"}  # fmt: skip

    ends = {
        "os._exit": "    import os\n    os._exit(0)",
        "no value": "    import os\n    os.write(63, b'x\\n')",
        "no data": "    return object()",
    }
    raised, ended = "    raise KeyError", "    import sys\n    sys.exit(0)"
    right, *wrong = graded(grader, row("Exception"), raised, ended, *ends.values())
    assert [right["verdict"], *(r["status"] for r in wrong)] == ["AC", *["failed"] * 4]
    right, ended_so, *wrong = graded(grader, row("BaseException"), raised, ended, *ends.values())
    assert (right["verdict"], ended_so["verdict"]) == ("AC", "AC")
    assert [r["status"] for r in wrong] == ["failed"] * 3


def test_a_call_cannot_end_a_loop_of_the_tests_or_replace_a_method(grader):
    loop = {**HUMANEVAL, "test": "def check(candidate):\n    found = list(map(candidate, [1, 2]))\n"
            "    assert all(x == 5 for x in found)\n"}  # fmt: skip
    (stopped,) = graded(grader, loop, "    raise StopIteration")
    assert stopped["status"] == "failed"
    method = {**HUMANEVAL, "prompt": "class Pair:\n    def holds(self):\n        return False\n"
              + HUMANEVAL["prompt"],
              "test": "def check(candidate):\n    assert candidate(1).holds()\n"}  # fmt: skip
    method["canonical_solution"] = ""
    replaced, honest = graded(
        grader,
        method,
        "    p = Pair()\n    p.holds = lambda: True\n    return p",
        "    return Pair()",
    )
    assert (replaced["status"], honest["status"]) == ("failed", "failed")
    assert "in the place of a method" in replaced["details"][0]["error"]


def test_functions_of_the_tests_are_called_back_and_their_instances_are_unclear(grader):
    def row(argument: str) -> dict[str, Any]:
        return {**HUMANEVAL, "test": "class Own: pass\ndef check(candidate):\n"
                f"    assert candidate({argument}) == 3\n"}  # fmt: skip

    (called,) = graded(grader, row("lambda x: x + 1"), "    return xs(2)")
    assert called["verdict"] == "AC"
    (unclear,) = graded(grader, row("Own()"), "    return 3")
    assert unclear["verdict"] == "CU"
    assert "what cannot be sent, a value of type Own" in unclear["details"][0]["error"]


def test_nothing_of_the_tests_can_be_read_through_a_function(grader):
    row = {**HUMANEVAL, "test": "secret = 77\ndef check(candidate):\n"
           "    assert candidate(lambda: 0) == secret\n"}  # fmt: skip
    records = graded(
        grader,
        row,
        "    return xs.__globals__['secret']",
        "    return xs.func_globals['secret']",
        "    return xs._gradebox_peer.request('get', xs, '__globals__')['secret']",
        "    return xs._gradebox_peer.request('names', ['secret'], [])['secret']",
        "    return xs._gradebox_peer.request('call', getattr, [xs, '__globals__'], {})",
    )
    assert [r["status"] for r in records] == ["failed"] * 5


def test_responses_without_a_fence_and_other_languages(grader):
    body = {"completion": "<think>hm</think>" + HUMANEVAL["canonical_solution"]}
    cpp = {"code": "int main() {}", "language": "cpp"}
    first, second = grader.grade([body, cpp], HUMANEVAL)
    assert first["verdict"] == "AC"
    assert (second["verdict"], second["status"]) == ("CE", "failed")
    assert "call Python functions" in second["error"]


def test_reference_and_strict_differ_as_documented():
    rows = [
        (call_row(), "def add(a, b):\n    return (a + b) * (1 + 1e-12)", "AC", "WA"),
        (call_row(public_test_cases='[{"input": "1\\n0", "output": "1"}]', private_test_cases=""),
         "def add(a, b):\n    return True", "WA", "AC"),
        (stdin_row(), "print(", "CE", "CE"),
        (stdin_row(), EVEN.replace("'YES'", "'yes'"), "AC", "WA"),
        (stdin_row(), "n: Optional[int] = int(input())\nprint(['YES', 'NO'][gcd(n, 2) == 1])",
         "RE", "AC"),
    ]  # fmt: skip
    needs_box()
    for judge, column in (("strict", 2), ("reference", 3)):
        with gradebox.Grader(sandbox="local", judge=judge) as grader:
            found = [graded(grader, row[0], row[1])[0] for row in rows]
        assert [r["verdict"] for r in found] == [row[column] for row in rows], judge
        assert {r["origin"]["judge"] for r in found} == {judge}
