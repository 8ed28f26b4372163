"""How many digits decide whether an exact number is 0.

A number made of integers by + - * / and roots that is not 0 is not too close to 0 either: its
absolute value is above a bound that its expression gives. Evaluating to that many digits is
therefore a proof. The bound is 10^-((degree-1)·top + low), where top and low are the logarithms
of bounds on the conjugates of a numerator and of a denominator (Burnikel, Funke, Mehlhorn, Schirra,
Schmitt: A Separation Bound for Real Algebraic Expressions, 2001):

    node           top                                   low                          degree
    p/q            log|p|                                log|q|                       1
    a + b          log(10^(top a + low b) + 10^(low a + top b))   low a + low b      product
    a · b          top a + top b                         low a + low b                product
    1 / a          low a                                 top a                        same
    a^(1/k)        (top + (k-1)·low)/k, when top ≥ low   low                          times k
                   top                                   (low + (k-1)·top)/k          times k
    sin πp/q       log 2                                 log 2                    that of e^(iπ/q)

No such bound is known for e, π, logarithms and their like. Each one counts as a root of degree
TRANSCENDENTAL_DEGREE, which no known identity or near miss contradicts.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import sympy
from sympy import Expr

TRANSCENDENTAL_DEGREE = 2
_LOG2 = math.log10(2)
_CIRCULAR = (sympy.sin, sympy.cos, sympy.tan, sympy.cot, sympy.sec, sympy.csc)
MAX_EXPONENT_DIGITS = 15  # beyond, a power of a number has no digits to compare
_LARGEST = 1e9  # digits; more is as good as no bound


class _Size(NamedTuple):
    top: float
    low: float


class _Bound:
    """The bound of one expression: the degrees of its distinct roots are collected on the way."""

    def __init__(self) -> None:
        self.degrees: dict[Expr, int] = {}
        self.circle = 1  # all values of sin and cos lie in the field of this root of unity
        self.sizes: dict[Expr, _Size] = {}

    def degree(self) -> float:
        product = float(_totient(self.circle))
        for degree in self.degrees.values():
            product = min(product * degree, _LARGEST)
        return product

    def size(self, expr: Expr) -> _Size:
        if expr not in self.sizes:
            self.sizes[expr] = self._size(expr)
        return self.sizes[expr]

    def _size(self, expr: Expr) -> _Size:
        if expr.is_Rational:
            return _Size(_log10(abs(int(expr.p))), _log10(int(expr.q)))
        if expr == sympy.I:
            self.circle = math.lcm(self.circle, 4)
            return _Size(0, 0)
        if expr.is_Add:
            return self._sum(expr)
        if expr.is_Mul:
            parts = [self.size(a) for a in expr.args]
            return _Size(sum(p.top for p in parts), sum(p.low for p in parts))
        if expr.is_Pow and expr.exp.is_Rational:
            return self._power(expr.base, expr.exp)
        if isinstance(expr, sympy.Abs):
            return self.size(expr.args[0])
        if isinstance(expr, _CIRCULAR) and (expr.args[0] / sympy.pi).is_Rational:
            self.circle = math.lcm(self.circle, 4, 2 * int((expr.args[0] / sympy.pi).q))
            one_function = isinstance(expr, sympy.sin | sympy.cos)
            return _Size(_LOG2, _LOG2) if one_function else _Size(2 * _LOG2, 2 * _LOG2)
        if isinstance(expr, sympy.exp) and expr.args[0].is_Rational:
            return self._power(sympy.E, expr.args[0])
        return self._other(expr)

    def _sum(self, expr: Expr) -> _Size:
        total = self.size(expr.args[0])
        for part in map(self.size, expr.args[1:]):
            a, b = total.top + part.low, total.low + part.top
            larger = max(a, b)
            top = larger + math.log10(10 ** (a - larger) + 10 ** (b - larger))
            total = _Size(top, total.low + part.low)
        return total

    def _power(self, base: Expr, exponent: Expr) -> _Size:
        top, low = self.size(base)
        k, times = int(exponent.q), abs(int(exponent.p))
        if k > 1:
            root = sympy.Pow(base, sympy.Rational(1, k), evaluate=False)
            self.degrees[root] = k
            if top >= low:
                top, low = (top + (k - 1) * low) / k, low
            else:
                top, low = top, (low + (k - 1) * top) / k
        top, low = min(top * times, _LARGEST), min(low * times, _LARGEST)
        return _Size(low, top) if exponent.is_negative else _Size(top, low)

    def _other(self, expr: Expr) -> _Size:
        """Return the size of π, e, log 2, 3000! and so on from their values."""
        magnitude = _magnitude(expr)
        if expr.is_integer is not True:
            self.degrees[expr] = TRANSCENDENTAL_DEGREE
        return _Size(max(0.0, magnitude), max(0.0, -magnitude))


def digits_needed(expr: Expr) -> tuple[float, float]:
    """Return (digits after the point that tell `expr` from 0, digits before it in its terms)."""
    bound = _Bound()
    top, low = bound.size(expr)
    return (bound.degree() - 1) * max(top, 0.0) + low, top


def largest_magnitude(*exprs: Expr) -> float:
    """Return the digits of the longest or smallest constant: 60 for `x + 10^{-60}`."""
    constants = (
        part
        for expr in exprs
        for part in sympy.preorder_traversal(expr)
        if isinstance(part, Expr) and part.is_number
    )
    return max(map(_length, constants), default=0.0)


def _length(constant: Expr) -> float:
    if constant.is_Rational:
        return max(_log10(abs(int(constant.p))), _log10(int(constant.q)))
    return abs(_magnitude(constant))


@lru_cache(maxsize=2048)
def has_tower(expr: Expr) -> bool:
    """Return whether a number has an exponent of more than MAX_EXPONENT_DIGITS digits, 9^9^9^9."""
    powers = [p for p in expr.atoms(sympy.Pow) if p.exp.is_number and not p.exp.is_Rational]
    inner_first = sorted(powers, key=lambda p: int(p.count_ops()))
    return any(_magnitude(p.exp) > MAX_EXPONENT_DIGITS for p in inner_first)


def _magnitude(expr: Expr) -> float:
    """Return log10 of the absolute value of a number; 0 for 0."""
    if expr.is_Rational:
        return _log10(abs(int(expr.p))) - _log10(int(expr.q))
    if has_tower(expr):
        return _LARGEST
    try:
        value = sympy.Abs(expr.evalf(5))
        return float(sympy.log(value, 10).evalf(5)) if value else 0.0
    except (TypeError, ValueError, OverflowError, ArithmeticError):
        return _LARGEST


def _log10(n: int) -> float:
    return math.log10(n) if n > 1 else 0.0


def _totient(n: int) -> int:
    return int(sympy.totient(n)) if n < 10**6 else n
