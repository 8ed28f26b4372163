"""Rewrite what Python programs and SymPy print into LaTeX.

`Fraction(1, 2)`, `Rational(1, 2)` → `\\frac{1}{2}`      `Matrix([[1, 2], [3, 4]])` → a pmatrix
`Interval.open(1, 2)` → `(1,2)`                       `FiniteSet(1, 2)`, `set([1, 2])` → `\\{1,2\\}`
`{x: 1, y: 2}` → `x=1, y=2`                            `np.sqrt(2)` → `sqrt(2)`
"""

from __future__ import annotations

import re
from collections.abc import Callable

MAX_CHARS = 2000
MAX_CALLS = 60


def split_arguments(text: str) -> list[str]:
    """Return the parts of a text between commas outside brackets."""
    found: list[str] = []
    depth, start = 0, 0
    for i, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            found.append(text[start:i].strip())
            start = i + 1
    return [p for p in [*found, text[start:].strip()] if p]


def matrix(rows: list[list[str]]) -> str:
    """Return the LaTeX of a matrix."""
    body = r"\\".join("&".join(row) for row in rows)
    return rf"\begin{{pmatrix}}{body}\end{{pmatrix}}"


def _items(text: str) -> list[str]:
    text = text.strip()
    return split_arguments(text[1:-1]) if text.startswith("[") and text.endswith("]") else []


def _set(args: list[str]) -> str:
    items = [i for arg in args for i in (_items(arg) or [arg])]
    return rf"\{{{', '.join(items)}\}}" if items else r"\emptyset"


def _pattern(template: str) -> Callable[[list[str]], str]:
    return lambda args: template.format(*args)


# names, the number of arguments (None for any), and what the call becomes
_CALL_ROWS: tuple[tuple[str, int | None, Callable[[list[str]], str]], ...] = (
    ("Fraction Rational", 2, _pattern(r"\frac{{{0}}}{{{1}}}")),
    ("Integer Float Decimal mpf float64 int64", 1, lambda args: args[0].strip("'\"")),
    (
        "Matrix array ImmutableMatrix ImmutableDenseMatrix",
        1,
        lambda args: matrix([_items(row) or [row] for row in _items(args[0])]),
    ),
    ("Interval", 2, _pattern("[{0}, {1}]")),
    ("Interval.open", 2, _pattern("({0}, {1})")),
    ("Interval.Lopen", 2, _pattern("({0}, {1}]")),
    ("Interval.Ropen", 2, _pattern("[{0}, {1})")),
    ("Union", None, lambda args: r" \cup ".join(args)),
    ("FiniteSet set frozenset", None, _set),
    ("Point Point2D Point3D Tuple", None, lambda args: f"({', '.join(args)})"),
    ("Eq", 2, _pattern("{0} = {1}")),
    ("And", None, lambda args: " and ".join(args)),
    ("Or", None, lambda args: " or ".join(args)),
    ("Abs", 1, _pattern(r"\left|{0}\right|")),
    ("factorial", 1, _pattern("({0})!")),
    ("binomial comb", 2, _pattern(r"\binom{{{0}}}{{{1}}}")),
)
_CALLS = {n: (count, rewrite) for names, count, rewrite in _CALL_ROWS for n in names.split()}
_CALL = re.compile(
    rf"(?<![A-Za-z\\.{{])({'|'.join(map(re.escape, sorted(_CALLS, key=len, reverse=True)))})\("
)
_MODULE = re.compile(r"(?<![A-Za-z\\])(?:np|numpy|math|cmath|sympy|sp|mpmath)\.(?=[A-Za-z])")
_ENTRY = r"\s*['\"]?[A-Za-z]\w{0,5}['\"]?\s*:\s*[^{},:]{1,60}"
_DICTIONARY = re.compile(rf"\{{{_ENTRY}(?:,{_ENTRY}){{0,5}}\}}")
_DICTIONARIES = re.compile(rf"\[?\s*(?:{_DICTIONARY.pattern}(?:,\s*)?){{1,12}}\]?")
_COMPLEX = re.compile(r"\(?\s*-?(?:[\d.]+\s?[-+]\s?)?[\d.]+j\s*\)?")
_NUMBERS = r"\s*-?[\d./]+\.?(?:\s+-?[\d./]+\.?)*\s*"
_PRINTED_MATRIX = re.compile(rf"\[\s*\[{_NUMBERS}\](?:\s*\[{_NUMBERS}\])*\s*\]")  # of NumPy
_EMPTY_SET = re.compile(r"(?:S\.)?EmptySet(?:\(\))?|set\(\)")


def program_output(text: str) -> str:
    """Return an answer as LaTeX where it is written as Python or SymPy prints it."""
    if len(text) > MAX_CHARS:
        return text
    if _COMPLEX.fullmatch(text):
        return text.replace("j", "i")
    if _EMPTY_SET.fullmatch(text):
        return r"\emptyset"
    if ":" in text and _DICTIONARIES.fullmatch(text):
        return "; ".join(
            re.sub(r"['\"]", "", m[0][1:-1]).replace(":", "=") for m in _DICTIONARY.finditer(text)
        )
    if text.endswith("]]") and _PRINTED_MATRIX.fullmatch(text):
        rows = [row.split() for row in re.findall(_NUMBERS, text) if row.strip()]
        return matrix([[c.rstrip(".") for c in row] for row in rows])
    text = _MODULE.sub("", text)
    for _ in range(MAX_CALLS if "(" in text else 0):
        calls = list(_CALL.finditer(text))
        changed = _without_call(text, calls[-1]) if calls else None
        if changed is None:
            break
        text = changed
    return text


def _without_call(text: str, call: re.Match[str]) -> str | None:
    """Return a text with one call that has no other within it rewritten, or None."""
    depth = 1
    for end in range(call.end(), len(text)):
        depth += (text[end] in "([") - (text[end] in ")]")
        if depth == 0:
            break
    else:
        return None
    args = split_arguments(text[call.end() : end])
    count, rewrite = _CALLS[call[1]]
    if count is not None and (len(args) != count or not args):
        return None
    return text[: call.start()] + rewrite(args) + text[end + 1 :]
