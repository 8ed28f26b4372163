"""Sets of real numbers: intervals, unions and inequalities, compared end by end."""

# mypy: disable-error-code="import-untyped"
from __future__ import annotations

from dataclasses import dataclass

import sympy
from sympy import Expr

from checkers.math import numeric
from checkers.math.latex import parse
from checkers.math.policy import Policy
from checkers.math.read import as_piece
from checkers.math.tokens import ParseError
from checkers.math.values import Piece, Region, Relation, Seq, Value

_NEGATED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_CLASS = {
    "<": sympy.Lt,
    ">": sympy.Gt,
    "<=": sympy.Le,
    ">=": sympy.Ge,
    "=": sympy.Eq,
    "!=": sympy.Ne,
}


@dataclass(frozen=True)
class Span:
    low: Expr
    high: Expr
    low_open: bool
    high_open: bool


Spans = tuple[Span, ...]


def to_region(value: Value) -> Spans | None:
    """The set of reals a value says; None when it says none."""
    if isinstance(value, Region):
        return _from_region(value)
    piece = as_piece(value)
    if piece is not None:
        return normal([_span(piece)])
    if isinstance(value, Relation):
        return _from_relations((value,), union=False)
    if isinstance(value, Seq) and value.kind == "":
        if all(isinstance(i, Relation) for i in value.items):
            relations = tuple(i for i in value.items if isinstance(i, Relation))
            return _from_relations(relations, union=_is_union(value, relations))
        spans: list[Span] = []
        for item in value.items:
            part = to_region(item)
            if part is None:
                return None
            spans += part
        return normal(spans)
    return None


def _is_union(value: Seq, relations: tuple[Relation, ...]) -> bool:
    """Commas between inequalities: a union when they do not overlap, else both hold."""
    if value.joined_by_or:
        return True
    both = _from_relations(relations, union=False)
    return both == ()


def _span(piece: Piece) -> Span:
    return Span(parse(piece.low), parse(piece.high), piece.low_open, piece.high_open)


def _from_region(value: Region) -> Spans:
    spans = [_span(p) for p in value.pieces]
    spans += [Span(p, p, False, False) for p in map(parse, value.points)]
    if value.without or value.without_pieces:
        whole = sympy.Union(*map(_interval, spans))
        less = [_interval(_span(p)) for p in value.without_pieces]
        return _from_set(whole - sympy.Union(sympy.FiniteSet(*map(parse, value.without)), *less))
    return normal(spans)


def _interval(span: Span) -> sympy.Set:
    return sympy.Interval(span.low, span.high, span.low_open, span.high_open)


def _numeric(spans: list[Span]) -> bool:
    return all(e.is_number and e.is_extended_real for s in spans for e in (s.low, s.high))


def normal(spans: list[Span]) -> Spans:
    """Merged and sorted when the ends are numbers, as written otherwise."""
    if not _numeric(spans):
        return tuple(spans)
    for s in spans:
        if bool(s.low > s.high):
            raise ParseError("an interval that ends before it starts")
    return _from_set(sympy.Union(*map(_interval, spans)))


def _from_set(found: sympy.Set) -> Spans:
    spans: list[Span] = []
    for part in found.args if isinstance(found, sympy.Union) else (found,):
        if isinstance(part, sympy.Interval):
            spans.append(Span(part.start, part.end, bool(part.left_open), bool(part.right_open)))
        elif isinstance(part, sympy.FiniteSet):
            spans += [Span(p, p, False, False) for p in part]
        elif part == sympy.S.Reals:
            spans.append(Span(-sympy.oo, sympy.oo, True, True))
        elif part != sympy.S.EmptySet:
            raise ParseError("a set that is no union of intervals")
    return tuple(sorted(spans, key=lambda s: float(s.low)))


def _from_relations(relations: tuple[Relation, ...], union: bool) -> Spans | None:
    sets: list[sympy.Set] = []
    names: set[str] = set()
    for relation in relations:
        parts, symbols = _solved(relation)
        names |= symbols
        sets.append(parts)
    if len(names) != 1:
        return None
    return _from_set(sympy.Union(*sets) if union else sympy.Intersection(*sets))


