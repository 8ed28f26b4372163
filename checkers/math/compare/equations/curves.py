"""Compare equations of curves and chains of equations: `y = 1/x` is `xy = 1`."""

from __future__ import annotations

import sympy
from sympy import Expr

from gradebox.checkers.math.compare import numeric
from gradebox.checkers.math.parse.expressions.latex import parse_expression
from gradebox.checkers.math.parse.values import Relation


def same_curve(gold: Relation, answer: Relation) -> bool:
    """Return whether two equations hold at the same points, or two chains agree side by side."""
    if len(gold.sides) != 2 or len(answer.sides) != 2:
        return _same_sides(gold, answer)
    left, right = (
        _without_denominator(parse_expression(r.sides[0]) - parse_expression(r.sides[1]))
        for r in (gold, answer)
    )
    if isinstance(left, sympy.MatrixBase) or isinstance(right, sympy.MatrixBase):
        return False
    return numeric.proportional(left, right) is True


def _same_sides(gold: Relation, answer: Relation) -> bool:
    """Compare `\\frac{x-1}{2} = \\frac{y}{3} = z` side by side."""
    if not (gold.is_equation and answer.is_equation) or len(gold.sides) != len(answer.sides):
        return False
    if set(gold.sides) == set(answer.sides):
        return True
    sides = [[parse_expression(s) for s in r.sides] for r in (gold, answer)]
    return all(numeric.equal(a, b) is True for a, b in zip(*sides, strict=True))


def _without_denominator(expr: Expr) -> Expr:
    """Return xy - 1 for y - 1/x: both are 0 at the same points."""
    if isinstance(expr, sympy.MatrixBase) or not any(
        p.exp.is_negative for p in expr.atoms(sympy.Pow)
    ):
        return expr
    return sympy.together(expr).as_numer_denom()[0]
