"""Where the tests lie in a long JSON line, so that one of them is parsed at a time.

    {"id": "1/A", "official_tests": [{"input": …}, {"input": …}], "rating": 800}
     └────────── head ───────────┘   └── span ───┘ └── span ───┘ └─── head ────┘

A line of 100 MB parsed as a whole is held three times over; here it is held once, as
bytes, and one test beside it. Strings are passed over with `bytes.find`, so the scan
costs about as much as reading.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from eval.problems.row import TESTS_COLUMN, RowError

_SIGN = re.compile(rb'["\[\]{}]')
_BLANK = re.compile(rb"[ \t\r\n]*")
_KEY = b'"' + TESTS_COLUMN.encode() + b'"'
_BACKSLASH = 0x5C


class Split(NamedTuple):
    """A row's JSON without its tests, and the (start, end) of each test in the line."""

    head: bytes
    spans: list[tuple[int, int]]


def split_tests(line: bytes) -> Split | None:
    """Splits a JSON object; None when its tests are no plain list of objects.

    The head and each span are still to be parsed; together they are as strict as
    parsing the whole. RowError for text that is certainly no JSON.
    """
    depth, at = 0, 0
    found: tuple[int, int, list[tuple[int, int]]] | None = None
    while (sign := _SIGN.search(line, at)) is not None:
        start, at = sign.span()
        if sign.group() != b'"':
            depth += 1 if sign.group() in (b"{", b"[") else -1
            continue
        at = _string_end(line, start)
        value = _value_of_key(line, at) if depth == 1 and line[start:at] == _KEY else None
        if value is None:
            continue
        if found is not None:
            return None
        elements = _elements(line, value)
        if elements is None:
            return None
        spans, at = elements
        found = value, at, spans
    if found is None:
        return None
    return Split(line[: found[0]] + b"null" + line[found[1] :], found[2])


def _value_of_key(line: bytes, at: int) -> int | None:
    """Where the value begins when a colon follows `at`."""
    at = _skip_blank(line, at)
    return _skip_blank(line, at + 1) if line[at : at + 1] == b":" else None


def _elements(line: bytes, at: int) -> tuple[list[tuple[int, int]], int] | None:
    """The spans of a list's objects and where the list ends; None when it is none."""
    if line[at : at + 1] != b"[":
        return None
    spans: list[tuple[int, int]] = []
    at = _skip_blank(line, at + 1)
    if line[at : at + 1] == b"]":
        return spans, at + 1
    while line[at : at + 1] == b"{":
        end = _object_end(line, at)
        spans.append((at, end))
        at = _skip_blank(line, end)
        if line[at : at + 1] == b"]":
            return spans, at + 1
        if line[at : at + 1] != b",":
            raise RowError(f"not JSON: a comma is missing at byte {at}")
        at = _skip_blank(line, at + 1)
    return None


def _object_end(line: bytes, at: int) -> int:
    """Behind the brace that closes the one at `at`."""
    depth = 0
    while (sign := _SIGN.search(line, at)) is not None:
        start, at = sign.span()
        if sign.group() == b'"':
            at = _string_end(line, start)
            continue
        depth += 1 if sign.group() in (b"{", b"[") else -1
        if depth == 0:
            return at
    raise RowError("not JSON: a brace is not closed")


def _string_end(line: bytes, start: int) -> int:
    """Behind the quote that closes the string begun at `start`: one no backslash escapes."""
    at = start + 1
    while (quote := line.find(b'"', at)) >= 0:
        before = quote - 1
        while line[before] == _BACKSLASH:  # ends at the opening quote
            before -= 1
        if (quote - before) % 2 == 1:
            return quote + 1
        at = quote + 1
    raise RowError("not JSON: a string is not closed")


def _skip_blank(line: bytes, at: int) -> int:
    match = _BLANK.match(line, at)
    return match.end() if match else at
