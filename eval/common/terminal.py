"""Text for a terminal: untrusted characters escaped, columns counted, colours, a pager.

    str or bytes ─ escape ─▶ Span(text, style) … ─▶ Row ─ Terminal.show ─▶ stdout or a pager

Rendering escapes every span, so untrusted text can't reach the terminal in any other form.
Control characters, bidirectional marks, combining characters and bytes that are not UTF-8
are shown as escapes such as `\x1b` or `\u202e`.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
import sys
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import IO, NamedTuple

MIN_WIDTH, DEFAULT_WIDTH, MAX_WIDTH = 60, 80, 240
DEFAULT_PAGER = "less -R"
MAX_CUT_INPUT = 4096  # characters of a line that `cut` examines

# SGR codes that are distinguishable on light and dark backgrounds.
STYLES = {
    "": "",
    "head": "1",
    "good": "32",
    "bad": "31",
    "mark": "1;31",
    "warn": "1;33",
    "dim": "2",
}
_NAMED_ESCAPES = {"\t": "\\t", "\r": "\\r", "\n": "\\n", "\0": "\\0"}


class Span(NamedTuple):
    """A piece of a line. `style` is a key of STYLES."""

    text: str
    style: str = ""


Row = tuple[Span, ...]


def row(*parts: str | Span) -> Row:
    """Return a line made of spans; a plain string becomes a span without a style."""
    return tuple(Span(part) if isinstance(part, str) else part for part in parts)


def decode(data: bytes) -> str:
    """Decode UTF-8; an invalid byte becomes `\\xNN`."""
    return data.decode("utf-8", "backslashreplace")


def escape(text: str) -> str:
    """Return `text` as one line in which every unprintable character is an escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if _is_plain(c) else _escape_char(c) for c in text)


def _is_plain(char: str) -> bool:
    return char.isprintable() and not unicodedata.category(char).startswith("M")


def _escape_char(char: str) -> str:
    code = ord(char)
    if char in _NAMED_ESCAPES:
        return _NAMED_ESCAPES[char]
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def display_width(text: str) -> int:
    """Return the number of columns that escaped text occupies."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def cut(text: str, width: int) -> str:
    """Escape `text` and cut it to `width` columns; "…" marks a cut."""
    if width <= 0:
        return ""
    text = escape(text[:MAX_CUT_INPUT])
    if display_width(text) <= width:
        return text
    used, kept = 1, []
    for c in text:
        used += display_width(c)
        if used > width:
            break
        kept.append(c)
    return "".join(kept) + "…"


def pad(text: str, width: int) -> str:
    """Escape `text` and cut it or fill it with blanks to exactly `width` columns."""
    text = cut(text, width)
    return text + " " * (width - display_width(text))


def wrap_anywhere(text: str, width: int) -> list[str]:
    """Escape `text` and break it every `width` columns, also inside words."""
    text = escape(text)
    if text.isascii():
        return [text[at : at + width] for at in range(0, len(text), width)] or [""]
    lines, used = [""], 0
    for c in text:
        columns = display_width(c)
        if used + columns > width:
            lines.append("")
            used = 0
        lines[-1] += c
        used += columns
    return lines


def wrap_words(text: str, width: int, indent: str = "") -> list[str]:
    """Escape `text` and break it between words; a word longer than a line is broken inside.

    indent  what every line but the first begins with
    """
    lines: list[str] = []
    for word in escape(" ".join(text.split())).split(" "):
        if lines and display_width(lines[-1]) + 1 + display_width(word) <= width:
            lines[-1] += " " + word
            continue
        start = indent if lines else ""
        first, *others = wrap_anywhere(word, width - len(indent))
        lines += [start + first, *(indent + part for part in others)]
    return lines


def render(line: Row, *, colour: bool) -> str:
    """Return the line as it is written, every span escaped."""
    out = []
    for text, style in line:
        code = STYLES[style] if colour else ""
        text = escape(text)
        out.append(f"\x1b[{code}m{text}\x1b[0m" if code and text else text)
    return "".join(out).rstrip(" ")


@dataclass(frozen=True)
class Terminal:
    """An output of `width` columns and `height` lines, with or without colours and a pager."""

    out: IO[str]
    width: int = DEFAULT_WIDTH
    height: int = 24
    colour: bool = False
    paged: bool = False
    whole: bool = False  # read by another program, whose lines have no width

    def show(self, lines: Iterable[Row]) -> None:
        """Write the lines, through the pager when they fill more than one screen."""
        rendered = (render(line, colour=self.colour) for line in lines)
        first_screen = [text for _, text in zip(range(self.height), rendered, strict=False)]
        pager = self._start_pager() if self.paged and len(first_screen) >= self.height else None
        if pager is None:
            _write(self.out, first_screen)
            _write(self.out, rendered)
            return
        # The user may quit the pager before it has read everything.
        with contextlib.suppress(BrokenPipeError), pager, pager.stdin or self.out as pipe:
            _write(pipe, first_screen)
            _write(pipe, rendered)

    def _start_pager(self) -> subprocess.Popen[str] | None:
        """Start the user's pager; return None when it is missing or PAGER is `cat`."""
        words = shlex.split(os.environ.get("PAGER") or DEFAULT_PAGER)
        if not words or words == ["cat"] or shutil.which(words[0]) is None:
            return None
        # F: exit if all fits on one screen. R: pass colours through. X: leave the text visible.
        environment = {"LESS": "FRX", **os.environ}
        return subprocess.Popen(
            words, stdin=subprocess.PIPE, text=True, errors="backslashreplace", env=environment
        )


def _write(out: IO[str], lines: Iterable[str]) -> None:
    for text in lines:
        out.write(text + "\n")
    out.flush()


def open_terminal(*, pager: bool = True, out: IO[str] | None = None) -> Terminal:
    """Return the terminal of this process (stdout); NO_COLOR, TERM and COLUMNS are obeyed."""
    out = out or sys.stdout
    terminal = out.isatty()
    size = shutil.get_terminal_size((DEFAULT_WIDTH, 24))
    columns = size.columns if terminal or os.environ.get("COLUMNS") else DEFAULT_WIDTH
    no_colour = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    return Terminal(
        out,
        width=max(MIN_WIDTH, min(columns, MAX_WIDTH)),
        height=max(4, size.lines),
        colour=terminal and not no_colour,
        paged=terminal and pager,
        whole=not terminal and not os.environ.get("COLUMNS"),
    )


_PLAIN = frozenset(range(0x20, 0x7F)) - {ord("'"), ord("\\")}


def shell_word(text: str) -> str:
    """Return `text` as one word for bash; invisible characters are written as `$'\\x1b'`.

    A pasted control character could run a command before the user presses Enter. A bidirectional
    mark could make the command look different from what it does.
    """
    if text.isprintable():
        return shlex.quote(text)
    data = text.encode("utf-8", "surrogatepass")
    return "$'" + "".join(chr(b) if b in _PLAIN else f"\\x{b:02x}" for b in data) + "'"


def option(name: str, value: str) -> str:
    """Return `--name value`, or `--name=value` when the value would look like an option."""
    return f"{name}{'=' if value.startswith('-') else ' '}{shell_word(value)}"
