"""Compare expressions that are defined at whole numbers, or by sums and products over a range.

bounds with letters    the letters are whole numbers: at each of POINTS the sum is written out
infinite sums          evaluated to DIGITS digits, at small values of the other letters
(-1)^n, floors         compared at whole numbers when no other points decide
"""

from __future__ import annotations

from collections.abc import Callable

import mpmath
import sympy
from sympy import Expr, Float, Rational

from gradebox.checkers.math.compare import numeric
from gradebox.checkers.math.parse.expressions.series import parts, write_out

POINTS = (1, 2, 3, 5, 8)  # of the first letter; the next ones are larger
MORE_POINTS = (1, 2, 3, 4, 5, 6, 7, 9, 12, 20)  # of functions without sums
DIGITS = 30
_AGREE = Float("1e-20")
_SMALL = (Rational(1, 7), Rational(2, 13), Rational(-1, 9), Rational(1, 5))
_WHOLE_NUMBERS = frozenset("kmnNMpqrst")
_SERIES = (sympy.Sum, sympy.Product)


def has_series(*exprs: Expr) -> bool:
    """Return whether any expression has a sum or product that is not written out."""
    return any(isinstance(e, Expr) and e.has(*_SERIES) for e in exprs)


def equal(a: Expr, b: Expr) -> numeric.Verdict:
    """Return whether two expressions with sums or products are equal; None when undecided."""
    if a == b:
        return True
    series = a.atoms(*_SERIES) | b.atoms(*_SERIES)
    bounds = set().union(*(e.free_symbols for s in series for lim in s.limits for e in lim[1:]))
    letters = sorted((a.free_symbols | b.free_symbols) & bounds, key=lambda s: s.name)
    for point in whole_points(letters) if letters else [{}]:
        found = _equal_written_out(_written_out(a.subs(point)), _written_out(b.subs(point)))
        if found is not True:
            return found
    return True


def equal_at_whole_numbers(a: Expr, b: Expr) -> numeric.Verdict:
    """Return whether two expressions agree at whole numbers; None when their letters are others."""
    letters = {s.name for s in a.free_symbols | b.free_symbols}
    if not 1 <= len(letters) <= 2 or not letters <= _WHOLE_NUMBERS:
        return None
    return agree_at_whole_numbers(a, b)


def agree_at_whole_numbers(a: Expr, b: Expr) -> numeric.Verdict:
    """Return whether two expressions agree where all their letters are whole numbers."""
    letters = sorted(a.free_symbols | b.free_symbols, key=lambda s: s.name)
    found = [numeric.equal(a.subs(p), b.subs(p)) for p in whole_points(letters, MORE_POINTS)]
    return False if False in found else None if None in found else True


def whole_points(letters: list[Expr], values: tuple[int, ...] = POINTS) -> list[dict[Expr, Expr]]:
    """Return points with whole numbers: 1, 2, … for the first letter, larger ones for the next."""
    return [
        {s: sympy.Integer(n + 3 * i + (n * i) % 2) for i, s in enumerate(letters)} for n in values
    ]


def _written_out(expr: Expr) -> Expr:
    return _with_each_series(expr, write_out)


def _with_each_series(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """Return an expression with its sums and products changed, the outer ones first."""
    if not expr.has(*_SERIES):
        return expr
    if isinstance(expr, _SERIES):
        changed = change(expr)
        return changed if isinstance(changed, _SERIES) else _with_each_series(changed, change)
    return expr.func(*(_with_each_series(a, change) for a in expr.args))


def _value(expr: Expr) -> Expr | None:
    """Return a real number with its infinite sums and products summed; None when that fails.

    SymPy's own evaluation of a sum writes and runs a Python program: mpmath's does not.
    """
    try:
        found = _with_each_series(expr, _summed).evalf(DIGITS)
    except (numeric.Undecided, mpmath.libmp.NoConvergence, ZeroDivisionError, OverflowError):
        return None
    return found if found.is_Float or found.is_Rational else None


def _summed(series: Expr) -> Expr:
    term, index, low, high = parts(series)
    if low.is_Integer and high.is_Integer:
        return series.doit()
    if high is not sympy.oo or term.free_symbols != {index} or has_series(term):
        raise numeric.Undecided

    def value(k: mpmath.mpf) -> mpmath.mpf:
        return mpmath.mpf(str(term.subs(index, int(k)).evalf(mpmath.mp.dps + 5)))

    with mpmath.workdps(DIGITS + 5):
        total = (mpmath.nsum if isinstance(series, sympy.Sum) else mpmath.nprod)(
            value, [int(low), mpmath.inf]
        )
        return Float(str(total), DIGITS)


def _equal_written_out(a: Expr, b: Expr) -> numeric.Verdict:
    if not has_series(a, b):
        return numeric.equal(a, b)
    letters = sorted(a.free_symbols | b.free_symbols, key=lambda s: s.name)
    for i, _ in enumerate(_SMALL):
        point = {s: _SMALL[(i + j) % len(_SMALL)] for j, s in enumerate(letters)}
        va, vb = (_value(e.subs(point)) for e in (a, b))
        if va is None or vb is None:
            return None
        if abs(va - vb) > _AGREE * (1 + abs(va)):
            return False
        if not letters:
            break
    return True
