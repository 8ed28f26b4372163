"""Compare one expression with another: its value, its unit, its percent or degree sign.

x^2 + C, A e^x + B     equal up to the names of their constants, or to an added number
2*E, 3*I               as SymPy prints e and i, where the other side has e or i
"""

from __future__ import annotations

import re
from itertools import permutations

import sympy
from sympy import Expr

from gradebox.checkers.math.compare import numeric
from gradebox.checkers.math.compare.rounding import Roundings
from gradebox.checkers.math.policy import Policy
from gradebox.checkers.math.read.expressions.parser import parse_expression
from gradebox.checkers.math.read.units import conversion_factor, unit_name, unit_scale
from gradebox.checkers.math.read.values import ParseError, Quantity, Value

_SIGN_UNITS = ("", "rad", "unit")  # units that match a percent or degree sign
_POWER = r"(?:\s?\^\s?\{?\s?-?\d\s?\}?)?"
LETTER_UNIT = re.compile(
    rf"(?P<value>.*[\d)}}])(?P<space>\s*)"
    rf"(?P<unit>[A-Za-z]+{_POWER}(?:(?:[\s/]|\\cdot\s)+[A-Za-z]+{_POWER}){{0,3}})"
)
_LONE_LETTERS = ("m", "g", "s", "h", "l", "L", "N", "J", "W", "V", "A", "K", "C", "T", "F")
_NAMED_CONSTANT = re.compile(r"[A-DK]|[cK]_\d")  # of a gold; another letter is a given one
_CONSTANT = re.compile(r"[A-DKa-dkm](?:_\d)?|\\(?:varphi|phi|delta|alpha|beta|theta)(?:_\d)?")
_VARIABLE = re.compile(r"[nrstuvwxyz]|\\(?:theta|phi)")
_INTEGRATED = re.compile(r"[t-z]|\\(?:theta|phi)")
_ARBITRARY = (sympy.Symbol("C"), sympy.Symbol("c"))
MAX_CONSTANTS = 4
_TIME = re.compile(r"\d{1,2}:\d\d")
_RANGE = re.compile(r"\s*(\d{1,6})\s*-\s*(\d{1,6})\s*")
_DATE = re.compile(r"\d{4}\s*[-/]\s*\d\d?\s*[-/]\s*\d\d?")
NO_ROUNDINGS = Roundings("", "", False)
_MATRICES = re.compile(r"\s*(?:[A-Z]\s*(?:\^\s*\{?\s*(?:-?\d|T)\s*\}?)?[\s*]*(?:\\cdot)?\s*){2,8}")


def _raise_for_other_reading(gold: str, answer: str) -> None:
    """Raise ParseError for a date, for `15:3`, a ratio or a time, beside 5, where only one side is
    `5-7`, a difference or a range, and for `DP^{-1}` beside `P^{-1}D`: matrices do not commute.
    """
    for one, other in ((gold, answer), (answer, gold)):
        number = other.isdigit() or (_TIME.fullmatch(one) and other.replace(".", "").isdigit())
        if ":" in one and not one.endswith(":1") and number:
            raise ParseError(f"{one!r} may be a ratio or a time")
    ranges = [m for t in (gold, answer) if (m := _RANGE.fullmatch(t)) and int(m[1]) < int(m[2])]
    if len(ranges) == 1:
        raise ParseError(f"{ranges[0][0]!r} may be a range")
    crossed = any(re.search(r"\\vec\W*\w\W*\\times", text) for text in (gold, answer))
    if crossed or (all(map(_MATRICES.fullmatch, (gold, answer))) and "-" in gold):
        raise ParseError("a cross product, or one of matrices, does not commute")


