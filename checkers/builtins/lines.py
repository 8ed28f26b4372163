"""Built-ins that read lines: fcmp and lcmp.

A line ends at LF or CRLF. The output may end early or late by blank lines; anything more is
a presentation error. testlib's reader drops a CR that no LF follows and keeps the character
after it (the last byte of a file reads as byte 255 then); so does this one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from checkers.builtins.stream import misformed, ok, without_mark, wrong
from checkers.tokens import shown

_LONE_CR = re.compile(rb"\r(.?)", re.DOTALL)
_WINDOW_BYTES = 1 << 16


def read_lines(data: bytes) -> Iterator[tuple[bytes, int]]:
    """Each line and the place after it; an empty last line does not count."""
    at = 0
    while at < len(data):
        end = data.find(b"\n", at)
        ended = end >= 0
        line = data[at : end if ended else len(data)]
        at = end + 1 if ended else len(data)
        if b"\r" in line:
            line = _without_cr(line, b"" if ended else b"\xff")
        if not line and at >= len(data):
            return
        yield line, at


def _without_cr(line: bytes, at_the_end: bytes) -> bytes:
    return _LONE_CR.sub(lambda found: found[1] or at_the_end, line)


def _line_judge(output: bytes, answer: bytes, alike: Callable[[bytes, bytes], bool]) -> None:
    output = without_mark(output, "output")
    if output == answer:
        raise ok("the same lines")
    ours, theirs = read_lines(answer), read_lines(output)
    number = place = 0
    for number, (expected, _) in enumerate(ours, 1):
        found, place = next(theirs, (b"", len(output)))
        if expected != found and not alike(expected, found):
            raise wrong(f"line {number}: expected '{shown(expected)}', found '{shown(found)}'")
    if output[place:].strip(b" \t\r\n"):
        raise misformed(f"the output goes on after line {number}, the last expected")
    raise ok(f"{number} lines")


def fcmp(_input: bytes, output: bytes, answer: bytes) -> None:
    """The same lines, character by character."""
    _line_judge(output, answer, lambda _a, _b: False)


def lcmp(_input: bytes, output: bytes, answer: bytes) -> None:
    """The same lines, each compared as a sequence of tokens (between C's white space)."""
    _line_judge(output, answer, lambda a, b: a.split() == b.split())
