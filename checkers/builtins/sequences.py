"""Built-ins that read two sequences side by side: wcmp, ncmp, uncmp, rcmp4/6/9, rncmp, nyesno.

They compare window by window (`checkers/tokens.py`). A window of equal and well-formed tokens is
accepted as a whole. In any other window the tokens are judged one by one, the answer's first, as
testlib does.
"""

from __future__ import annotations

import functools
import re
from array import array
from collections.abc import Callable
from itertools import chain

from gradebox.checkers.builtins.stream import (
    YES_NO,
    Stream,
    close_to,
    near,
    ok,
    presentation_error,
    tokens_of,
    without_bom,
    wrong,
)
from gradebox.checkers.tokens import Lockstep, shown

# For the rules of each kind of stream only: they hold no text.
_ANSWER = Stream(b"", "answer")
_OUTPUT = Stream(b"", "output")
_PLAIN_INTEGER = re.compile(rb"0|-?[1-9][0-9]{0,17}")
_PLAIN_NUMBER = re.compile(rb"[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?")
MANY = 100_000


def _pair(output: bytes, answer: bytes) -> Lockstep:
    """Return the answer's tokens beside the output's."""
    return Lockstep(tokens_of(answer, "answer"), tokens_of(output, "output"))


def wcmp(_input: bytes, output: bytes, answer: bytes) -> None:
    """Accept the same tokens in the same order."""
    if without_bom(output, "output") == answer:
        raise ok("the same tokens")
    pair = _pair(output, answer)
    for start, expected, found in pair:
        if expected != found:
            for i, (a, b) in enumerate(zip(expected, found, strict=True), start + 1):
                if a != b:
                    raise wrong(f"token {i}: expected '{shown(a)}', found '{shown(b)}'")
    if pair.b:
        raise wrong(f"the output has extra tokens after the {pair.count} expected")
    if pair.a:
        raise wrong(f"the output ends after {pair.count} tokens, more are expected")
    raise ok(f"{pair.count} tokens")


def ncmp(_input: bytes, output: bytes, answer: bytes) -> None:
    """Accept the same 64-bit integers in the same order."""
    pair = _pair(output, answer)
    for start, expected, found in pair:
        # Every integer has one spelling, so that equal tokens are equal numbers.
        if expected == found and _are(expected, _PLAIN_INTEGER):
            continue
        for i, (a, b) in enumerate(zip(expected, found, strict=True), start + 1):
            if _ANSWER.as_integer(a) != _OUTPUT.as_integer(b):
                raise wrong(f"number {i}: expected '{shown(a)}', found '{shown(b)}'")
    _end_together(pair, _ANSWER.as_integer, _OUTPUT.as_integer)
    raise ok(f"{pair.count} numbers")


def _are(tokens: list[bytes], kind: re.Pattern[bytes]) -> bool:
    return all(map(kind.fullmatch, tokens))


def _end_together(
    pair: Lockstep, read_answer: Callable[[bytes], object], read: Callable[[bytes], object]
) -> None:
    """Reject sequences of two lengths; what is left is read first, and may be at fault."""
    missing = sum(1 for _ in map(read_answer, chain.from_iterable(pair.rest(0))))
    extra = sum(1 for _ in map(read, chain.from_iterable(pair.rest(1))))
    if missing:
        raise wrong(f"the answer has {pair.count + missing} elements, the output {pair.count}")
    if extra:
        raise wrong(f"the output has {pair.count + extra} elements, the answer {pair.count}")


def uncmp(_input: bytes, output: bytes, answer: bytes) -> None:
    """Accept the same 64-bit integers, each as often, in any order."""
    expected = _integers(answer, _ANSWER)
    found = _integers(output, _OUTPUT)
    if len(expected) != len(found):
        raise wrong(f"expected {len(expected)} numbers, found {len(found)}")
    if expected != found and not _same_numbers(expected, found):
        raise wrong(f"not the same {len(expected)} numbers in some order")
    raise ok(f"{len(expected)} numbers")


def _same_numbers(a: array[int], b: array[int]) -> bool:
    """Compare in any order; long ones with numpy, since lists of integers take much memory."""
    if len(a) < MANY:
        return sorted(a) == sorted(b)
    import numpy as np

    views = [np.frombuffer(each, dtype=np.int64).copy() for each in (a, b)]
    for view in views:
        view.sort()
    return bool(np.array_equal(*views))


def _integers(data: bytes, stream: Stream) -> array[int]:
    """Return all numbers of a stream, 8 bytes each."""
    numbers = array("q")
    for window in tokens_of(data, stream.source):
        numbers.extend(map(int if _are(window, _PLAIN_INTEGER) else stream.as_integer, window))
    return numbers


def _double_sequence(
    error: float,
    alike: Callable[[float, float, float], bool],
    _input: bytes,
    output: bytes,
    answer: bytes,
) -> None:
    """Accept as many doubles as the answer has; more in the output are a presentation error."""
    pair = _pair(output, answer)
    for start, expected, found in pair:
        plain = _are(expected, _PLAIN_NUMBER)
        if plain and expected == found:
            continue
        plain = plain and _are(found, _PLAIN_NUMBER)
        read, read_answer = (float, float) if plain else (_OUTPUT.as_double, _ANSWER.as_double)
        for i, (ours, theirs) in enumerate(zip(expected, found, strict=True), start + 1):
            a, b = read_answer(ours), read(theirs)
            if a != b and not alike(a, b, error):
                raise wrong(f"number {i}: expected {a:.10g}, found {b:.10g}, error over {error:g}")
    if pair.a:
        _ANSWER.as_double(pair.a[0])
        raise presentation_error(f"the output ends after {pair.count} numbers, more are expected")
    if pair.b:
        raise presentation_error(f"the output has extra tokens after the {pair.count} expected")
    raise ok(f"{pair.count} numbers")


rcmp4 = functools.partial(_double_sequence, 1e-4, close_to)
rcmp6 = functools.partial(_double_sequence, 1e-6, close_to)
rcmp9 = functools.partial(_double_sequence, 1e-9, close_to)
rncmp = functools.partial(_double_sequence, 1.5e-5, near)


def nyesno(_input: bytes, output: bytes, answer: bytes) -> None:
    """Accept the same sequence of YES and NO, in any case."""
    pair = _pair(output, answer)
    for start, expected, found in pair:
        # A window of yes and no has few distinct pairs.
        pairs = set(zip(expected, found, strict=True))
        if all(x.upper() == y.upper() in YES_NO for x, y in pairs):
            continue
        for i, (x, y) in enumerate(zip(expected, found, strict=True), start + 1):
            a, b = _ANSWER.as_yes_no(x, f"token {i}: "), _OUTPUT.as_yes_no(y, f"token {i}: ")
            if a != b:
                raise wrong(f"token {i}: expected {a}, found {b}")
    _end_together(pair, bytes, bytes)
    raise ok(f"{pair.count} tokens")
