"""Compare one expression with another: its value, its unit, its percent or degree sign."""

from __future__ import annotations

import re

import sympy
from sympy import Expr

from gradebox.checkers.math.compare import functions, numeric
from gradebox.checkers.math.compare.rounding import Roundings
from gradebox.checkers.math.policy import Policy
from gradebox.checkers.math.read.expressions.parser import parse_expression
from gradebox.checkers.math.read.units import conversion_factor, unit_name, unit_scale
from gradebox.checkers.math.read.values import ParseError, Quantity

_SIGN_UNITS = ("", "rad", "unit")  # units that match a percent or degree sign
_POWER = r"(?:\s?\^\s?\{?\s?-?\d\s?\}?)?"
LETTER_UNIT = re.compile(
    rf"(?P<value>.*[\d)}}])(?P<space>\s*)"
    rf"(?P<unit>[A-Za-z]+{_POWER}(?:(?:[\s/]|\\cdot\s)+[A-Za-z]+{_POWER}){{0,3}})"
)
_RANGE = re.compile(r"\s*(\d{1,6})\s*-\s*(\d{1,6})\s*")
_MATRIX_FACTOR = re.compile(r"([A-Z])\s*(?:\^\s*\{?\s*(-?\d|T)\s*\}?)?")
_MATRIX_FACTORS = re.compile(rf"\s*(?:{_MATRIX_FACTOR.pattern}[\s*]*(?:\\cdot)?\s*){{2,8}}")
_LONE_LETTERS = ("m", "g", "s", "h", "l", "L", "N", "J", "W", "V", "A", "K", "C", "T", "F")
_LONG_DIVISOR = re.compile(
    r"/\s*(?:\d+|\\?[A-Za-z]+)\s*[\\A-Za-z(]|(?:sin|cos|tan|cot|sec|csc|ln|log)\s*\\?\w{1,6}\s*/"
)


def _may_be_range(gold: str, answer: str) -> None:
    """Raise ParseError when one side is `5-7`, a difference or a range, and the other is not."""
    ranges = [m for t in (gold, answer) if (m := _RANGE.fullmatch(t)) and int(m[1]) < int(m[2])]
    if len(ranges) == 1:
        raise ParseError(f"{ranges[0][0]!r} may be a range")


def _may_be_matrices(gold: str, answer: str) -> None:
    """Raise ParseError for `DP^{-1}` beside `P^{-1}D`: matrices do not commute."""
    factors = [_MATRIX_FACTORS.fullmatch(t) and _MATRIX_FACTOR.findall(t) for t in (gold, answer)]
    if all(factors) and factors[0] != factors[1] and any("-" in f for _, f in factors[0] or ()):
        raise ParseError("letters with an inverse may be matrices, which do not commute")


_OTHER_READINGS = (_may_be_range, _may_be_matrices)


