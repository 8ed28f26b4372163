"""Read SymPy sets and matrices from LaTeX, for `latex2sympy_interval` and `latex2matrix`."""

from __future__ import annotations

from collections.abc import Iterable

import sympy

from gradebox.checkers.math.read.expressions.parser import parse_expression
from gradebox.checkers.math.read.normalise import normalise
from gradebox.checkers.math.read.reader import read_answer
from gradebox.checkers.math.read.real_sets import as_interval
from gradebox.checkers.math.read.values import Interval, Quantity, RealSet, Seq


def read_interval(text: str) -> sympy.Set:
    """Return the SymPy set of an interval or a union; raise ValueError for anything else."""
    value = read_answer(normalise(text))
    interval = as_interval(value)
    if interval is not None:
        value = RealSet((interval,))
    if not isinstance(value, RealSet):
        raise ValueError(f"{text[:80]!r} is not an interval: write (a,b), [a,b) or a union of them")
    return real_set_to_sympy(value)


def real_set_to_sympy(value: RealSet) -> sympy.Set:
    """Return the union of a set's intervals and points, minus those that it excludes."""
    found = _union(value.intervals, value.points)
    if value.excluded_points or value.excluded_intervals:
        found = found - _union(value.excluded_intervals, value.excluded_points)
    return found


def interval_to_sympy(interval: Interval) -> sympy.Set:
    low, high = parse_expression(interval.low), parse_expression(interval.high)
    return sympy.Interval(low, high, interval.low_open, interval.high_open)


def _union(intervals: Iterable[Interval], points: Iterable[str]) -> sympy.Set:
    return sympy.Union(
        sympy.FiniteSet(*map(parse_expression, points)), *map(interval_to_sympy, intervals)
    )


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
