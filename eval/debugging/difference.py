"""Expected and actual output side by side, with the first difference marked.

      3  1 2 3                     3  1 2 3
    > 4  4 5 6                   > 4  4 7 6
           ^                            ^
The run's comparison mode decides what a difference is: tokens, lines or bytes. Only the lines
shown are decoded, so outputs may be of any length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import NamedTuple

from gradebox.checkers import compare, long_outputs
from gradebox.checkers.compare import Mode
from gradebox.eval.common.terminal import Row, Span, cut, decode, display_width, escape, pad, row

LINES_BEFORE, LINES_AFTER = 3, 8
_TOKEN = re.compile(rb"[^ \t\r\n\v\f]+")
_LINE = re.compile(rb"[^\r\n]+")
_BLANK = b" \t\r\n\v\f"
_BLOCK = 1 << 16
_MAX_TOKEN = 200


class Offsets(NamedTuple):
    """Byte offsets in both texts."""

    expected: int
    output: int


def first_difference(expected: bytes, output: bytes, mode: Mode) -> Offsets | None:
    """Return where the texts first differ under `mode`; None when they are equal."""
    if not long_outputs.first_difference(output, expected, mode):
        return None
    same = _common_prefix(expected, output)
    if mode == "exact":
        return Offsets(same, same)
    if mode == "upstream":
        return _first_differing_line(expected, output)
    while same and expected[same - 1] not in _BLANK:
        same -= 1
    for a, b in zip_longest(_TOKEN.finditer(expected, same), _TOKEN.finditer(output, same)):
        if a is None or b is None or not compare.equal(b[0], a[0]):
            return Offsets(_start(a, expected), _start(b, output))
    return Offsets(same, same)


def _first_differing_line(expected: bytes, output: bytes) -> Offsets:
    for a, b in zip_longest(_nonblank_lines(expected), _nonblank_lines(output)):
        if a is None or b is None or a[0].rstrip(_BLANK) != b[0].rstrip(_BLANK):
            at = _common_prefix(a[0], b[0]) if a and b else 0
            return Offsets(_start(a, expected) + at, _start(b, output) + at)
    return Offsets(0, 0)


def _nonblank_lines(data: bytes) -> Iterator[re.Match[bytes]]:
    return (m for m in _LINE.finditer(data) if m[0].strip(_BLANK))


def _start(match: re.Match[bytes] | None, data: bytes) -> int:
    return match.start() if match is not None else len(data)


def _common_prefix(a: bytes, b: bytes) -> int:
    """Return the length of the common prefix, comparing blocks first."""
    at, end = 0, min(len(a), len(b))
    while at < end and a[at : at + _BLOCK] == b[at : at + _BLOCK]:
        at += _BLOCK
    at = min(at, end)
    stop = min(at + _BLOCK, end)
    return next((i for i in range(at, stop) if a[i] != b[i]), stop)


@dataclass(frozen=True)
class Layout:
    """How the columns are drawn: total width, comparison mode, and whether to show every line."""

    width: int
    mode: Mode
    full: bool = False


class _Line(NamedTuple):
    number: int  # from 1
    start: int
    end: int


def side_by_side(expected: bytes, output: bytes, layout: Layout) -> Iterator[Row]:
    """Yield a heading, then the lines around the first difference (or all lines)."""
    found = first_difference(expected, output, layout.mode)
    at = found or Offsets(0, 0)
    before = expected.count(b"\n", 0, at.expected), output.count(b"\n", 0, at.output)
    back = max(before) if layout.full else min(LINES_BEFORE, max(before))
    lines = zip_longest(
        _lines_around(expected, at.expected, back), _lines_around(output, at.output, back)
    )
    if layout.full:
        last = max(expected.count(b"\n"), output.count(b"\n"))
    else:
        last = max(before) + LINES_AFTER
    digits = max(4, len(str(last + 1)))
    room = (layout.width - 2 * digits - 6) // 2
    yield row(
        Span(" " * (digits + 3) + pad(f"expected, {len(expected)} bytes", room), "head"),
        Span(" " * (digits + 3) + f"output, {len(output)} bytes"[:room], "head"),
    )
    for index, (a, b) in enumerate(lines):
        first = found is not None and index == back
        same = _same_line(a, b, expected, output, layout.mode)
        mark = ">" if first else " " if same or found is None else "*"
        left = _cell(expected, a, room, digits, at.expected if first else None)
        right = _cell(output, b, room, digits, at.output if first else None)
        yield (Span(mark + " ", "mark"), *left.spans, Span("  "), *right.spans)
        if first:
            yield _caret_row(left, right, room, digits)
        if not layout.full and index >= back + LINES_AFTER:
            break


def _same_line(
    a: _Line | None, b: _Line | None, expected: bytes, output: bytes, mode: Mode
) -> bool:
    left = expected[a.start : a.end] if a else b""
    right = output[b.start : b.end] if b else b""
    return left == right or compare.equal(right, left, mode)


def _lines_around(data: bytes, offset: int, back: int) -> Iterator[_Line | None]:
    """Yield `back` lines before the offset's, then the rest; None before the first line."""
    start = data.rfind(b"\n", 0, offset) + 1
    number = data.count(b"\n", 0, offset) + 1
    available = min(back, number - 1)
    for _ in range(back - available):
        yield None
    for _ in range(available):
        start = data.rfind(b"\n", 0, start - 1) + 1
        number -= 1
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        yield _Line(number, start, end)
        number, start = number + 1, end + 1


