"""Equations: those that name a value, `x = 5`, `f(x) = 2x`; calculations, `3+4 = 7`; curves."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import sympy
from sympy import Expr, MatrixBase
from sympy.core.function import AppliedUndef
from sympy.functions.elementary.trigonometric import TrigonometricFunction

from gradebox.checkers.math.compare import numeric
from gradebox.checkers.math.compare.quantities import LETTER_UNIT
from gradebox.checkers.math.read.expressions.parser import parse_expression
from gradebox.checkers.math.read.reader import read_answer
from gradebox.checkers.math.read.tables import strip_marks
from gradebox.checkers.math.read.units import unit_name, unit_scale
from gradebox.checkers.math.read.values import ParseError, Quantity, Relation, Seq, Value

MAX_ROUNDED = 10**15  # whole numbers from here on are not rounded
CALCULATION_TOLERANCE = 0.02  # relative difference between the sides of `22/7 = 3.14`
_NUMBER = re.compile(r"[-+]?[\d,]*\.?\d+")
_NAME = re.compile(  # x, AB, x_1, f(\pi), f^{-1}(x), P(A), \angle A, (x, y), area of ABC
    r"(?:[A-Za-z]|[A-Z]{2,4}|\\[A-Za-z]+|[A-Za-z]{4,})'*(?:_(?:\{[^{}]*\}|\w))?(?:\^\{?-?\w{1,2}\}?(?=\s*\())?"
    r"(?:\s*\(\s*(?:[\w, ^+-]{1,20}|\\[a-z]+\s*\{?\w?\}?|-?\d?\s*\\pi\s*/\s*\d+"
    r"|-?\\frac\s*\{[^{}]{1,12}\}\s*\{[^{}]{1,12}\})\s*\))?"
    r"|(?:[PEn]|Pr|Var|lcm|\\Pr|\\mathbb\{[PE]\})\s*(?:\([^()]{1,60}\)|\[[^\[\]]{1,60}\])"
    r"|\[[A-Z][^\[\]]{0,12}\]|\|\s*(?:\\[a-z]+\s*)?\{?\w+\}?\s*\|(?:\^\{?2\}?)?|m?\\angle\s*[A-Z]{1,3}|\\frac\{d[a-z]?\}\{d[a-z]\}|d[a-z]?/d[a-z]"
    r"|[A-Z]{2}(?:\^\{?2\}?)?|\\sigma\^\{?2\}?|\\(?:Delta|triangle|overline|bar|vec|hat|max|min)\s*\{?\w+\}?"
    r"|\(\s*\\?\w+(?:_\{?\w+\}?)?(?:\s*,\s*\\?\w+(?:_\{?\w+\}?)?)+\s*\)|\w(?:\s*:\s*\w)+"
    r"|[A-Za-z]{4,}(?: [A-Za-z]+)*|[a-z]{2,}(?: [A-Za-z]+)+"
)
_FUNCTION = re.compile(
    r"([A-Za-z]'*(?:\s*\^\s*\{?\s*-1\s*\}?)?)\s*(?:\(\s*([a-z])\s*\)|_\{?([a-z])\}?)"
)
_POWER_OF_LETTER = re.compile(r"[A-Z]\s*(?:_\s*\{?\w\}?\s*)?\^\s*\{?\s*\d\s*\}?")
_SAME_NAMES = tuple(  # spellings of one name
    (re.compile(pattern), name)
    for pattern, name in (
        (r"\\(?:vec|overrightarrow)(?![A-Za-z])|\\(?:overline|bar)(?=\s*\{?\s*[A-Z]{2})", ""),
        (r"m?\s*\\angle\s*|\\lim(?:_\s*\{[^{}]*\}|_\S)?\s*", ""),
        (r"\\frac\s*\{\s*d\s*([a-z])\s*\}\s*\{\s*d[a-z]\s*\}|\bd([a-z])\s*/\s*d[a-z]\b", r"\1\2'"),
        (r"\b([a-z])\s*\(\s*([nk])\s*\)", r"\1_\2"),
        (r"\s|\\?[{}]|_\{?\\?(?:max|min)\}?", ""),
    )
)


# -- which equations give a value -----------------------------------------------------


def is_assignment(relation: Relation) -> bool:
    """Return whether an equation names a value: `x = 5`, `f(x) = 2x`, `z = 1+1 = 2`.

    A left side that is no expression, such as `\\nabla f` or `P(X=2)`, is a name.
    """
    if not relation.is_equation:
        return False
    left = strip_marks(relation.sides[0], "").strip()
    return _readable(relation.sides[0]) is None or _NAME.fullmatch(left) is not None


def names_a_number(relation: Relation, curves: bool = False) -> bool:
    """Return whether a number answers `m+n = 103`, `\\tan 2A = 1`, `(x+y)^2 = 81`, `a^2 = bc = 6`.

    Not where the left side is a condition on one unknown, `2x = 4` or `\\log x = 4`. The right
    side must not be 0, because `a+b = 0` states a relation. A chain of three sides or more ends
    with its value. With `curves`, so does `x^2+y^2 = 5`, which may be a curve.
    """
    if not relation.is_equation or len(relation.sides) > 2:
        return relation.is_equation
    left = _readable(relation.sides[0])
    if relation.sides[-1].strip() == "0" or left is None or isinstance(left, MatrixBase):
        return False
    letters = left.free_symbols
    if len(letters) != 1:
        curve = {str(letter) for letter in letters} <= {"x", "y", "z"} and not left.is_Pow
        return len(letters) > 1 and (curves or not (curve and left.is_polynomial(*letters)))
    rational = left.is_rational_function(*letters) and not left.is_polynomial(*letters)
    return rational or left.has(TrigonometricFunction, AppliedUndef)


def says_a_power(relation: Relation, value: Value) -> bool:
    """Return whether an answer says `AB^2 = 4\\sqrt5` or `S^2 = 9`, not AB or S.

    A root is rather the length itself; the square of a letter is not its value.
    """
    if _POWER_OF_LETTER.fullmatch(relation.sides[0].strip()) and is_number(value):
        return True
    return bool(re.search(r"\^\s*\{?2\}?\s*$", relation.sides[0]) and "sqrt" in relation.sides[-1])


def states_a_number(relation: Relation) -> bool:
    """Return whether the first side of an equation is a number: `\\log 0.01 = -2` is -2."""
    stated = relation.is_equation and re.search(r"log|\^|sqrt", relation.sides[0])
    left = _readable(relation.sides[0]) if stated else None
    return isinstance(left, Expr) and bool(left.is_number)


def is_calculation(relation: Relation) -> bool:
    """Return whether all sides are equal: `3 + 4 = 7`, `x(x+1) = x^2+x`; not `4 = 2\\sqrt5`."""
    if not relation.is_equation:
        return False
    before = _readable(relation.sides[-2]) if len(relation.sides) > 2 else None
    after_first = before is not None and not before.free_symbols  # 2x = 2·9 = 18
    return _sides_agree(relation.sides[after_first:]) is True


def chain_holds(relation: Relation) -> bool:
    """Return whether the numbers in `x = 2+3 = 5` are equal; not in `x = 2+3 = 6`."""
    if len(relation.sides) < 3 or not relation.is_equation:
        return True
    return _sides_agree(relation.sides[1:], numbers=True) is not False


def _sides_agree(texts: Sequence[str], numbers: bool = False) -> numeric.Verdict:
    """Return whether those sides that can be read are equal but for rounding.

    With `numbers`, whether those of them are that stand side by side and have no unit. None for
    fewer than two.
    """
    if not numbers:  # 250 of `250 m`
        texts = [*texts[:-1], _number_of(read_side(texts[-1]), texts[-1])]
    sides = [e if isinstance(e := _readable(t), Expr) else None for t in texts]
    if numbers:
        pairs = [p for p in pairwise(sides) if all(e is not None and e.is_number for e in p)]
    else:
        pairs = list(pairwise(e for e in sides if e is not None))
    exact = any(e is not None and e.free_symbols for p in pairs for e in p)
    tolerance = 0.0 if exact else _rounding_tolerance(*texts)
    found = [numeric.equal(a, b, tolerance, 0) for a, b in pairs]
    return False if False in found else True if found and None not in found else None


# -- their values ---------------------------------------------------------------------


def read_side(text: str) -> Value:
    return read_answer(text, 1)


def assigned(value: Value) -> Value:
    """Return the value of `x = 5` and of `3 + 4 = 7`; every other value as it is."""
    if isinstance(value, Relation) and (
        is_assignment(value) or is_calculation(value) or names_a_number(value)
    ):
        return read_side(value.sides[-1])
    return value


def is_number(value: Value) -> bool:
    expression = parse_expression(value.text) if isinstance(value, Quantity) else None
    return isinstance(expression, Expr) and bool(expression.is_number)


def _number_of(value: Value, text: str) -> str:
    """Return the number of a quantity: 5 of `5 cm` and of `5 m`; any other text as it is."""
    if isinstance(value, Quantity) and value.unit:
        return value.text
    m = LETTER_UNIT.fullmatch(text)
    return m["value"] if m and m["space"] and unit_scale(unit_name(m["unit"])) else text


def _rounding_tolerance(*texts: str) -> float:
    """Return the relative difference between sides that rounding explains."""
    if any("." in t for t in texts):
        return CALCULATION_TOLERANCE
    numbers = [t.strip() for t in texts if _NUMBER.fullmatch(t.strip())]
    largest = max((abs(int(n.replace(",", ""))) for n in numbers), default=0)
    if not 0 < largest < MAX_ROUNDED:
        return 0.0
    return min(CALCULATION_TOLERANCE, 0.5 / largest)


def _readable(text: str) -> Expr | None:
    """Return an expression; None for one that cannot be read, such as `[F(x)]_0^1` in a chain."""
    try:
        return parse_expression(text)
    except ParseError:
        return None


# -- their names ----------------------------------------------------------------------


def same_name(a: str, b: str) -> bool:
    """Return whether two left sides may name one value: equal but for case, or f(x) and y."""
    a, b = (_plain_name(strip_marks(t, "")) for t in (a, b))  # |AB|^2 is AB^2
    if a.lower() == b.lower():
        return True
    if any(re.fullmatch(re.escape(y) + r"_\d{1,2}", x) for x, y in ((a, b), (b, a))):
        return True  # x_1 = 1, x_2 = 2 and x = 1, x = 2
    return any(
        (f := re.fullmatch(r"([a-zA-Z](?:\^-1)?'*)(?:\([a-z](?:,[a-z])*\)|_[a-z])", x))
        and y in ("y", f[1])
        for x, y in ((a, b), (b, a))
    )


def with_argument_of(gold: Relation, answer: Relation) -> Relation:
    """Return `f(x) = 2x` for `f(t) = 2t` beside `f(x) = …`: any letter may be the argument."""
    g, a = (_FUNCTION.fullmatch(r.sides[0].strip()) for r in (gold, answer))
    if not (g and a) or g[1] != a[1] or len(answer.sides) != 2:
        return answer
    old, new, right = a[2] or a[3], g[2] or g[3], answer.sides[1]
    if old in (new, "e") or re.search(rf"(?<![A-Za-z\\]){new}(?![A-Za-z])", right):
        return answer
    renamed = re.sub(rf"(?<![A-Za-z\\]){old}(?![A-Za-z])", new, right)
    return Relation((gold.sides[0], renamed), answer.ops)


def _plain_name(text: str) -> str:
    """Return a left side without what may differ: `\\vec{v}` is v, a(n) is a_n, dy/dx is y'."""
    for pattern, name in _SAME_NAMES:
        text = pattern.sub(name, text)
    return text


