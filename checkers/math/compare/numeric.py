"""Decide whether two SymPy expressions are equal by evaluating them.

    rational numbers  exactly
    other numbers     equal when they agree to AGREED_DIGITS digits
    polynomials       small ones are multiplied out
    with variables    evaluated at fixed points of both signs, wherever both are real: equal when
                      they agree to 35 digits

Very large and small constants, `10^{-60}`, need as many digits more. What MAX_DIGITS leave open is
undecided.

This needs no `simplify`, and fixed points give the same verdict on every run. What has no value is
undecided (None).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import sympy
from sympy import Expr, Float, Integer, Rational

from gradebox.checkers.math.compare.exact import close, within_ulps

DIGITS = 50  # of an evaluation
WORKING_DIGITS = 150  # at most, where digits cancel
MAX_DIGITS = 1000
GUARD_DIGITS = 15  # that rounding errors may spoil
AGREED_DIGITS = 90  # of two equal numbers
AGREE = Float("1e-30", 20)  # relative difference of values that count as equal
_AGREE_AT_POINTS = Float(10, 20) ** (GUARD_DIGITS - DIGITS)  # the same, at points
_NEAR_ZERO = Float(10, 20) ** (DIGITS // 5 - DIGITS)  # absolute
DOUBLE_TOLERANCE = 1e-15  # relative, of expressions whose coefficients are doubles
ENOUGH_POINTS = 3  # points that must agree
MAX_EXPANDED = 60  # operations of a polynomial that is multiplied out, which is quicker
MAX_POWER = 6  # of a sum in it
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53)
# (index of the first prime, divisor, sign, sign of every second letter). Points are near 0 and,
# because |x-2|, floors and max change there, far from 0 on both sides.
_POINTS: tuple[tuple[int, Expr | int, int, int], ...] = (
    (1, 61, 1, 1), (1, 71, -1, -1), (3, 73, 1, -1), (2, 79, -1, 1), (7, 11, 1, 1),
    (12, Rational(19, 7), 1, 1), (8, Rational(17, 6), -1, -1), (9, Rational(7, 1511), 1, 1),
)  # fmt: skip
_FAR = ((3, Rational(1, 3), 1, 1), (6, Rational(1, 5), 1, 1), (11, Rational(2, 7), 1, 1))
_WHOLE_NUMBERS = (1, 2, 3, 4, 5, 6, 7, 9, 12, 20)
_INFINITE = (sympy.oo, -sympy.oo, sympy.zoo)
Verdict = bool | None  # None: undecided


class Undecided(Exception):
    """An expression has no finite value at a point, or its digits do not decide."""


def value_at(expr: Expr, point: dict[Expr, Expr], more: int = 0) -> Expr:
    """Return `expr` to DIGITS and `more` digits at a point; raise Undecided when it is not finite.

    A value of which all digits cancel is returned as something below 10^-AGREED_DIGITS.
    """
    try:
        value = expr.evalf(DIGITS + more, subs=point or None, maxn=WORKING_DIGITS + 2 * more)
    except (OverflowError, ZeroDivisionError, ValueError):  # 2^{2^{2^n}} far from 0, (1/2)!!
        raise Undecided from None
    if not all(part.is_Float or part.is_Rational for part in value.as_real_imag()):
        raise Undecided
    return value


def _close(a: Expr, b: Expr, rel: Expr, absolute: Expr) -> bool:
    difference = sympy.Abs(a - b)
    return bool(difference <= absolute or difference <= rel * sympy.Max(sympy.Abs(a), sympy.Abs(b)))


def points(
    symbols: list[Expr], table: tuple[tuple[int, Expr | int, int, int], ...] = _POINTS
) -> list[dict[Expr, Expr]]:
    """Return the fixed points: one value a symbol, in the order of `symbols`."""
    return [
        {
            s: Rational(
                (sign, second)[i % 2] * (_PRIMES[(i * 3 + shift) % 16] + 16 * (i // 16) + i), low
            )
            for i, s in enumerate(symbols)
        }
        for shift, low, sign, second in table
    ]


def equal(a: Expr, b: Expr, rel_tol: float = 0.0, abs_tol: float = 0.0) -> Verdict:
    """Return whether two expressions are equal; None when evaluation does not decide."""
    if a == b:
        return True
    if a in _INFINITE or b in _INFINITE:  # `is_infinite` asks for much: a quarter of all time
        return False
    if a.is_Rational and b.is_Rational:
        one, other = (Fraction(int(v.p), int(v.q)) for v in (a, b))
        return close(one, other, rel_tol, abs_tol)
    if not isinstance(a, Expr) or not isinstance(b, Expr):
        return None
    symbols = _symbols(a, b)
    if not symbols:
        return _equal_numbers(a, b, rel_tol, abs_tol)
    if (cancels := _cancels(a - b)) is not None and (cancels or not rel_tol):
        return cancels
    return _equal_functions(a, b, symbols, rel_tol)


def _cancels(difference: Expr) -> Verdict:
    """Return whether a small polynomial is 0 when it is multiplied out; None for another one."""
    letters = difference.free_symbols
    if not difference.is_polynomial(*letters) or difference.count_ops() > MAX_EXPANDED:
        return None
    exponents = (p.exp for p in difference.atoms(sympy.Pow) if p.base.is_Add)
    if not all(e.is_Integer and e <= MAX_POWER for e in exponents):
        return None
    expanded = difference.expand()
    factors = {f for term in sympy.Add.make_args(expanded) for f in sympy.Mul.make_args(term)}
    rational = all(f.is_Rational or f.as_base_exp()[0].is_Symbol for f in factors)
    return bool(expanded == 0) if rational else None


def _symbols(a: Expr, b: Expr) -> list[Expr]:
    return sorted(a.free_symbols | b.free_symbols, key=lambda s: s.name)


def _equal_numbers(a: Expr, b: Expr, rel_tol: float, abs_tol: float) -> Verdict:
    try:
        va, vb = value_at(a, {}), value_at(b, {})
        if rel_tol or abs_tol:
            return _close(va, vb, Float(rel_tol), Float(abs_tol))
        if not _close(va, vb, AGREE, AGREE):
            return False
        difference = a - b
        if difference.is_Rational:
            return bool(difference == 0)
        more = _more_digits(a, b)
        allowed = Float(10) ** -(AGREED_DIGITS + more)
        return bool(sympy.Abs(value_at(difference, {}, more)) < allowed)
    except Undecided:
        return None


def _more_digits(a: Expr, b: Expr) -> int:
    """Return how many digits the largest and smallest constants have: 60 for `x + 10^{-60}`."""
    digits = int(max(_length(a), _length(b)))
    if digits > MAX_DIGITS:
        raise Undecided
    return digits if digits > GUARD_DIGITS else 0


@lru_cache(maxsize=2048)
def _length(expr: Expr) -> float:
    """Return the digits before or after the point of an expression's longest constant."""
    if expr.is_Rational:
        return math.log10(max(abs(int(expr.p)), int(expr.q), 1))
    inner = max(map(_length, expr.args), default=0.0)
    if not expr.is_number or isinstance(expr, sympy.MatrixBase):
        return inner
    try:
        value = sympy.Abs(expr.evalf(5))
        return max(inner, abs(float(sympy.log(value, 10).evalf(5)))) if value else inner
    except (TypeError, ValueError, OverflowError, ArithmeticError):
        return float("inf")


