"""testlib's reading rules for one stream, and the exception that ends a judge.

Blanks are space, tab, CR and LF only. A token is what stands between blanks. An integer is
`0` or an optional minus and digits without leading zeros, within 64 bits: no `+5`, `007`
or `-0`. A double is an optional sign, digits with at most one point, and an optional
exponent: `+.5`, `5.` and `1e400` (infinite) are doubles; `nan`, `inf` and `0x1` are not.
The exponent may lack its digits (`1e`, `1e+`): the scanf of glibc, with which checkers are
built, takes that for 1. `1e5e` is none: only one exponent is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from checkers.model import Check, CheckVerdict, accept, reject, unclear
from checkers.tokens import TESTLIB_BLANK, Tokens, shown

INT32 = 1 << 31
INT64 = 1 << 63
_BOM = b"\xef\xbb\xbf"

# One way only to match any text: [0-9]+\.?[0-9]* takes time quadratic in a long token.
_INTEGER = re.compile(rb"0|-?[1-9][0-9]*")
_DOUBLE = re.compile(rb"([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))(?:([eE][+-]?[0-9]+)|[eE][+-]?)?")


class Verdict(Exception):
    """The judge has decided; `check` is what it said."""

    def __init__(self, check: Check) -> None:
        super().__init__(check.message)
        self.check = check


def ok(message: str = "", score: float = 1.0) -> Verdict:
    return Verdict(accept(message, score))


def wrong(message: str, verdict: CheckVerdict = "WA") -> Verdict:
    return Verdict(reject(message, verdict))


def misformed(message: str) -> Verdict:
    """A presentation error."""
    return wrong(message, "PE")


def failed(message: str) -> Verdict:
    """The judge's own data are at fault."""
    return Verdict(unclear(message))


Whose = Literal["output", "answer"]


def words_of(data: bytes, whose: Whose) -> Iterator[bytes]:
    """testlib's tokens of a stream; an output may begin with a byte order mark."""
    return iter(tokens_of(data, whose))


def without_mark(data: bytes, whose: Whose) -> bytes:
    """`data` without the byte order mark that testlib forgives in an output."""
    return data[3:] if whose == "output" and data.startswith(_BOM) else data


def tokens_of(data: bytes, whose: Whose) -> Tokens:
    return Tokens(without_mark(data, whose), blank=TESTLIB_BLANK)


class Stream:
    """Reads one stream token by token; a fault of its text ends the judge.

    whose    "output": faults are PE; "answer": faults are FAIL
    """

    def __init__(self, data: bytes, whose: Whose) -> None:
        self.whose = whose
        self._words = words_of(data, whose)
        self._next = next(self._words, None)

    def fault(self, message: str) -> Verdict:
        """The verdict for a text of this stream that can't be read."""
        if self.whose == "answer":
            return failed(f"{message} in the answer file")
        return misformed(message)

    def at_end(self) -> bool:
        """Whether only blanks are left (testlib's seekEof)."""
        return self._next is None

    def word(self, wanted: str = "a token") -> bytes:
        found = self._next
        if found is None:
            raise self.fault(f"unexpected end of file, {wanted} expected")
        self._next = next(self._words, None)
        return found

    def integer(self) -> int:
        return self.as_integer(self.word("an integer"))

    def double(self) -> float:
        return self.as_double(self.word("a number"))

    def as_integer(self, token: bytes) -> int:
        """The 64-bit integer a token spells."""
        # 20 characters hold every 64-bit integer; longer ones are not even read.
        if len(token) > 20 or not _INTEGER.fullmatch(token):
            raise self.fault(f"expected an integer, found '{shown(token)}'")
        value = int(token)
        if not -INT64 <= value < INT64:
            raise self.fault(f"expected a 64-bit integer, found '{shown(token)}'")
        return value

    def as_double(self, token: bytes) -> float:
        """The double a token spells; infinite when beyond the range."""
        value = decimal(token)
        if value is None:
            raise self.fault(f"expected a number, found '{shown(token)}'")
        return value


def decimal(token: bytes) -> float | None:
    """The double that a whole decimal token spells, None when it is none."""
    found = _DOUBLE.fullmatch(token)
    return float(found[1] + (found[2] or b"")) if found else None


def is_integer(token: bytes) -> bool:
    """An integer of any length, in testlib's spelling."""
    return _INTEGER.fullmatch(token) is not None


def finish(output: Stream, message: str, score: float = 1.0) -> Verdict:
    """OK, unless the output goes on: then a presentation error."""
    if not output.at_end():
        return misformed("extra tokens in the output")
    return ok(message, score)


INFINITE = 1e300  # testlib takes anything beyond for infinite


def close_to(expected: float, found: float, error: float) -> bool:
    """testlib's doubleCompare: absolute or relative error at most `error` (and 1e-15)."""
    error += 1e-15
    if abs(expected) > INFINITE:
        return found > INFINITE if expected > 0 else found < -INFINITE
    if abs(found) > INFINITE:
        return False
    if abs(found - expected) <= error:
        return True
    bounds = (expected * (1.0 - error), expected * (1.0 + error))
    return min(bounds) <= found <= max(bounds)


def near(expected: float, found: float, error: float) -> bool:
    """Absolute error at most `error` (and 1e-15); two infinities are near each other."""
    return not abs(expected - found) > error + 1e-15
