"""Left sides that name a value: `x = 5`, `f(x) = 2x`, `(x,y) = (1,2)`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from checkers.math.values import Relation, Seq, Value

_NAME = re.compile(
    r"(?:[A-Za-z]|[A-Z]{2,4}|\\[A-Za-z]+|[A-Za-z]{4,})'*(?:_(?:\{[^{}]*\}|\w))?(?:\^\{?-?\w{1,2}\}?(?=\s*\())?"
    r"(?:\s*\(\s*[\w, ^+-]{1,20}\s*\))?"  # x, \alpha, AB, x_1, f(x), f^{-1}(x)
    r"|(?:[PEn]|Pr|Var|lcm|\\Pr|\\mathbb\{[PE]\})\s*(?:\([^()]{1,60}\)|\[[^\[\]]{1,60}\])"
    r"|\|\s*\w\s*\\c[au]p\s*\w\s*\||\|\w+\||m?\\angle\s*[A-Z]{1,3}|\\frac\{d[a-z]\}\{d[a-z]\}"
    r"|\[[A-Z][^\[\]]{0,12}\]|p(?:H|OH|K_?\{?[ab]\}?)|\\Delta\s*[A-Z](?:_\{?\w+\}?)?(?:\s*\\degree)?"
    r"|[A-Z](?:'|\^c)?(?:\s*\\(?:cap|cup|setminus)\s*[A-Z](?:'|\^c)?)+"
    r"|\\(?:overline|bar|vec|hat|overrightarrow)\s*\{?\w+\}?"
)
_TUPLE_NAME = re.compile(
    r"\(\s*\\?\w+(?:_\{?\w+\}?)?(?:\s*,\s*\\?\w+(?:_\{?\w+\}?)?)+\s*\)|\w(?:\s*:\s*\w)+|V_\{\d\}:V_\{\d\}"
)


_LETTER = r"[A-Za-z](?:_\{?\w+\}?)?"
_TERM = rf"{_LETTER}(?:\([-\d\w\s]{{1,12}}\))?"
_ASKED = re.compile(
    rf"{_TERM}(?:\s*[-+]\s*{_TERM})+"
    r"|\\(?:sin|cos|tan|cot|sec|csc)\s*\(?\s*(?:\\[a-z]+|[A-Za-z])\s*\)?"
)


def is_asked_for(relation: Relation) -> bool:
    """`m+n = 103`, `f(1)-f(0) = 5`, `\\cos A = 1`, for a number; not `a+b = 0`."""
    named = relation.is_equation and _ASKED.fullmatch(relation.sides[0].strip())
    return bool(named) and relation.sides[-1].strip() != "0"


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
        (f := re.fullmatch(r"([a-zA-Z](?:\^-1)?)\([a-z]\)", x)) and y in ("y", f[1])
        for x, y in ((a, b), (b, a))
    )


_NUMBERED = re.compile(r"(\\?[A-Za-z]+?)(?:_\{?\d{1,2}\}?)?")


def one_unknown(items: Sequence[Value]) -> str:
    """The unknown that a list of solutions names: "x" for `x=1,2`, "x_" for `x_1=1, x_2=2`."""
    names = [
        v.sides[0].replace(" ", "") for v in items if isinstance(v, Relation) and is_assignment(v)
    ]
    bases = {m[1] for name in names if (m := _NUMBERED.fullmatch(name))}
    if len(items) < 2 or len(bases) != 1 or any(not _NUMBERED.fullmatch(n) for n in names):
        return ""
    if any(isinstance(v, Relation) and not is_assignment(v) for v in items):
        return ""
    base = bases.pop()
    numbered = sum(name != base for name in names)
    if numbered and (numbered != len(items) or len(set(names)) != len(names)):
        return ""
    return base + "_" if numbered else base


def same_unknown(a: str, b: str) -> bool:
    """Whether two lists solve for the same: `x_1=1, x_2=2` may be `x=2, x=1`."""
    return a.rstrip("_") == b.rstrip("_") and not (a.endswith("_") and b.endswith("_"))


def by_name(seq: Seq) -> Seq:
    """`y=-4, x=3` in the order of its names, as the tuple (3,-4) lists them."""
    named = [
        (v.sides[0].strip(), v) for v in seq.items if isinstance(v, Relation) and is_assignment(v)
    ]
    letters = {name for name, _ in named if re.fullmatch(r"[a-z]", name)}
    if seq.kind or len(letters) != len(seq.items):
        return seq
    return Seq("", tuple(v for _, v in sorted(named, key=lambda pair: pair[0])), seq.joined_by_or)