def _equal_functions(a: Expr, b: Expr, symbols: list[Expr], rel_tol: float) -> Verdict:
    """Compare where both are real; other points count only when those are too few."""
    complex_valued = a.has(sympy.I) or b.has(sympy.I)
    agreed = 0
    try:
        more = 2 * _more_digits(a, b)
    except Undecided:
        return None
    rel = Float(rel_tol) if rel_tol else _AGREE_AT_POINTS * Float(10, 20) ** -more
    guards = [] if complex_valued else _guards(a) + _guards(b)
    is_real = [(p, all(_is_positive(g, p) for g in guards)) for p in points(symbols)]
    if sum(real for _, real in is_real) < ENOUGH_POINTS:
        is_real += [(p, all(_is_positive(g, p) for g in guards)) for p in points(symbols, _FAR)]
    for point, real in sorted(is_real, key=lambda pair: not pair[1]):
        if not real and agreed >= ENOUGH_POINTS:
            break
        try:
            va, vb = value_at(a, point, more), value_at(b, point, more)
        except Undecided:
            continue
        if not complex_valued and _imaginary(va) != _imaginary(vb):
            continue
        if not _close(va, vb, rel, _NEAR_ZERO * Float(10, 20) ** -more):
            return False
        agreed += 1
    return True if agreed >= ENOUGH_POINTS else None


