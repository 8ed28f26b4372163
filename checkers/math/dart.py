"""The text functions of EvaluatorMath's documented interface.

Source of what each gives: the documentation of dart-math's EvaluatorMath. They are written
on our own reader; SymPy objects are built without handing text to SymPy.
"""

# mypy: disable-error-code="import-untyped"
from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from checkers.math.clean import LONGEST, clean, spell_unicode, strip_ends

if TYPE_CHECKING:
    import sympy

_CLOSER = {"{": "}", "(": ")", "[": "]", r"\{": r"\}"}
_PM = re.compile(r"\\(?:pm|mp)")
_OR = re.compile(r"(?<![A-Za-z\\])or(?=[A-Za-z]?(?:[^A-Za-z]|$))|(?<=[\d)}\]])\s*or\s*")
_A_SLASH_B = re.compile(r"(?<![\w.}])(\d{1,50}|[a-z])\s*/\s*(\d{1,50}|[a-z])(?![\w.])")
_DEGREE = re.compile(r"\s{0,9}(?:\^\s*\{?\s*\\?circ\s*\}?|°|\\degree(?![A-Za-z]))")
_ANGLE = re.compile(
    r"(\\(?:sin|cos|tan|cot|sec|csc))\s*(\^\{?-?\d+\}?)?\s*[({]?\s*(-?[\d.]+)(?:\s*\^\s*\{?\s*\\?circ\s*\}?|\s*°|\s*\\degree(?![A-Za-z]))\s*[)}]?"
)
_BASIC = "arcsin|arccos|arctan|sinh|cosh|tanh|sin|cos|tan|cot|sec|csc|log|ln"
_BASIC_FN = re.compile(
    rf"(?<![A-Za-z])\\?({_BASIC})(?![A-Za-z]{{2,}}(?<!pi))\s*(?:\^\s*(?:\{{([^{{}}]*)\}}|(-?\d|[a-z])))?\s*"
)


def remove_first_paren_pair(s: str, l: str) -> str:  # noqa: E741 - the documented name
    """`s` without its first opener `l` and the bracket that closes it."""
    start = s.find(l)
    if start < 0 or not l:
        return s
    closer = _CLOSER.get(l, l)
    depth, i = 0, start
    while i < len(s):
        if s.startswith(l, i):
            depth += 1
            i += len(l)
            continue
        if s.startswith(closer, i):
            depth -= 1
            if depth == 0:
                return s[:start] + s[start + len(l) : i] + s[i + len(closer) :]
            i += len(closer)
            continue
        i += 1
    return s


def norm_deg(s: str) -> str:
    """Degrees: `20^\\circ` → `20`, in a trigonometric function the angle in radians."""
    s = _ANGLE.sub(lambda m: rf"{m[1]}{m[2] or ''} {{{m[3]}*\frac{{\pi}}{{180}}}}", s)
    return _DEGREE.sub("", s)


def fix_a_slash_b(s: str) -> str:
    """`3/4` → `\\frac{3}{4}` wherever two plain numbers are divided."""
    return re.sub(r"(?<![\w.}])(\d{1,50})\s*/\s*(\d{1,50})(?![\w.])", r"\\frac{\1}{\2}", s)


def norm_basic_fn(s: str) -> str:
    """`sinx` → `\\sin^{1}x`, `\\sin^2x` → `\\sin^{2}x`, for the elementary functions."""
    return _BASIC_FN.sub(lambda m: rf"\{m[1]}^{{{m[2] or m[3] or '1'}}}", s)


def norm_pm(s: str) -> str:
    """`x\\pm y` → `x-y,x+y`; a set's other members stay."""
    s = strip_ends(s.replace(r"\(", "").replace(r"\)", "").replace("$", ""))
    whole = s.startswith(r"\{") and s.endswith(r"\}")
    body = s[2:-2] if whole else s
    if not _PM.search(body):
        return s
    if len(_PM.findall(body)) > 8:
        return s
    out: list[str] = []
    for item in _split_commas(body):
        if _PM.search(item):
            out.append(_PM.sub("-", item))
            out.append(_PM.sub("+", item))
        else:
            out.append(item)
    return re.sub(r"\s*([-+])\s*", r"\1", ",".join(out))


