"""Left sides that name a value: `x = 5`, `f(x) = 2x`, `(x,y) = (1,2)`."""

from __future__ import annotations

import re

from checkers.math.values import Relation

_NAME = re.compile(
    r"(?:[A-Za-z]|[A-Z]{2,4}|\\[A-Za-z]+|[A-Za-z]{4,})'*(?:_(?:\{[^{}]*\}|\w))?(?:\^\{?-?\w{1,2}\}?(?=\s*\())?"
    r"(?:\s*\(\s*[\w, ^+-]{1,20}\s*\))?"  # x, \alpha, AB, x_1, f(x), f^{-1}(x)
    r"|\|\w+\||m?\\angle\s*[A-Z]{1,3}|\\frac\{d[a-z]\}\{d[a-z]\}"
    r"|\\(?:overline|bar|vec|hat|overrightarrow)\s*\{?\w+\}?"
)
_TUPLE_NAME = re.compile(
    r"\(\s*\w+(?:_\{?\w+\}?)?(?:\s*,\s*\w+(?:_\{?\w+\}?)?)+\s*\)|\w(?:\s*:\s*\w)+|V_\{\d\}:V_\{\d\}"
)


def is_assignment(relation: Relation) -> bool:
    """Whether it names a value: `x = 5`, `f(x) = 2x`, `(x,y) = (1,2)`, `z = 1+1 = 2`."""
    if not relation.is_equation:
        return False
    left = relation.sides[0].replace("\ue000", "").replace("\ue001", "").strip()
    if _NAME.fullmatch(left) or _TUPLE_NAME.fullmatch(left):
        return True
    if re.fullmatch(r"[A-Za-z_{}\d]+(?::[A-Za-z_{}\d]+)+", left):
        return True
    return bool(re.fullmatch(r"[A-Za-z]{4,}(?: [A-Za-z]+)*", left))


def same_name(a: str, b: str) -> bool:
    """Whether two left sides may name the same thing: equal, or a function and `y`."""
    a, b = (re.sub(r"[\s{}\ue000\ue001]", "", t) for t in (a, b))
    if a == b or (a.lower() == b.lower()):
        return True
    return any(
        re.fullmatch(r"[a-zA-Z]\([a-z]\)", x) and y in ("y", x[0]) for x, y in ((a, b), (b, a))
    )
