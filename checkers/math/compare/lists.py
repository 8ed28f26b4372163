"""The shape of lists, tuples, sets and matrices: brackets, order, rows."""

from __future__ import annotations

import re

import sympy
from sympy import Expr

from gradebox.checkers.math.compare.equations import is_name
from gradebox.checkers.math.read.expressions.parser import parse_expression
from gradebox.checkers.math.read.normalise import normalise
from gradebox.checkers.math.read.reader import read_answer
from gradebox.checkers.math.read.split import as_interval
from gradebox.checkers.math.read.values import (
    Quantity,
    Ratio,
    RealSet,
    Relation,
    Seq,
    Value,
    Words,
)


def brackets_differ(gold: Seq, answer: Seq) -> bool:
    """Return whether brackets tell two lists apart: a set or alternatives and a tuple, say.

    A gold `[1,3]` is an interval, not the numbers 1 and 3; a gold `1,3` may be printed as a list.
    """
    kinds = {gold.kind, answer.kind}
    if kinds & {"(]", "[)"}:
        return gold.kind != answer.kind
    if "" in kinds:
        if gold.kind == "[]":
            return is_interval(gold) and not answer.joined_by_and
        return (gold.joined_by_or or answer.joined_by_or) and not kinds <= {"", "{}"}
    if kinds in ({"{}", "[]"}, {"()", "[]"}):
        return len(gold.items) < 3  # two may be the ends of an interval
    return "{}" in kinds and gold.kind != answer.kind


def is_ranking(seq: Seq) -> bool:
    """Return whether the order of a list counts: `Cindy, Amy, Betty`, `C, A, B`."""
    texts = [i.text for i in seq.items if isinstance(i, Words | Quantity)]
    if len(texts) < 3 or len(texts) < len(seq.items) or seq.joined_by_and or seq.joined_by_or:
        return False
    named = all(re.fullmatch("[A-Za-z][a-z]*", text) for text in texts)
    return named and (len(texts[0]) > 1 or texts != sorted(texts))


def is_interval(seq: Seq) -> bool:
    """Return whether `[1,3]` has two numbers in order."""
    interval = as_interval(seq)
    if interval is None:
        return False
    width = parse_expression(interval.high) - parse_expression(interval.low)
    return bool(width.is_number and width.is_positive)


def may_repeat(seq: Seq) -> bool:
    """Return whether repeated items count once: in a set, or in a list of nothing but tuples."""
    return seq.kind == "{}" or all(isinstance(i, Seq) for i in seq.items)


def same_shape(gold: Value, answer: Value) -> tuple[Value, Value]:
    """Return both values, one rewritten in the shape of the other where that is possible."""
    if (changed := _in_shape_of(gold, answer)) is not None:
        return changed, answer
    if (changed := _in_shape_of(answer, gold)) is not None:
        return gold, changed
    return gold, answer


def _in_shape_of(value: Value, other: Value) -> Value | None:
    """Return `100,200` and `x=y=1` as lists beside a list, and {5} as its item beside 5."""
    if isinstance(value, Quantity) and isinstance(other, Seq):
        items = tuple(Quantity(t) for t in value.text.split(","))
        thousands = re.fullmatch(r"-?\d+(?:,\d{3})+", value.text) and ",0" not in value.text
        return Seq("", items) if thousands and len(items) == len(other.items) else None
    if isinstance(value, Relation) and isinstance(other, Seq):
        return chained_assignments(value)
    if isinstance(value, Seq) and len(value.items) == 1:
        item = value.items[0]
        if isinstance(item, Seq):  # {(0,0)} is (0,0), {∅} is not ∅
            several = isinstance(other, Seq) and len(other.items) > 1 and other.kind != "{}"
            return item if several else None
        return None if isinstance(other, Seq) or item == Words("no solution") else item
    return None


def chained_assignments(relation: Relation) -> Seq | None:
    """Return `x=y=z=1` as the list of its assignments."""
    *names, value = relation.sides
    if len(names) < 2 or not relation.is_equation or len(set(names)) < len(names):
        return None
    if not all(map(is_name, names)):
        return None
    return Seq("", tuple(Relation((n, value), ("=",)) for n in names))


def as_seq(value: Value) -> Seq | None:
    """Return a value as a list; None for one that is not."""
    if isinstance(value, Seq):
        return value
    if isinstance(value, Quantity | Relation | Ratio | Words):
        return Seq("", (value,))
    if isinstance(value, RealSet) and not value.intervals and not value.excluded_points:
        return Seq("{}", tuple(Quantity(p) for p in value.points))
    return None


def item_text(value: Value) -> str:
    return re.sub(r"\s", "", value.text) if isinstance(value, Quantity) else repr(value)


# -- matrices ------------------------------------------------------------------------


def is_matrix(value: Value) -> bool:
    return isinstance(value, Quantity) and "\\begin" in value.text


def rows_of(value: Value) -> list[list[Expr]] | None:
    """Return the entries of a matrix or a list, row by row; None for anything else."""
    if isinstance(value, Quantity) and is_matrix(value):
        matrix = parse_expression(value.text)
        return matrix.tolist() if isinstance(matrix, sympy.MatrixBase) else None
    if not isinstance(value, Seq) or value.kind == "{}":
        return None
    if all(isinstance(i, Quantity) for i in value.items):
        return [[parse_expression(i.text) for i in value.items if isinstance(i, Quantity)]]
    rows = [i.items for i in value.items if isinstance(i, Seq)]
    if len(rows) < len(value.items):
        return None
    return [[parse_expression(x.text) for x in row if isinstance(x, Quantity)] for row in rows]


def read_matrix(text: str) -> sympy.Matrix:
    """Return the SymPy matrix of a LaTeX matrix or of a list; raise ValueError otherwise.

    A column and a list `a,b` become one row.
    """
    value = read_answer(normalise(text))
    items = value.items if isinstance(value, Seq) else (value,)
    cells = [i.text for i in items if isinstance(i, Quantity)]
    if len(cells) < len(items):
        raise ValueError(f"{text[:80]!r} is not a matrix: write a LaTeX matrix or a list")
    if not isinstance(value, Quantity) or "\\begin" not in value.text:
        return sympy.Matrix([[parse_expression(c) for c in cells]])
    matrix = parse_expression(value.text)
    if not isinstance(matrix, sympy.MatrixBase):
        raise ValueError(f"{text[:80]!r} is not a matrix: write a LaTeX matrix or a list")
    return sympy.Matrix(matrix.T if matrix.cols == 1 else matrix)
