"""Parts of the debugger's pages: texts, commands, the list of the cases that have a reason:

problem    sample  solution      case          verdict  why
1000/A          2  gpt-3         official:0    WA       token 1: expected '6', found '7'

And expected and actual output side by side, with the first difference marked. The run's comparison
mode decides what a difference is: tokens, lines or bytes. Only the lines shown are decoded, so
outputs may be of any length.

      3  1 2 3                     3  1 2 3
    > 4  4 5 6                   > 4  4 7 6
           ^                            ^
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, NamedTuple

from gradebox.checkers import compare, long_outputs
from gradebox.checkers.compare import Mode
from gradebox.eval.common.terminal import (
    MAX_CUT_INPUT,
    Row,
    Span,
    cut,
    decode,
    display_width,
    escape,
    option,
    pad,
    row,
    shell_word,
    wrap_anywhere,
    wrap_words,
)
from gradebox.eval.debugging.find import Json, Results, SolutionQuery, case_name, matching_cases
from gradebox.sandbox.common.own_command import command
from gradebox.sandbox.model import MIB

FIRST_LINES, LAST_LINES = 12, 16
VERDICT_STYLES = {"AC": "good", "CU": "warn", "ER": "warn", "SK": "dim"}


def title(record: Json, case: str, width: int) -> Iterator[Row]:
    """Yield the lines that name the solution and the case."""
    text = (
        f"{record.get('problem_id')}  sample {record.get('sample_i')}  {record.get('solution_id')}"
        f"  (line {record.get('line')}, {record.get('language')})  case {case}"
    )
    for line in wrap_words(text, width, "  "):
        yield row(Span(line, "head"))


def heading(text: str, width: int) -> Row:
    """Return the first line of a section."""
    return row(Span(cut(f"-- {text} ", width), "head"))


def block(
    name: str, data: bytes, width: int, *, full: bool = False, tail: bool = False
) -> Iterator[Row]:
    """Yield a text under its name.

    full  all lines, wrapped; else the first lines
    tail  the last lines instead of the first
    """
    yield row("")
    if not data:
        yield heading(f"{name}: empty", width)
        return
    yield heading(f"{name}, {size(len(data))}", width)
    text = data.removesuffix(b"\n")
    if full:
        for line in text.split(b"\n"):
            for part in wrap_anywhere(decode(line), width - 2):
                yield row("  " + part)
        return
    if tail:
        shown = text.rsplit(b"\n", LAST_LINES)[-LAST_LINES:]
    else:
        shown = text.split(b"\n", FIRST_LINES)[:FIRST_LINES]
    omitted = text.count(b"\n") + 1 - len(shown)
    more = row(Span(f"  … {omitted} more lines; --full shows all", "dim")) if omitted else None
    if more and tail:
        yield more
    for line in shown:
        yield row("  " + cut(decode(line[: 8 * width]), width - 2))
    if more and not tail:
        yield more


def size(count: Any) -> str:
    """Return `1 byte`, `2048 bytes` or `12.0 MB`; "?" when the size is unknown."""
    if not isinstance(count, int):
        return "?"
    if count >= MIB:
        return f"{count / MIB:.1f} MB"
    return f"{count} byte" + "s" * (count != 1)


def command_rows(words: Iterable[str], width: int) -> Iterator[Row]:
    """Yield a command to copy: words quoted for the shell, lines joined by a backslash."""
    line = "  "
    for word in words:
        if line.strip() and display_width(line) + 1 + display_width(word) > width - 2:
            yield row(line + " \\")
            line = "      "
        line += word if not line.strip() else " " + word
    yield row(line)


def debug_command(results: str, record: Json, case: str = "") -> list[str]:
    """Return the words, quoted for the shell, of the command for a solution or one case of it."""
    return [
        command("debug"),
        shell_word(results),
        option("--problem", str(record.get("problem_id"))),
        option("--sample", str(record.get("sample_i"))),
        *([option("--case", case)] if case else []),
    ]


COLUMNS = {"problem": 10, "sample": 6, "solution": 14, "case": 12, "verdict": 7}
NARROW = 100  # below that many columns the reason gets the space of the solution's name


def case_list(
    results: Results,
    query: SolutionQuery,
    reason: str,
    *,
    results_name: str,
    width: int,
    whole: bool = False,
) -> Iterator[Row]:
    """Yield the table, the number of cases, and a command that explains the first case.

    results_name  the results as the user named them
    whole         cut nothing: the lines are for another program
    """
    shown = [name for name in COLUMNS if whole or width >= NARROW or name != "solution"]
    cases = solutions = 0
    last: Json | None = None
    first: tuple[Json, Json] | None = None
    for record, case in matching_cases(results, query, reason):
        if not solutions:
            titles = [pad(name, COLUMNS[name]) for name in shown]
            yield row(Span("  ".join([*titles, "why"]), "dim"))
        solutions += record is not last
        last = record
        if case is not None:
            cases += 1
            first = first or (record, case)
        yield _line(record, case, shown, None if whole else width)
    if not solutions:
        for line in wrap_words(f"no case in {results_name} has the reason {reason}", width):
            yield row(line)
        return
    yield row("")
    yield row(Span(f"{cases} cases in {solutions} solutions", "head"))
    if first is not None:
        record, case = first
        yield row("explain the first:")
        words = debug_command(results_name, record, case_name(case))
        yield from command_rows(words, sys.maxsize if whole else width)


def _line(record: Json, case: Json | None, shown: list[str], width: int | None) -> Row:
    verdict = str(case.get("verdict")) if case is not None else "none"
    why = " ".join(str((case or record).get("error") or (case or {}).get("reason") or "").split())
    values = {
        "problem": str(record.get("problem_id")),
        "sample": str(record.get("sample_i")),
        "solution": str(record.get("solution_id")),
        "case": case_name(case) if case is not None else "none",
        "verdict": verdict,
    }
    fit = pad if width is not None else _filled
    cells = [fit(values[name], COLUMNS[name]) for name in shown]
    left = MAX_CUT_INPUT if width is None else width - sum(COLUMNS[name] + 2 for name in shown)
    return (
        Span("  ".join(cells[:-1]) + "  "),
        Span(cells[-1], VERDICT_STYLES.get(verdict, "bad")),
        Span("  " + cut(why, max(0, left))),
    )


def _filled(text: str, width: int) -> str:
    text = escape(text)
    return text + " " * (width - display_width(text))


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
