"""The shape of lists, tuples, sets and matrices: brackets, order, rows."""

from __future__ import annotations

import re
from itertools import pairwise

import sympy
from sympy import Expr

from gradebox.checkers.math.read.expressions.parser import parse_expression
from gradebox.checkers.math.read.normalise import normalise
from gradebox.checkers.math.read.reader import read_answer
from gradebox.checkers.math.read.values import Quantity, Relation, Seq, Value, Words


def brackets_differ(gold: Seq, answer: Seq) -> bool:
    """Return whether brackets tell two lists apart: a set or alternatives and a tuple, say.

    A plain list may be printed as `[1,3]`.
    """
    kinds = {gold.kind, answer.kind}
    if kinds & {"(]", "[)"}:
        return gold.kind != answer.kind
    several = all(len(set(_names(seq))) > 1 for seq in (gold, answer))
    if several and gold.joined_by_or != answer.joined_by_or:
        return True  # a=1, b=2 and a=1 or b=2
    if "" in kinds:
        listed = gold.kind == "[]" or kinds <= {"", "{}"}
        return not listed and any(map(_alternatives, (gold, answer)))
    if kinds == {"{}"} and len({sum(map(_is_braced_set, s.items)) for s in (gold, answer)}) > 1:
        return True  # {{1}, {2}} and {1, 2}
    if kinds in ({"{}", "[]"}, {"()", "[]"}):
        return len(gold.items) < 3  # two may be the ends of an interval
    return "{}" in kinds and gold.kind != answer.kind


def _is_braced_set(value: Value) -> bool:
    return isinstance(value, Seq) and value.kind == "{}"


def _alternatives(seq: Seq) -> bool:
    """Return whether a list gives values of one unknown: "1 or -4", "x=1, x=-4"."""
    names = _names(seq)
    return seq.joined_by_or or len(set(names)) < len(names)


def _names(seq: Seq) -> list[str]:
    return [i.sides[0].strip() for i in seq.items if isinstance(i, Relation) and i.is_equation]


def has_order(seq: Seq) -> bool:
    """Return whether the order of a plain list counts: `C, A, B`, `Cindy, Amy, Betty`, `2, 6, 18`.

    Names, and letters that are not in the order of the alphabet, may be a ranking. Numbers that are
    terms of a geometric sequence, of one of second degree or of one like that of Fibonacci are
    that sequence.
    """
    texts = [i.text.strip() for i in seq.items if isinstance(i, Words | Quantity)]
    if len(texts) < 3 or len(texts) < len(seq.items) or seq.joined_by_and or seq.joined_by_or:
        return False
    if all(re.fullmatch("[A-Za-z][a-z]*", text) for text in texts):
        return len(texts[0]) > 1 or texts != sorted(texts)
    if not all(re.fullmatch(r"-?\d{1,9}", text) for text in texts):
        return False
    numbers = [int(text) for text in texts]
    steps = [b - a for a, b in pairwise(numbers)]
    geometric = all(b * numbers[0] == a * numbers[1] for a, b in pairwise(numbers))
    square = len(numbers) > 3 and len({b - a for a, b in pairwise(steps)}) == 1
    summed = len(numbers) > 3 and all(
        sum(numbers[i : i + 2]) == n for i, n in enumerate(numbers[2:])
    )
    return len(set(steps)) > 1 and (geometric or square or summed)


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
    """Return `100,200` as a list beside a list, and {5} as its item beside 5."""
    if isinstance(value, Quantity) and isinstance(other, Seq):
        items = tuple(Quantity(t) for t in value.text.split(","))
        thousands = re.fullmatch(r"-?\d+(?:,\d{3})+", value.text) and ",0" not in value.text
        return Seq("", items) if thousands and len(items) == len(other.items) else None
    if isinstance(value, Seq) and len(value.items) == 1:
        item = value.items[0]
        if isinstance(item, Seq):  # {(0,0)} is (0,0), {∅} is not ∅
            several = isinstance(other, Seq) and len(other.items) > 1 and other.kind != "{}"
            return item if several else None
        return None if isinstance(other, Seq) or item == Words("no solution") else item
    return None


def as_seq(value: Value) -> Seq | None:
    """Return a value as a list; None for one that is not."""
    if isinstance(value, Seq):
        return value
    if isinstance(value, Quantity | Relation | Words):
        return Seq("", (value,))
    return None


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
