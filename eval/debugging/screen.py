"""Text on a terminal: untrusted text made harmless, colours, widths, a pager.

    str or bytes ─ clean ─▶ Span(text, style) … ─▶ Row ─ Screen ─▶ stdout or a pager

Whatever is printed is a `Span`, and every span is cleaned when it is painted: there is no
way around it. A tab, a control character, a bidi mark or a combining one shows as an escape
(`\\x1b`, `\\u202e`), and so do bytes that are not UTF-8.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO, NamedTuple

MIN_WIDTH, PLAIN_WIDTH, MAX_WIDTH = 60, 80, 240
DEFAULT_PAGER = "less -R"
LONGEST = 4096  # characters of one line that are ever looked at

# SGR codes that can be told from each other on light and dark grounds.
STYLES: Mapping[str, str] = {
    "": "",
    "head": "1",
    "good": "32",
    "bad": "31",
    "mark": "1;31",
    "warn": "1;33",
    "dim": "2",
}
_NAMED = {"\t": "\\t", "\r": "\\r", "\0": "\\0"}


class Span(NamedTuple):
    """A piece of a line; `style` is a key of STYLES."""

    text: str
    style: str = ""


Row = tuple[Span, ...]


def row(*parts: str | Span) -> Row:
    """A line of spans, plain text among them."""
    return tuple(Span(part) if isinstance(part, str) else part for part in parts)


def decoded(data: bytes) -> str:
    """Bytes as text, those that are not UTF-8 as \\xNN."""
    return data.decode("utf-8", "backslashreplace")


def clean(text: str) -> str:
    """`text` as one harmless line: what does not print plainly is spelled as an escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if _plain(c) else _escape(c) for c in text)


def _plain(char: str) -> bool:
    return char.isprintable() and not unicodedata.category(char).startswith("M")


def _escape(char: str) -> str:
    code = ord(char)
    named = _NAMED.get(char)
    if named:
        return named
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def width_of(text: str) -> int:
    """Columns that cleaned text takes."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def cut(text: str, width: int) -> str:
    """Cleaned text of at most `width` columns; "…" says that something is missing."""
    if width <= 0:
        return ""
    text = clean(text[:LONGEST])
    if width_of(text) <= width:
        return text
    used, kept = 1, []
    for c in text:
        used += width_of(c)
        if used > width:
            break
        kept.append(c)
    return "".join(kept) + "…"


def padded(text: str, width: int) -> str:
    """`cut`, filled up with blanks."""
    text = cut(text, width)
    return text + " " * (width - width_of(text))


def wrapped(text: str, width: int) -> list[str]:
    """Cleaned text in lines of at most `width` columns, cut anywhere."""
    text = clean(text)
    if text.isascii():
        return [text[at : at + width] for at in range(0, len(text), width)] or [""]
    lines: list[str] = []
    line: list[str] = []
    used = 0
    for c in text:
        w = width_of(c)
        if used + w > width:
            lines.append("".join(line))
            line, used = [], 0
        line.append(c)
        used += w
    return [*lines, "".join(line)]


def folded(text: str, width: int, indent: str = "") -> list[str]:
    """Cleaned text broken between words; a longer word is broken where it must be."""
    lines: list[str] = []
    for word in clean(" ".join(text.split())).split(" "):
        if lines and width_of(lines[-1]) + 1 + width_of(word) <= width:
            lines[-1] += " " + word
            continue
        start = indent if lines else ""
        parts = wrapped(word, width - len(indent))
        lines += [start + parts[0], *(indent + part for part in parts[1:])]
    return lines


def paint(line: Row, *, colour: bool) -> str:
    """The line as it is written, every span cleaned."""
    out = []
    for text, style in line:
        code = STYLES[style] if colour else ""
        text = clean(text)
        out.append(f"\x1b[{code}m{text}\x1b[0m" if code and text else text)
    return "".join(out).rstrip(" ")


@dataclass(frozen=True)
class Screen:
    """Where lines go: `width` columns, with colours or without, paged or not."""

    out: IO[str]
    width: int = PLAIN_WIDTH
    height: int = 24
    colour: bool = False
    paged: bool = False

    def show(self, lines: Iterable[Row]) -> None:
        """Writes the lines, through a pager when they are more than a terminal holds."""
        painted = (paint(line, colour=self.colour) for line in lines)
        head = [text for _, text in zip(range(self.height), painted, strict=False)]
        pager = self._pager() if self.paged and len(head) >= self.height else None
        if pager is None:
            _write(self.out, head)
            _write(self.out, painted)
            return
        with contextlib.suppress(BrokenPipeError), pager, pager.stdin or self.out as pipe:
            _write(pipe, head)
            _write(pipe, painted)

    def _pager(self) -> subprocess.Popen[str] | None:
        """The user's pager, started; None where there is none or it is switched off."""
        words = shlex.split(os.environ.get("PAGER") or DEFAULT_PAGER)
        if not words or words == ["cat"] or shutil.which(words[0]) is None:
            return None
        # F: leave when all fits; R: colours, and no other control sequence; X: leave it there.
        environment = {"LESS": "FRX", **os.environ}
        return subprocess.Popen(
            words, stdin=subprocess.PIPE, text=True, errors="backslashreplace", env=environment
        )


def _write(out: IO[str], lines: Iterable[str] | Iterator[str]) -> None:
    for text in lines:
        out.write(text + "\n")
    out.flush()


def open_screen(*, pager: bool = True, out: IO[str] | None = None) -> Screen:
    """The screen of this process: stdout as it is, NO_COLOR and COLUMNS honoured."""
    out = out or sys.stdout
    reconfigure = getattr(out, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
    terminal = out.isatty()
    size = shutil.get_terminal_size((PLAIN_WIDTH, 24))
    wide = size.columns if terminal or os.environ.get("COLUMNS") else PLAIN_WIDTH
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    return Screen(
        out,
        width=max(MIN_WIDTH, min(wide, MAX_WIDTH)),
        height=max(4, size.lines),
        colour=terminal and not plain,
        paged=terminal and pager,
    )