class _Cell(NamedTuple):
    spans: tuple[Span, ...]
    column: int | None  # of the first difference


def _cell(data: bytes, line: _Line | None, room: int, digits: int, at: int | None) -> _Cell:
    """Return a line of one side in `room` columns. `at`: offset of the first difference."""
    if line is None:
        text = pad("(nothing)" if at is not None else "", room)
        return _Cell((Span(" " * (digits + 1)), Span(text, "dim")), 0 if at is not None else None)
    number = Span(f"{line.number:>{digits}} ", "dim")
    if at is None or not line.start <= at <= line.end:
        return _Cell((number, Span(pad(_prefix(data, line.start, line.end, room), room))), None)
    start = _visible_start(data, line.start, at, room)
    match = _TOKEN.match(data, at, min(line.end, at + _MAX_TOKEN))
    stop = match.end() if match else at
    before = ("…" if start > line.start else "") + escape(decode(data[start:at]))
    if display_width(before) >= room:  # a few bytes may become many escapes
        before = "…"
    left = room - display_width(before)
    token = cut(decode(data[at:stop]), left)
    rest = pad(_prefix(data, stop, line.end, room), max(0, left - display_width(token)))
    spans = (number, Span(before), Span(token, "mark"), Span(rest))
    return _Cell(spans, display_width(before))


def _prefix(data: bytes, start: int, end: int, room: int) -> str:
    """Decode enough of a line to fill its room, and more than that if there is more."""
    return decode(data[start : min(end, start + 4 * room + 4)])


def _visible_start(data: bytes, start: int, at: int, room: int) -> int:
    """Return the offset in a line from which to show it so that `at` is visible."""
    if at - start <= room // 2:
        return start
    begin = at - room // 3
    while begin > start and data[begin] & 0xC0 == 0x80:  # inside a UTF-8 character
        begin -= 1
    return begin


def _caret_row(left: _Cell, right: _Cell, room: int, digits: int) -> Row:
    """Return the row with a `^` under each first difference."""
    line = "  "
    for cell in (left, right):
        at = min(cell.column or 0, room - 1)
        caret = " " * at + "^" if cell.column is not None else ""
        line += " " * (digits + 1) + caret.ljust(room) + "  "
    return row(Span(line.rstrip(), "mark"))
