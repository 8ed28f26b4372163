"""Matrices beside lists of rows, and beside multiples of the identity matrix."""

from __future__ import annotations

import re

import sympy
from sympy import Expr

from gradebox.checkers.math.parse.expressions.latex import parse_expression
from gradebox.checkers.math.parse.expressions.tokens import ParseError
from gradebox.checkers.math.parse.values import Quantity, Seq, Value

_CAPITAL = r"(?:[A-DF-HJ-Z])"
_SCRIPT = r"\s*\^\s*\{?\s*(?:-\s*1|T|t|\\top)\s*\}?"


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


def both_zero(gold: Value, answer: Value) -> bool:
    """Return whether a gold is 0 and an answer a zero matrix, or a zero vector in space."""
    if not isinstance(gold, Quantity) or gold.text.strip() != "0":
        return False
    if not is_matrix(answer) and not (isinstance(answer, Seq) and answer.kind):
        return False
    entries = [entry for row in rows_of(answer) or [] for entry in row]
    return len(entries) > (1 if is_matrix(answer) else 2) and not any(entries)


def with_identity_matrix(gold: Quantity, answer: Quantity) -> tuple[Quantity, Quantity]:
    """Return `cI` beside a square matrix as a matrix; any other two answers as they are."""
    matrix, other = (gold, answer) if is_matrix(gold) else (answer, gold)
    rows = rows_of(matrix)
    if not rows or len(rows) != len(rows[0]):
        return gold, answer
    scalar = _multiple_of_identity(other, len(rows))
    if scalar is None:
        return gold, answer
    lines = [["0"] * len(rows) for _ in rows]
    for i, line in enumerate(lines):
        line[i] = f"({str(scalar).replace('**', '^')})"
    body = r"\\".join("&".join(line) for line in lines)
    identity = Quantity(rf"\begin{{pmatrix}}{body}\end{{pmatrix}}")
    return (gold, identity) if matrix is gold else (identity, answer)


_PRODUCT_WITH_INVERSE = re.compile(
    rf"(?<![A-Za-z\\]){_CAPITAL}(?:{_SCRIPT}\s*{_CAPITAL}|\s*{_CAPITAL}{_SCRIPT})(?![A-Za-z])"
)
_MATRIX_LETTER = re.compile(r"(?<![A-Za-z\\^_])(?<!\^\{)(?:[A-Z]\s*)+(?![a-z_'(])")


def as_matrices(text: str) -> Expr | None:
    """Return the value of `A^{-1}B` for some matrices A and B; None where they do not multiply."""
    text = re.sub(r"\^\s*(?:T|\{\s*T\s*\}|\{?\s*\\top\s*\}?)", "^{T} ", text)
    named = _MATRIX_LETTER.sub(lambda m: "".join(map(_example, re.sub(r"\s", "", m[0]))), text)
    try:
        return parse_expression(named)
    except ParseError:
        return None


def multiplies_matrices(text: str) -> bool:
    """Return whether a product of capital letters has an inverse or a transpose: `A^{-1}B`."""
    return _PRODUCT_WITH_INVERSE.search(text) is not None


def _example(letter: str) -> str:
    n = ord(letter)
    rows = ("1&0", "0&1") if letter == "I" else (f"{n}&{n * n % 31}", f"{n * n % 37}&{n * n % 41}")
    return rf"\begin{{pmatrix}}{rows[0]}\\{rows[1]}\end{{pmatrix}}"


def _has_order(name: str, order: int) -> bool:
    """Return whether `I` or `I_3` may be the identity matrix of an order."""
    return name == "I" or name == f"I_{order}"


def _multiple_of_identity(value: Value, order: int) -> Expr | None:
    """Return c of `cI`, a multiple of the identity matrix; None for anything else."""
    if not isinstance(value, Quantity) or is_matrix(value) or not re.search(".I|I_", value.text):
        return None
    expr = parse_expression(value.text)
    identities = [s for s in expr.free_symbols if re.fullmatch(r"I(?:_.)?", s.name)]
    if len(identities) != 1 or not _has_order(next(iter(identities)).name, order):
        return None
    scalar: Expr = expr.subs(identities[0], 1)
    return scalar if sympy.expand(expr - scalar * identities[0]) == 0 else None
