"""Built-ins that read lines: fcmp and lcmp.

A line ends at LF or CRLF; there is no line after the last end of line. An output that ends early
reads as empty lines. More than blanks after the answer's last line is a presentation error.

testlib's reader treats a CR without an LF in a peculiar way: it drops the CR and keeps the next
character, whatever that is (byte 255 at the end of the file).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from gradebox.checkers.builtins.stream import ok, presentation_error, without_bom, wrong
from gradebox.checkers.tokens import Lockstep, lines, shown

Alike = Callable[[bytes, bytes], bool]

_BLANKS = b" \t\r\n"
_END = b"\xff"
_CR = re.compile(rb"\r([^\n]?)", re.DOTALL)


def fcmp(_input: bytes, output: bytes, answer: bytes) -> None:
    """Accept the same lines, character by character."""
    _line_judge(output, answer, lambda _a, _b: False)


def lcmp(_input: bytes, output: bytes, answer: bytes) -> None:
    """Accept the same lines, each compared as a sequence of tokens (between C's white space)."""
    _line_judge(output, answer, lambda a, b: a.split() == b.split())


def _line_judge(output: bytes, answer: bytes, alike: Alike) -> None:
    output = without_bom(output, "output")
    if output == answer:
        raise ok("the same lines")
    ours, theirs = _without_cr(answer), _without_cr(output)
    if ours == theirs:
        raise ok("the same lines")
    if ours == b"\n" or ours.endswith(b"\n\n"):  # an empty line at the end is none
        ours = ours[:-1]
    pair = Lockstep(lines(ours), lines(theirs))
    for start, expected, found in pair:
        if expected != found:
            _judge_lines(start, zip(expected, found, strict=True), alike)
    number = pair.count
    for window in pair.rest(0):
        _judge_lines(number, ((line, b"") for line in window), alike)
        number += len(window)
    for window in pair.rest(1):
        left = b"".join(window).strip(_BLANKS)
        if left and not (left == _END and output.endswith(b"\r")):  # a blank that became one
            raise presentation_error(f"the output goes on after line {number}, the last expected")
    raise ok(f"{number} lines")


def _judge_lines(start: int, pairs: Iterable[tuple[bytes, bytes]], alike: Alike) -> None:
    for number, (expected, found) in enumerate(pairs, start + 1):
        if expected != found and not alike(expected, found):
            raise wrong(f"line {number}: expected '{shown(expected)}', found '{shown(found)}'")


def _without_cr(data: bytes) -> bytes:
    usual = data.replace(b"\r\n", b"\n")
    if b"\r" not in usual:
        return usual
    return _CR.sub(lambda m: m[1] or (_END if m.end() == len(data) else b""), data)
