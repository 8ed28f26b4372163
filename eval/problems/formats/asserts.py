"""Data sets of Python functions with a text of asserts: HumanEval, MBPP, LeetCode, CRUXEval, …

| format    | tests                                                                          |
|-----------|--------------------------------------------------------------------------------|
| humaneval | `check(candidate)`; a prompt that ends in a docstring. HumanEval+ as well      |
| leetcode  | `check(candidate)` of `class Solution`; a prompt with imports and node classes |
| mbpp      | statements that call functions by name; of MBPP+ a second text, many inputs    |
| acecode   | the statements alone                                                           |
| deepseek-leetcode | statements that make an object of `Solution` and call its method       |
| cruxeval-output | an answer is a value: what the function `f` of the row returns         |
| cruxeval-input | an answer is a call, f(…), that returns the row's output                |

An answer to CRUXEval is evaluated in the program's box, which does not have `f`; its value or its
arguments are sent to the tests' box, which has it.

The tests of HumanEval+ and MBPP+ are lists of inputs and results, compared by a function in them.
They import numpy for one comparison, which is written out here, so that the interpreter of the
sandbox need not have it. numpy makes shapes equal before it compares: an empty list is close to
every number. By `--judge strict`, lists must have equal lengths and a number is no list.

Statements run in a box of their own, where each name that is not a built-in is a function of the
program. A program must not replace `len` there, but its own function may be called `sum`.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Sequence
from functools import partial
from typing import Any

from gradebox.eval.common.errors import RowError
from gradebox.eval.problems.formats.row_format import (
    ASSERTS,
    CHECK,
    Judge,
    Row,
    RowFormat,
    assert_test,
    asserted,
    day,
    fields,
    label,
    lower,
    of,
    statements_test,
    text,
    text_with,
    texts,
)
from gradebox.eval.problems.row.row_workers import interpret

MEMORY_MB = 1024.0
# The originals have wall time: for all tests of a problem, of LeetCode 3 s
HUMANEVAL_S, MBPP_S, LEETCODE_S = 3.0, 3.0, 10.0
PLUS_S, PLUS_MB = 60.0, 4096.0
_LEETCODE_PRELUDE = "\n".join((
    "import math,re,sys,itertools,collections,heapq,bisect,functools,random,string,operator",
    *("from typing import *", "from collections import *", "from itertools import *"),
    *("from functools import *", "from heapq import *", "from bisect import *"),
    "from math import *",
))  # fmt: skip
ACECODE_S = 10.0  # for about 16 statements together
# The prompts of these contradict their tests.
ERRATA = dict.fromkeys(("HumanEval/47", "HumanEval/116"), "prompt contradicts tests")
_NUMPY = re.compile(r"^import numpy as np[ \t]*$", re.MULTILINE)
_USED = re.compile(r"np\.(\w{0,100})")
_HAD = frozenset({"allclose", "ndarray", "float64", "float32"})
_STAND_IN = """\
class np:
    float64 = float32 = float
    class ndarray: pass
    @staticmethod
    def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
        rows = isinstance(a, (list, tuple)), isinstance(b, (list, tuple))
        if any(rows):
            if not all(rows):
                if STRICT: return False
                a, b = a if rows[0] else [a] * len(b), b if rows[1] else [b] * len(a)
            if len(a) != len(b): raise ValueError("operands of other shapes")
            return all(np.allclose(x, y, rtol, atol, equal_nan) for x, y in zip(a, b))
        if a == b or a != a or b != b: return a == b or bool(equal_nan and a != a and b != b)
        return abs(b) != float("inf") and abs(a - b) <= atol + rtol * abs(b)"""
_STRICT = (
    "import numpy as np; np.allclose = (lambda close: lambda a, b, *others, **named: "
    "np.shape(a) == np.shape(b) and close(a, b, *others, **named))(np.allclose)"
)


def _is_plus(test: str) -> bool:
    """Return whether a text has a list of inputs, with results or with what computes them."""
    return re.search(r"^[ \t]*inputs = ", test, re.M) is not None


def without_numpy(test: str, judge: Judge) -> str:
    """Return tests that do not import numpy, unless they need more than a comparison of it.

    Those that do run where the sandbox's Python has numpy; elsewhere they say that it is missing.
    """
    text = _STAND_IN.replace("STRICT", str(judge == "strict"))
    if not set(_USED.findall(test)) <= _HAD:
        if judge == "reference":
            return test
        text = _STRICT
    return _NUMPY.sub(lambda _: text, test)


_CALLED = re.compile(r"(?<![.\w])([A-Za-z_]\w*)\s*\(")
_FIRST = re.compile(r"\s*assert\s+(?:not\s+)?([A-Za-z_]\w*)\s*\(")
_BUILT_IN = frozenset(dir(builtins))


def _tested_built_in(code: str | None, test: str) -> list[str]:
    """Return the built-in name that a program's tested function has, if it has one.

    That is the name called first in a test that calls built-in names only, when the program, if
    it is known, defines it.
    """
    first = _FIRST.match(test)
    if first is None or not _BUILT_IN.issuperset(_CALLED.findall(test)):
        return []
    if code is None:
        return [first[1]]
    defined = re.search(rf"^def[ \t]+{first[1]}[ \t]*\(", code, re.MULTILINE)
    return [first[1]] if defined else []


def assert_problem(
    name: str, code: str, tests: Sequence[str], time_s: float, *, apart: bool
) -> dict[str, Any]:
    """Return the problem of some statements about a program.

    apart  each statement is a test of its own, with the whole time
    """
    names = _tested_built_in(code, tests[0]) if tests else []
    texts = tests if apart or not tests else ["\n".join(tests) + "\n"]
    found = [statements_test(text, names=names) for text in texts]
    return asserted(found, time_s, MEMORY_MB, "", id=name)


def _humaneval(row: Row, judge: Judge) -> dict[str, Any]:
    entry, prompt = text(row, "entry_point", needed=True), text(row, "prompt")
    test = text(row, "test")
    limits = (PLUS_S, PLUS_MB) if _is_plus(test) else (HUMANEVAL_S, MEMORY_MB)
    tests = assert_test(without_numpy(test, judge), entry, [], prompt)
    gold = text(row, "canonical_solution")
    errata = ERRATA.get(str(row.get("task_id")))
    more: dict[str, Any] = {
        "title": entry,
        "entry_point": entry,
        "prompt": prompt,
        "errata": errata,
    }
    return asserted(tests, *limits, gold, **more)


def _leetcode(row: Row, _judge: Judge) -> dict[str, Any]:
    entry, prompt = text(row, "entry_point", needed=True), text(row, "prompt")
    tags = row.get("tags")
    tests = assert_test(text(row, "test"), entry, [], prompt)
    more = {"entry_point": entry, "prompt": prompt, "tags": tags if isinstance(tags, list) else []}
    return asserted(tests, LEETCODE_S, MEMORY_MB, text(row, "completion"), **more)


_DEFINED = re.compile(r"^(?:def|class)[ \t]+(\w+)", re.MULTILINE)
_WORD = re.compile(r"\w+")
_IMPORT = re.compile(r"(?:import|from) [\w.,* ]+")


def _mbpp(row: Row, judge: Judge) -> dict[str, Any]:
    code, tests = text(row, "code").replace("\r\n", "\n"), texts(row, "test_list")
    setup = [*texts(row, "test_imports"), text(row, "test_setup_code").replace("\r\n", "\n")]
    test = "\n".join([*filter(None, setup), *tests]) + "\n"
    plus = without_numpy(text(row, "test"), judge)
    words = set(_WORD.findall(test + plus))
    names = [name for name in dict.fromkeys(_DEFINED.findall(code)) if name in words]
    base = assert_test(test, "", names, "") if tests else []
    found = [*base, *assert_test(plus, "", names, "")]
    limits = (PLUS_S, PLUS_MB) if plus else (MBPP_S, MEMORY_MB)
    title = row.get("text") or row.get("prompt") or ""
    base_tests = str(len(base)) if plus and base else ""
    # In the original, one module has program and tests.
    prelude = "\n".join(filter(_IMPORT.fullmatch, texts(row, "test_imports")))
    return asserted(found, *limits, code, title=title, base_tests=base_tests, prelude=prelude)


def _acecode(row: Row, _judge: Judge) -> dict[str, Any]:
    tests = texts(row, "test_cases") or texts(row, "tests")
    names = _tested_built_in(None, tests[0]) if tests else []
    found = assert_test("\n".join(tests) + "\n", "", names, "")
    return asserted(found, ACECODE_S, MEMORY_MB, "")


def _deepseek(row: Row, _judge: Judge) -> dict[str, Any]:
    test = text(row, "test")
    if "ListNode(" in test or "TreeNode(" in test:
        raise RowError("test makes nodes, of a class that the row does not have: not graded")
    prompt = f"{text(row, 'prompt').rstrip()}\n        ''\n        "  # without an answer, a class
    more = {"title": text(row, "title"), "entry_point": "Solution", "prompt": prompt}
    more["prelude"] = _LEETCODE_PRELUDE
    return asserted(assert_test(test, "", [], ""), LEETCODE_S, MEMORY_MB, "", **more)


HUMANEVAL = RowFormat(
    name="humaneval",
    needs=fields("task_id entry_point canonical_solution test"),
    content={"test": CHECK},
    # HumanEval-Infilling: text behind the completion; EvalPlus' own files: more tests
    never=frozenset({"suffix", "base_input", "plus_input"}),
    ids={"id": of("task_id")},
    uses=("prompt",),
    convert=_humaneval,
)
LEETCODE = RowFormat(
    name="leetcode",
    needs=fields("task_id entry_point completion test"),
    content={
        "test": CHECK,
        "entry_point": text_with(r"^[ \t]*Solution\(\)\.", "is not a method of Solution()"),
    },
    ids={
        "id": of("task_id"),
        "aliases": of("question_id", read=lambda number: [] if number is None else [number]),
        "difficulty": of("difficulty", read=lower),
        "platform": of(read=lambda: "leetcode"),
        "contest_date": of("estimated_date", read=day),
    },
    uses=("prompt", "tags"),
    convert=_leetcode,
)
MBPP = RowFormat(
    name="mbpp",
    needs=fields("task_id code test_list"),
    content={"test_list": ASSERTS},
    ids={"id": of("task_id"), "aliases": of("task_id", read=lambda number: [f"Mbpp/{number}"])},
    uses=("text", "prompt", "test_imports", "test_setup_code", "test"),
    convert=_mbpp,
)
ACECODE = RowFormat(
    name="acecode",
    needs=fields("id question test_cases", "id question tests"),
    content={"test_cases": ASSERTS, "tests": ASSERTS},
    ids={"id": of("id"), "platform": of("source", read=label)},
    convert=_acecode,
)
DEEPSEEK_LEETCODE = RowFormat(
    name="deepseek-leetcode",
    needs=fields("task_id title prompt prompt_sft test"),
    content={"test": text_with(r"^\w+ = Solution\(\)", "does not make a Solution()")},
    ids={"id": of("task_id"), "aliases": of("title", read=lambda title: [title])},
    convert=_deepseek,
)

# ---- CRUXEval ----

# What an answer continues, and the tests.
_VALUE = (
    "def answer():\n    return ",
    "def check(candidate):\n    assert candidate() == (\nOUTPUT\n)\n",
)
_CALL = (
    f"class Call(tuple): pass\ndef f(*args, **named):\n    return Call((args, named))\n{_VALUE[0]}",
    "def check(candidate):\n    found = candidate()\n"
    "    assert type(found) is tuple and len(found) == 2 and type(found[1]) is dict\n"
    "    assert f(*found[0], **found[1]) == (\nOUTPUT\n)\n",
)
_DEFINES = text_with(r"^def f\(", "does not define f")


def is_expression(value: str) -> bool:
    """Return whether a text is one expression of Python."""
    try:
        ast.parse(value.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _cruxeval(row: Row, _judge: Judge, *, calls: bool) -> dict[str, Any]:
    code, output = text(row, "code", needed=True), text(row, "output", needed=True)
    given = text(row, "input")
    for field, value in (("output", output), ("input", f"f({given})")):
        if not interpret(is_expression, value):
            raise RowError(f"{field} is not a value in Python's notation")
    prompt, test = _CALL if calls else _VALUE
    tests = assert_test(test.replace("OUTPUT", output), "answer", [], code)
    gold = f"f({given})" if calls else output
    more = {"entry_point": "answer", "prompt": prompt}
    return asserted(tests, HUMANEVAL_S, MEMORY_MB, gold, **more)


CRUXEVAL_OUTPUT, CRUXEVAL_INPUT = (
    RowFormat(
        name=name,
        needs=fields("id code input output"),
        content={"code": _DEFINES},
        never=frozenset({"function_name"}),  # LiveCodeBench's execution
        ids={"id": of("id")},
        convert=partial(_cruxeval, calls=name == "cruxeval-input"),
    )
    for name in ("cruxeval-output", "cruxeval-input")
)
MOST_ANSWER = 1 << 16  # characters
_TAG = re.compile(r"\[/?ANSWER\]")


def expression_of(answer: str, row_format: str) -> str:
    """Return the expression of an answer to a row of a format; other code as it is.

    [ANSWER]assert f(1) == 2[/ANSWER]  ──▶  2, or f(1) where a call is asked for
    """
    if not row_format.startswith("cruxeval-") or len(answer) > MOST_ANSWER:
        return answer
    parts = _TAG.split(answer)
    found = (parts[-2] if len(parts) > 2 else parts[-1]).strip().removeprefix("assert ")
    if row_format == "cruxeval-input":
        return found.rpartition("==")[0].strip() or found
    return found.partition("==")[2].strip() if found.startswith("f(") else found


FORMATS = (HUMANEVAL, MBPP, ACECODE, LEETCODE, DEEPSEEK_LEETCODE, CRUXEVAL_OUTPUT, CRUXEVAL_INPUT)