def agree_at_whole_numbers(a: Expr, b: Expr) -> Verdict:
    """Return whether two expressions agree where all their letters are whole numbers."""
    found = [
        equal(a.subs(p), b.subs(p))
        for n in _WHOLE_NUMBERS
        for p in [{s: Integer(n + 3 * i) for i, s in enumerate(_symbols(a, b))}]
    ]
    return False if False in found else None if None in found else True


def _guards(expr: Expr) -> list[Expr]:
    """Return what is positive where `expr` is real: the arguments of roots and logarithms."""
    logarithms = [part.args[0] for part in expr.atoms(sympy.log)]
    roots = [p.base for p in expr.atoms(sympy.Pow) if p.exp.is_Rational and not p.exp.is_Integer]
    return [inner for inner in logarithms + roots if inner.free_symbols]


def _is_positive(expr: Expr, point: dict[Expr, Expr]) -> bool:
    try:
        value = value_at(expr, point)
    except Undecided:
        return False
    return not _imaginary(value) and bool(sympy.re(value) > 0)


def _imaginary(value: Expr) -> bool:
    return bool(sympy.Abs(sympy.im(value)) > Float("1e-30", 20))


def proportional(a: Expr, b: Expr, positive: bool = False) -> Verdict:
    """Return whether a = c·b for a constant c ≠ 0 (c > 0 with `positive`)."""
    if a.free_symbols != b.free_symbols:
        return False
    symbols = _symbols(a, b)
    if not symbols:
        return equal(a, b)
    if _cancels(a - b) or (not positive and _cancels(a + b)):
        return True
    ratio: Expr | None = None
    agreed = 0
    for point in points(symbols):
        try:
            va, vb = value_at(a, point), value_at(b, point)
        except Undecided:
            continue
        if vb == 0 or va == 0:
            if va != vb:
                return False
            continue
        if min(abs(va / vb), abs(vb / va)) < AGREE:
            return False  # one is 0 but for rounding
        if ratio is None:
            ratio = va / vb
        elif not _close(va / vb, ratio, _AGREE_AT_POINTS, _NEAR_ZERO):
            return False
        agreed += 1
    if agreed < ENOUGH_POINTS or ratio is None:
        return None
    return not _imaginary(ratio) and (not positive or bool(sympy.re(ratio) > 0))


def same_double(a: Expr, b: Expr) -> bool:
    """Return whether two expressions are equal when the numbers of one are printed doubles."""
    if a.free_symbols or b.free_symbols:
        return equal(a, b, DOUBLE_TOLERANCE) is True
    try:
        exact = [v if v.is_Rational else value_at(v, {}) for v in (a, b) if v.is_number]
        if len(exact) < 2:
            return False
        if not all(v.is_real for v in exact):
            scale = max(abs(v) for v in exact)
            return bool(abs(exact[0] - exact[1]) <= Float(DOUBLE_TOLERANCE) * scale)
        return within_ulps(*(Fraction(str(v)) for v in exact))
    except (Undecided, TypeError, ValueError):
        return False


def differ_by_constant(a: Expr, b: Expr) -> bool:
    """Return whether a - b is the same number wherever both are real."""
    values = []
    for point in points(_symbols(a, b)):
        try:
            va, vb = value_at(a, point), value_at(b, point)
        except Undecided:
            continue
        if not _imaginary(va) and not _imaginary(vb):
            values.append(va - vb)
    same = all(_close(v, values[0], AGREE, _NEAR_ZERO) for v in values)
    return len(values) >= ENOUGH_POINTS and same


def percent_close(a: Expr, b: Expr, rel_tol: float, abs_tol: float) -> bool:
    """Return whether one number is 100 times the other within a tolerance."""
    try:
        va, vb = value_at(a, {}), value_at(b, {})
        return any(
            _close(x, y, Float(rel_tol), Float(abs_tol))
            for x, y in ((va * 100, vb), (va, vb * 100))
        )
    except (Undecided, TypeError):
        return False