def _split_commas(s: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for i, c in enumerate(s):
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == "," and depth <= 0:
            parts.append(s[start:i].strip())
            start = i + 1
    parts.append(s[start:].strip())
    return [p for p in parts if p]


def is_set(s: str) -> bool:
    """Whether the text lists alternatives: `{2,1}`, `x<-1orx>3`, a union, a list."""
    s = s.strip()
    if re.search(r"\\cup|\\in(?![A-Za-z])|\\(?:lor|vee)(?![A-Za-z])", s) or _OR.search(s):
        return True
    if s.startswith(("{", r"\{")):
        return s.endswith("}")
    return len(_split_commas(s)) > 1 and not re.fullmatch(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?", s)


def extract_set(norm_s: str) -> list[str]:
    """The sorted members of a set or list."""
    s = norm_s.strip()
    for opener, closer in ((r"\{", r"\}"), ("{", "}"), ("(", ")"), ("[", "]")):
        if s.startswith(opener) and s.endswith(closer) and len(s) > len(opener):
            s = s[len(opener) : len(s) - len(closer)]
            break
    s = re.sub(r"\\(?:cup|lor|vee)(?![A-Za-z])|\bor\b", ",", s)
    s = _OR.sub(",", s)
    return sorted(re.sub(r"\s", "", p) for p in _split_commas(s))


_MATH_NOISE = re.compile(
    r"\\(?:left|right|noindent|displaystyle|quad|qquad|big|Big)(?![A-Za-z])|\\[!,;: ]|~"
)


def norm_math_str(string: str) -> str:
    """An answer's text in one spelling: no white space, size commands or closing dots."""
    s = spell_unicode(str(string)).strip()
    if len(s) > LONGEST:
        return s
    if "\\begin" in s:
        return norm_array(s)
    s = re.sub(r"\\\\(?:\s|$)", " ", s)
    s = _MATH_NOISE.sub("", s)
    s = re.sub(r"\\[dtc]frac", r"\\frac", s)
    s = s.replace(r"\%", "%").replace(r"\$", "").replace("$", "").replace("{,}", ",")
    s = re.sub(r"(\\[A-Za-z]+)\s+(?=[A-Za-z])", "\\1\ue000", s)
    s = re.sub(r"\s+", "", s).replace("\ue000", " ")
    s = strip_ends(s)
    return fix_a_slash_b(s)


def norm_array(s: str) -> str:
    """Matrices as `array` without white space; `\\\\ \\frac` comes out as `\\\\frac`."""
    s = re.sub(r"\\(begin|end)\s*\{[pbvBV]?(?:small)?matrix\}", r"\\\1{array}", s)
    s = re.sub(r"(\\begin\{array\})\s*\{[lcr| ]+\}", r"\1", s)
    s = re.sub(r"\\[dtc]frac", r"\\frac", _MATH_NOISE.sub("", s.replace("$", "")))
    s = re.sub(r"\s+", "", s)
    return re.sub(r"\\\\\\(?=[A-Za-z])(?!\\?end)", lambda _: "\\\\", s)


def norm_answer(text: str) -> str:
    """What `extract_ans` hands out: an answer in one spelling, words kept readable."""
    text = text.strip().strip("$").strip()
    if len(text) > LONGEST:
        return text
    if "\\begin" in text:
        return norm_array(text)
    if re.search(r"[A-Za-z]{2,}\s+[A-Za-z]{2,}", text) and "\\" not in text:
        return strip_ends(text)
    return norm_math_str(text)


def _must_end(kind: str, text: str) -> None:
    """Reads the text in a worker first: what would hang or eat memory here ends there."""
    from checkers.math import pool
    from checkers.math.grading import TIMEOUT_S

    if len(text) > LONGEST:
        raise ValueError(f"a text of {len(text)} characters, the limit is {LONGEST}: shorten it")
    outcome = pool.shared().probe(kind, text, TIMEOUT_S)
    if not outcome.equal:
        raise ValueError(outcome.reason)


def latex2sympy_interval(s: str) -> sympy.Set:
    """A SymPy set of `(-\\infty, 0) \\cup (0, \\infty)`, `(a+b,b]`, `…\\cup\\{1\\}`.

    An isolated point that lies in one of the intervals is absorbed by it. Raises ValueError
    for what is no interval.
    """
    _must_end("interval", s)
    return read_interval(s)


def read_interval(s: str) -> sympy.Set:
    """latex2sympy_interval without its limits: for workers."""
    import sympy

    from checkers.math.latex import parse
    from checkers.math.read import as_piece, read
    from checkers.math.values import Region

    value = read(clean(s))
    piece = as_piece(value)
    if isinstance(value, Region):
        pieces, points = value.pieces, value.points
    elif piece is not None:
        pieces, points = (piece,), ()
    else:
        raise ValueError(f"{s[:80]!r} is no interval: write (a,b), [a,b) or a union of them")
    parts: list[Any] = [
        sympy.Interval(parse(p.low), parse(p.high), p.low_open, p.high_open) for p in pieces
    ]
    parts += [sympy.FiniteSet(parse(p)) for p in points]
    found = sympy.Union(*parts)
    if isinstance(value, Region) and value.without:
        found = found - sympy.FiniteSet(*map(parse, value.without))
    return found


def latex2matrix(latex_mat_str: str) -> sympy.Matrix:
    """A SymPy matrix of a LaTeX matrix; a column and a list `a,b` come out as one row.

    Raises ValueError for what is no matrix.
    """
    _must_end("matrix", latex_mat_str)
    return read_matrix(latex_mat_str)


def read_matrix(latex_mat_str: str) -> sympy.Matrix:
    """latex2matrix without its limits: for workers."""
    import sympy

    from checkers.math.latex import parse
    from checkers.math.read import read
    from checkers.math.values import Leaf, Seq

    value = read(clean(latex_mat_str))
    if isinstance(value, Leaf) and "\\begin" in value.text:
        matrix = parse(value.text)
        if not isinstance(matrix, sympy.MatrixBase):
            raise ValueError(f"{latex_mat_str[:80]!r} is no matrix")
        return sympy.Matrix(matrix.T if matrix.cols == 1 else matrix)
    if isinstance(value, Seq) and all(isinstance(i, Leaf) for i in value.items):
        return sympy.Matrix([[parse(i.text) for i in value.items if isinstance(i, Leaf)]])
    if isinstance(value, Leaf):
        return sympy.Matrix([[parse(value.text)]])
    raise ValueError(f"{latex_mat_str[:80]!r} is no matrix: write a LaTeX matrix or a list")
