"""Kattis' default output validator (problemtools' default_validator).

Tokens between white space (C's isspace) are compared without regard to case. Options:

| option                   | effect                                                         |
|--------------------------|----------------------------------------------------------------|
| case_sensitive           | case counts                                                    |
| space_change_sensitive   | white space counts, byte for byte                              |
| float_absolute_tolerance | where the answer's token is a number, the output's must be one |
| float_relative_tolerance | within this absolute or relative error                         |
| float_tolerance          | both of them at once                                           |

A number is a finite double as C's scanf reads it, hexadecimal ones included. There are no
presentation errors: the validator knows only right and wrong. Unlike there, a NUL ends no token.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from gradebox.checkers.builtins.stream import decimal, ok, wrong
from gradebox.checkers.check import CheckerError
from gradebox.checkers.tokens import Lockstep, shown, tokens

_FLAGS = ("case_sensitive", "space_change_sensitive")
_TOLERANCES = ("float_absolute_tolerance", "float_relative_tolerance", "float_tolerance")

_HEXADECIMAL = re.compile(
    rb"([+-]?0[xX](?:[0-9a-fA-F]+(?:\.[0-9a-fA-F]*)?|\.[0-9a-fA-F]+))(?:([pP][+-]?[0-9]+)|[pP][+-]?)?"
)
_POINT_ALONE = re.compile(rb"[+-]?0[xX]\.")  # glibc's scanf reads it as 0

Judge = Callable[[bytes, bytes, bytes], None]


def parse_options(checker: str, words: list[str]) -> Mapping[str, Any]:
    """Parse options spelled as in Kattis' validator_flags: `float_tolerance 1e-6`.

    Words of the form key=value are accepted too. Of two that set the same tolerance the last
    counts. Raises CheckerError for a missing value or one that is not a number.
    """
    options: dict[str, Any] = {}
    rest = list(words)
    while rest:
        key, given, value = rest.pop(0).partition("=")
        if key in _FLAGS and not given:
            options[key] = True
            continue
        if not given and not rest:
            raise CheckerError(f"option {key!r} of checker {checker!r} needs a value")
        if key == "float_tolerance":  # replaces the others before it
            options = {n: v for n, v in options.items() if n not in _TOLERANCES}
        options[key] = _number(checker, key, value if given else rest.pop(0))
    return options


def _number(checker: str, key: str, text: str) -> float | bool:
    if key in _FLAGS and text in ("True", "False"):
        return text == "True"
    value = finite(text.encode())
    if value is None:
        raise CheckerError(f"{key} {text!r} of checker {checker!r} must be a number")
    return value


def finite(token: bytes) -> float | None:
    """Return the finite double that scanf reads from a whole token; None when it is not one."""
    value = decimal(token)
    if value is None:
        value = _hexadecimal(token)
    return value if value is not None and math.isfinite(value) else None


def _hexadecimal(token: bytes) -> float | None:
    if _POINT_ALONE.fullmatch(token):
        return 0.0
    found = _HEXADECIMAL.fullmatch(token)
    try:
        return float.fromhex((found[1] + (found[2] or b"")).decode()) if found else None
    except OverflowError:
        return None


def kattis(
    case_sensitive: bool = False,
    space_change_sensitive: bool = False,
    float_absolute_tolerance: float | None = None,
    float_relative_tolerance: float | None = None,
    float_tolerance: float | None = None,
) -> Judge:
    """Return the validator with these options; a negative tolerance means no tolerance."""
    absolute = float_tolerance if float_absolute_tolerance is None else float_absolute_tolerance
    relative = float_tolerance if float_relative_tolerance is None else float_relative_tolerance
    absolute = -1.0 if absolute is None else absolute
    relative = -1.0 if relative is None else relative
    floats = absolute >= 0 or relative >= 0

    def same(a: bytes, b: bytes) -> bool:
        """Return whether a token `b` of the output is right; `a` is the answer's."""
        ours = finite(a) if floats else None
        if ours is not None:
            theirs = finite(b)
            if theirs is None:
                return False
            error = abs(ours - theirs)
            return error <= absolute or error <= relative * abs(ours)
        return a == b if case_sensitive else a.lower() == b.lower()

    def judge(_input: bytes, output: bytes, answer: bytes) -> None:
        if output != answer:
            if space_change_sensitive:
                _same_space(output, answer)
            _same_words(output, answer, same)
        raise ok("the same tokens")

    return judge


def _same_words(output: bytes, answer: bytes, same: Callable[[bytes, bytes], bool]) -> None:
    pair = Lockstep(tokens(answer), tokens(output))
    for start, expected, found in pair:
        if expected == found:
            continue
        for i, (a, b) in enumerate(zip(expected, found, strict=True), start + 1):
            if a != b and not same(a, b):
                raise wrong(f"token {i}: expected '{shown(a)}', found '{shown(b)}'")
    if pair.a:
        raise wrong(f"the output ends after {pair.count} tokens, more are expected")
    if pair.b:
        raise wrong(f"trailing output: '{shown(pair.b[0])}'")


_SPACE = re.compile(rb"[ \t\r\n\v\f]+")


def _same_space(output: bytes, answer: bytes) -> None:
    """Compare the white space between tokens, not the tokens."""
    both = itertools.zip_longest(_spaces(answer), _spaces(output), fillvalue=b"")
    for number, (a, b) in enumerate(both, 1):
        if a != b:
            raise wrong(f"white space {number}: expected '{shown(a)}', found '{shown(b)}'")


def _spaces(data: bytes) -> Iterable[bytes]:
    """Yield the runs of white space; the one before the first token may be empty."""
    if not data[:1].isspace():
        yield b""
    for found in _SPACE.finditer(data):
        yield found[0]
