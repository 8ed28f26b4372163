"""Compare expressions as functions: with arbitrary constants, sums over a range, at whole numbers.

x^2 + C, x^2 + K              equal up to a constant when both sides end with one
c_1 e^x + c_2 e^{-x}          the same functions as `A cosh x + B sinh x`
2*E, 3*I                      as SymPy prints e and i, where the other side has e or i
bounds with letters           the letters are whole numbers: the sum is written out at some
infinite sums                 evaluated to DIGITS digits, at small values of the other letters
(-1)^n, floors                compared at whole numbers when no other points decide

A family that is linear in its constants is the span of some functions, shifted. Another family with
as many constants is the same when its members lie in that span and all its constants count.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import permutations

import mpmath
import sympy
from sympy import Expr, Float, Matrix, Rational

from gradebox.checkers.math.compare import numeric
from gradebox.checkers.math.read.expressions.series import parts, write_out

_NAMED_CONSTANT = re.compile(r"[A-DKck]|[cK]_\d")  # of a gold; another letter is a given one
_CONSTANT = re.compile(r"[A-DKa-dkm](?:_\d)?|\\(?:varphi|phi|delta|alpha|beta|theta)(?:_\d)?")
_VARIABLE = re.compile(r"[nrstuvwxyz]|\\(?:theta|phi)")
_ARBITRARY = (sympy.Symbol("C"), sympy.Symbol("c"))
MAX_CONSTANTS = 4
_SETTINGS = (
    (2, 3, 5, 7),
    (-1, 4, 7, 2),
    (3, -2, 1, 5),
    (1, 1, -3, 4),
)  # of the constants of a member
_HUGE = sympy.Integer(10) ** 15  # larger or smaller values leave too few digits for the constants
_TINY = sympy.Float("1e-25", 30)


def with_same_constants(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """Return two expressions with e and i in one spelling."""
    if isinstance(a, sympy.MatrixBase) or isinstance(b, sympy.MatrixBase):
        return a, b
    return _sympy_names(a, b), _sympy_names(b, a)


def _sympy_names(expr: Expr, other: Expr) -> Expr:
    for name, constant in (("E", sympy.E), ("I", sympy.I)):
        symbol = sympy.Symbol(name)
        written = expr.has(symbol) and expr != symbol and not other.has(symbol)
        if written and other.has(constant, sympy.exp):
            expr = expr.subs(symbol, constant)
    return expr


def equal_up_to_constants(a: Expr, b: Expr) -> bool:
    """Return whether two expressions are one family of functions with arbitrary constants."""
    if isinstance(a, sympy.MatrixBase) or isinstance(b, sympy.MatrixBase):
        return False
    for constant in _ARBITRARY:
        factors = [sympy.diff(e, constant) for e in (a, b)]
        if all(f.is_number and f != 0 for f in factors):  # (x^3+C)/3
            rest = [e.subs(constant, 0) for e in (a, b)]
            return bool(rest[0].free_symbols) and (
                rest[0].free_symbols == rest[1].free_symbols and numeric.differ_by_constant(*rest)
            )
    constants = _constants(a, b), _constants(b, a)
    if not constants[0] or len(constants[0]) != len(constants[1]):
        return False
    if not any(_NAMED_CONSTANT.fullmatch(s.name) for s in constants[0]):
        return False
    others = {frozenset(e.free_symbols) - set(c) for e, c in zip((a, b), constants, strict=True)}
    variables = sorted(others.pop(), key=str)
    if others or not variables or not all(_VARIABLE.fullmatch(v.name) for v in variables):
        return False
    for one, other in ((a, b), (b, a)):
        own, its = constants if one is a else constants[::-1]
        if all(sympy.diff(one, p, q) == 0 for p in own for q in own):
            return _in_span(one, own, other, its, variables)
    return any(
        numeric.equal(a, b.subs(dict(zip(constants[1], order, strict=True)), simultaneous=True))
        is True
        for order in permutations(constants[0])
    )


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


def _in_span(
    linear: Expr, constants: list[Expr], other: Expr, its: list[Expr], variables: list[Expr]
) -> bool:
    """Return whether a family is that of one that is linear in its constants."""
    functions = [sympy.diff(linear, c) for c in constants]
    shift = linear.subs(dict.fromkeys(constants, 0), simultaneous=True)
    members = [other.subs(dict(zip(its, s, strict=False)), simultaneous=True) for s in _SETTINGS]
    slopes = [
        sympy.diff(other, c).subs(dict(zip(its, _SETTINGS[0], strict=False)), simultaneous=True)
        for c in its
    ]
    rows: list[list[Expr]] = []
    for point in numeric.points(variables):
        try:
            row = [numeric.value_at(e, point) for e in [*functions, shift, *members, *slopes]]
        except numeric.Undecided:
            continue
        if all(abs(x) < _HUGE for x in row) and all(
            abs(x) > 1 / _HUGE for x in row[: len(functions)]
        ):
            rows.append(row)
    count = len(constants)
    if len(rows) < count + numeric.ENOUGH_POINTS - 1:
        return False
    table = Matrix(rows)
    span = table[:, :count]
    if _rank(span) != count or _rank(table[:, count + 1 + len(members) :]) != count:
        return False
    differences = [table[:, count + 1 + i] - table[:, count] for i in range(len(members))]
    return all(_rank(Matrix.hstack(span, d)) == count for d in differences)


def _rank(matrix: Matrix) -> int:
    rows = [matrix.row(i) for i in range(matrix.rows)]
    scaled = [row / (max(abs(x) for x in row) or 1) for row in rows]
    return int(Matrix.vstack(*scaled).rank(iszerofunc=lambda x: abs(x) < _TINY))


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
