"""Compare families of numbers, congruences, and functions by cases.

`\\frac{\\pi}{4}+k\\pi`, `x \\equiv 3 \\pmod 7` and `x = 7k+3` are arithmetic progressions a + bk:
two unions are equal when they leave the same residues modulo a common period. Functions by cases,
`|x|` and `\\max(x,1)` are evaluated where their cases meet, between these points and beyond them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

import sympy
from sympy import Expr

from gradebox.checkers.math.compare import numeric, real_sets
from gradebox.checkers.math.compare.equations import is_assignment, same_name
from gradebox.checkers.math.read.expressions.parser import parse_expression
from gradebox.checkers.math.read.reader import read_answer
from gradebox.checkers.math.read.values import (
    Family,
    ParseError,
    Quantity,
    Relation,
    Seq,
    Value,
    Words,
)

_PARAMETERS = tuple(sympy.Symbol(name) for name in "kmn")
MAX_RESIDUES = 200
_DIGITS = sympy.Float("1e-25", 30)
_WORDS = re.compile(
    r"(?:all|every|any)?\s?(?:the\s)?(?:(even|odd)\s(?:integer|number)s?|(?:integer\s)?multiples?\sof\s(.{1,20}))(?:\s[kmn])?"
)


def same_family(gold: Value, answer: Value) -> bool | None:
    """Return whether two answers are the same family; None when they are not two families."""
    if not (isinstance(gold, Family) or isinstance(answer, Family) or _both_periodic(gold, answer)):
        return None
    left, right = _progressions(gold), _progressions(answer)
    if right and isinstance(gold, Quantity) and isinstance(answer, Family):
        number = parse_expression(answer.unknown or "x")
        if number.is_Integer:  # `2^{38} \\equiv 3 \\pmod{11}` for 3
            (residue, modulus), value = right[0], parse_expression(gold.text)
            return bool(value == residue and (number - residue) % modulus == 0)
    if right and isinstance(gold, Quantity) and not _reduced(right):
        return False  # `12 (mod 5)` for 12
    if left is None or right is None:
        return False if _one_member(gold, answer) or _one_member(answer, gold) else None
    names = _unknown(gold), _unknown(answer)
    if all(names) and not same_name(*names):
        return False
    return _same_residues(left, right)


def _one_member(family: Value, other: Value) -> bool:
    """Return whether `x = 3` is given for `x \\equiv 3 \\pmod 7`; 3 alone may mean it."""
    if not isinstance(family, Family) or not family.unknown or not isinstance(other, Relation):
        return False
    return is_assignment(other) and not any(parse_expression(t).free_symbols for t in _terms(other))


def _unknown(value: Value) -> str:
    if isinstance(value, Family):
        return value.unknown
    return value.sides[0] if isinstance(value, Relation) and is_assignment(value) else ""


def _terms(value: Value) -> list[str]:
    """Return the expressions of a family, of a list or of an assignment; [] for another value."""
    if isinstance(value, Family):
        return list(value.terms)
    if isinstance(value, Quantity):
        return [f"({value.text})\\degree" if value.degree else value.text]
    if isinstance(value, Relation) and is_assignment(value):
        return _terms(read_answer(value.sides[-1], 1))
    if isinstance(value, Seq) and value.kind == "":
        found = [_terms(item) for item in value.items]
        return [t for terms in found for t in terms] if all(found) else []
    if isinstance(value, Words) and (m := _WORDS.fullmatch(value.text)):
        return [{"even": "2*k", "odd": "2*k+1"}.get(m[1]) or f"({m[2]})*k"]
    return []


def _both_periodic(gold: Value, answer: Value) -> bool:
    """Return whether both have a lone parameter times π, though none is said to be an integer."""
    for value in (gold, answer):
        texts = _terms(value)
        if not texts or not all(
            r"\pi" in t and re.search(r"(?<![a-z\\])[kmn](?![a-z])", t) for t in texts
        ):
            return False
    return True


def _progressions(value: Value) -> list[tuple[Expr, Expr]] | None:
    """Return (a, b) of each progression a + bk; None for anything else."""
    found: list[tuple[Expr, Expr]] = []
    for text in _terms(value):
        expr = parse_expression(text)
        parameters = expr.free_symbols
        if len(parameters) != 1 or not parameters <= set(_PARAMETERS):
            return None
        (k,) = parameters
        alternating = expr.has(sympy.Pow(-1, k))
        for part in (expr.subs(k, 2 * k), expr.subs(k, 2 * k + 1)) if alternating else (expr,):
            part = _without_signs(part)
            a, b = part.subs(k, 0), part.subs(k, 1) - part.subs(k, 0)
            if (
                numeric.equal(part, a + b * k) is not True
                or numeric.equal(b, sympy.Integer(0)) is not False
            ):
                return None
            found.append((a, b))
    return found or None


def _reduced(progressions: list[tuple[Expr, Expr]]) -> bool:
    """Return whether each a + bk has its residue a between 0 and b."""
    return all(0 <= a < abs(b) for a, b in progressions if a.is_Rational and b.is_Rational)


def _without_signs(expr: Expr) -> Expr:
    """Return 1 for (-1)^{2k} and -1 for (-1)^{2k+1}."""
    signs = [p for p in expr.atoms(sympy.Pow) if p.base == -1]
    values = {
        p: sympy.Integer(-1) ** (p.exp.subs(dict.fromkeys(p.free_symbols, 0)) % 2) for p in signs
    }
    return expr.subs(values)


def _same_residues(left: list[tuple[Expr, Expr]], right: list[tuple[Expr, Expr]]) -> bool | None:
    unit = left[0][1]
    ratios = [sympy.nsimplify(sympy.simplify(b / unit), rational=False) for _, b in left + right]
    if not all(r.is_Rational for r in ratios):
        return None
    period = sympy.ilcm(*(abs(r.p) for r in ratios)) / sympy.Integer(
        sympy.igcd(*(r.q for r in ratios))
    )
    sets = []
    for progressions, parts in ((left, ratios[: len(left)]), (right, ratios[len(left) :])):
        residues: list[Expr] = []
        for (a, _), ratio in zip(progressions, parts, strict=True):
            count = abs(period / ratio)
            if not count.is_Integer or count > MAX_RESIDUES:
                return None
            start = a / unit
            residues += [((start + j * ratio) / period).evalf(40) for j in range(int(count))]
        sets.append(residues)
    return _covers(*sets) and _covers(*reversed(sets))


def _covers(residues: Iterable[Expr], others: list[Expr]) -> bool:
    """Return whether each residue of the first list, modulo 1, is in the second."""
    return all(any(_is_whole(r - o) for o in others) for r in residues)


def _is_whole(value: Expr) -> bool:
    return bool(abs(value - sympy.floor(value + sympy.Rational(1, 2))) < _DIGITS)


Condition = real_sets.Spans | None  # None: elsewhere
Case = tuple[Expr, Condition]  # a value and where it holds


def same_piecewise(gold: Value, answer: Value) -> bool | None:
    """Return whether two functions of one real variable agree; None when they are not such."""
    left, right = _cases(gold), _cases(answer)
    if not (left and right) or max(len(left), len(right)) < 2:
        return None
    unknowns = set().union(*(v.free_symbols for v, _ in left + right))
    spans = [s for _, c in left + right if c for s in c]
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
    values = [v.subs(x, point) for v, c in cases if c and any(_holds(s, point) for s in c)]
    if values:
        return values[0] if all(numeric.equal(v, values[0]) is True for v in values[1:]) else None
    return next((v.subs(x, point) for v, c in cases if c is None), None)


def _holds(span: real_sets.RealSpan, point: Expr) -> bool:
    above = point > span.low or (not span.low_open and point == span.low)
    below = point < span.high or (not span.high_open and point == span.high)
    return bool(above) and bool(below)
