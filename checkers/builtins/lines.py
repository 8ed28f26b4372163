"""Built-ins that read lines: fcmp and lcmp.

A line ends at LF or CRLF; there is no line after the last end of line. An output that ends early
reads as empty lines. More than blanks after the answer's last line is a presentation error.

A CR without an LF is rare, and testlib's reader treats it in a peculiar way: it drops the CR and
keeps the next character, whatever that is (byte 255 at the end of the file). Texts with such a CR
are read line by line in `_lone_cr_lines`, all others in windows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from gradebox.checkers.builtins.stream import ok, presentation_error, without_bom, wrong
from gradebox.checkers.tokens import Lines, Lockstep, shown

Alike = Callable[[bytes, bytes], bool]

_BLANKS = b" \t\r\n"
_LONE_CR = re.compile(rb"\r(.?)", re.DOTALL)


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
    ours, theirs = answer.replace(b"\r\n", b"\n"), output.replace(b"\r\n", b"\n")
    if b"\r" in ours or b"\r" in theirs:
        _judge_lone_cr(output, answer, alike)
    elif ours == theirs:
        raise ok("the same lines")
    _judge_windows(theirs, ours, alike)


def _without_empty_end(data: bytes) -> bytes:
    """Drop an empty line at the end."""
    return data[:-1] if data == b"\n" or data.endswith(b"\n\n") else data


def _judge_windows(output: bytes, answer: bytes, alike: Alike) -> None:
    pair = Lockstep(Lines(_without_empty_end(answer)), Lines(output))
    for start, expected, _, found, _ in pair:
        if expected != found:
            _judge_lines(start, zip(expected, found, strict=True), alike)
    number = pair.count
    for lines, _ in pair.a.drain():
        _judge_lines(number, ((line, b"") for line in lines), alike)
        number += len(lines)
    for lines, _ in pair.b.drain():
        if b"".join(lines).strip(_BLANKS):
            raise _goes_on(number)
    raise ok(f"{number} lines")


def _judge_lines(start: int, pairs: Iterator[tuple[bytes, bytes]], alike: Alike) -> None:
    for number, (expected, found) in enumerate(pairs, start + 1):
        if expected != found and not alike(expected, found):
            raise wrong(f"line {number}: expected '{shown(expected)}', found '{shown(found)}'")


def _goes_on(number: int) -> Exception:
    return presentation_error(f"the output goes on after line {number}, the last expected")


def _judge_lone_cr(output: bytes, answer: bytes, alike: Alike) -> None:
    theirs = _lone_cr_lines(output)
    number = place = 0
    for number, (expected, _) in enumerate(_lone_cr_lines(answer), 1):
        found, place = next(theirs, (b"", len(output)))
        _judge_lines(number - 1, iter([(expected, found)]), alike)
    if output[place:].strip(_BLANKS):
        raise _goes_on(number)
    raise ok(f"{number} lines")


def _lone_cr_lines(data: bytes) -> Iterator[tuple[bytes, int]]:
    """Yield each line and the offset after it."""
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
