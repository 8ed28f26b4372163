"""Built-ins for outputs of the form `Case 1: … Case 2: …`: caseicmp, casewcmp, casencmp."""

from __future__ import annotations

from collections.abc import Callable

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


class _Cases:
    """Reads the cases of one stream; the `Case` that ends one begins the next.

    As in testlib, once a `Case` ended a case, no further `Case` is expected, not even at the end
    of the file. So a lone `Case` at the end is harmless.
    """

    def __init__(self, stream: Stream, value: Callable[[bytes], object]) -> None:
        self.stream = stream
        self._value = value
        self._begun = False

    def read(self, case: int) -> list[object]:
        if not self._begun:
            _read_word(self.stream, b"Case", case)
        _read_word(self.stream, b"%d:" % case, case)
        values: list[object] = []
        while not self.stream.at_end():
            token = self.stream.word()
            if token == b"Case":
                self._begun = True
                break
            values.append(self._value(token))
        return values


def _case_judge(ours: _Cases, theirs: _Cases) -> None:
    case = 0
    while not ours.stream.at_end():
        case += 1
        expected, found = ours.read(case), theirs.read(case)
        if expected != found:
            raise wrong(f"case {case}: {_difference(expected, found)}")
    raise finish(theirs.stream, f"{case} cases")


def _difference(expected: list[object], found: list[object]) -> str:
    for i, (a, b) in enumerate(zip(expected, found, strict=False), 1):
        if a != b:
            return f"value {i}: expected '{_text(a)}', found '{_text(b)}'"
    return f"expected {len(expected)} values, found {len(found)}"


def _text(value: object) -> str:
    return shown(value) if isinstance(value, bytes) else str(value)


def casewcmp(_input: bytes, output: bytes, answer: bytes) -> None:
    """Accept the same sequence of tokens for each case."""
    ans, out = Stream(answer, "answer"), Stream(output, "output")
    _case_judge(_Cases(ans, bytes), _Cases(out, bytes))


def casencmp(_input: bytes, output: bytes, answer: bytes) -> None:
    """Accept the same 64-bit integers for each case; as in testlib, a NUL ends a token."""
    ans, out = Stream(answer, "answer"), Stream(output, "output")

    def integers(stream: Stream) -> Callable[[bytes], object]:
        return lambda token: stream.as_integer(token.partition(b"\0")[0])

    _case_judge(_Cases(ans, integers(ans)), _Cases(out, integers(out)))