class QuantityComparer:
    """Compares quantities under a policy.

    policy       which tolerances hold
    has_float    one of the answers has a number as programs print it
    may_round    a decimal may be the rounding of an exact number
    ordered      the order of a plain list counts
    roundings    the decimals of both, where they may be roundings
    """

    def __init__(
        self,
        policy: Policy,
        has_float: bool = False,
        may_round: bool = True,
        ordered: bool = False,
        roundings: Roundings | None = None,
    ):
        self.policy = policy
        self.has_float = has_float
        self.may_round = may_round
        self.ordered = ordered
        self.roundings = roundings

    def quantities(self, gold: Quantity, answer: Quantity) -> bool:
        a, b = parse_expression(gold.text), parse_expression(answer.text)
        if {gold.unit, answer.unit} == {"celsius", "fahrenheit"}:
            return self.numbers(
                *(v * 9 / 5 + 32 if q.unit == "celsius" else v for v, q in ((a, gold), (b, answer)))
            )
        if gold.unit and answer.unit and gold.unit != answer.unit:
            factor = conversion_factor(gold.unit, answer.unit)
            return factor is not None and self.scaled(a, factor, b)
        if answer.unit.split(" ")[0] == "dozen" and not gold.unit:
            return self.numbers(a, 12 * b)
        if gold.unit.split(" ")[0] == "dozen" and not answer.unit and self.numbers(12 * a, b):
            return True
        if {gold.unit, answer.unit} == {"", "cent"}:  # 9.99 and 999 cents
            bare = answer if gold.unit else gold
            if re.fullmatch(r"\d+\.\d\d", bare.text) and self.numbers(
                *(v / 100 if q is not bare else v for v, q in ((a, gold), (b, answer)))
            ):
                return True
        if not (gold.unit and answer.unit) and self.product_as_unit(gold, answer):
            return True
        for one, other in ((gold, answer), (answer, gold)):
            if one.percent and other.degree:
                return False
            if one.percent and other.percent:
                continue  # 20% and 20% increase
            if (one.percent or one.degree) and other.unit not in _SIGN_UNITS:
                return False
        if gold.percent != answer.percent:
            percent, plain = (a, b) if gold.percent else (b, a)
            if self.numbers(percent / 100, plain):
                return True
            # `50\\%` may be 50; a number below 1, such as 0.4, is a share and not 0.4 %
            return bool(not plain.is_number or abs(plain) >= 1) and self.numbers(percent, plain)
        if gold.degree != answer.degree and "rad" in (gold.unit, answer.unit):
            a, b = (v * sympy.pi / 180 if x.degree else v for v, x in ((a, gold), (b, answer)))
            return self.numbers(a, b)
        if self.numbers(a, b, gold.text, answer.text) or self.with_long_divisors(gold, answer):
            for reading in _OTHER_READINGS:
                reading(gold.text, answer.text)
            return True
        if gold.degree == answer.degree:
            return False
        degrees, plain = (a, b) if gold.degree else (b, a)
        return bool(plain.has(sympy.pi)) and self.numbers(degrees * sympy.pi / 180, plain)

    def with_long_divisors(self, gold: Quantity, answer: Quantity) -> bool:
        """Compare once more with `1/2x` read as 1/(2x), and `\\sin x/2` as (\\sin x)/2."""
        if not (_LONG_DIVISOR.search(gold.text) or _LONG_DIVISOR.search(answer.text)):
            return False
        short, long = (
            (parse_expression(gold.text, flag), parse_expression(answer.text, flag))
            for flag in (False, True)
        )
        readings = ((short[0], long[1]), (long[0], short[1]), (long[0], long[1]))
        return any(self.same(a, b) for a, b in readings)

    def product_as_unit(self, gold: Quantity, answer: Quantity) -> bool:
        """Compare `5 m s^{-2}`, read as a product, with a unit; and `√3 m` with a number."""
        for one, other in ((gold, answer), (answer, gold)):
            m = LETTER_UNIT.fullmatch(other.text)
            unit = unit_name(m["unit"]) if m else ""
            if other.unit or not m or unit_scale(unit) is None:
                continue
            try:
                number, value = parse_expression(m["value"]), parse_expression(one.text)
            except ParseError:  # the k of `\\sum_{k=1}^{n} k`
                continue
            if not number.is_number or not value.is_number:
                continue
            alone = m["space"] and re.sub(r"\s*\^\s*\{?-1\}?$", "", m["unit"]) in _LONE_LETTERS
            factor = conversion_factor(one.unit, unit) if one.unit else int(bool(alone))
            if factor:
                return self.scaled(value, factor, number)
        return False

    def scaled(self, a: Expr, factor: Expr | int, b: Expr) -> bool:
        """Compare a number in one unit with another in a unit of which it has `factor`."""
        return self.numbers(a * factor, b) or self.rounded(a, b / factor)

    def numbers(self, a: Expr, b: Expr, a_text: str = "", b_text: str = "") -> bool:
        """Compare two expressions under the policy's tolerances.

        With their texts, a decimal may also be the rounding of the other side.
        """
        p = self.policy
        same = self.same(a, b)
        if same:
            return True
        if isinstance(a, sympy.MatrixBase) or isinstance(b, sympy.MatrixBase):
            return False
        if a_text and b_text and self.may_round:
            for decimal, exact, exact_text in ((a_text, b, b_text), (b_text, a, a_text)):
                if numeric.rounding_equals(decimal, exact, exact_text):
                    return True
        if p.percent and a.is_number and b.is_number and re.search("[.%]", a_text + b_text):
            absolute = 0.0 if p.percent_rel_tol else p.abs_tol
            return numeric.percent_close(a, b, p.percent_rel_tol, absolute)
        if same is None:
            raise numeric.Undecided
        return False

    def same(self, a: Expr, b: Expr) -> numeric.Verdict:
        """Compare two expressions under the policy's tolerances; a printed double is its value."""
        a, b = functions.with_same_constants(a, b)
        if functions.has_series(a, b):
            return functions.equal(a, b)
        found = numeric.equal(a, b, self.policy.rel_tol, self.policy.abs_tol)
        if found is False and self.has_float and numeric.same_double(a, b):
            return True
        rounded = [e.has(sympy.floor, sympy.ceiling) for e in (a, b)]
        if found and any(rounded):  # `⌈x⌉` is `⌊x⌋+1` but at whole numbers
            found = functions.agree_at_whole_numbers(a, b)
        elif (found is None or all(rounded)) and not isinstance(a, sympy.MatrixBase):
            found = functions.equal_at_whole_numbers(a, b)
        return found or functions.equal_up_to_constants(a, b) or self.rounded(a, b) or found

    def rounded(self, a: Expr, b: Expr) -> bool:
        """Return whether the policy accepts roundings, and one number is the other, rounded."""
        return self.roundings is not None and self.roundings.equal(a, b)
