"""Which numbers are roundings of each other, under the policy `rounded`.

reference 28.89         what rounds to it at its own last digit: 28.889, 260/9; not 28.9
reference \\pi, 1/3      its rounding to three significant digits or more: 3.14, 0.333; not 3.1
reference 42, 3000      a count, which is exact

A half way is rounded up or down. Percent, currencies and units are as in `strict`.
"""

from __future__ import annotations

import re
from itertools import islice

import sympy
from sympy import Expr, Rational

from gradebox.checkers.math.compare.numeric import DECIMAL, Undecided, value_at

FEWEST_DIGITS = 3  # significant ones, of the rounding of an exact number
MAX_DECIMALS = 500  # of an answer
_STARTED = re.compile(r"[\d.,]$")

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
            if half is not None and _within(one, other, half):
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


def _within(a: Expr, b: Expr, half: Expr) -> bool:
    difference = a - b
    try:
        value = difference if difference.is_Rational else value_at(difference, {})
        return bool(abs(value) <= half)
    except (Undecided, TypeError):
        return False
