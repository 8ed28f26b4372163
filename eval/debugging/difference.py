"""Expected and actual output side by side, the first difference marked.

      3  1 2 3                     3  1 2 3
    > 4  4 5 6                   > 4  4 7 6
           ^                            ^
The place is found by the run's own comparison: by tokens, by lines, or by bytes. Nothing but
the lines shown is ever decoded, so outputs may be as long as they like.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import NamedTuple

from checkers import compare
from checkers.compare import Mode
from eval.debugging.screen import Row, Span, clean, cut, decoded, padded, row, width_of

BEFORE, AFTER = 3, 8
_TOKEN = re.compile(rb"[^ \t\r\n\v\f]+")
_LINE = re.compile(rb"[^\r\n]+")
_BLANK = b" \t\r\n\v\f"
_STEP = 1 << 16
_LONGEST_TOKEN = 200


class Place(NamedTuple):
    """Byte offsets at which two texts first differ."""

    expected: int
    output: int


def first_place(expected: bytes, output: bytes, mode: Mode) -> Place | None:
    """Where the texts first differ by `mode`; None when they are equal."""
    if compare.equal(output, expected, mode):
        return None
    same = _common(expected, output)
    if mode == "exact":
        return Place(same, same)
    if mode == "upstream":
        return _first_line(expected, output)
    while same and expected[same - 1] not in _BLANK:
        same -= 1
    pairs = zip_longest(_TOKEN.finditer(expected, same), _TOKEN.finditer(output, same))
    for ours, theirs in pairs:
        if ours is None or theirs is None or not compare.equal(theirs[0], ours[0]):
            return Place(_start(ours, expected), _start(theirs, output))
    return Place(same, same)


def _first_line(expected: bytes, output: bytes) -> Place:
    for ours, theirs in zip_longest(_full_lines(expected), _full_lines(output)):
        if ours is None or theirs is None or ours[0].rstrip(_BLANK) != theirs[0].rstrip(_BLANK):
            at = _common(ours[0], theirs[0]) if ours and theirs else 0
            return Place(_start(ours, expected) + at, _start(theirs, output) + at)
    return Place(0, 0)


def _full_lines(data: bytes) -> Iterator[re.Match[bytes]]:
    return (m for m in _LINE.finditer(data) if m[0].strip(_BLANK))


def _start(found: re.Match[bytes] | None, data: bytes) -> int:
    return found.start() if found is not None else len(data)


def _common(a: bytes, b: bytes) -> int:
    """Length of the common beginning."""
    at, end = 0, min(len(a), len(b))
    while at < end and a[at : at + _STEP] == b[at : at + _STEP]:
        at += _STEP
    at = min(at, end)
    stop = min(at + _STEP, end)
    return next((i for i in range(at, stop) if a[i] != b[i]), stop)


@dataclass(frozen=True)
class Layout:
    """How the two columns share the width. `full`: every line, else those around the place."""

    width: int
    mode: Mode
    full: bool = False


class _Line(NamedTuple):
    """A line of a text: its number from 1 and its bounds; None in its place: there is none."""

    number: int
    start: int
    end: int


def side_by_side(expected: bytes, output: bytes, layout: Layout) -> Iterator[Row]:
    """The rows to show, a heading first."""
    place = first_place(expected, output, layout.mode)
    at = place or Place(0, 0)
    known = _lines_before(expected, at.expected), _lines_before(output, at.output)
    back = max(known) if layout.full else min(BEFORE, max(known))
    left = _around(expected, at.expected, back)
    right = _around(output, at.output, back)
    last = max(expected.count(b"\n"), output.count(b"\n")) if layout.full else max(known) + AFTER
    digits = max(4, len(str(last + 1)))
    room = (layout.width - 2 * digits - 6) // 2
    margin = " " * (digits + 3)
    yield row(
        Span(margin + padded(f"expected, {len(expected)} bytes", room), "head"),
        Span("  " + " " * (digits + 1) + f"output, {len(output)} bytes"[:room], "head"),
    )
    for index, (ours, theirs) in enumerate(zip_longest(left, right)):
        first = place is not None and index == back
        differs = first or not _alike(ours, theirs, expected, output, layout.mode)
        mark = ">" if first else "*" if differs and place is not None else " "
        cells = [
            _cell(expected, ours, room, digits, at.expected if first else None),
            _cell(output, theirs, room, digits, at.output if first else None),
        ]
        yield (Span(mark + " ", "mark"), *cells[0].spans, Span("  "), *cells[1].spans)
        if first:
            yield _carets(cells, room, digits)
        if not layout.full and index >= back + AFTER:
            break


def _alike(
    ours: _Line | None, theirs: _Line | None, expected: bytes, output: bytes, mode: Mode
) -> bool:
    a = expected[ours.start : ours.end] if ours else b""
    b = output[theirs.start : theirs.end] if theirs else b""
    return a == b or compare.equal(b, a, mode)


def _lines_before(data: bytes, offset: int) -> int:
    return data.count(b"\n", 0, offset)


def _around(data: bytes, offset: int, back: int) -> Iterator[_Line | None]:
    """The lines from `back` before the offset's on; a None for each before the first line."""
    start = data.rfind(b"\n", 0, offset) + 1
    number = _lines_before(data, offset) + 1
    there = min(back, number - 1)
    for _ in range(back - there):
        yield None
    for _ in range(there):
        start = data.rfind(b"\n", 0, start - 1) + 1
        number -= 1
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        yield _Line(number, start, end)
        number, start = number + 1, end + 1


class _Cell(NamedTuple):
    spans: tuple[Span, ...]
    column: int | None  # where the difference stands in it


def _cell(data: bytes, line: _Line | None, room: int, digits: int, at: int | None) -> _Cell:
    """One line of one side, `room` columns wide; `at`: where the first difference is."""
    if line is None:
        text = padded("(nothing)" if at is not None else "", room)
        return _Cell((Span(" " * (digits + 1)), Span(text, "dim")), 0 if at is not None else None)
    number = Span(f"{line.number:>{digits}} ", "dim")
    if at is None or not line.start <= at <= line.end:
        return _Cell((number, Span(padded(_head(data, line.start, line.end, room), room))), None)
    start = _window(data, line.start, at, room)
    found = _TOKEN.match(data, at, min(line.end, at + _LONGEST_TOKEN))
    stop = found.end() if found else at
    before = ("…" if start > line.start else "") + clean(decoded(data[start:at]))
    if width_of(before) >= room:  # a few bytes may be many escapes
        before = "…"
    left = room - width_of(before)
    token = cut(decoded(data[at:stop]), left)
    rest = padded(_head(data, stop, line.end, room), max(0, left - width_of(token)))
    spans = (number, Span(before), Span(token, "mark"), Span(rest))
    return _Cell(spans, width_of(before))


def _head(data: bytes, start: int, end: int, room: int) -> str:
    """The beginning of a line; longer than its room when more of it is left out."""
    return decoded(data[start : min(end, start + 4 * room + 4)])


def _window(data: bytes, start: int, at: int, room: int) -> int:
    """Where to begin showing a line so that `at` is seen."""
    if at - start <= room // 2:
        return start
    begin = at - room // 3
    while begin > start and data[begin] & 0xC0 == 0x80:
        begin -= 1
    return begin


def _carets(cells: list[_Cell], room: int, digits: int) -> Row:
    """A `^` under each place."""
    line = "  "
    for cell in cells:
        margin = " " * (digits + 1)
        at = min(cell.column or 0, room - 1)
        line += margin + (" " * at + "^" if cell.column is not None else "").ljust(room) + "  "
    return row(Span(line.rstrip(), "mark"))
