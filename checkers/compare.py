"""Compare an output with the expected one, for problems without a checker.

| mode     | equal when                                                                        |
|----------|-----------------------------------------------------------------------------------|
| open-r1  | the tokens between runs of white space are the same (C's isspace: space, tab, CR,  |
|          | LF, VT, FF); YES and NO are equal in any case, every other token must be equal     |
|          | byte for byte                                                                      |
| upstream | the lines are the same after CRLF and CR became LF, spaces, tabs, VT and FF at the |
|          | ends of lines were dropped (leading ones count) and empty lines were dropped; or   |
|          | both are JSON of one value: numbers by value (1 equals 1.0), true is not 1, keys   |
|          | in any order                                                                       |
| exact    | the bytes are the same                                                             |

Everything works on bytes, so that an output that is not UTF-8 is compared like any other. JSON is
tried only below 1 MiB and 100 levels; beyond, the lines decide. Long outputs of programs are
compared through `long_outputs.py`, which asks a worker.
"""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Callable
from typing import Any, Literal, NoReturn

from gradebox.checkers.tokens import Lockstep, lines, shown, tokens

Mode = Literal["open-r1", "upstream", "exact"]
MODES: tuple[Mode, ...] = ("open-r1", "upstream", "exact")

JSON_BYTES = 1 << 20
_JSON_STARTS = tuple(bytes([c]) for c in b'[{"-0123456789tfn')
JSON_DEPTH = 100
JSON_DIGITS = 400

_WORDS = (b"YES", b"NO")
_BLANK = b" \t\v\f"


def equal(output: bytes, expected: bytes, mode: Mode = "open-r1") -> bool:
    """Return whether an output equals the expected one; raise ValueError for an unknown mode."""
    return not first_difference(output, expected, mode)


def first_difference(output: bytes, expected: bytes, mode: Mode = "open-r1") -> str:
    """Return where and how the two first differ, in one printable line; "" when they are equal.

    Raises ValueError for an unknown mode.
    """
    if mode not in MODES:
        raise ValueError(f"unknown comparison {mode!r}: choose one of {', '.join(MODES)}")
    if output == expected:
        return ""
    if mode == "exact":
        at = _common_prefix(output, expected)
        if at == min(len(output), len(expected)):
            return f"{len(output)} bytes, expected {len(expected)}; the first {at} are equal"
        return f"byte {at + 1}: {_versus(expected[at : at + 20], output[at : at + 20])}"
    if mode == "open-r1":
        name, unequal = "token", _unequal_token(output, expected)
    else:
        name, unequal = "non-empty line", _unequal_line(output, expected)
    if unequal is None or (mode == "upstream" and _same_json(output, expected)):
        return ""
    number, found, wanted = unequal
    return f"{name} {number}: {_versus(wanted, found)}"


def _versus(expected: bytes | None, found: bytes | None) -> str:
    words = ("the end" if x is None else f"'{shown(x)}'" for x in (expected, found))
    return "expected {}, found {}".format(*words)


# number (from 1), text of the output, text expected; None for a side that has ended
_Unequal = tuple[int, bytes | None, bytes | None]


def _unequal_token(output: bytes, expected: bytes) -> _Unequal | None:
    return _first_unequal(Lockstep(tokens(output), tokens(expected)), _same_token)


def _same_token(a: bytes, b: bytes) -> bool:
    return a == b or (len(a) == len(b) <= 3 and a.upper() == b.upper() in _WORDS)


def _unequal_line(output: bytes, expected: bytes) -> _Unequal | None:
    found, wanted = _unix_lines(output), _unix_lines(expected)
    if found == wanted:
        return None
    pair = Lockstep(lines(found, _non_empty), lines(wanted, _non_empty))
    return _first_unequal(pair, operator.eq)


def _first_unequal(pair: Lockstep, same: Callable[[bytes, bytes], bool]) -> _Unequal | None:
    for start, a, b in pair:
        # A window of many YES and NO has few distinct pairs: each distinct pair is compared once.
        if a == b or all(same(x, y) for x, y in set(zip(a, b, strict=True))):
            continue
        at = next(i for i, (x, y) in enumerate(zip(a, b, strict=True)) if not same(x, y))
        return start + at + 1, a[at], b[at]
    if pair.a or pair.b:
        return pair.count + 1, next(iter(pair.a), None), next(iter(pair.b), None)
    return None


def _unix_lines(data: bytes) -> bytes:
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return data.strip(b"\n")


def _non_empty(window: bytes) -> list[bytes]:
    """Return the lines without trailing blanks; empty ones are left out."""
    return [kept for line in window.split(b"\n") if (kept := line.rstrip(_BLANK))]


def _common_prefix(a: bytes, b: bytes) -> int:
    """Return the length of the common prefix by bisection: each step is one memcmp."""
    low, high = 0, min(len(a), len(b))
    view_a, view_b = memoryview(a), memoryview(b)
    while low < high:
        middle = (low + high + 1) // 2
        if view_a[low:middle] == view_b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _same_json(output: bytes, expected: bytes) -> bool:
    """Return whether two texts are JSON of one value; texts over a bound are not."""
    size = max(len(output), len(expected))
    if size > JSON_BYTES or not all(
        text.lstrip()[:1] in _JSON_STARTS for text in (output, expected)
    ):
        return False
    try:
        return _same_value(_parse_json(expected), _parse_json(output))
    except ValueError:
        return False


def _parse_json(data: bytes) -> Any:
    """Return the value of strict JSON in UTF-8 with bounded depth and numbers; raise ValueError."""
    if _depth(data) > JSON_DEPTH:
        raise ValueError("too deep")
    return json.loads(
        data.decode(), parse_int=_integer, parse_float=_float, parse_constant=_no_constant
    )


_NOT_BRACKETS = bytes(c for c in range(256) if c not in b"[]{}")


def _depth(data: bytes) -> int:
    """Return the nesting of brackets outside strings, counted no further than is allowed.

    Strings are removed by splitting: a regular expression takes quadratic time on bad ones.
    """
    outside = data.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2]
    brackets = b"".join(outside).translate(None, _NOT_BRACKETS)
    depth = deepest = 0
    for c in brackets:
        depth += 1 if c in b"[{" else -1
        deepest = max(deepest, depth)
        if deepest > JSON_DEPTH:
            break
    return deepest


def _integer(text: str) -> int | tuple[str]:
    """Keep numbers of very many digits as text: int() takes time quadratic in their length."""
    return int(text) if len(text) <= JSON_DIGITS else (text,)


def _float(text: str) -> float | tuple[str]:
    """Keep numbers beyond a double as text, or 1e400 would equal 1e500."""
    value = float(text)
    return value if math.isfinite(value) else (text,)


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")


def _same_value(a: Any, b: Any) -> bool:
    """Compare JSON values; Python's own == takes True for 1."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(_same_value, a, b))
    if isinstance(a, dict):
        return (
            isinstance(b, dict)
            and a.keys() == b.keys()
            and all(_same_value(value, b[key]) for key, value in a.items())
        )
    return bool(a == b)
