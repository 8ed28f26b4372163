"""Built-ins that read two sequences side by side: wcmp, ncmp, uncmp, rcmp4/6/9, rncmp, nyesno.

They compare window by window (`checkers/tokens.py`). A window of equal and well-formed tokens is
accepted as a whole. In any other window the tokens are judged one by one, the answer's first, as
testlib does.
"""

from __future__ import annotations

import functools
from array import array
from collections.abc import Callable, Iterator

from gradebox.checkers.builtins.stream import (
    Stream,
    close_to,
    failed,
    near,
    ok,
    presentation_error,
    tokens_of,
    without_bom,
    wrong,
)
from gradebox.checkers.tokens import Lockstep, Test, always, first_unequal, shown


def _pair(output: bytes, answer: bytes, test: Test = always) -> Lockstep:
    """Return the answer's tokens beside the output's."""
    return Lockstep(tokens_of(answer, "answer", test), tokens_of(output, "output", test))


def wcmp(_input: bytes, output: bytes, answer: bytes) -> None:
    """Accept the same tokens in the same order."""
    if without_bom(output, "output") == answer:
        raise ok("the same tokens")
    pair = _pair(output, answer)
    for start, expected, _, found, _ in pair:
        at = first_unequal(expected, found)
        if at >= 0:
            raise wrong(
                f"token {start + at + 1}: expected '{shown(expected[at])}', "
                f"found '{shown(found[at])}'"
            )
    if pair.b.rest:
        raise wrong(f"the output has extra tokens after the {pair.count} expected")
    if pair.a.rest:
        raise wrong(f"the output ends after {pair.count} tokens, more are expected")
    raise ok(f"{pair.count} tokens")


# For the rules of each kind of stream only: they hold no text.
_ANSWER = Stream(b"", "answer")
_OUTPUT = Stream(b"", "output")

_SIGNS = bytes(
    ord("1") if chr(c).isdigit() and c < 128 else ord(" ") if c in b" \t\r\n" else c
    for c in range(256)
)
_LEADING = bytes(ord("1") if c in b"123456789" else s for c, s in enumerate(_SIGNS))
_LEADING = _LEADING[:48] + b"0" + _LEADING[49:]
_KNOWN = b"1 -"
_MISPLACED_MINUS = (b"0-", b"1-", b"--", b"- ", b"-0")


def plainly_integers(window: bytes) -> bool:
    """Return whether every token is certainly a 64-bit integer in testlib's spelling.

    It searches for what no integer contains, at the speed of memory; a regular expression takes
    ten times as long. False means that each token needs a look (19 digits, for example).
    """
    text = window.translate(_SIGNS)
    if text.translate(None, _KNOWN) or b"1" * 19 in text:
        return False
    zeros = b" " + window.translate(_LEADING) + b" "
    if b"-" in text and any(pair in zeros for pair in _MISPLACED_MINUS):
        return False
    return b" 0" not in zeros or not (b" 00" in zeros or b" 01" in zeros)


def ncmp(_input: bytes, output: bytes, answer: bytes) -> None:
    """Accept the same 64-bit integers in the same order."""
    pair = _integer_pair(output, answer)
    for start, expected, plain, found, _ in pair:
        # Every integer has one spelling, so that equal tokens are equal numbers.
        if plain and expected == found:
            continue
        for i, (a, b) in enumerate(zip(expected, found, strict=True), start):
            if _ANSWER.as_integer(a) != _OUTPUT.as_integer(b):
                raise _differ(i, a, b)
    missing = _count_integers(pair.a.drain(), _ANSWER)
    extra = _count_integers(pair.b.drain(), _OUTPUT)
    _same_length(pair.count, missing, extra)
    raise ok(f"{pair.count} numbers")


def _integer_pair(output: bytes, answer: bytes) -> Lockstep:
    """Return both streams; only the answer's windows are tested, since equal ones need one test."""
    return Lockstep(tokens_of(answer, "answer", plainly_integers), tokens_of(output, "output"))


def _differ(index: int, expected: bytes, found: bytes) -> Exception:
    return wrong(f"number {index + 1}: expected '{shown(expected)}', found '{shown(found)}'")


def _same_length(count: int, missing: int, extra: int) -> None:
    if missing:
        raise wrong(f"the answer has {count + missing} elements, the output {count}")
    if extra:
        raise wrong(f"the output has {count + extra} elements, the answer {count}")


def _count_integers(windows: Iterator[tuple[list[bytes], bool]], stream: Stream) -> int:
    count = 0
    for tokens, _ in windows:
        if not plainly_integers(b" ".join(tokens)):
            for token in tokens:
                stream.as_integer(token)
        count += len(tokens)
    return count


