"""Compare functions by cases, with each other and with expressions: `|x|`, `\\max(x,1)`.

Both sides are evaluated where their cases meet, between these points and beyond them; cases by
even and odd numbers at whole numbers.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

import sympy
from sympy import Expr

from gradebox.checkers.math.compare import numeric, real_sets
from gradebox.checkers.math.compare.assignments import is_assignment
from gradebox.checkers.math.normalise.tables import strip_marks
from gradebox.checkers.math.parse.expressions.latex import parse_expression
from gradebox.checkers.math.parse.expressions.tokens import ParseError
from gradebox.checkers.math.parse.reader import read_answer
from gradebox.checkers.math.parse.values import Quantity, Relation, Seq, Value, Words


class Residue(NamedTuple):
    """The whole numbers that leave a remainder: `n \\text{ is even}`."""

    modulus: int
    remainder: int


Condition = real_sets.Spans | Residue | None  # None: elsewhere
Case = tuple[Expr, Condition]  # a value and where it holds
_PARITY = re.compile(
    r"(?:n is |[kmn] is |[kmn] |is )?(?:an )?(even|odd)(?: (?:integers?|numbers?))?(?: [kmn])?",
    re.I,
)
_DIVIDES = re.compile(r"2\s*(?:\||\\(n)?mid)\s*[kmn]")  # 2 | n
_WHOLE = tuple(map(sympy.Integer, range(1, 13)))


def same_piecewise(gold: Value, answer: Value) -> bool | None:
    """Return whether two functions of one real variable agree; None when they are not such."""
    left, right = _cases(gold), _cases(answer)
    if not (left and right) or max(len(left), len(right)) < 2:
        return None
    if any(isinstance(c, Residue) for _, c in left + right):
        return _same_at_whole_numbers(left, right)
    unknowns = set().union(*(v.free_symbols for v, _ in left + right))
    spans = [s for _, c in left + right if c and not isinstance(c, Residue) for s in c]
    ends = {e for s in spans for e in (s.low, s.high)}
    ends = {e for e in ends if e.is_finite}
    if len(unknowns) != 1 or not ends or not all(e.is_number for e in ends):
        return None
    (x,) = unknowns
    for point in _points(sorted(ends)):
        a, b = _value(left, x, point), _value(right, x, point)
        if a is None or b is None:
            if a is not b:
                return False
        elif numeric.equal(a, b) is not True:
            return False
    return True


def _same_at_whole_numbers(left: list[Case], right: list[Case]) -> bool | None:
    unknowns = set().union(*(v.free_symbols for v, _ in left + right))
    if len(unknowns) > 1:
        return None
    x = next(iter(unknowns), sympy.Symbol("n"))
    for point in _WHOLE:
        a, b = _value(left, x, point), _value(right, x, point)
        if a is None or b is None or numeric.equal(a, b) is not True:
            return False
    return True


def _residue(value: Value) -> Residue | None:
    """Return the condition `n is even`; None for another one."""
    text = value.text if isinstance(value, Words | Quantity) else ""
    if isinstance(value, Quantity) and value.unit:
        text = f"{text} {value.unit}"
    if m := _DIVIDES.fullmatch(text.strip()):
        return Residue(2, int(bool(m[1])))
    m = _PARITY.fullmatch(" ".join(strip_marks(text).replace("\\", "").split()))
    return Residue(2, int(m[1].lower() == "odd")) if m else None


def _cases(value: Value) -> list[Case]:
    """Return the cases of `(x; x > 0), (-x; x \\\\le 0)`, or an expression as one case."""
    if (
        isinstance(value, Relation)
        and is_assignment(value)
        and len(value.sides) == 2
        and "(" in value.sides[0]
    ):
        value = read_answer(value.sides[-1], 1)  # f(x) = max(x, -x)
    if isinstance(value, Quantity) and not value.unit and not value.percent:
        return [(parse_expression(value.text), None)]
    if not isinstance(value, Seq) or value.kind != "" or len(value.items) < 2:
        return []
    found: list[Case] = []
    first = value.items[0]
    if isinstance(first, Relation) and is_assignment(first):  # f(x) = (x+1; x<0), (x^2; x>0)
        value = Seq("", (read_answer(first.sides[-1], 1), *value.items[1:]))
    for item in value.items:
        parts = item.items if isinstance(item, Seq) and item.kind == "()" else ()
        if len(parts) != 2 or not isinstance(parts[0], Quantity):
            return []
        if isinstance(parts[1], Words) and parts[1].text in ("otherwise", "else"):
            found.append((parse_expression(parts[0].text), None))
            continue
        if residue := _residue(parts[1]):
            found.append((parse_expression(parts[0].text), residue))
            continue
        if not isinstance(parts[1], Relation):
            return []
        try:
            spans = real_sets.to_spans(parts[1])
        except ParseError:
            return []
        if spans is None:
            return []
        found.append((parse_expression(parts[0].text), spans))
    return found


def _points(ends: list[Expr]) -> list[Expr]:
    """Return the ends, points between neighbours, and points on both sides of all."""
    between = [(a + b) / 2 for a, b in pairwise(ends)] + [
        (2 * a + b) / 3 for a, b in pairwise(ends)
    ]
    steps = [sympy.Rational(1, 3), sympy.Integer(2), sympy.Rational(17, 5)]
    return [*ends, *between, *(ends[0] - s for s in steps), *(ends[-1] + s for s in steps)]


def _value(cases: list[Case], x: Expr, point: Expr) -> Expr | None:
    """Return the value at a point; None where there is none, or two cases that differ."""
    values = [v.subs(x, point) for v, c in cases if c and _holds_at(c, point)]
    if values:
        return values[0] if all(numeric.equal(v, values[0]) is True for v in values[1:]) else None
    return next((v.subs(x, point) for v, c in cases if c is None), None)


def _holds_at(condition: real_sets.Spans | Residue, point: Expr) -> bool:
    if isinstance(condition, Residue):
        return bool(point % condition.modulus == condition.remainder)
    return any(_holds(s, point) for s in condition)


def _holds(span: real_sets.RealSpan, point: Expr) -> bool:
    above = point > span.low or (not span.low_open and point == span.low)
    below = point < span.high or (not span.high_open and point == span.high)
    return bool(above) and bool(below)
