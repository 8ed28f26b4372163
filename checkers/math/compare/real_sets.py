"""Compare sets of real numbers: intervals, unions and inequalities, end by end."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TypeVar

import sympy
from sympy import Expr

from gradebox.checkers.math.compare import numeric
from gradebox.checkers.math.compare.equations import same_name
from gradebox.checkers.math.read.expressions.parser import parse_expression
from gradebox.checkers.math.read.normalise import normalise
from gradebox.checkers.math.read.reader import read_answer
from gradebox.checkers.math.read.split import as_interval
from gradebox.checkers.math.read.values import Interval, ParseError, RealSet, Relation, Seq, Value

T = TypeVar("T")

_FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


def to_set(value: Value) -> sympy.Set | None:
    """Return the set of reals that a value describes; None for a value that is no set of reals.

    Raises ParseError when its parts cannot be read or solved, or when no number satisfies its
    inequalities: two such answers are not equal.
    """
    interval = as_interval(value)
    if interval is not None:
        value = RealSet((interval,))
    if isinstance(value, RealSet):
        return real_set_to_sympy(value)
    if conditions := _conditions(value):
        either = isinstance(value, Seq) and value.joined_by_or
        found = _where_hold(conditions, sympy.Union if either else sympy.Intersection)
        if found == sympy.S.EmptySet and isinstance(value, Seq) and not value.joined_by_and:
            # commas between inequalities that exclude each other mean a union
            return _where_hold(conditions, sympy.Union)
        return found
    if not isinstance(value, Seq) or value.kind:
        return None
    sets = [to_set(item) for item in value.items]
    return None if None in sets else sympy.Union(*sets)


Condition = Relation | RealSet  # `x \\ne 3`, `x \\in \\mathbb{R}`


def _conditions(value: Value) -> tuple[Condition, ...]:
    """Return the conditions on one unknown that a value states; () for another value."""
    items = value.items if isinstance(value, Seq) and value.kind == "" else (value,)
    items = tuple(
        RealSet((interval,), unknown=i.unknown)  # the `m \\in (-2,2)` of `m \\in (-2,2), m \\ne 0`
        if isinstance(i, Seq) and i.unknown and (interval := as_interval(i))
        else i
        for i in items
    )
    conditions = tuple(
        i for i in items if isinstance(i, Relation) or (isinstance(i, RealSet) and i.unknown)
    )
    stated = len(conditions) == len(items) and any(isinstance(i, Relation) for i in items)
    return conditions if stated else ()


def _where_hold(
    conditions: Iterable[Condition], combine: Callable[..., sympy.Set]
) -> sympy.Set | None:
    """Return where conditions on one unknown hold, combined; None for several unknowns."""
    solved = [_solve(c) for c in conditions]
    if len({name for _, name in solved}) != 1:
        return None
    return combine(*(found for found, _ in solved))


def differ_in_unknown(gold: Value, answer: Value) -> bool:
    """Return whether both name an unknown, and another one: `x \\in [1,2]`, `1 \\le y \\le 2`."""
    unknowns = _unknown_of(gold), _unknown_of(answer)
    return all(unknowns) and not same_name(*unknowns)


def _unknown_of(value: Value) -> str:
    if isinstance(value, Seq) and not value.kind and not value.unknown:
        names = {_unknown_of(item) for item in value.items}
        return names.pop() if len(names) == 1 else ""
    if isinstance(value, Seq | RealSet):
        return value.unknown
    if isinstance(value, Relation) and not value.is_equation:
        unknowns = _unknowns((value,))
        return unknowns.pop() if len(unknowns) == 1 else ""
    return ""


def _solve(relation: Condition) -> tuple[sympy.Set, str]:
    """Return the reals for which a chain of relations holds, and the name of its unknown."""
    if isinstance(relation, RealSet):
        return real_set_to_sympy(relation), relation.unknown
    sides = [_side(s) for s in relation.sides]
    names = {s.name for e in sides for s in e.free_symbols}
    if len(names) != 1:
        raise ParseError("an inequality in more than one unknown")
    name = names.pop()
    x = sympy.Symbol(name, real=True)
    sides = [e.subs(dict.fromkeys(e.free_symbols, x)) for e in sides]
    found: sympy.Set = sympy.S.Reals
    for left, op, right in zip(sides, relation.ops, sides[1:], strict=False):
        found = sympy.Intersection(found, _solve_one(left, op, right, x))
    return found, name


def _solve_one(left: Expr, op: str, right: Expr, x: sympy.Symbol) -> sympy.Set:
    if right == x and op in _FLIPPED:
        left, right, op = right, left, _FLIPPED[op]
    if left == x and right.is_number:
        if op in ("<", "<="):
            return sympy.Interval(-sympy.oo, right, True, op == "<")
        if op in (">", ">="):
            return sympy.Interval(right, sympy.oo, op == ">", True)
        point = sympy.FiniteSet(right)
        return point if op == "=" else sympy.S.Reals - point
    relation = sympy.Rel(left, right, "==" if op == "=" else op)
    if relation in (sympy.true, sympy.false):
        return sympy.S.Reals if relation == sympy.true else sympy.S.EmptySet
    try:
        return relation.as_set()
    except NotImplementedError as e:
        raise ParseError(str(e)) from None


_FUNCTION_VALUE = re.compile(r"(?<![A-Za-z\\])([fghFGH]'?)\s*\(([^()]{1,20})\)")


def _side(text: str) -> Expr:
    """Return a side of an inequality, where `f(2)` is a value of f and not 2f."""
    return parse_expression(_FUNCTION_VALUE.sub(r"\1_{\2}", text))


def same_relations(gold: tuple[Relation, ...], answer: tuple[Relation, ...]) -> bool | None:
    """Compare inequalities step by step; None when they have one unknown and are sets."""
    unknowns = _unknowns(gold)
    if unknowns != _unknowns(answer):
        return False
    if len(unknowns) == 1:
        return None
    left, right = _steps(gold), _steps(answer)
    return len(left) == len(right) and equal_in_any_order(left, right, _same_step)


def equal_in_any_order(
    gold: Iterable[T], answer: Iterable[T], same: Callable[[T, T], bool | None]
) -> bool:
    """Return whether each of `gold` is the same as another one of `answer`."""
    left = list(answer)
    for g in gold:
        match = next((a for a in left if same(g, a)), None)
        if match is None:
            return False
        left.remove(match)
    return True


def _unknowns(relations: tuple[Relation, ...]) -> set[str]:
    sides = (_side(side) for r in relations for side in r.sides)
    return {s.name for side in sides for s in side.free_symbols}


Step = tuple[Expr, str]  # an expression, and how it compares with 0: <, <=, = or !=


def _steps(relations: tuple[Relation, ...]) -> list[Step]:
    """Return a - b < 0 and b - c < 0 for `a < b < c`."""
    found = []
    for relation in relations:
        sides = list(map(_side, relation.sides))
        for left, op, right in zip(sides, relation.ops, sides[1:], strict=False):
            greater = op in (">", ">=")
            found.append((right - left, _FLIPPED[op]) if greater else (left - right, op))
    return found


def _same_step(a: Step, b: Step) -> bool:
    ordered = a[1] in ("<", "<=")
    return a[1] == b[1] and numeric.proportional(a[0], b[0], positive=ordered) is True


def equal(gold: sympy.Set, answer: sympy.Set, same: Callable[[Expr, Expr], bool | None]) -> bool:
    """Return whether both have the same number of intervals, the same brackets and equal ends."""
    left, right = _spans(gold), _spans(answer)
    if not left or not right:
        raise ParseError("an interval without a number in it")
    return len(left) == len(right) and all(
        g[2:] == a[2:] and same(g[0], a[0]) and same(g[1], a[1])
        for g, a in zip(left, right, strict=True)
    )


def _spans(found: sympy.Set) -> list[tuple[Expr, Expr, bool, bool]]:
    """Return (low, high, low_open, high_open) of each interval and point, in their order."""
    spans = []
    for part in found.args if isinstance(found, sympy.Union) else (found,):
        if isinstance(part, sympy.Interval):
            spans.append((part.start, part.end, bool(part.left_open), bool(part.right_open)))
        elif isinstance(part, sympy.FiniteSet):
            spans += [(p, p, False, False) for p in part]
        elif part == sympy.S.Reals:
            spans.append((-sympy.oo, sympy.oo, True, True))
        elif part != sympy.S.EmptySet:
            raise ParseError("a set that is not a union of intervals")
    return sorted(spans, key=lambda s: float(s[0])) if len(spans) > 1 else spans


# ---- as SymPy's ----


def read_interval(text: str) -> sympy.Set:
    """Return the SymPy set of an interval or a union; raise ValueError for anything else."""
    value = read_answer(normalise(text))
    found = to_set(value) if isinstance(value, RealSet) or as_interval(value) else None
    if found is None:
        raise ValueError(f"{text[:80]!r} is not an interval: write (a,b), [a,b) or a union of them")
    return found


def real_set_to_sympy(value: RealSet) -> sympy.Set:
    """Return the union of a set's intervals and points, minus those that it excludes."""
    found = _union(value.intervals, value.points)
    if value.excluded_points or value.excluded_intervals:
        found = found - _union(value.excluded_intervals, value.excluded_points)
    return found


def _union(intervals: Iterable[Interval], points: Iterable[str]) -> sympy.Set:
    spans = [
        sympy.Interval(*map(parse_expression, (i.low, i.high)), i.low_open, i.high_open)
        for i in intervals
    ]
    return sympy.Union(sympy.FiniteSet(*map(parse_expression, points)), *spans)
