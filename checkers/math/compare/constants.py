"""Constants that have several names: e and i, the constants of integration.

2*E, 3*I      as SymPy prints e and i, where the other side has e or i
x^2 + C       equal up to a constant when both sides end with one
C e^x         A, K, k or c_1 for the constant, where one side has C or c
c_1, c_2      in any order
"""

from __future__ import annotations

import re
from itertools import permutations

import sympy
from sympy import Expr

from gradebox.checkers.math.compare import numeric

_CONSTANT = re.compile(r"[CcAKk]|[cC]_\d")
_NAMED_CONSTANT = re.compile(r"[Cc](?:_\d)?")
_ARBITRARY = (sympy.Symbol("C"), sympy.Symbol("c"))
MAX_NUMBERED = 3


def with_same_constants(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """Return two expressions with e, i and one arbitrary constant in one spelling."""
    if isinstance(a, sympy.MatrixBase) or isinstance(b, sympy.MatrixBase):
        return a, b
    a, b = _sympy_names(a, b), _sympy_names(b, a)
    only_a, only_b = a.free_symbols - b.free_symbols, b.free_symbols - a.free_symbols
    if len(only_a) == len(only_b) == 1:
        (first,), (second,) = only_a, only_b
        names = {first.name, second.name}
        named = any(map(_NAMED_CONSTANT.fullmatch, names)) and all(map(_CONSTANT.fullmatch, names))
        if named and a != first and b != second:
            b = b.subs(second, first)
    return a, b


def _sympy_names(expr: Expr, other: Expr) -> Expr:
    for name, constant in (("E", sympy.E), ("I", sympy.I)):
        symbol = sympy.Symbol(name)
        written = expr.has(symbol) and expr != symbol and not other.has(symbol)
        if written and other.has(constant, sympy.exp):
            expr = expr.subs(symbol, constant)
    return expr


def equal_up_to_constants(a: Expr, b: Expr) -> bool:
    """Return whether `-\\cos^2 x + C` is `\\sin^2 x + C`, or c_1 and c_2 change places."""
    if isinstance(a, sympy.MatrixBase) or isinstance(b, sympy.MatrixBase):
        return False
    for constant in _ARBITRARY:
        if a.is_Add and b.is_Add and constant in a.args and constant in b.args:
            rest = a - constant, b - constant
            if (
                not any(e.has(constant) for e in rest)
                and rest[0].free_symbols == rest[1].free_symbols
            ):
                return numeric.differ_by_constant(*rest)
        factors = [sympy.diff(e, constant) for e in (a, b)]
        if all(f.is_number and f != 0 for f in factors):  # (x^3+C)/3
            if not (a.free_symbols - {constant} and b.free_symbols - {constant}):
                return False  # 75C is not 85C
            return numeric.differ_by_constant(a.subs(constant, 0), b.subs(constant, 0))
    if (named := _differently_named(a, b)) is not None:
        return named
    numbered = [s for s in a.free_symbols if s.name.startswith("c_")]
    if not 2 <= len(numbered) <= MAX_NUMBERED or a.free_symbols != b.free_symbols:
        return False
    return any(
        numeric.equal(a, b.subs(dict(zip(numbered, order, strict=True)), simultaneous=True)) is True
        for order in permutations(numbered)
    )


def _differently_named(a: Expr, b: Expr) -> bool | None:
    """Compare `c_1 e^x + c_2 e^{-x}` with `A e^x + B e^{-x}`; None for other names."""
    only_a, only_b = a.free_symbols - b.free_symbols, b.free_symbols - a.free_symbols
    if not 2 <= len(only_a) == len(only_b) <= MAX_NUMBERED:
        return None
    names = [{s.name for s in side} for side in (only_a, only_b)]
    numbered = [all(re.fullmatch(r"[cC]_\d", n) for n in side) for side in names]
    letters = [all(re.fullmatch(r"[A-DKa-dk](?:_\d)?", n) for n in side) for side in names]
    if not any(numbered) or not all(letters):
        return None
    return any(
        numeric.equal(a, b.subs(dict(zip(only_b, order, strict=True)), simultaneous=True)) is True
        for order in permutations(only_a)
    )
