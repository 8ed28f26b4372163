"""What the reader's functions and operators make of SymPy expressions.

What could grow without bound (powers, factorials) stays unevaluated beyond BITS.
"""

# mypy: disable-error-code="import-untyped"
from __future__ import annotations

from collections.abc import Callable

import sympy
from sympy import Expr, Integer

from checkers.math.tables import word_list
from checkers.math.tokens import ParseError

BITS = 20_000  # of the largest integer evaluated while reading

_TRIG = {
    name: getattr(sympy, name)
    for name in word_list(
        "sin cos tan cot sec csc sinh cosh tanh coth asin acos atan acot asec acsc asinh "
        "acosh atanh"
    )
}
ONE: dict[str, Callable[[Expr], Expr]] = {
    **_TRIG,
    **{"arc" + n[1:]: f for n, f in _TRIG.items() if n.startswith("a") and not n.endswith("h")},
    "arcsinh": sympy.asinh,
    "arccosh": sympy.acosh,
    "arctanh": sympy.atanh,
    "ln": sympy.log,
    "exp": sympy.exp,
    "abs": sympy.Abs,
    "floor": sympy.floor,
    "ceil": sympy.ceiling,
    "Re": sympy.re,
    "Im": sympy.im,
}
MANY = {"max": sympy.Max, "min": sympy.Min, "gcd": sympy.gcd, "lcm": sympy.lcm}


def power(base: Expr, exponent: Expr) -> Expr:
    """base ** exponent, left unevaluated when the result would be huge."""
    if base.is_Rational and exponent.is_Rational:
        size = max(abs(int(base.p)).bit_length(), int(base.q).bit_length())
        if abs(exponent) * size > BITS:
            return sympy.Pow(base, exponent, evaluate=False)
    elif (
        base.is_number and exponent.is_number and exponent.is_Integer and abs(exponent) > 2000
    ) or (exponent.is_number and not exponent.is_Rational and base.is_Rational):
        return sympy.Pow(base, exponent, evaluate=False)
    return sympy.Pow(base, exponent)


def factorial(value: Expr) -> Expr:
    if value.is_Integer and 0 <= value <= 1000:
        return sympy.factorial(value)
    return sympy.factorial(value, evaluate=False)


def constant(letter: str) -> Expr:
    """e and i are numbers, every other letter a symbol."""
    return {"e": sympy.E, "i": sympy.I}.get(letter) or symbol(letter)


def symbol(name: str) -> sympy.Symbol:
    return sympy.Symbol(name)


def apply(name: str, argument: Expr, base: Expr | None) -> Expr:
    if name in ("log", "lg", "ln"):
        if argument == 0:
            raise ParseError("the logarithm of 0")
        if base is None and name == "lg":
            base = Integer(10)
        return sympy.log(argument) if base is None else sympy.log(argument) / sympy.log(base)
    if name not in ONE:
        raise ParseError(f"unknown function {name}")
    if name == "exp":
        return power(sympy.E, argument)
    return ONE[name](argument)


def absolute(value: Expr) -> Expr:
    if isinstance(value, sympy.MatrixBase):
        return value.det()
    return sympy.Abs(value)


def divide(top: Expr, low: Expr) -> Expr:
    if isinstance(low, sympy.MatrixBase):
        raise ParseError("division by a matrix")
    if low == 0:
        raise ParseError("division by zero")
    if isinstance(top, sympy.MatrixBase):
        return top.applyfunc(lambda e: e / low)
    return top / low


def matrix_power(base: sympy.MatrixBase, exponent: Expr) -> Expr:
    if isinstance(exponent, sympy.Symbol) and exponent.name in ("T", "t"):
        return base.T
    if exponent.is_Integer and abs(exponent) <= 20 and base.rows == base.cols <= 6:
        return base ** int(exponent)
    raise ParseError("this power of a matrix")
