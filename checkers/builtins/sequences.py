"""Built-ins that read two sequences side by side: wcmp, ncmp, uncmp, rcmp4/6/9, rncmp, nyesno.

They compare window by window (`checkers/tokens.py`). A window of equal and well-formed tokens is
accepted as a whole. In any other window the tokens are judged one by one, the answer's first, as
testlib does.
"""

from __future__ import annotations

import functools
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
_NUMBER = b"0123456789+-.eE"
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


_SIGNS = bytes(
    ord("1") if chr(c).isdigit() and c < 128 else ord(" ") if c in b" \t\r\n" else c
    for c in range(256)
)
_LEADING = bytes(ord("1") if c in b"123456789" else s for c, s in enumerate(_SIGNS))
_LEADING = _LEADING[:48] + b"0" + _LEADING[49:]
_KNOWN = b"1 -"
_MISPLACED_MINUS = (b"0-", b"1-", b"--", b"- ", b"-0")


def _are_integers(tokens: list[bytes]) -> bool:
    """Return whether every token is certainly a 64-bit integer in testlib's spelling.

    It searches for what no integer contains, at the speed of memory; a regular expression for each
    token takes five times as long. False means that each token needs a look (19 digits, say).
    """
    window = b" ".join(tokens)
    text = window.translate(_SIGNS)
    if text.translate(None, _KNOWN) or b"1" * 19 in text:
        return False
    zeros = b" " + window.translate(_LEADING) + b" "
    if b"-" in text and any(pair in zeros for pair in _MISPLACED_MINUS):
        return False
    return b" 0" not in zeros or not (b" 00" in zeros or b" 01" in zeros)


def ncmp(_input: bytes, output: bytes, answer: bytes) -> None:
    """Accept the same 64-bit integers in the same order."""
    pair = _pair(output, answer)
    for start, expected, found in pair:
        # Every integer has one spelling, so that equal tokens are equal numbers.
        if expected == found and _are_integers(expected):
            continue
        for i, (a, b) in enumerate(zip(expected, found, strict=True), start + 1):
            if _ANSWER.as_integer(a) != _OUTPUT.as_integer(b):
                raise wrong(f"number {i}: expected '{shown(a)}', found '{shown(b)}'")
    _end_together(pair, _ANSWER.as_integer, _OUTPUT.as_integer)
    raise ok(f"{pair.count} numbers")


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
    pair = _pair(output, answer)
    in_order = all(a == b and _are_integers(a) for _, a, b in pair)
    if in_order and not pair.a and not pair.b:
        raise ok(f"{pair.count} numbers")
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
        numbers.extend(map(int if _are_integers(window) else stream.as_integer, window))
    return numbers


def _doubles(tokens: list[bytes]) -> list[float] | None:
    """Return the doubles of a window; None when the tokens must be read one by one.

    Python's float() accepts what testlib accepts, once letters other than e and underscores are
    ruled out.
    """
    if b"".join(tokens).translate(None, _NUMBER):
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
    pair = _pair(output, answer)
    for start, expected, found in pair:
        ours = _doubles(expected)
        if ours is not None and expected == found:
            continue
        theirs = _doubles(found) if ours is not None else None
        numbers = (
            zip(map(_ANSWER.as_double, expected), map(_OUTPUT.as_double, found), strict=True)
            if ours is None or theirs is None
            else zip(ours, theirs, strict=True)
        )
        for i, (a, b) in enumerate(numbers, start + 1):
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
