"""Compare lines and planes in any parametrisation, and families of tuples with a parameter.

`(2+3t, 1-2t)`             a point and a direction; another point and a multiple are the same line
`x=1+2t, y=3t, z=t`        likewise
`(1,2)+t(3,4)`             likewise
`\\frac{x-1}{2}=y=z`        the points that satisfy linear equations
`(2^k, k), k \\ge 1`        equal up to the letter of its parameter

A whole-number parameter (`t \\in \\mathbb{Z}`) needs the same direction, up to its sign.
"""

from __future__ import annotations

import itertools
import re
from typing import NamedTuple

import sympy
from sympy import Expr, Matrix

from gradebox.checkers.math.compare import numeric
from gradebox.checkers.math.compare.real_sets import equal_in_any_order
from gradebox.checkers.math.normalise.tables import strip_marks
from gradebox.checkers.math.parse.expressions.latex import parse_expression
from gradebox.checkers.math.parse.expressions.tokens import ParseError
from gradebox.checkers.math.parse.split import COMMA, split_items, split_top, whole_bracket
from gradebox.checkers.math.parse.surroundings import without_lead

MAX_CHARS = 300
_COORDINATES = sympy.symbols("x y z")
_WHOLE_LETTERS = set(sympy.symbols("k n"))
_PARAMETERS = frozenset(["\\lambda", "\\mu", "\\alpha", "\\beta", *"abcdhjkmnpqrstuv"])
_FREE = frozenset(["\\lambda", "\\mu", *"knrstuv"])  # parameters that need no declaration
_NAMED = re.compile(r"(?P<name>[xyz])\s*=\s*(?P<value>[^=<>]+)")
_TUPLE_NAME = re.compile(
    r"^(?:(?:all\s+)?(?:the\s+)?(?:pairs?|triples?|tuples?|points?"
    r"|solutions?)?\s*\(\s*[a-z](?:\s*,\s*[a-z])+\s*\)\s*=\s*"
    r"|(?:\\vec\s*)?\{?\s*\\?(?:mathbf)?\s*[a-zL]\s*\}?\s*(?:\(\s*[a-z]\s*\))?\s*[=:]\s*"
    r"|(?:all\s+)?(?:pairs|triples|tuples|solutions)\s+(?:of\s+the\s+form\s+)?)"
)
_POINT_OF_SET = re.compile(  # `(x,y,z) \in \mathbb{R}^3 :`
    r"^\(\s*x\s*,\s*y\s*(?:,\s*z\s*)?\)\s*(?:\\in\s*\\mathbb\{R\}\^\{?[23]\}?\s*)?(?::|\|)"
)
_SPAN = re.compile(
    r"\\?(?:operatorname\s*)?(?:the\s+)?span(?:\s+of)?\s*\\?[{(\\ ]*?\{?((?:\(|\[|\\langle"
    r"|\\begin).*?)\s*(?:\\?\})?",
    re.S,
)
_TUPLE_LIST = re.compile(r"\([^()]*,[^()]*\)")
_LETTER = r"(?:\\?[a-z]+|[a-z](?:_\d)?)"
_RANGE = re.compile(  # `, t \in \mathbb{R}`, ` for integers k`, `, k \ge 1`
    rf"[\s,;:|(]+(?:(?:where|for|with|and)\s+)?(?:(?:any|all|some|every|each)\s+)?"
    rf"(?:(?P<a>{_LETTER}(?:\s*,\s*{_LETTER})*)\s*\\in\s*\\mathbb\{{(?P<set>[ZNRQC])\}}\S*"
    rf"|(?P<word>(?:positive\s+|non-?negative\s+|natural\s+|real\s+)*(?:integers?|numbers?"
    rf"|reals?|parameters?))\s+{_LETTER}"
    rf"|{_LETTER}\s+(?:is\s+)?(?:an?\s+|any\s+)?(?P<word2>(?:positive\s+|non-?negative\s+"
    rf"|natural\s+|real\s+)*(?:integers?|numbers?|reals?|parameters?))"
    rf"|{_LETTER}\s*(?P<bound>(?:\\ge|>)\s*\d+)|{_LETTER}\s*\\ne\s*0)[\s).]*$"
)
_VECTOR = re.compile(
    r"(?:\\langle|\(|\[)([^()\[\]]*,[^()\[\]]*?)(?:\\rangle|\)|\])(?:\s*\^\s*\{?\s*T\s*\}?)?"
)