def uncmp(_input: bytes, output: bytes, answer: bytes) -> None:
    """Accept the same 64-bit integers, each as often, in any order."""
    if (count := _plainly_equal(output, answer)) is not None:
        raise ok(f"{count} numbers")
    expected = _integers(answer, _ANSWER)
    found = _integers(output, _OUTPUT)
    if len(expected) != len(found):
        raise wrong(f"expected {len(expected)} numbers, found {len(found)}")
    if expected != found and not _same_numbers(expected, found):
        raise wrong(f"not the same {len(expected)} numbers in some order")
    raise ok(f"{len(expected)} numbers")


MANY = 100_000


def _same_numbers(a: array[int], b: array[int]) -> bool:
    """Compare in any order; long ones with numpy, since lists of integers take much memory."""
    if len(a) < MANY:
        return sorted(a) == sorted(b)
    import numpy as np

    views = [np.frombuffer(each, dtype=np.int64).copy() for each in (a, b)]
    for view in views:
        view.sort()
    return bool(np.array_equal(*views))


def _plainly_equal(output: bytes, answer: bytes) -> int | None:
    """Return how many integers both have in the same order; None when that is uncertain."""
    pair = _integer_pair(output, answer)
    for _, expected, plain, found, _ in pair:
        if not plain or expected != found:
            return None
    return None if pair.a.rest or pair.b.rest else pair.count


def _integers(data: bytes, stream: Stream) -> array[int]:
    """Return all numbers of a stream, 8 bytes each."""
    numbers = array("q")
    tokens = tokens_of(data, stream.source, plainly_integers)
    while (window := tokens.take())[0]:
        numbers.extend(map(int if window[1] else stream.as_integer, window[0]))
    return numbers


_NUMBER = b"0123456789+-.eE \t\r\n"


def _number_characters(window: bytes) -> bool:
    return not window.translate(None, _NUMBER)


def _doubles(tokens: list[bytes], plain: bool) -> list[float] | None:
    """Return the doubles of a window; None when the tokens must be read one by one.

    Python's float() accepts what testlib accepts, once letters other than e and underscores are
    ruled out (`plain`).
    """
    if not plain:
        return None
    try:
        return list(map(float, tokens))
    except ValueError:
        return None


def _double_sequence(
    error: float,
    alike: Callable[[float, float, float], bool],
    _input: bytes,
    output: bytes,
    answer: bytes,
) -> None:
    """Accept as many doubles as the answer has; more in the output are a presentation error."""
    pair = _pair(output, answer, _number_characters)
    for start, expected, plain_a, found, plain_b in pair:
        a = _doubles(expected, plain_a)
        b = a if expected == found else _doubles(found, plain_b)
        if a is None or b is None:
            a, b = [], []
            for ours, theirs in zip(expected, found, strict=True):
                a.append(_ANSWER.as_double(ours))
                b.append(_OUTPUT.as_double(theirs))
                _check_alike(start + len(a), a[-1], b[-1], error, alike)
        elif a is not b:
            for i, (x, y) in enumerate(zip(a, b, strict=True), start + 1):
                if x != y:
                    _check_alike(i, x, y, error, alike)
    if pair.a.rest:
        _ANSWER.as_double(pair.a.next or b"")
        raise presentation_error(f"the output ends after {pair.count} numbers, more are expected")
    if pair.b.rest:
        raise presentation_error(f"the output has extra tokens after the {pair.count} expected")
    raise ok(f"{pair.count} numbers")


def _check_alike(
    number: int,
    expected: float,
    found: float,
    error: float,
    alike: Callable[[float, float, float], bool],
) -> None:
    if not alike(expected, found, error):
        raise wrong(
            f"number {number}: expected {expected:.10g}, found {found:.10g}, error over {error:g}"
        )


rcmp4 = functools.partial(_double_sequence, 1e-4, close_to)
rcmp6 = functools.partial(_double_sequence, 1e-6, close_to)
rcmp9 = functools.partial(_double_sequence, 1e-9, close_to)
rncmp = functools.partial(_double_sequence, 1.5e-5, near)

_YES_NO = frozenset((b"YES", b"NO"))


def nyesno(_input: bytes, output: bytes, answer: bytes) -> None:
    """Accept the same sequence of YES and NO, in any case."""
    pair = _pair(output, answer)
    for start, expected, _, found, _ in pair:
        # A window of yes and no has few distinct pairs.
        if all(
            x.upper() == y.upper() in _YES_NO for x, y in set(zip(expected, found, strict=True))
        ):
            continue
        a, b = map(bytes.upper, expected), map(bytes.upper, found)
        for i, (x, y) in enumerate(zip(a, b, strict=True), start + 1):
            if x not in _YES_NO:
                raise failed(f"token {i} of the answer file is '{shown(x)}', not YES or NO")
            if y not in _YES_NO:
                raise presentation_error(f"token {i}: expected YES or NO, found '{shown(y)}'")
            if x != y:
                raise wrong(f"token {i}: expected {x.decode()}, found {y.decode()}")
    missing = sum(len(tokens) for tokens, _ in pair.a.drain())
    extra = sum(len(tokens) for tokens, _ in pair.b.drain())
    _same_length(pair.count, missing, extra)
    raise ok(f"{pair.count} tokens")
