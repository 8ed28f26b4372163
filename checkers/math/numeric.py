"""Equality of two SymPy expressions, decided by values rather than by rewriting.

Two expressions are equal when they agree to 35 digits at several points, of both signs,
wherever both are defined over the reals: identity testing by evaluation, which needs no
`simplify` and is the same on every run because the points are fixed.
"""

# mypy: disable-error-code="import-untyped"
from __future__ import annotations

import re

import sympy
from sympy import Expr, Float, Integer, Rational

DIGITS = 50  # of each evaluation
AGREE = Float("1e-35", 20)  # relative difference that still counts as the same value
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53)
# which prime is first, what it is divided by, the sign: near 0 and, for what has pieces
# (|x-2|, floors, max), far from it on both sides
_POINTS: tuple[tuple[int, Expr | int, int], ...] = (
    *((1, 61, 1), (2, 67, 1), (1, 71, -1), (3, 73, 1), (2, 79, -1), (5, 83, 1), (7, 11, 1)),
    *((12, Rational(19, 7), 1), (8, Rational(17, 6), -1), (9, Rational(7, 1511), 1)),
    (10, Rational(9, 1201), -1),
)

Verdict = bool | None  # None: could not be decided


class Undecided(Exception):
    """Evaluation said nothing: another way has to decide."""


def value_at(expr: Expr, point: dict[Expr, Expr]) -> Expr:
    """`expr` with DIGITS digits at a point; Undecided when it has no finite number there."""
    try:
        value = expr.evalf(DIGITS, subs=point) if point else expr.evalf(DIGITS)
    except OverflowError:  # 2^{2^{2^n}} far from 0
        raise Undecided from None
    if not value.is_number or value.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo):
        raise Undecided
    real, imaginary = value.as_real_imag()
    if not (real.is_Float or real.is_Rational) or not (imaginary.is_Float or imaginary.is_Rational):
        raise Undecided
    return value


def _close(a: Expr, b: Expr, rel: Expr, absolute: Expr) -> bool:
    difference = sympy.Abs(a - b)
    return bool(difference <= absolute or difference <= rel * sympy.Max(sympy.Abs(a), sympy.Abs(b)))