def names_each_value(seq: Seq) -> bool:
    """Return whether a list gives different letters their values: `p = 4, q = 3`."""
    names = [v.sides[0].strip() for v in seq.items if isinstance(v, Relation) and is_assignment(v)]
    letters = {name for name in names if re.fullmatch(r"[A-Za-z]", name)}
    return not seq.kind and len(letters) == len(seq.items) > 1


def sorted_by_name(seq: Seq) -> Seq:
    """Return `y=-4, x=3` in the order of its letters, that of the tuple (3,-4)."""
    named = [
        (v.sides[0].strip(), v) for v in seq.items if isinstance(v, Relation) and is_assignment(v)
    ]
    letters = {name for name, _ in named if re.fullmatch(r"[a-z]", name)}
    span = ord(max(letters, default="a")) - ord(min(letters, default="a"))
    if seq.kind or len(letters) != len(seq.items) or span != len(letters) - 1:
        return seq  # `m = 2, b = 5` are in the order of y = mx+b
    return Seq("", tuple(v for _, v in sorted(named, key=lambda pair: pair[0])), seq.joined_by_or)


# -- curves ---------------------------------------------------------------------------


def same_curve(gold: Relation, answer: Relation) -> bool:
    """Return whether two equations hold at the same points."""
    if len(gold.sides) != 2 or len(answer.sides) != 2:
        return False
    left, right = (
        _without_denominator(parse_expression(r.sides[0]) - parse_expression(r.sides[1]))
        for r in (gold, answer)
    )
    if isinstance(left, MatrixBase) or isinstance(right, MatrixBase):
        return False
    return numeric.proportional(left, right) is True


def _without_denominator(expr: Expr) -> Expr:
    """Return xy - 1 for y - 1/x: both are 0 at the same points."""
    negative = not isinstance(expr, MatrixBase) and any(
        p.exp.is_negative for p in expr.atoms(sympy.Pow)
    )
    return sympy.together(expr).as_numer_denom()[0] if negative else expr
