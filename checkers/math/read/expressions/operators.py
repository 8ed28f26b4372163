"""The SymPy side of functions and operators.

Powers beyond MAX_BITS are not read, larger factorials stay unevaluated: they grow without bound.
"""

from __future__ import annotations

from collections.abc import Callable

import sympy
from sympy import Expr, Integer

from gradebox.checkers.math.read.tables import word_list
from gradebox.checkers.math.read.values import ParseError

MAX_BITS = 100_000  # of the largest integer
MAX_EXPONENT = 10**6  # of a number that is no fraction
MAX_ROOT_BITS = 400  # of an integer whose roots are simplified, which factorises it
MAX_FACTORIAL = 2048

_TRIG = {
    name: getattr(sympy, name)
    for name in word_list(
        "sin cos tan cot sec csc sinh cosh tanh coth asin acos atan acot asec acsc asinh "
        "acosh atanh"
    )
}
UNARY: dict[str, Callable[[Expr], Expr]] = {
    **_TRIG,
    **{"arc" + n[1:]: f for n, f in _TRIG.items() if n.startswith("a")},
    **{"ar" + n[1:]: f for n, f in _TRIG.items() if n.startswith("a") and n.endswith("h")},
    "cis": lambda angle: sympy.cos(angle) + sympy.I * sympy.sin(angle),
    "ln": sympy.log,
    "exp": sympy.exp,
    "abs": sympy.Abs,
    "floor": sympy.floor,
    "ceil": sympy.ceiling,
    "sign": sympy.sign,
    "sgn": sympy.sign,
    "Re": sympy.re,
    "Im": sympy.im,
}


def power(base: Expr, exponent: Expr) -> Expr:
    """Return base ** exponent; raise ParseError for one that has too many digits to compare."""
    if isinstance(base, sympy.MatrixBase):
        if isinstance(exponent, sympy.Symbol) and exponent.name in ("T", "t"):
            return base.T
        raise ParseError("a power of a matrix")
    if base.is_Rational and exponent.is_Rational:
        size = max(abs(int(base.p)).bit_length(), int(base.q).bit_length())
        if abs(exponent) * size > MAX_BITS:
            raise ParseError(f"a power of more than {MAX_BITS} bits")
        if exponent.q > 1 and size > MAX_ROOT_BITS:
            return sympy.Pow(base, exponent, evaluate=False)
    elif exponent.is_number and not abs(exponent.evalf(5)) < MAX_EXPONENT:  # or nan
        raise ParseError("a power with an exponent of more than 6 digits")
    unevaluated = base.is_number and exponent.is_Integer and abs(exponent) > 2000
    return sympy.Pow(base, exponent, evaluate=not unevaluated)


def root(value: Expr, degree: Expr) -> Expr:
    """Return the real root where there is one: the cube root of -8 is -2, as in school."""
    if not (degree.is_Integer and degree % 2 and degree > 1):
        return power(value, 1 / degree)
    if value.is_number:
        return -power(-value, 1 / degree) if value.is_negative else power(value, 1 / degree)
    return sympy.sign(value) * power(sympy.Abs(value), 1 / degree)


def factorial(value: Expr) -> Expr:
    if value.is_Integer and 0 <= value <= MAX_FACTORIAL:
        return sympy.factorial(value)
    return sympy.factorial(value, evaluate=False)


def constant(letter: str) -> Expr:
    """Return a letter as a symbol; e and i are numbers."""
    return {"e": sympy.E, "i": sympy.I}.get(letter) or sympy.Symbol(letter)


def apply(name: str, argument: Expr, base: Expr | None) -> Expr:
    """Return the function `name` of an argument; `base` is that of a logarithm."""
    if name in ("log", "lg", "ln"):
        if argument == 0:
            raise ParseError("the logarithm of 0")
        if base is None and name == "lg":
            base = Integer(10)
        return sympy.log(argument) if base is None else sympy.log(argument) / sympy.log(base)
    if name not in UNARY:
        raise ParseError(f"unknown function {name}")
    if name == "exp":
        return power(sympy.E, argument)
    return UNARY[name](argument)


def absolute(value: Expr) -> Expr:
    """Return an absolute value, or the determinant of a matrix."""
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