class Line(NamedTuple):
    """The points p + t d + …, or those that satisfy linear equations in x, y, z.

    whole   True when the parameter is said to be whole, None when nothing is said
    bound   what bounds the parameter from below, as text
    """

    vector: Matrix | None
    equations: tuple[Expr, ...]
    whole: bool | None
    bound: str


def same_line(gold: str, answer: str) -> bool | None:
    """Return whether two normalised answers are the same line or family; None for other answers."""
    if len(gold) > MAX_CHARS or len(answer) > MAX_CHARS:
        return None
    listed = _tuples(gold), _tuples(answer)
    if all(listed) and len(listed[0]) == len(listed[1]):
        return equal_in_any_order(*listed, same_line) or None
    try:
        left, right = _read(gold), _read(answer)
        if left is None or right is None or (left.vector is None and right.vector is None):
            return None
        return _same(left, right)
    except (ParseError, numeric.Undecided):
        return None


def _tuples(text: str) -> list[str]:
    """Return the tuples of `(n,n,n), (0,n,-n)`, a list of several families; [] for other texts."""
    found = _TUPLE_LIST.findall(" ".join(strip_marks(text).split()))
    rest = _TUPLE_LIST.sub("", strip_marks(text))
    several = len(found) > 1 and re.fullmatch(r"[\s,;]*(?:(?:and|or)[\s,;]*)*", rest)
    return found if several and all(re.search("[a-z]", t) for t in found) else []


def _read(text: str) -> Line | None:
    text = _spanned(" ".join(strip_marks(without_lead(text)).split()).strip(" ."))
    whole: bool | None = None
    bound = ""
    if text.startswith(r"\{") and text.endswith(r"\}"):
        text = _POINT_OF_SET.sub("", text[2:-2].strip())
        if m := re.search(
            r"(?:\||:|\\mid)\s*([xy])\s*\\in\s*\\mathbb\{[RZ]\}\s*$", text
        ):  # x is the parameter
            text = re.sub(rf"(?<![A-Za-z\\]){m[1]}(?![A-Za-z])", "t", text)
    if (bracket := whole_bracket(text)) and "=" in bracket[1]:
        text = bracket[1]
    if m := _RANGE.search(text):
        words = m["word"] or m["word2"] or ""
        whole = (
            bool(m["bound"]) or m["set"] in ("Z", "N") or "integer" in words or "natural" in words
        )
        positive = (
            m["set"] == "N" or re.search("positive|natural", words) or "+" in m[0] or ">" in m[0]
        )
        bound = re.sub(r"\s", "", m["bound"] or ("1" if positive else "")).replace(r"\ge", "")
        bound = str(int(bound[1:]) + 1) if bound.startswith(">") else bound
        text = text[: m.start()]
    parts = [p for p in split_top(text, COMMA)[0] if p]
    named = [_NAMED.fullmatch(p) for p in parts]
    if len(parts) in (2, 3) and all(named):
        values = {m["name"]: parse_expression(m["value"]) for m in named if m}
        if sorted(values) != list("xyz")[: len(parts)]:
            return None
        vector = Matrix([values[n] for n in sorted(values)])
        return Line(vector, (), whole, bound) if _parameters(vector) else None
    if len(parts) == 1:
        body = _TUPLE_NAME.sub("", text).strip()
        if "," in body or r"\begin" in body:
            return _read_vector(body, whole, bound)
        return _read_equations(text, whole)
    return None


def _spanned(text: str) -> str:
    """Return `t(1,0)+s(0,1)` for `span\\{(1,0),(0,1)\\}`; any other text as it is."""
    m = _SPAN.fullmatch(text)
    vectors = split_top(m[1], COMMA)[0] if m else []
    if not 1 <= len(vectors) <= 2 or not all(
        v.startswith(("(", "\\langle", "\\begin", "[")) for v in vectors
    ):
        return text
    return "+".join(f"{letter}{v}" for letter, v in zip("ts", vectors, strict=False))


def _read_vector(text: str, whole: bool | None, bound: str) -> Line | None:
    def as_matrix(m: re.Match[str]) -> str:
        return r"\begin{pmatrix}" + r"\\".join(split_items(m[1], enclosed=True)) + r"\end{pmatrix}"

    bracket = whole_bracket(text)
    if bracket and bracket[2] not in (")", r"\rangle"):
        return None
    if bracket and "," in bracket[1]:
        items = split_items(bracket[1], enclosed=True)
        vector = Matrix([parse_expression(i) for i in items])
    else:
        vector = parse_expression(_VECTOR.sub(as_matrix, text))
    if not isinstance(vector, sympy.MatrixBase) or 1 not in vector.shape:
        return None
    vector = Matrix(vector.flat())
    if whole is None and vector.has(sympy.pi) and vector.free_symbols <= _WHOLE_LETTERS:
        whole = True  # `(2k\\pi, 2k\\pi+1)`
    return Line(vector, (), whole, bound) if _parameters(vector) else None


