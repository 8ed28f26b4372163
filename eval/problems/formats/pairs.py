"""Tests as pairs of inputs and outputs, as in APPS and the data sets made from it.

    {"inputs": ["1 2\\n"], "outputs": ["3\\n"]}                       a run of the program each
    {"inputs": [[1, 2]], "outputs": [3], "fn_name": "add"}           a call each
    [{"input": …, "output": …, "type": "function_call", "fn_name": "add"}, …]

    ──▶ Tests(pairs, function) ──▶ columns(tests, judge, …) ──▶ our own columns

Arguments are a list, or text of one: JSON or Python's own notation, encoded once or twice. Those
of tests with `"testtype": "functional"` are LiveCodeBench's: JSON, one a line.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from gradebox.eval.common.errors import RowError, shown
from gradebox.eval.problems.formats.row_format import (
    MOST_TEXT,
    Judge,
    arguments,
    check_count,
    parsed,
    text,
)
from gradebox.eval.problems.row.row_workers import interpret
from gradebox.sandbox.common.json_text import load_json

MEMORY_MB = 1024.0  # the originals have no memory limit
_MOST_LITERAL = 1 << 20
_STRUCTURED = tuple("[({\"'")

# What APPS, TACO and rllm put before a solution, without numpy.
APPS_PRELUDE = "\n".join(
    (
        "import sys,time,itertools,collections,math,fractions,random,heapq,bisect,re,string",
        "from itertools import accumulate,product,permutations,combinations",
        "from collections import Counter,OrderedDict,deque,defaultdict,ChainMap",
        "from functools import lru_cache",
        "from math import sqrt,sin,cos,tan,ceil,fabs,floor,gcd,exp,log,log2",
        "from typing import List,Tuple,Optional,Dict,Set",
        "from heapq import *",
    )
)


def _by_size(item: tuple[int, Any]) -> int:
    return -item[0]


@dataclass(frozen=True)
class Tests:
    """(input, output) pairs as the data set has them, and the function that is called, or ""."""

    __test__ = False

    pairs: tuple[tuple[Any, Any], ...] = ()
    function: str = ""

    def longest(self, count: int) -> Tests:
        """Return the tests with the longest inputs, the longest first."""
        sizes = (len(given) if isinstance(given, (str, list)) else 0 for given, _ in self.pairs)
        ranked = [pair for _, pair in sorted(zip(sizes, self.pairs, strict=True), key=_by_size)]
        return replace(self, pairs=tuple(ranked[:count])) if len(ranked) > count else self


@dataclass(frozen=True)
class Judging:
    """How tests are judged.

    output, result, prelude  a judge of outputs, one of results, what is put before a program:
                             those of `--judge reference`; calls always have the prelude
    strict_result            the judge of results of `--judge strict`
    """

    output: str
    result: str
    prelude: str = APPS_PRELUDE
    strict_result: str = "wrapped"


APPS_JUDGING = Judging("apps-reference", "wrapped-reference")


def loaded(value: Any, field: str) -> Any:
    """Return a value that may be JSON text; None for none or blank text. Raises RowError."""
    if not isinstance(value, str):
        return value
    value = text({field: value}, field)
    return parsed(value, field) if value.strip() else None


def read_tests(value: Any, field: str, *, lines: bool = False) -> Tests:
    """Return the tests of a value in one of the forms above. Raises RowError.

    lines  texts of the second form are arguments as LiveCodeBench's, and results as JSON
    """
    value = loaded(value, field)
    if not value:
        return Tests()
    if isinstance(value, list):
        return _of_list(value, field)
    if not isinstance(value, dict):
        raise RowError(f"{field} is {shown(value)}: it must have inputs and outputs")
    if isinstance(value.get("input"), list):  # a column of structs, as columns
        check_count(value["input"], field)
        return _of_list(_transposed(value, field), field)
    inputs, outputs = value.get("inputs"), value.get("outputs")
    if inputs is None and outputs is None:
        return Tests()
    if not isinstance(inputs, list) or not isinstance(outputs, list):
        raise RowError(f"{field} has no lists inputs and outputs")
    if len(inputs) != len(outputs):
        raise RowError(f"{field} has {len(inputs)} inputs, {len(outputs)} outputs")
    check_count(inputs, field)
    pairs, function = tuple(zip(inputs, outputs, strict=True)), _name(value.get("fn_name"))
    if lines and function:
        pairs = tuple(
            (
                _lines(given, i) if isinstance(given, str) else given,
                parsed(end, f"test {i}: output") if isinstance(end, str) else end,
            )
            for i, (given, end) in enumerate(pairs)
        )
    return Tests(pairs, function)


def _transposed(value: dict[str, Any], field: str) -> list[dict[str, Any]]:
    columns = {name: items for name, items in value.items() if isinstance(items, list)}
    if len({len(items) for items in columns.values()}) > 1:
        raise RowError(f"{field} has columns of several lengths")
    return [dict(zip(columns, items, strict=True)) for items in zip(*columns.values(), strict=True)]


def _of_list(tests: list[Any], field: str) -> Tests:
    check_count(tests, field)
    functions: set[str] = set()
    pairs: list[tuple[Any, Any]] = []
    texts: list[int] = []  # tests whose arguments and results may be texts
    for number, test in enumerate(tests):
        if not isinstance(test, dict):
            raise RowError(f"{field}: test {number} is {shown(test)}: it must be an object")
        metadata = loaded(test.get("metadata"), f"test {number}: metadata")
        named = metadata.get("func_name") if isinstance(metadata, dict) else None
        kind = test.get("type") or test.get("testtype")
        function = "" if kind in ("stdin_stdout", "stdin") else _name(test.get("fn_name") or named)
        if kind in ("function_call", "functional") and not function:
            raise RowError(f"{field}: test {number} calls a function and names none")
        functions.add(function)
        given, expected = test.get("input"), test.get("output")
        if kind == "functional":
            given, expected = _lines(given, number), loaded(expected, f"test {number}: output")
        elif function:
            texts.append(number)
        pairs.append((given, expected))
    if len(functions) > 1:
        names = ", ".join(name or "the program" for name in sorted(functions)[:3])
        raise RowError(f"{field} has tests of several kinds: {names}")
    if texts:
        values = _all_decoded([value for number in texts for value in pairs[number]])
        for number, given, expected in zip(texts, values[::2], values[1::2], strict=True):
            pairs[number] = (given if isinstance(given, (str, list)) else [given], expected)
    return Tests(tuple(pairs), functions.pop() if functions else "")


def _lines(value: Any, number: int) -> list[Any]:
    """Return LiveCodeBench's arguments: JSON, one a line."""
    if not isinstance(value, str):
        raise RowError(f"test {number}: input is {shown(value)}: it must be text")
    return arguments(value, number)


