"""Compare lines and planes in any parametrisation: another point or direction is the same line.

`(2+3t, 1-2t)`      `x=1+2t, y=3t, z=t`      `(1,2)+t(3,4)`      vectors as matrices
"""

from __future__ import annotations

import re

import sympy
from sympy import Expr, Matrix

from gradebox.checkers.math.read.expressions.parser import parse_expression
from gradebox.checkers.math.read.split import COMMA, split_items, split_top, whole_bracket
from gradebox.checkers.math.read.tables import strip_marks
from gradebox.checkers.math.read.values import ParseError

MAX_CHARS = 300
_PARAMETERS = frozenset(["\\lambda", "\\mu", *"rstuv"])
_NAMED = re.compile(r"(?P<name>[xyz])\s*=\s*(?P<value>[^=<>]+)")
_NAME = re.compile(
    r"^(?:\(\s*x\s*,\s*y\s*(?:,\s*z\s*)?\)|(?:\\vec\s*)?\{?\s*[a-zL]\s*\}?\s*(?:\(\s*[a-z]\s*\))?)\s*[=:]\s*"
)
_REAL_PARAMETER = re.compile(  # `, t \in \mathbb{R}`, ` for real t`
    r"[\s,;(]+(?:(?:where|for|with)\s+)?(?:(?:any|all|every)\s+)?"
    r"(?:(?:\\?[a-z]+(?:\s*,\s*)?)+\\in\s*\\mathbb\{R\}|real\s+(?:numbers?\s+)?[a-z])[\s).]*$"
)
_VECTOR = re.compile(r"(?:\\langle|\()([^()\[\]]*,[^()\[\]]*?)(?:\\rangle|\))")


def same_line(gold: str, answer: str) -> bool | None:
    """Return whether two normalised answers are the same line or plane; None for others."""
    if max(len(gold), len(answer)) > MAX_CHARS:
        return None
    try:
        left, right = _read(gold), _read(answer)
    except ParseError:
        return None
    if left is None or right is None:
        return None
    if left.shape != right.shape:
        return False
    letters = _parameters(left), _parameters(right)
    pairs = ((left, letters[0]), (right, letters[1]))
    steps = [Matrix.hstack(*(v.diff(s) for s in p)) for v, p in pairs]
    if any(step.free_symbols for step in steps):
        return None  # a curve
    starts = [v.subs(dict.fromkeys(p, 0)) for v, p in pairs]
    joined = Matrix.hstack(*steps, starts[1] - starts[0])
    return bool(joined.rank() == steps[0].rank() == steps[1].rank())


def _read(text: str) -> Matrix | None:
    """Return the point with parameters that a text gives; None for anything else."""
    text = _REAL_PARAMETER.sub("", " ".join(strip_marks(text).split()).strip(" ."))
    parts = [p for p in split_top(text, COMMA)[0] if p]
    named = [m for p in parts if (m := _NAMED.fullmatch(p))]
    if 2 <= len(named) == len(parts) <= 3:
        values = {m["name"]: m["value"] for m in named}
        if sorted(values) != list("xyz")[: len(parts)]:
            return None
        return _with_parameters(Matrix([parse_expression(values[n]) for n in sorted(values)]))
    body = _NAME.sub("", text).strip()
    if len(parts) != 1 or not ("," in body or r"\begin" in body) or re.search("[<>=]", body):
        return None
    bracket = whole_bracket(body)
    if bracket and bracket[0] in ("(", r"\langle") and bracket[2] in (")", r"\rangle"):
        entries = [parse_expression(i) for i in split_items(bracket[1], enclosed=True)]
        return _with_parameters(Matrix(entries))
    if bracket:
        return None
    vector = parse_expression(_VECTOR.sub(_as_matrix, body))
    if not isinstance(vector, sympy.MatrixBase) or 1 not in vector.shape:
        return None
    return _with_parameters(Matrix(vector.flat()))


def _as_matrix(m: re.Match[str]) -> str:
    return r"\begin{pmatrix}" + r"\\".join(split_items(m[1], enclosed=True)) + r"\end{pmatrix}"


def _with_parameters(vector: Matrix) -> Matrix | None:
    found = _parameters(vector)
    return vector if found and len(found) < len(vector) else None


def _parameters(vector: Matrix) -> list[Expr]:
    """Return the parameters of a vector; [] when other letters are in it."""
    found = sorted(vector.free_symbols, key=lambda s: s.name)
    return found if all(s.name in _PARAMETERS for s in found) else []
