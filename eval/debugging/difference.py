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
from gradebox.eval.common.terminal import Row, Span, decode, display_width, escape, pad, row

LINES_BEFORE, LINES_AFTER = 3, 8
_TOKEN = re.compile(rb"[^ \t\r\n\v\f]+")
_LINE = re.compile(rb"[^\r\n]+")
_BLANK = b" \t\r\n\v\f"
_BLOCK = 1 << 16


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
    unit, between = (_LINE, b"\r\n") if mode == "upstream" else (_TOKEN, _BLANK)
    while same and expected[same - 1] not in between:
        same -= 1
    units = (
        (found for found in unit.finditer(text, same) if found[0].strip(_BLANK))
        for text in (expected, output)
    )
    for a, b in zip_longest(*units):
        if a is None or b is None or not compare.equal(b[0], a[0], mode):
            within = _common_prefix(a[0], b[0]) if a and b and mode == "upstream" else 0
            starts = a.start() if a else len(expected), b.start() if b else len(output)
            return Offsets(starts[0] + within, starts[1] + within)
    return Offsets(same, same)


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
    text: bytes


def side_by_side(expected: bytes, output: bytes, layout: Layout) -> Iterator[Row]:
    """Yield a heading, then the lines around the first difference (or all lines)."""
    found = first_difference(expected, output, layout.mode)
    at = found or Offsets(0, 0)
    before = expected.count(b"\n", 0, at.expected), output.count(b"\n", 0, at.output)
    back = max(before) if layout.full else min(LINES_BEFORE, max(before))
    lines = zip_longest(
        _lines_around(expected, at.expected, back), _lines_around(output, at.output, back)
    )
    last = max(expected.count(b"\n"), output.count(b"\n"))
    shown = last if layout.full else min(last, max(before) + LINES_AFTER)
    digits = max(4, len(str(shown + 1)))
    room = (layout.width - 2 * digits - 6) // 2
    indent = " " * (digits + 3)
    yield row(
        Span(indent + pad(f"expected, {len(expected)} bytes", room), "head"),
        Span(indent + f"output, {len(output)} bytes"[:room], "head"),
    )
    for index, (a, b) in enumerate(lines):
        first = found is not None and index == back
        left, left_caret = _cell(a, room, digits, at.expected if first else None)
        right, right_caret = _cell(b, room, digits, at.output if first else None)
        texts = a.text if a else b"", b.text if b else b""
        same = texts[0] == texts[1] or compare.equal(texts[1], texts[0], layout.mode)
        mark = ">" if first else " " if same or found is None else "*"
        yield row(Span(mark + " ", "mark"), left, "  ", right)
        if first:
            yield row(Span(f"  {left_caret}  {right_caret}".rstrip(), "mark"))
        if not layout.full and index >= back + LINES_AFTER:
            break


def _lines_around(data: bytes, offset: int, back: int) -> Iterator[_Line | None]:
    """Yield `back` lines before the offset's, then the rest; None before the first line."""
    start = data.rfind(b"\n", 0, offset) + 1
    number = data.count(b"\n", 0, offset) + 1
    available = min(back, number - 1)
    yield from [None] * (back - available)
    for _ in range(available):
        start, number = data.rfind(b"\n", 0, start - 1) + 1, number - 1
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        yield _Line(number, start, data[start:end])
        number, start = number + 1, end + 1


def _cell(line: _Line | None, room: int, digits: int, at: int | None) -> tuple[str, str]:
    """Return one side of a row, and of the row below it, which has a `^` under the offset `at`."""
    blank = " " * (digits + 1)
    if line is None:
        nothing = "(nothing)" if at is not None else ""
        return blank + pad(nothing, room), blank + pad("^" if nothing else "", room)
    far = (at or line.start) - line.start
    start = far - room // 3 if far > room // 2 else 0  # so that the offset is visible
    while start and line.text[start] & 0xC0 == 0x80:  # inside a UTF-8 character
        start -= 1
    cut = "…" if start else ""
    before = display_width(escape(cut + decode(line.text[start:far])))
    if before >= room:  # a few bytes may become many escapes
        cut, start, before = "…", far, 1
    text = f"{line.number:>{digits}} " + pad(cut + decode(line.text[start:][: 4 * room + 4]), room)
    return text, blank + pad(" " * before + "^" if at is not None else "", room)
