"""How an output is compared with the expected one where a problem has no checker.

| mode     | equal when                                                                        |
|----------|-----------------------------------------------------------------------------------|
| open-r1  | the same tokens between runs of white space (C's isspace: space, tab, CR, LF, VT,   |
|          | FF; leading and trailing runs count for nothing); a token that is YES or NO in any  |
|          | case equals the other spellings of the same word, every other token must be equal  |
|          | byte for byte                                                                      |
| upstream | the same lines once CRLF and CR became LF, spaces, tabs, VT and FF at the ends of   |
|          | lines were dropped (leading ones count) and empty lines were dropped; or both are  |
|          | JSON of one value: numbers by value (1 equals 1.0), true is not 1, order of keys   |
|          | is free                                                                            |
| exact    | the same bytes                                                                     |

Everything works on bytes: an output that is not UTF-8 is compared like any other. JSON is
tried only below 1 MiB and 100 levels; beyond, the lines decide.
"""

from __future__ import annotations

import json
import math
from typing import Any, Literal, NoReturn

from checkers.tokens import Lines, Lockstep, Tokens, first_unequal, shown

Mode = Literal["open-r1", "upstream", "exact"]
MODES: tuple[Mode, ...] = ("open-r1", "upstream", "exact")

JSON_BYTES = 1 << 20
JSON_DEPTH = 100
JSON_DIGITS = 400

_WORDS = (b"YES", b"NO")


def equal(output: bytes, expected: bytes, mode: Mode = "open-r1") -> bool:
    """Whether `output` is `expected` by `mode`; ValueError for an unknown mode."""
    if mode not in MODES:
        raise ValueError(f"unknown comparison {mode!r}: choose one of {', '.join(MODES)}")
    if output == expected:
        return True
    if mode == "open-r1":
        return _same_tokens(output, expected)
    if mode == "upstream":
        return _unequal_line(output, expected) is None or _same_json(output, expected)
    return False


def first_difference(output: bytes, expected: bytes, mode: Mode = "open-r1") -> str:
    """Where and how the two first differ, one short printable line; "" when they are equal."""
    if equal(output, expected, mode):
        return ""
    if mode == "open-r1":
        return _token_difference(output, expected)
    if mode == "upstream":
        found = _unequal_line(output, expected)
        if found is None:
            return ""
        number, theirs, ours = found
        return f"non-empty line {number}: {_versus(ours, theirs)}"
    at = _first_byte(output, expected)
    if at == min(len(output), len(expected)):
        return f"{len(output)} bytes, expected {len(expected)}; the first {at} are equal"
    return f"byte {at + 1}: {_versus(expected[at : at + 20], output[at : at + 20])}"


def _same_token(a: bytes, b: bytes) -> bool:
    return a == b or (len(a) == len(b) <= 3 and a.upper() == b.upper() in _WORDS)


def _same_tokens(output: bytes, expected: bytes) -> bool:
    pair = Lockstep(Tokens(output), Tokens(expected))
    for _, a, _, b, _ in pair:
        # The pairs of a window of yes and no are few: each is looked at once.
        if a != b and not all(_same_token(x, y) for x, y in set(zip(a, b, strict=True))):
            return False
    return not (pair.rest_a or pair.rest_b)


def _token_difference(output: bytes, expected: bytes) -> str:
    pair = Lockstep(Tokens(output), Tokens(expected))
    for start, a, _, b, _ in pair:
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            if not _same_token(x, y):
                return f"token {start + i + 1}: {_versus(y, x)}"
    if pair.rest_a:
        return f"token {pair.count + 1}: expected the end, found '{shown(pair.left_a[0][0])}'"
    return f"token {pair.count + 1}: expected '{shown(pair.left_b[0][0])}', found the end"


def _versus(expected: bytes | None, found: bytes | None) -> str:
    words = ("the end" if x is None else f"'{shown(x)}'" for x in (expected, found))
    return "expected {}, found {}".format(*words)


_BLANK = b" \t\v\f"


def _unix_lines(data: bytes) -> bytes:
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return data.strip(b"\n")


class _KeptLines(Lines):
    """The lines that count: without trailing blanks, empty ones left out."""

    def cut(self, window: bytes) -> list[bytes]:
        return [kept for line in window.split(b"\n") if (kept := line.rstrip(_BLANK))]


def _unequal_line(output: bytes, expected: bytes) -> tuple[int, bytes | None, bytes | None] | None:
    """Number (from 1) and both texts of the first line that differs, None for a missing one."""
    theirs, ours = _unix_lines(output), _unix_lines(expected)
    if theirs == ours:
        return None
    pair = Lockstep(_KeptLines(theirs), _KeptLines(ours))
    for start, a, _, b, _ in pair:
        at = first_unequal(a, b)
        if at >= 0:
            return start + at + 1, a[at], b[at]
    if pair.rest_a or pair.rest_b:
        found = pair.left_a[0][0] if pair.rest_a else None
        wanted = pair.left_b[0][0] if pair.rest_b else None
        return pair.count + 1, found, wanted
    return None


def _first_byte(a: bytes, b: bytes) -> int:
    """Length of the common prefix, by halving: each step is one memcmp."""
    low, high = 0, min(len(a), len(b))
    view_a, view_b = memoryview(a), memoryview(b)
    while low < high:
        middle = (low + high + 1) // 2
        if view_a[low:middle] == view_b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


class _NotJson(ValueError):
    """The text is no JSON that may be compared here."""


def _same_json(output: bytes, expected: bytes) -> bool:
    if max(len(output), len(expected)) > JSON_BYTES:
        return False
    try:
        return _same_value(_parsed(expected), _parsed(output))
    except _NotJson:
        return False


def _parsed(data: bytes) -> Any:
    """The value of strict JSON in UTF-8, depth and numbers bounded; _NotJson otherwise."""
    if _depth(data) > JSON_DEPTH:
        raise _NotJson("too deep")
    try:
        return json.loads(
            data.decode(),
            parse_int=_integer,
            parse_float=_float,
            parse_constant=_no_constant,
        )
    except ValueError as e:  # UnicodeDecodeError and JSONDecodeError are ValueErrors
        raise _NotJson(str(e)) from e


def _depth(data: bytes) -> int:
    """The nesting of brackets outside strings, counted no further than is allowed.

    By splitting: a regular expression for strings takes time quadratic in bad ones.
    """
    outside = data.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2]
    brackets = b"".join(outside).translate(None, _NOT_BRACKETS)
    depth = deepest = 0
    for c in brackets:
        depth += 1 if c in b"[{" else -1
        if depth > deepest:
            deepest = depth
            if deepest > JSON_DEPTH:
                break
    return deepest


_NOT_BRACKETS = bytes(c for c in range(256) if c not in b"[]{}")


def _integer(text: str) -> int | tuple[str]:
    """Numbers of very many digits stay text: int() takes time quadratic in their length."""
    return int(text) if len(text) <= JSON_DIGITS else (text,)


def _float(text: str) -> float | tuple[str]:
    """Numbers beyond a double stay text, or 1e400 would equal 1e500."""
    value = float(text)
    return value if math.isfinite(value) else (text,)


def _no_constant(text: str) -> NoReturn:
    raise _NotJson(f"{text} is no JSON")


def _same_value(a: Any, b: Any) -> bool:
    """Equality of JSON values; Python's own takes True for 1."""
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
