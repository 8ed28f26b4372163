"""The functions of dart-math's EvaluatorMath that rewrite answers or read sets and matrices.

Names and results are those in its documentation; the code is gradebox's own. SymPy objects are
built without passing text to SymPy.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gradebox.checkers.math.grading import TIMEOUT_S
from gradebox.checkers.math.read.normalise import strip_ends
from gradebox.checkers.math.read.tables import MAX_CHARS
from gradebox.checkers.math.workers.answers import Pool
from gradebox.checkers.workers.pool import shared_pool

if TYPE_CHECKING:
    import sympy

_CLOSER = {"{": "}", "(": ")", "[": "]", r"\{": r"\}"}
_PM = re.compile(r"\\(?:pm|mp)")
_OR = re.compile(r"(?<![A-Za-z\\])or(?=[A-Za-z]?(?:[^A-Za-z]|$))|(?<=[\d)}\]])\s*or\s*")
_DEGREE = re.compile(r"\s{0,9}(?:\^\s*\{?\s*\\?circ\s*\}?|°|\\degree(?![A-Za-z]))")
_ANGLE = re.compile(
    r"(\\(?:sin|cos|tan|cot|sec|csc))\s*(\^\{?-?\d+\}?)?\s*[({]?\s*(-?[\d.]+)(?:\s*\^\s*\{?\s*\\?circ\s*\}?|\s*°|\s*\\degree(?![A-Za-z]))\s*[)}]?"
)
_BASIC_FN = re.compile(
    r"(?<![A-Za-z])\\?(arcsin|arccos|arctan|sinh|cosh|tanh|sin|cos|tan|cot|sec|csc|log|ln)"
    r"(?![A-Za-z]{2,}(?<!pi))\s*(?:\^\s*(?:\{([^{}]*)\}|(-?\d|[a-z])))?\s*"
)


def remove_first_paren_pair(s: str, l: str) -> str:  # noqa: E741 - the documented name
    """Return `s` without its first opener `l` and the bracket that closes it."""
    start = s.find(l)
    if start < 0 or not l:
        return s
    closer = _CLOSER.get(l, l)
    depth = 0
    for m in re.compile(f"{re.escape(l)}|{re.escape(closer)}").finditer(s, start):
        depth += 1 if m[0] == l else -1
        if depth == 0:
            return s[:start] + s[start + len(l) : m.start()] + s[m.end() :]
    return s


def norm_deg(s: str) -> str:
    """Return `20^\\circ` as `20`, and an angle in a trigonometric function in radians."""
    s = _ANGLE.sub(lambda m: rf"{m[1]}{m[2] or ''} {{{m[3]}*\frac{{\pi}}{{180}}}}", s)
    return _DEGREE.sub("", s)


def norm_basic_fn(s: str) -> str:
    """Return `sinx` as `\\sin^{1}x` and `\\sin^2x` as `\\sin^{2}x`, for elementary functions."""
    return _BASIC_FN.sub(lambda m: rf"\{m[1]}^{{{m[2] or m[3] or '1'}}}", s)


def norm_pm(s: str) -> str:
    """Return `x\\pm y` as `x-y,x+y`; the other members of a set stay."""
    s = strip_ends(s.replace(r"\(", "").replace(r"\)", "").replace("$", ""))
    body = s[2:-2] if s.startswith(r"\{") and s.endswith(r"\}") else s
    if not 1 <= len(_PM.findall(body)) <= 8:
        return s
    out: list[str] = []
    for item in _split_commas(body):
        out += [_PM.sub(sign, item) for sign in "-+"] if _PM.search(item) else [item]
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
    """Return whether the text lists alternatives: `{2,1}`, `x<-1orx>3`, a union, a list."""
    s = s.strip()
    if re.search(r"\\cup|\\in(?![A-Za-z])|\\(?:lor|vee)(?![A-Za-z])", s) or _OR.search(s):
        return True
    if s.startswith(("{", r"\{")):
        return s.endswith("}")
    return len(_split_commas(s)) > 1 and not re.fullmatch(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?", s)


def extract_set(norm_s: str) -> list[str]:
    """Return the sorted members of a set or list."""
    s = norm_s.strip()
    for opener in (r"\{", "{", "(", "["):
        closer = _CLOSER[opener]
        if s.startswith(opener) and s.endswith(closer) and len(s) > len(opener):
            s = s[len(opener) : len(s) - len(closer)]
            break
    s = re.sub(r"\\(?:cup|lor|vee)(?![A-Za-z])|\bor\b", ",", s)
    s = _OR.sub(",", s)
    return sorted(re.sub(r"\s", "", p) for p in _split_commas(s))


def latex2sympy_interval(s: str) -> sympy.Set:
    """Return a SymPy set of `(-\\infty, 0) \\cup (0, \\infty)`, `(a+b,b]`, `…\\cup\\{1\\}`.

    Raises ValueError for a text that is not an interval.
    """
    _check_in_worker("interval", s)
    from gradebox.checkers.math.compare.real_sets import read_interval

    return read_interval(s)


def latex2matrix(latex_mat_str: str) -> sympy.Matrix:
    """Return a SymPy matrix of a LaTeX matrix; a column and a list `a,b` become one row.

    Raises ValueError for a text that is not a matrix.
    """
    _check_in_worker("matrix", latex_mat_str)
    from gradebox.checkers.math.compare.lists import read_matrix

    return read_matrix(latex_mat_str)


def _check_in_worker(kind: str, text: str) -> None:
    """Raise ValueError unless a worker reads the text within its CPU and memory limits."""
    if len(text) > MAX_CHARS:
        raise ValueError(f"a text of {len(text)} characters, the limit is {MAX_CHARS}: shorten it")
    outcome = shared_pool(Pool).probe(kind, text, TIMEOUT_S)
    if not outcome.equal:
        raise ValueError(outcome.reason)