def _read_equations(text: str, whole: bool | None) -> Line | None:
    sides = text.split("=")
    if len(sides) < 2 or whole is not None or re.search("[<>]", text):
        return None
    values = [parse_expression(s) for s in sides]
    equations = tuple(sympy.expand(a - b) for a, b in itertools.pairwise(values))
    used = set().union(*(e.free_symbols for e in equations))
    if not used <= set(_COORDINATES) or len(used) < 2:
        return None
    return Line(None, equations, None, "")


def _parameters(vector: Matrix) -> list[Expr]:
    """Return the parameters of a vector; [] when other letters are in it, or as many as entries."""
    found = sorted(vector.free_symbols, key=lambda s: s.name)
    usual = all(s.name in _PARAMETERS for s in found)
    return found if usual and len(found) < len(vector) else []


def _same(left: Line, right: Line) -> bool | None:
    if left.vector is None or right.vector is None:
        line, other = (left, right) if left.vector is not None else (right, left)
        return _satisfies(line, other.equations) if not line.whole else None
    if left.vector.shape != right.vector.shape:
        return False
    a, b = _parameters(left.vector), _parameters(right.vector)
    if len(a) != len(b) or len(a) > 2:
        return None
    if left.whole is right.whole is None and not any(
        all(s.name in _FREE for s in letters) for letters in (a, b)
    ):
        return None  # `(a, 0)`, with the a of the question
    whole = left.whole if left.whole is not None else right.whole
    if left.bound and right.bound and left.bound != right.bound:
        return None
    linear = all(
        sympy.diff(x, s).is_number
        for vector, letters in ((left.vector, a), (right.vector, b))
        for x in vector
        for s in letters
    )
    if not linear:
        if len(a) > 1:
            return None
        renamed = right.vector.subs(b[0], a[0])
        shifts = (0,) if left.bound or right.bound or not whole else range(-3, 4)
        return any(
            all(
                numeric.equal(x, y.subs(a[0], a[0] + s)) is True
                for x, y in zip(left.vector, renamed, strict=True)
            )
            for s in shifts
        )
    starts = [v.subs(dict.fromkeys(p, 0)) for v, p in ((left.vector, a), (right.vector, b))]
    steps = [
        Matrix.hstack(*(v.diff(s) for s in p)) for v, p in ((left.vector, a), (right.vector, b))
    ]
    between = starts[1] - starts[0]
    if whole and len(a) == 1:
        return _same_progression(steps[0], steps[1], between, bool(left.bound or right.bound))
    joined = Matrix.hstack(*steps, between)
    return bool(joined.rank() == steps[0].rank() == steps[1].rank())


def _same_progression(one: Matrix, other: Matrix, between: Matrix, bounded: bool) -> bool:
    """Return whether two points with whole multiples of a step are the same points."""
    same, opposite = (all(sympy.simplify(x) == 0 for x in m) for m in (one - other, one + other))
    if not (same or opposite):
        return False
    counts = {sympy.simplify(d / s) for d, s in zip(between, one, strict=True) if s != 0}
    fixed = all(d == 0 for d, s in zip(between, one, strict=True) if s == 0)
    if bounded:
        return same and fixed and counts == {0}
    return fixed and len(counts) == 1 and counts.pop().is_Integer is True


def _satisfies(line: Line, equations: tuple[Expr, ...]) -> bool | None:
    """Return whether a line is all that linear equations allow."""
    assert line.vector is not None
    names = _COORDINATES[: len(line.vector)]
    place = dict(zip(names, line.vector, strict=True))
    if any(sympy.expand(e.subs(place, simultaneous=True)) != 0 for e in equations):
        return False
    gradients = Matrix([[sympy.diff(e, s) for s in names] for e in equations])
    steps = Matrix.hstack(*(line.vector.diff(s) for s in _parameters(line.vector)))
    if gradients.free_symbols or steps.free_symbols:
        return None
    return bool(gradients.rank() + steps.rank() == len(names))
