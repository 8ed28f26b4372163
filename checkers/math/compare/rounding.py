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
FEWEST_LONG = 6  # the same, without `rounded`
LONG = Rational(1, 2 * 10**6)  # half a unit of the sixth decimal
MAX_DECIMALS = 500  # of an answer
_STARTED = re.compile(r"[\d.,]$")
DECIMAL = re.compile(  # sign, whole part, decimals, exponent
    r"([-+]?)(\d{1,3}(?:,\d{3})+|\d*)\.(\d+)\s*(?:(?:\\times|\\cdot|\*)\s*10\s*\^\s*\{?\s*(-?\d{1,4})\s*\}?|[eE]([-+]?\d{1,4}))?"
)


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
    """The decimals in two normalised answers that are the same as what they round.

    rounded  as the policy of that name; else those with 6 decimals or 9 digits round exact numbers
    """

    def __init__(self, gold: str, answer: str, rounded: bool):
        if rounded:
            self._gold = half_units(gold)
            self._answer = half_units(answer, FEWEST_DIGITS)
        else:
            found = half_units(f"{gold} ; {answer}", FEWEST_LONG)
            self._gold = {}
            self._answer = {v: h for v, h in found.items() if h <= max(LONG, v * LONG / 100)}

    def equal(self, a: Expr, b: Expr) -> bool:
        """Return whether one number is the other, rounded."""
        if not (decimals := self._gold or self._answer):
            return False
        if not (a.is_number and b.is_number) or a.is_infinite or b.is_infinite:
            return False
        for one, other in ((a, b), (b, a)):
            half = self._gold.get(sympy.Abs(one)) if one.is_Rational else None
            if half is None and one.is_Rational and not _is_exact_count(other, decimals):
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