def _name(value: Any) -> str:
    if value is None or value == "":
        return ""
    if not isinstance(value, str) or not value.isidentifier():
        raise RowError(f"the function's name is {shown(value)}: it must be a name")
    return value


def columns(tests: Tests, judge: Judge, how: Judging) -> dict[str, Any]:
    """Return tests, their kind and what judges them in our own columns. Raises RowError."""
    function, strict = tests.function, judge == "strict"
    ours, theirs = None, how.output
    if function:
        ours, theirs = how.strict_result, how.result
    return {
        "test_kind": "call" if function else "stdin",
        "entry_point": f"Solution().{function} or {function}" if function else "",
        "prelude": how.prelude if function or not strict else "",
        "checker": ours if strict else theirs,
        "official_tests": list(_called(tests) if function else _run(tests)),
        "memory_limit": MEMORY_MB,
    }


def _run(tests: Tests) -> Iterator[dict[str, str]]:
    for number, (given, expected) in enumerate(tests.pairs):
        yield {
            "input": _joined(given, f"test {number}: input"),
            "output": _joined(expected, f"test {number}: output"),
        }


def _joined(value: Any, where: str) -> str:
    """Return a text, or a list of lines as one."""
    if isinstance(value, str):
        return text({where: value}, where)
    if isinstance(value, list) and all(isinstance(v, str) for v in value):
        return "\n".join(value)
    raise RowError(f"{where} is {shown(value)}: it must be text or a list of lines")


def _called(tests: Tests) -> Iterator[dict[str, str]]:
    values = _all_decoded([given for given, _ in tests.pairs])
    results = _all_decoded([e if isinstance(given, str) else None for given, e in tests.pairs])
    for number, ((given, expected), found) in enumerate(zip(tests.pairs, values, strict=True)):
        expected = results[number] if isinstance(given, str) else expected
        if isinstance(given, str) and not isinstance(found, list):
            raise RowError(
                f"test {number}: input is the text {shown(given)}, and a function is called"
            )
        args = list(found) if isinstance(found, (list, tuple)) else [found]
        first = args[0] if args else None
        whole = isinstance(first, dict) and bool(first) and all(_whole(key) for key in first)
        yield {
            "input": _json({"args": args} if whole else args, number),
            "output": _json(expected, number),
        }


def _whole(key: Any) -> bool:
    return str(key).removeprefix("-").isdecimal() and len(str(key)) < 100


def decoded(value: Any) -> Any:
    """Return the value of JSON or Python text, which may hold such text again."""
    return _all_decoded([value])[0]


def _all_decoded(values: Sequence[Any]) -> list[Any]:
    """Return the values of several texts. Those in Python's notation are read together."""
    found = [_read(value, python=False) for value in values]
    left = [i for i, (v, turn) in enumerate(found) if turn < 2 and len(v) <= _MOST_LITERAL]
    with suppress(RowError):  # texts that cannot be read stay texts: the field's reader complains
        read = interpret(python_values, [found[place] for place in left]) if left else []
        for place, value in zip(left, read, strict=True):
            found[place] = (value, 2)
    return [value for value, _ in found]


def python_values(texts: list[tuple[Any, int]]) -> list[Any]:
    """Return the values of texts in Python's notation, and of JSON or Python text in them.

    texts  each with 1 if it was in a text itself, else 0; one that is not Python is returned
    """
    return [_read(*text, python=True)[0] for text in texts]


def _read(value: Any, turn: int = 0, *, python: bool) -> tuple[Any, int]:
    """Return the value of a text, and 2; without `python`, a text that is not JSON and its turn."""
    while turn < 2 and isinstance(value, str) and (not turn or value.startswith(_STRUCTURED)):
        if len(value) > MOST_TEXT:
            break
        try:
            value = load_json(value)
        except (ValueError, RecursionError):
            if not python:
                return value, turn
            try:  # as JSON has it, like all that leaves a worker
                value = json.loads(json.dumps(ast.literal_eval(value)))
            except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
                break
        turn += 1
    return value, 2


def _json(value: Any, number: int) -> str:
    try:
        return json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        raise RowError(f"test {number} has values that are no data") from None