def points(symbols: list[Expr]) -> list[dict[Expr, Expr]]:
    """Fixed points; each symbol, in the order of its name, has its own value at each."""
    out = []
    for shift, low, sign in _POINTS:
        out.append(
            {
                s: Rational(sign * (_PRIMES[(i * 3 + shift) % 16] + 16 * (i // 16) + i), low)
                for i, s in enumerate(symbols)
            }
        )
    return out


def equal(a: Expr, b: Expr, rel_tol: float = 0.0, abs_tol: float = 0.0) -> Verdict:
    """Whether two expressions are equal; None when it could not be decided."""
    if a == b:
        return True
    if isinstance(a, sympy.MatrixBase) or isinstance(b, sympy.MatrixBase):
        return _equal_matrices(a, b, rel_tol, abs_tol)
    if a.is_infinite or b.is_infinite:
        return False
    if a.is_Rational and b.is_Rational:
        return _within(a, b, rel_tol, abs_tol)
    if _text_only(a) or _text_only(b):
        return None
    symbols = sorted(a.free_symbols | b.free_symbols, key=lambda s: s.name)
    if not symbols:
        return _equal_numbers(a, b, rel_tol, abs_tol)
    return _equal_functions(a, b, symbols, rel_tol)


def _text_only(e: Expr) -> bool:
    return not isinstance(e, Expr)


def _within(a: Expr, b: Expr, rel_tol: float, abs_tol: float) -> bool:
    if a == b:
        return True
    if not rel_tol and not abs_tol:
        return False
    if a.is_Integer and b.is_Integer and max(rel_tol, abs_tol) < 1e-6:
        return False
    difference = abs(a - b)
    return bool(
        difference <= Rational(str(abs_tol))
        or difference <= Rational(str(rel_tol)) * max(abs(a), abs(b))
    )


def _equal_numbers(a: Expr, b: Expr, rel_tol: float, abs_tol: float) -> Verdict:
    try:
        va, vb = value_at(a, {}), value_at(b, {})
    except Undecided:
        return None
    if rel_tol or abs_tol:
        return _close(va, vb, Float(rel_tol), Float(abs_tol))
    return _close(va, vb, AGREE, Float("1e-40", 20))


def _equal_functions(a: Expr, b: Expr, symbols: list[Expr], rel_tol: float) -> Verdict:
    """Where both are defined over the reals decides; elsewhere only when that is too little."""
    complex_valued = a.has(sympy.I) or b.has(sympy.I)
    agreed = 0
    rel = Float(rel_tol) if rel_tol else AGREE
    guards = [] if complex_valued else _guards(a) + _guards(b)
    where = [(p, all(_is_positive(g, p) for g in guards)) for p in points(symbols)]
    for point, real in sorted(where, key=lambda pair: not pair[1]):
        if not real and agreed >= 3:
            break
        try:
            va, vb = value_at(a, point), value_at(b, point)
        except Undecided:
            continue
        if not complex_valued and _imaginary(va) != _imaginary(vb):
            continue
        if not _close(va, vb, rel, Float("1e-40", 20)):
            return False
        agreed += 1
    return True if agreed >= 3 else None


def _guards(expr: Expr) -> list[Expr]:
    """What must not be negative where `expr` is real: under its roots and logarithms."""
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


def _equal_matrices(a: Expr, b: Expr, rel_tol: float, abs_tol: float) -> Verdict:
    if not (isinstance(a, sympy.MatrixBase) and isinstance(b, sympy.MatrixBase)):
        return False
    if a.shape != b.shape:
        vectors = 1 in a.shape and 1 in b.shape and len(a) == len(b)
        if not vectors:
            return False
    undecided = False
    for x, y in zip(a.flat(), b.flat(), strict=True):
        same = equal(x, y, rel_tol, abs_tol)
        if same is False:
            return False
        undecided |= same is None
    return None if undecided else True


def proportional(a: Expr, b: Expr, positive: bool = False) -> Verdict:
    """Whether a = c·b for a constant c ≠ 0 (c > 0 with `positive`)."""
    symbols = sorted(a.free_symbols | b.free_symbols, key=lambda s: s.name)
    if a.free_symbols != b.free_symbols:
        return False
    if not symbols:
        return equal(a, b)
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
        if ratio is None:
            ratio = va / vb
        elif not _close(va / vb, ratio, AGREE, Float("1e-40", 20)):
            return False
        agreed += 1
    if agreed < 3 or ratio is None:
        return None
    if _imaginary(ratio):
        return False
    return bool(sympy.re(ratio) > 0) if positive else True


_DECIMAL = re.compile(
    r"([-+]?)(\d{1,3}(?:,\d{3})+|\d*)\.(\d+)\s*(?:(?:\\times|\\cdot|\*)\s*10\s*\^\s*\{?\s*(-?\d{1,4})\s*\}?|[eE]([-+]?\d{1,4}))?"
)


def rounding_equals(text: str, exact: Expr, exact_text: str) -> bool:
    """Whether the decimal `text` is the correct rounding of an exact number.

    At least 6 decimals, or 9 digits in all, are asked for: 0.333333 stands for 1/3, and
    0.33333 or 3.14 stand for themselves only. Two decimals never round each other.
    """
    m = _DECIMAL.fullmatch(text.strip())
    if m is None or _DECIMAL.search(exact_text):
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
    """Whether a number, rounded or cut off, is the decimal `text`."""
    plain = text.replace(",", "")
    ulp = Rational(1, 10 ** len(plain.partition(".")[2]))
    decimal = Rational(plain)
    try:
        over = value_at(exact - decimal, {}) * (-1 if decimal < 0 else 1)
        return bool(-ulp / 2 <= over < ulp)
    except (Undecided, TypeError):
        return False


def percent_close(a: Expr, b: Expr, rel_tol: float) -> bool:
    """Whether one of two real numbers is 100 times the other, within a relative tolerance."""
    try:
        va, vb = value_at(a, {}), value_at(b, {})
        return any(
            _close(x, y, Float(rel_tol), Float(0)) for x, y in ((va * 100, vb), (va, vb * 100))
        )
    except (Undecided, TypeError):
        return False


HUNDRED = Integer(100)
