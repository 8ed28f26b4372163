"""Built-ins for outputs of the form `Case 1: … Case 2: …`: caseicmp, casewcmp, casencmp."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count

from gradebox.checkers.builtins.stream import Stream, finish, presentation_error, wrong
from gradebox.checkers.tokens import shown


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
