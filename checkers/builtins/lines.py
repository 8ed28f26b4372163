"""Built-ins that read lines: fcmp and lcmp.

A line ends at LF or CRLF, and the one after the last end of line is none. An output that
ends early reads as empty lines; one that goes on after the answer's last line by more than
blanks is a presentation error.

A CR that no LF follows is rare, and testlib's reader does something odd with it: it drops the
CR and keeps the character after it, whatever that is (byte 255 at the end of the file).
Texts with such a CR are read line by line in `_odd_lines`, all others in windows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from checkers.builtins.stream import misformed, ok, without_mark, wrong
from checkers.tokens import Lines, Lockstep, shown

Alike = Callable[[bytes, bytes], bool]

_BLANKS = b" \t\r\n"
_LONE_CR = re.compile(rb"\r(.?)", re.DOTALL)


def fcmp(_input: bytes, output: bytes, answer: bytes) -> None:
    """The same lines, character by character."""
    _line_judge(output, answer, lambda _a, _b: False)


def lcmp(_input: bytes, output: bytes, answer: bytes) -> None:
    """The same lines, each compared as a sequence of tokens (between C's white space)."""
    _line_judge(output, answer, lambda a, b: a.split() == b.split())


def _line_judge(output: bytes, answer: bytes, alike: Alike) -> None:
    output = without_mark(output, "output")
    if output == answer:
        raise ok("the same lines")
    ours, theirs = answer.replace(b"\r\n", b"\n"), output.replace(b"\r\n", b"\n")
    if b"\r" in ours or b"\r" in theirs:
        _judge_odd(output, answer, alike)
    elif ours == theirs:
        raise ok("the same lines")
    _judge_windows(theirs, ours, alike)


def _counted(data: bytes) -> bytes:
    """Without the empty line that may stand at the end."""
    return data[:-1] if data == b"\n" or data.endswith(b"\n\n") else data


def _judge_windows(output: bytes, answer: bytes, alike: Alike) -> None:
    pair = Lockstep(Lines(_counted(answer)), Lines(output))
    for start, expected, _, found, _ in pair:
        if expected != found:
            _judge_lines(start, zip(expected, found, strict=True), alike)
    number = pair.count
    for lines, _ in pair.drain_a():
        _judge_lines(number, ((line, b"") for line in lines), alike)
        number += len(lines)
    for lines, _ in pair.drain_b():
        if b"".join(lines).strip(_BLANKS):
            raise _goes_on(number)
    raise ok(f"{number} lines")


def _judge_lines(start: int, pairs: Iterator[tuple[bytes, bytes]], alike: Alike) -> None:
    for number, (expected, found) in enumerate(pairs, start + 1):
        if expected != found and not alike(expected, found):
            raise wrong(f"line {number}: expected '{shown(expected)}', found '{shown(found)}'")


def _goes_on(number: int) -> Exception:
    return misformed(f"the output goes on after line {number}, the last expected")


def _judge_odd(output: bytes, answer: bytes, alike: Alike) -> None:
    theirs = _odd_lines(output)
    number = place = 0
    for number, (expected, _) in enumerate(_odd_lines(answer), 1):
        found, place = next(theirs, (b"", len(output)))
        _judge_lines(number - 1, iter([(expected, found)]), alike)
    if output[place:].strip(_BLANKS):
        raise _goes_on(number)
    raise ok(f"{number} lines")


def _odd_lines(data: bytes) -> Iterator[tuple[bytes, int]]:
    """Each line and the place after it."""
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
