"""Read one stream by testlib's rules; the exception `Decided` carries a checker's decision.

Blanks are space, tab, CR and LF only. A token is the text between blanks. An integer is
`0` or an optional minus and digits without leading zeros, within 64 bits: no `+5`, `007`
or `-0`. A double is an optional sign, digits with at most one point, and an optional
exponent: `+.5`, `5.` and `1e400` (infinite) are doubles; `nan`, `inf` and `0x1` are not.
An exponent without digits (`1e`, `1e+`) is ignored, as by the scanf of glibc, with which
checkers are built. `1e5e` is not a double.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import Literal

from gradebox.checkers.check import Check, CheckVerdict, accept, reject, unclear
from gradebox.checkers.tokens import TESTLIB_BLANK, Windows, shown, tokens

YES_NO = frozenset((b"YES", b"NO"))
INT32 = 1 << 31
INT64 = 1 << 63
_BOM = b"\xef\xbb\xbf"

# Any text matches in one way only: [0-9]+\.?[0-9]* takes time quadratic in a long token.
_INTEGER = re.compile(rb"0|-?[1-9][0-9]*")
_DOUBLE = re.compile(rb"([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))(?:([eE][+-]?[0-9]+)|[eE][+-]?)?")


class Decided(Exception):
    """The judge has decided; `check` is its verdict."""

    def __init__(self, check: Check) -> None:
        super().__init__(check.message)
        self.check = check


def ok(message: str) -> Decided:
    return Decided(accept(message))


def wrong(message: str, verdict: CheckVerdict = "WA") -> Decided:
    return Decided(reject(message, verdict))


def presentation_error(message: str) -> Decided:
    return wrong(message, "PE")


def failed(message: str) -> Decided:
    """Return the verdict for a fault of the judge's own data."""
    return Decided(unclear(message))


Source = Literal["output", "answer"]


def without_bom(data: bytes, source: Source) -> bytes:
    """Remove the byte order mark that testlib ignores in an output."""
    return data[3:] if source == "output" and data.startswith(_BOM) else data


def tokens_of(data: bytes, source: Source) -> Windows:
    """Return testlib's tokens of a stream."""
    return tokens(without_bom(data, source), TESTLIB_BLANK)


class Stream:
    """Reads one stream token by token; malformed text raises Decided.

    source   "output": faults are PE; "answer": faults are FAIL
    """

    def __init__(self, data: bytes, source: Source) -> None:
        self.source: Source = source
        self._tokens = chain.from_iterable(tokens_of(data, source))
        self._next = next(self._tokens, None)

    def fault(self, message: str) -> Decided:
        """Return the verdict for malformed text of this stream."""
        if self.source == "answer":
            return failed(f"{message} in the answer file")
        return presentation_error(message)

    def at_end(self) -> bool:
        """Return whether only blanks are left (testlib's seekEof)."""
        return self._next is None

    def word(self, wanted: str = "a token") -> bytes:
        found = self._next
        if found is None:
            raise self.fault(f"unexpected end of file, {wanted} expected")
        self._next = next(self._tokens, None)
        return found

    def integer(self) -> int:
        return self.as_integer(self.word("an integer"))

    def double(self) -> float:
        return self.as_double(self.word("a number"))

    def as_integer(self, token: bytes) -> int:
        """Return the 64-bit integer that a token spells."""
        # Every 64-bit integer fits in 20 characters.
        if len(token) > 20 or not _INTEGER.fullmatch(token):
            raise self.fault(f"expected an integer, found '{shown(token)}'")
        value = int(token)
        if not -INT64 <= value < INT64:
            raise self.fault(f"expected a 64-bit integer, found '{shown(token)}'")
        return value

    def as_double(self, token: bytes) -> float:
        """Return the double that a token spells; infinite when beyond the range."""
        value = decimal(token)
        if value is None:
            raise self.fault(f"expected a number, found '{shown(token)}'")
        return value

    def as_yes_no(self, token: bytes, where: str = "") -> str:
        """Return YES or NO, which a token spells in any case."""
        if token.upper() not in YES_NO:
            raise self.fault(f"{where}expected YES or NO, found '{shown(token)}'")
        return token.upper().decode()


def decimal(token: bytes) -> float | None:
    """Return the double that a decimal token spells; None when it is not one."""
    found = _DOUBLE.fullmatch(token)
    return float(found[1] + (found[2] or b"")) if found else None


def is_integer(token: bytes) -> bool:
    """Return whether a token is an integer of any length in testlib's spelling."""
    return _INTEGER.fullmatch(token) is not None


def finish(output: Stream, message: str) -> Decided:
    """Return OK, or a presentation error when the output has more tokens."""
    if not output.at_end():
        return presentation_error("extra tokens in the output")
    return ok(message)


INFINITE = 1e300  # testlib treats anything beyond as infinite


def close_to(expected: float, found: float, error: float) -> bool:
    """Compare as testlib's doubleCompare: absolute or relative error up to `error` + 1e-15."""
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
    """Compare with absolute error up to `error` + 1e-15; two infinities are near each other."""
    return not abs(expected - found) > error + 1e-15
