"""Constants that have several names: e and i, the arbitrary constants of a family of functions.

2*E, 3*I                      as SymPy prints e and i, where the other side has e or i
x^2 + C, x^2 + K              equal up to a constant when both sides end with one
c_1 e^x + c_2 e^{-x}          the same functions as `A cosh x + B sinh x`
c_1 cos x + c_2 sin x         the same functions as `A cos(x - phi)`

A family that is linear in its constants is the span of some functions, shifted. Another family with
as many constants is the same when its members lie in that span and all its constants count.
"""

from __future__ import annotations

import re
from itertools import permutations

import sympy
from sympy import Expr, Matrix

from gradebox.checkers.math.compare import numeric

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
    in_exponents = _in_exponents(a, constants[0]) and _in_exponents(b, constants[1])
    if not (in_exponents or any(_NAMED_CONSTANT.fullmatch(s.name) for s in constants[0])):
        return False
    others = {frozenset(e.free_symbols) - set(c) for e, c in zip((a, b), constants, strict=True)}
    variables = sorted(others.pop(), key=str)
    if not others and in_exponents:
        return _same_renamed(a, b, constants)
    if others or not variables or not all(_VARIABLE.fullmatch(v.name) for v in variables):
        return False
    for one, other in ((a, b), (b, a)):
        own, its = constants if one is a else constants[::-1]
        if all(sympy.diff(one, p, q) == 0 for p in own for q in own):
            return _in_span(one, own, other, its, variables)
    return _same_renamed(a, b, constants)


def _same_renamed(a: Expr, b: Expr, constants: tuple[list[Expr], list[Expr]]) -> bool:
    return any(
        numeric.equal(a, b.subs(dict(zip(constants[1], order, strict=True)), simultaneous=True))
        is True
        for order in permutations(constants[0])
    )


def _in_exponents(expr: Expr, letters: list[Expr]) -> bool:
    """Return whether letters are nothing but exponents of numbers, as in `2^a 5^b`."""
    powers = [p for p in sympy.Mul.make_args(expr) if p.is_Pow and p.exp in letters]
    if any(not p.base.is_number or p.exp.name in "txyz" for p in powers):
        return False  # 2^x is a function
    without = expr.subs({p: sympy.Dummy() for p in powers})
    return bool(powers) and not without.free_symbols & set(letters)


def _constants(one: Expr, other: Expr) -> list[Expr]:
    """Return the arbitrary constants of a side: numbered ones, and letters that only it has."""
    own, shared = one.free_symbols - other.free_symbols, one.free_symbols & other.free_symbols
    numbered = {s for s in shared if re.fullmatch(r"[cK]_\d", s.name)}
    if len(numbered) == 1 and not own:
        return []
    different = own | (other.free_symbols - one.free_symbols)
    if own and not numbered and _in_exponents(one, list(own)):
        return sorted(own, key=str) if len(own) <= MAX_CONSTANTS else []
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
