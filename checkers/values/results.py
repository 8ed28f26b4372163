"""Compare the results that a program in another language writes with those that tests expect.

    …what else it printed…
    \\x1egradebox results
    [2, 4]                     a line for each call: a literal of its language (literals.py)
    vec!["a"]

The expected output has as many lines of JSON. Values are compared as the tests do: exactly; by
`==` of JavaScript, which finds 1 equal to "1"; by that of C++, which finds 1 equal to true.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, get_args

from gradebox.checkers.check import Check, accept, reject, unclear
from gradebox.checkers.tokens import shown
from gradebox.checkers.values.literals import Unreadable, read_literal
from gradebox.sandbox.source_tokens import Style

RESULTS = "\n\x1egradebox results\n"
_LOOSE = ("c++", "javascript")


def judge_results(style: Style, output: bytes, expected: bytes) -> Check:
    """Judge what a program wrote; an empty `expected` stands for tests that cannot be read."""
    if not expected:
        return unclear("the tests are not calls whose results are compared with literals")
    wanted = expected.split(b"\n")[:-1]
    _, begun, results = output.rpartition(RESULTS.encode())
    found = results.split(b"\n", len(wanted))
    if not begun or len(found) <= len(wanted):
        return reject("the program ended before its last call")
    for number, (text, line) in enumerate(zip(found, wanted, strict=False), start=1):
        try:
            value = read_literal(text.decode("utf-8", "surrogateescape"), style)
        except Unreadable as error:
            return reject(f"call {number}: the result has {error}")
        if not _equal(value, json.loads(line), style in _LOOSE):
            return reject(f"call {number}: expected {shown(line)}, found {shown(text)}")
    return accept("every call returned what the tests expect")


def _equal(a: Any, b: Any, loose: bool) -> bool:
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(_equal(x, y, loose) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_equal(a[key], b[key], loose) for key in a)
    if isinstance(a, bool) != isinstance(b, bool) and not loose:
        return False
    scalars = not {type(a), type(b)} & {type(None), list, dict}
    if loose and scalars and isinstance(a, str) != isinstance(b, str):
        a, b = _as_number(a), _as_number(b)
    return bool(a == b)


def _as_number(value: Any) -> float:
    try:
        return float(value)
    except ValueError:
        return float("nan") if value.strip() else 0.0


RESULT_JUDGES: Mapping[str, Callable[[bytes, bytes], Check]] = {
    f"results-{style}": partial(judge_results, style) for style in get_args(Style)
}
