"""Read a range of numbers: `5-7`, *5 to 7*, *from 1990 to 1999*, *18-24 months*.

`5-7` is a range, not the number -2: nobody leaves 5 - 7 as an answer. `7-5` is a calculation.
"""

from __future__ import annotations

import re
from fractions import Fraction

from gradebox.checkers.math.normalise.tables import strip_marks
from gradebox.checkers.math.parse.units import UNITS, conversion_factor, is_unit, unit_name

MAX_CHARS = 80
_NUMBER = r"\d{1,9}(?:\.\d{1,6})?"
_UNIT = r"(?:[A-Za-z][A-Za-z ]{0,30}|%|\\degree)?"
_RANGE = re.compile(
    rf"(?P<from>from\s+)?(?P<low>{_NUMBER})\s*(?P<first>{_UNIT}?)\s*(?P<sign>-{{1,2}}|\bto\b|~)\s*"
    rf"(?P<high>{_NUMBER})\s*(?P<unit>{_UNIT})"
)
Range = tuple[Fraction, Fraction, str]


def read_range(text: str) -> tuple[Range, bool] | None:
    """Return (low, high, unit) and whether it is written with a dash; None for other texts."""
    if len(text) > MAX_CHARS:
        return None
    m = _RANGE.fullmatch(" ".join(strip_marks(text).split()))
    if m is None:
        return None
    low, high = Fraction(m["low"]), Fraction(m["high"])
    first, unit = m["first"].strip(), m["unit"].strip()
    if low >= high or (first and first != unit) or not _is_unit(unit, m[0]):
        return None  # `0-8i`, `2-3ab`
    return (low, high, unit if unit in ("%", "\\degree") else unit_name(unit)), m["sign"][0] == "-"


def _is_unit(unit: str, text: str) -> bool:
    if unit in ("", "%", "\\degree"):
        return True
    known = len(unit) > 1 and unit.split()[0].lower() in UNITS
    return known or (f" {unit}" in text and is_unit(unit))


def same_range(gold: str, answer: str) -> bool | None:
    """Return the verdict on two normalised answers when one of them is a range with a dash."""
    left, right = read_range(gold), read_range(answer)
    if left and right:
        (*ends, unit), (*other_ends, other_unit) = left[0], right[0]
        if ends != other_ends:
            return False
        return not (unit and other_unit) or conversion_factor(unit, other_unit) == 1
    for one, other in ((left, answer), (right, gold)):
        if one and one[1] and re.fullmatch(rf"-?{_NUMBER}[\sA-Za-z%]*", strip_marks(other)):
            return False
    return None
