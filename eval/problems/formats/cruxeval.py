"""CRUXEval: predict what a function returns, or a call of it that returns a value.

    code, input, output ─┬─ cruxeval-output: an answer is a value
                         └─ cruxeval-input: an answer is a call, f(…)

An answer is an expression. It is evaluated in the program's box, which does not have the function;
its value or its arguments are sent to the tests' box, which has it.
"""

from __future__ import annotations

import ast
import re
from functools import partial
from typing import Any

from gradebox.eval.common.errors import RowError
from gradebox.eval.problems.formats.asserts import HUMANEVAL_S, MEMORY_MB
from gradebox.eval.problems.formats.row_format import (
    Judge,
    Row,
    RowFormat,
    assert_test,
    asserted,
    fields,
    of,
    text,
    text_with,
)
from gradebox.eval.problems.row.row_workers import interpret

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


def _convert(row: Row, _judge: Judge, *, calls: bool) -> dict[str, Any]:
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
        uses=("code", "input", "output"),
        convert=partial(_convert, calls=name == "cruxeval-input"),
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


FORMATS = (CRUXEVAL_OUTPUT, CRUXEVAL_INPUT)
