"""Differential equations in any notation of derivatives: `\\dot x - kx = -a` for `dx/dt = kx - a`.

Each side is rewritten with primes (`\\frac{d^2 x}{dt^2}`, `\\ddot x`, `x''(t)` are x''), functions
of the variable of the derivatives lose their argument, and both equations are solved for the
highest derivative, of which the coefficient is not 0.
"""

from __future__ import annotations

import re

from sympy import Expr, MatrixBase, Symbol, diff

from gradebox.checkers.math.compare import numeric
from gradebox.checkers.math.normalise.tables import FUNCTIONS
from gradebox.checkers.math.parse.expressions.latex import parse_expression
from gradebox.checkers.math.parse.expressions.tokens import ParseError
from gradebox.checkers.math.parse.values import Relation

_INDEX = r"(?:_(?:\{\w{1,4}\}|\w))"
_FUNCTION = rf"(?P<name>\\[a-z]+|[A-Za-z])\s*(?P<index>{_INDEX}?)"
_ORDER = r"(?:\^\s*\{?\s*(?P<order>[23])\s*\}?)?"
_QUOTIENTS = tuple(  # `\frac{d^2 x}{dt^2}`, `d^2x/dt^2`
    re.compile(
        rf"{start}d\s*{_ORDER}\s*{_FUNCTION}\s*{bar}\s*d\s*(?P<variable>[a-z])"
        rf"(?:\s*\^\s*\{{?\s*[23]\s*\}}?)?{end}"
    )
    for start, bar, end in (
        (r"\\frac\s*\{\s*", r"\}\s*\{", r"\s*\}"),
        (r"(?<![A-Za-z\\])", "/", r"(?![A-Za-z])"),
    )
)
_DOTTED = re.compile(  # `\ddot{v}_o`, `\dot{v_o}`
    rf"\\(?P<dots>d{{0,2}})dot\s*\{{?\s*{_FUNCTION}\s*\}}?(?P<outer>{_INDEX}?)"
)
_PRIME_OF = re.compile(r"'\s*\(\s*([a-z])\s*\)")
_ARGUMENT = re.compile(
    rf"(\\[a-z]+|{'|'.join(sorted(FUNCTIONS, key=len, reverse=True))}|[A-Za-z])"
    rf"('*\s*{_INDEX}?'*)\s*\(\s*([a-z])\s*\)"
)
_DERIVATIVE = re.compile(r"'|\\d{0,2}dot|(?<![A-Za-z\\])d")  # may be one


def same_equation(gold: Relation, answer: Relation) -> bool:
    """Return whether two differential equations have the same highest derivative."""
    if not all(_DERIVATIVE.search("=".join(r.sides)) for r in (gold, answer)):
        return False
    try:
        one, other = _solved(gold), _solved(answer)
    except ParseError:
        return False
    if one is None or other is None or one[0] != other[0]:
        return False
    return numeric.equal(one[1], other[1]) is True


def _solved(relation: Relation) -> tuple[Symbol, Expr] | None:
    """Return the highest derivative and what it equals; None where it is not linear in one."""
    if relation.ops != ("=",):
        return None
    variables = {"t"}
    texts = [_with_primes(side, variables) for side in relation.sides]
    left, right = (parse_expression(_without_arguments(t, variables)) for t in texts)
    if isinstance(left, MatrixBase) or isinstance(right, MatrixBase):
        return None
    equation = left - right
    orders = {s: s.name.count("'") for s in equation.free_symbols}
    highest = [s for s, order in orders.items() if order == max(orders.values(), default=0) > 0]
    if len(highest) != 1:
        return None
    factor = diff(equation, highest[0])
    if factor == 0 or factor.has(highest[0]):
        return None
    return highest[0], -equation.subs(highest[0], 0) / factor


def _with_primes(text: str, variables: set[str]) -> str:
    """Return a side with its derivatives as `x''`; collect the letters that they are taken by."""

    def primed(m: re.Match[str]) -> str:
        found = m.groupdict()
        if "dots" in found:
            return f" {m['name']}{len(m['dots']) * chr(39)}'{m['index'] or m['outer']} "
        variables.add(m["variable"])
        return f" {m['name']}{int(m['order'] or 1) * chr(39)}{m['index']} "

    for pattern in (*_QUOTIENTS, _DOTTED):
        text = pattern.sub(primed, text)
    variables.update(_PRIME_OF.findall(text))
    return text


def _without_arguments(text: str, variables: set[str]) -> str:
    """Return `k x - a` for `k x(t) - a`."""

    def plain(m: re.Match[str]) -> str:
        known = m[1].lstrip("\\") in FUNCTIONS or m[3] not in variables
        return m[0] if known else f"{m[1]}{m[2]} "

    return _ARGUMENT.sub(plain, text)
