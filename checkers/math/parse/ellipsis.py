"""Read sums and products with dots: `1+2+\\ldots+n`, `1 \\cdot 2 \\cdots 30`, `1+\\frac12+\\ldots`.

The terms before the dots and the last one decide, the first of these that fits all of them:

    last term in n   the n-th term is the last one, counted from 1 or from 0
    arithmetic       1+3+…+99
    geometric        1+1/2+1/4+…, also without a last term
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

import sympy
from sympy import Expr, Integer

from gradebox.checkers.math.parse.series import write_out
from gradebox.checkers.math.parse.split import split_top
from gradebox.checkers.math.parse.tokens import ParseError

_DOTS = re.compile(r"\\ldots")
_SIGNS = (re.compile(r"\+"), re.compile(r"\\cdot(?![A-Za-z])|\\times(?![A-Za-z])|\*"))
MAX_FACTORS = 500


def with_dots(text: str, parse: Callable[[str], Expr]) -> Expr:
    """Return the value of a text with dots; raise ParseError when its terms show no rule."""
    parts, dots = split_top(text, _DOTS)
    if len(dots) != 1:
        raise ParseError("dots that no rule explains")
    head, last = parts
    kind = 0 if re.search(r"\+\s*$", head) else 1
    sign = _SIGNS[kind]
    terms = [parse(t) for t in split_top(sign.sub(lambda m: m[0], head), sign)[0] if t]
    last = re.sub(rf"^\s*(?:{sign.pattern})\s*", "", last)
    end = parse(last) if last.strip() else None
    if len(terms) < 2 or (end is None and (kind == 1 or len(terms) < 3)):
        raise ParseError("dots after fewer than two terms")
    found = _from_last_term(terms, end, kind) or _progression(terms, end, kind)
    if found is None:
        raise ParseError("dots that no rule explains")
    return found


def _from_last_term(terms: list[Expr], end: Expr | None, kind: int) -> Expr | None:
    letters = end.free_symbols - set().union(*(t.free_symbols for t in terms)) if end else set()
    if end is None or len(letters) != 1:
        return None
    (n,) = letters
    for start in (1, 0):
        if all(sympy.expand(end.subs(n, start + i) - t) == 0 for i, t in enumerate(terms)):
            index = sympy.Symbol("index 1", integer=True)
            series = sympy.Product if kind else sympy.Sum
            return write_out(series(end.subs(n, index), (index, Integer(start), n)))
    return None


def _progression(terms: list[Expr], end: Expr | None, kind: int) -> Expr | None:
    step = sympy.expand(terms[1] - terms[0])
    if end is not None and all(sympy.expand(b - a - step) == 0 for a, b in pairwise(terms)):
        count = sympy.expand((end - terms[0]) / step) + 1 if step != 0 else sympy.S.NaN
        if count.is_number and not (count.is_Integer and count > 0):
            return None
        if kind == 0:
            return count * (terms[0] + end) / 2
        if count.is_Integer and count <= MAX_FACTORS:
            return sympy.Mul(*(terms[0] + i * step for i in range(int(count))))
        return None
    ratio = sympy.simplify(terms[1] / terms[0]) if terms[0] != 0 else sympy.S.NaN
    geometric = ratio.is_Rational and ratio != 1
    if kind or not geometric or any(b != a * ratio for a, b in pairwise(terms)):
        return None
    if end is None:
        return terms[0] / (1 - ratio) if abs(ratio) < 1 else None
    return (end * ratio - terms[0]) / (ratio - 1) if end.is_number else None