class QuantityComparer:
    """Compares quantities under a policy.

    policy       which tolerances hold
    has_float    one of the answers has a number as programs print it
    ordered      the order of a plain list counts
    roundings    the decimals of both that may be roundings
    functions    the reference answer is a function, in which c and k may be any numbers
    """

    def __init__(
        self,
        policy: Policy,
        has_float: bool = False,
        ordered: bool = False,
        roundings: Roundings = NO_ROUNDINGS,
        functions: bool = False,
    ):
        self.policy = policy
        self.has_float = has_float
        self.ordered = ordered
        self.roundings = roundings
        self.functions = functions

    def quantities(self, gold: Value, answer: Value) -> bool:
        assert isinstance(gold, Quantity) and isinstance(answer, Quantity)
        a, b = parse_expression(gold.text), parse_expression(answer.text)
        if dates := [t for t in (gold.text, answer.text) if _DATE.fullmatch(t)]:
            raise ParseError(f"{dates[0]!r} may be a date")
        if {gold.unit, answer.unit} == {"celsius", "fahrenheit"}:
            celsius, fahrenheit = (a, b) if gold.unit == "celsius" else (b, a)
            return self.numbers(celsius * 9 / 5 + 32, fahrenheit)
        if gold.unit and answer.unit and gold.unit != answer.unit:
            factor = conversion_factor(gold.unit, answer.unit)
            return factor is not None and self.scaled(a, factor, b)
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
        if self.numbers(a, b, gold.text + answer.text):
            _raise_for_other_reading(gold.text, answer.text)
            return True
        if gold.degree == answer.degree:
            return False
        degrees, plain = (a, b) if gold.degree else (b, a)
        return bool(plain.has(sympy.pi)) and self.numbers(degrees * sympy.pi / 180, plain)

    def product_as_unit(self, gold: Quantity, answer: Quantity) -> bool:
        """Compare `5 m s^{-2}`, read as a product, with a unit; and `√3 m` with a number."""
        for one, other in ((gold, answer), (answer, gold)):
            m = LETTER_UNIT.fullmatch(other.text)
            unit = unit_name(m["unit"]) if m else ""
            if other.unit or not m or unit_scale(unit) is None:
                continue
            try:
                number, value = parse_expression(m["value"]), parse_expression(one.text)
            except ParseError:  # `\\sum_{k=1}^{n} k`: the last k is no unit
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
        return self.numbers(a * factor, b) or self.roundings.equal(a, b / factor)

    def numbers(self, a: Expr, b: Expr, texts: str = "") -> bool:
        """Compare two expressions, written so, under the policy's tolerances."""
        p = self.policy
        same = self.same(a, b)
        if same:
            return True
        if isinstance(a, sympy.MatrixBase) or isinstance(b, sympy.MatrixBase):
            return False
        if p.percent and a.is_number and b.is_number and re.search("[.%]", texts):
            absolute = 0.0 if p.percent_rel_tol else p.abs_tol
            return numeric.percent_close(a, b, p.percent_rel_tol, absolute)
        if same is None:
            raise numeric.Undecided
        return False

    def same(self, a: Expr, b: Expr) -> numeric.Verdict:
        """Compare two expressions under the policy's tolerances; a printed double is its value.

        Matrices are compared entry by entry, a row with a column too.
        """
        if any(matrices := [isinstance(v, sympy.MatrixBase) for v in (a, b)]):
            if not all(matrices) or (a.shape != b.shape and not (1 in a.shape and 1 in b.shape)):
                return False
            entries = [self.same(*pair) for pair in zip(a.flat(), b.flat(), strict=False)]
            alike = len(a) == len(b) and False not in entries
            return (None if None in entries else True) if alike else False
        a, b = with_same_constants(a, b)
        found = numeric.equal(a, b, self.policy.rel_tol, self.policy.abs_tol)
        rounded = [isinstance(e, Expr) and e.has(sympy.floor, sympy.ceiling) for e in (a, b)]
        if any(rounded) and (found or all(rounded)):  # `⌈x⌉` is `⌊x⌋+1` but at whole numbers
            found = numeric.agree_at_whole_numbers(a, b)
        if found is False and self.has_float and numeric.same_double(a, b):
            return True
        if found or equal_up_to_constants(a, b, self.functions) or self.roundings.equal(a, b):
            return True
        return found


# -- constants ---------------------------------------------------------------------------


def with_same_constants(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """Return two expressions with e and i in one spelling."""
    return _sympy_names(a, b), _sympy_names(b, a)


def _sympy_names(expr: Expr, other: Expr) -> Expr:
    for name, constant in (("E", sympy.E), ("I", sympy.I)):
        symbol = sympy.Symbol(name)
        written = expr.has(symbol) and expr != symbol and not other.has(symbol)
        if written and other.has(constant, sympy.exp):
            expr = expr.subs(symbol, constant)
    return expr


def equal_up_to_constants(a: Expr, b: Expr, functions: bool) -> bool:
    """Return whether two expressions are one family of functions with arbitrary constants.

    `x^2 + c` is not `x^2 - c`, nor `a + b - c` the family of `a + b + c`: these are given letters.
    """
    for constant in _ARBITRARY:
        factors = [sympy.diff(e, constant) for e in (a, b)]
        if all(f.is_number and f.is_positive for f in factors):  # (x^3+C)/3
            rest = [e.subs(constant, 0) for e in (a, b)]
            found = [_INTEGRATED.fullmatch(s.name) for s in rest[0].free_symbols]
            return (any if constant.name == "C" else all)(found or [None]) and (
                rest[0].free_symbols == rest[1].free_symbols and numeric.differ_by_constant(*rest)
            )
    constants = _constants(a, b), _constants(b, a)
    if not constants[0] or len(constants[0]) != len(constants[1]):
        return False
    named = [any(_NAMED_CONSTANT.fullmatch(s.name) for s in side) for side in constants]
    if not (named[0] or ((functions or named[1]) and {s.name for s in constants[0]} & {"c", "k"})):
        return False
    others = {frozenset(e.free_symbols) - set(c) for e, c in zip((a, b), constants, strict=True)}
    variables = sorted(others.pop(), key=str)
    if others or not variables or not all(_VARIABLE.fullmatch(v.name) for v in variables):
        return False
    if any(
        numeric.equal(a, b.subs(dict(zip(constants[1], order, strict=True)), simultaneous=True))
        is True
        for order in permutations(constants[0])
    ):
        return True
    if len(constants[0]) > 1:  # may be the same span: `A cosh x + B sinh x`
        raise numeric.Undecided
    return False


def _constants(one: Expr, other: Expr) -> list[Expr]:
    """Return the arbitrary constants of a side: numbered ones, and letters that only it has."""
    own, shared = one.free_symbols - other.free_symbols, one.free_symbols & other.free_symbols
    numbered = {s for s in shared if re.fullmatch(r"[cK]_\d", s.name)}
    if len(numbered) == 1 and not own:
        return []
    different = own | (other.free_symbols - one.free_symbols)
    if not all(_CONSTANT.fullmatch(s.name) for s in different):
        return []
    found = own | numbered
    return sorted(found, key=str) if len(found) <= MAX_CONSTANTS else []