def _solved(relation: Relation) -> tuple[sympy.Set, set[str]]:
    """The reals for which a chain of relations in one unknown holds."""
    sides = [parse(s) for s in relation.sides]
    free = {s.name for e in sides for s in e.free_symbols}
    if len(free) != 1:
        raise ParseError("an inequality in more than one unknown")
    x = sympy.Symbol(next(iter(free)), real=True)
    sides = [e.subs(dict.fromkeys(e.free_symbols, x)) for e in sides]
    found: sympy.Set = sympy.S.Reals
    for left, op, right in zip(sides, relation.ops, sides[1:], strict=False):
        found = sympy.Intersection(found, _solve_one(left, op, right, x))
    return found, free


def _solve_one(left: Expr, op: str, right: Expr, x: sympy.Symbol) -> sympy.Set:
    if right == x and op in _NEGATED:
        left, right, op = right, left, _NEGATED[op]
    if left == x and right.is_number:
        if op in ("<", "<="):
            return sympy.Interval(-sympy.oo, right, True, op == "<")
        if op in (">", ">="):
            return sympy.Interval(right, sympy.oo, op == ">", True)
        if op == "=":
            return sympy.FiniteSet(right)
        return sympy.S.Reals - sympy.FiniteSet(right)
    relation = _CLASS[op](left, right)
    if relation in (sympy.true, sympy.false):
        return sympy.S.Reals if relation == sympy.true else sympy.S.EmptySet
    try:
        return relation.as_set()
    except NotImplementedError as e:
        raise ParseError(str(e)) from None


def same_relations(gold: tuple[Relation, ...], answer: tuple[Relation, ...]) -> bool | None:
    """Inequalities compared as sets when they have one unknown, else side by side."""
    unknowns = [_unknowns(r) for r in (gold, answer)]
    if unknowns[0] != unknowns[1]:
        return False
    if len(unknowns[0]) == 1:
        return None
    if len(gold) != len(answer):
        return False
    left = list(answer)
    for g in gold:
        match = next((a for a in left if _same_inequality(g, a)), None)
        if match is None:
            return False
        left.remove(match)
    return True


def _unknowns(relations: tuple[Relation, ...]) -> set[str]:
    return {s.name for r in relations for side in r.sides for s in parse(side).free_symbols}


def _same_inequality(a: Relation, b: Relation) -> bool:
    if len(a.ops) != len(b.ops):
        return False
    if len(a.ops) > 1:
        flipped = Relation(b.sides[::-1], tuple(_NEGATED.get(o, o) for o in b.ops[::-1]))
        return any(
            a.ops == other.ops
            and all(
                numeric.equal(parse(x), parse(y)) is True
                for x, y in zip(a.sides, other.sides, strict=True)
            )
            for other in (b, flipped)
        )
    left, right = parse(a.sides[0]) - parse(a.sides[1]), parse(b.sides[0]) - parse(b.sides[1])
    if a.ops == b.ops:
        positive = a.ops[0] not in ("=", "!=")
        return numeric.proportional(left, right, positive=positive) is True
    if _NEGATED.get(a.ops[0]) == b.ops[0]:
        return numeric.proportional(left, -right, positive=True) is True
    return False


def equal(gold: Spans, answer: Spans, policy: Policy) -> bool:
    """Same number of pieces, same brackets, equal ends."""
    if len(gold) != len(answer):
        return False
    for g, a in zip(gold, answer, strict=True):
        if (g.low_open, g.high_open) != (a.low_open, a.high_open):
            return False
        for x, y in ((g.low, a.low), (g.high, a.high)):
            if not numeric.equal(x, y, policy.rel_tol, policy.abs_tol):
                return False
    return True


def interval_and_list(left: Seq, right: Seq) -> bool:
    """Whether one is `[1,3]`, a closed interval, and the other the two numbers 1, 3."""
    if {left.kind, right.kind} != {"", "[]"}:
        return False
    piece = as_piece(left if left.kind else right)
    if piece is None:
        return False
    low, high = parse(piece.low), parse(piece.high)
    return bool(low.is_number and high.is_number and (high - low).is_positive)
