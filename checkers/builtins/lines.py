"""Built-ins for lines, fcmp and lcmp, and for `Case 1: … Case 2: …`: caseicmp, casewcmp, casencmp.

A line ends at LF or CRLF; there is no line after the last end of line. An output that ends early
reads as empty lines. More than blanks after the answer's last line is a presentation error.

testlib's reader treats a CR without an LF in a peculiar way: it drops the CR and keeps the next
character, whatever that is (byte 255 at the end of the file).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import count

from gradebox.checkers.builtins.stream import (
    Stream,
    finish,
    ok,
    presentation_error,
    without_bom,
    wrong,
)
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


# ---- cases ----


def _read_word(stream: Stream, wanted: bytes, case: int) -> None:
    found = stream.word()
    if found != wanted:
        raise stream.fault(f"case {case}: expected '{wanted.decode()}', found '{shown(found)}'")


def caseicmp(_input: bytes, output: bytes, answer: bytes) -> None:
    """Accept the same 64-bit integer for each case."""
    out, ans = Stream(output, "output"), Stream(answer, "answer")
    expected, found = _numbers(ans), _numbers(out)
    for case, (a, b) in enumerate(zip(expected, found, strict=False), 1):
        if a != b:
            raise wrong(f"case {case}: expected {a}, found {b}")
    if len(expected) != len(found):
        raise presentation_error(f"expected {len(expected)} cases, found {len(found)}")
    raise finish(out, f"{len(expected)} cases")


def _numbers(stream: Stream) -> list[int]:
    numbers: list[int] = []
    while not stream.at_end():
        case = len(numbers) + 1
        _read_word(stream, b"Case", case)
        _read_word(stream, b"%d:" % case, case)
        numbers.append(stream.integer())
    return numbers


def _cases(stream: Stream, value: Callable[[bytes], object]) -> Iterator[list[object]]:
    """Yield the values of each case; the `Case` that ends one begins the next.

    As in testlib, once a `Case` ended a case, no further `Case` is expected, not even at the end
    of the file. So a lone `Case` at the end is harmless.
    """
    begun = False
    for case in count(1):
        if not begun:
            _read_word(stream, b"Case", case)
        _read_word(stream, b"%d:" % case, case)
        values: list[object] = []
        while not stream.at_end():
            token = stream.word()
            if token == b"Case":
                begun = True
                break
            values.append(value(token))
        yield values


def _case_judge(output: bytes, answer: bytes, value: Callable[[Stream, bytes], object]) -> None:
    ans, out = Stream(answer, "answer"), Stream(output, "output")
    ours, theirs = _cases(ans, partial(value, ans)), _cases(out, partial(value, out))
    case = 0
    while not ans.at_end():
        case += 1
        expected, found = next(ours), next(theirs)
        if expected != found:
            raise wrong(f"case {case}: {_difference(expected, found)}")
    raise finish(out, f"{case} cases")


def _difference(expected: list[object], found: list[object]) -> str:
    for i, (a, b) in enumerate(zip(expected, found, strict=False), 1):
        if a != b:
            return f"value {i}: expected '{_text(a)}', found '{_text(b)}'"
    return f"expected {len(expected)} values, found {len(found)}"


def _text(value: object) -> str:
    return shown(value) if isinstance(value, bytes) else str(value)


def casewcmp(_input: bytes, output: bytes, answer: bytes) -> None:
    """Accept the same sequence of tokens for each case."""
    _case_judge(output, answer, lambda _, token: token)


def casencmp(_input: bytes, output: bytes, answer: bytes) -> None:
    """Accept the same 64-bit integers for each case; as in testlib, a NUL ends a token."""
    _case_judge(output, answer, lambda stream, token: stream.as_integer(token.partition(b"\0")[0]))
