"""Decimals that round: `0.333333` for 1/3, and more under the policy `rounded`.

Under `rounded` (Roundings), a reference decimal, 28.89, is what rounds to it at its own last digit,
half ways up and down; an exact number, \\pi, its rounding to three digits or more; a whole number
is a count and exact.
"""

from __future__ import annotations

import re
from itertools import islice

import sympy
from sympy import Expr, Rational

from gradebox.checkers.math.compare.numeric import Undecided, value_at

FEWEST_DIGITS = 3  # significant ones, of the rounding of an exact number
MAX_DECIMALS = 500  # of an answer
_STARTED = re.compile(r"[\d.,]$")
DECIMAL = re.compile(  # sign, whole part, decimals, exponent
    r"([-+]?)(\d{1,3}(?:,\d{3})+|\d*)\.(\d+)\s*(?:(?:\\times|\\cdot|\*)\s*10\s*\^\s*\{?\s*(-?\d{1,4})\s*\}?|[eE]([-+]?\d{1,4}))?"
)


def rounding_equals(text: str, exact: Expr, exact_text: str) -> bool:
    """Return whether the decimal `text` is the correct rounding of an exact number.

    It needs 6 decimals or 9 digits in all: 0.333333 is 1/3, but 0.33333 and 3.14 are only
    themselves. Two decimals never round each other.
    """
    m = DECIMAL.fullmatch(text.strip())
    if m is None or DECIMAL.search(exact_text):
        return False
    digits = (m[2].replace(",", "") + m[3]).lstrip("0")
    if len(digits) < 6 or not (len(m[3]) >= 6 or len(digits) >= 9):
        return False
    if not exact.is_number or exact.is_infinite or exact.is_Integer:
        return False
    shift = int(m[4] or m[5] or 0)
    ulp = Rational(10) ** (shift - len(m[3]))
    value = int(m[2].replace(",", "") + m[3]) * ulp * (-1 if m[1] == "-" else 1)
    try:
        return bool(abs(value_at(exact - value, {})) <= ulp / 2)
    except (Undecided, TypeError):
        return False


def rounds_to(exact: Expr, text: str) -> bool:
    """Return whether a number, rounded or truncated, is the decimal `text`."""
    plain = text.replace(",", "")
    ulp = Rational(1, 10 ** len(plain.partition(".")[2]))
    decimal = Rational(plain)
    try:
        over = value_at(exact - decimal, {}) * (-1 if decimal < 0 else 1)
        return bool(-ulp / 2 <= over < ulp)
    except (Undecided, TypeError):
        return False


HalfUnits = dict[Expr, Expr]  # absolute value of a decimal → half a unit of its last digit


class Roundings:
    """The decimals in a reference answer and in an answer, both normalised texts."""

    def __init__(self, gold: str, answer: str):
        self._gold = half_units(gold)
        self._answer = half_units(answer, FEWEST_DIGITS)

    def equal(self, a: Expr, b: Expr) -> bool:
        """Return whether one number is the other, rounded; of two matrices, each entry."""
        matrices = [isinstance(v, sympy.MatrixBase) for v in (a, b)]
        if any(matrices):
            same_shape = all(matrices) and a.shape == b.shape
            pairs = zip(a.flat(), b.flat(), strict=True) if same_shape else ()
            return same_shape and all(x == y or self.equal(x, y) for x, y in pairs)
        if not (a.is_number and b.is_number) or a.is_infinite or b.is_infinite:
            return False
        for one, other in ((a, b), (b, a)):
            half = self._gold.get(sympy.Abs(one)) if one.is_Rational else None
            if half is None and one.is_Rational and not _is_exact_count(other, self._gold):
                half = self._answer.get(sympy.Abs(one))
            if half is not None and _within_half(one, other, half):
                return True
        return False


def half_units(text: str, fewest_digits: int = 0) -> HalfUnits:
    """Return the decimals of a text that have so many significant digits; of 5.0%, also 0.05."""
    found: HalfUnits = {}
    for m in islice(DECIMAL.finditer(text), MAX_DECIMALS):
        digits = m[2].replace(",", "") + m[3]
        if len(digits.lstrip("0")) < fewest_digits or _STARTED.search(text[: m.start()][-1:]):
            continue
        unit = Rational(10) ** (int(m[4] or m[5] or 0) - len(m[3]))
        for scale in (1, 100) if "%" in text else (1,):
            found.setdefault(int(digits) * unit / scale, unit / 2 / scale)
    return found


def _is_exact_count(number: Expr, decimals: HalfUnits) -> bool:
    """Return whether a number of the reference is whole, or a decimal, which has own digits."""
    return bool(number.is_Integer) or (number.is_Rational and abs(number) in decimals)


def _within_half(a: Expr, b: Expr, half: Expr) -> bool:
    difference = a - b
    try:
        value = difference if difference.is_Rational else value_at(difference, {})
        return bool(abs(value) <= half)
    except (Undecided, TypeError):
        return False
