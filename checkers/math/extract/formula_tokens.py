"""Find formulas in plain text: `So x = nπ/3 for n ∈ ℤ`, `the slope is 3M^{-3}`, `4 + 2π`.

formula := operands joined by operators; within brackets also by commas and spaces
operand := number | letter, `xy`, `AB`, `C1` | function name | bracketed formula | TeX command

A word ends a formula, so does a space between two operands, but for `sin x` and `A sin x`. Plain
numbers, single letters and units (`m/s` after a number) are no formulas.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

_FUNCTION = (
    r"a(?:rc)?(?:sin|cos|tan)h?|(?:sin|cos|tan|cot|sec|csc)h?|ln|log|exp|sqrt|max|min|gcd|lcm"
)
_GREEK = "pi|theta|alpha|beta|gamma|lambda|sigma|omega|phi|mu"
_SHORT_WORDS = (
    "ad|ah|am|an|as|at|be|by|cm|dm|do|ex|ft|go|gm|ha|he|hi|hr|id|if|in|is|it|kg|km|lb|me|mg|mi|ml|mm|my|nd|nm|no|of|oh|ok|on|or|oz"
    "|pm|rd|so|st|th|to|up|us|vs|we|yd"
)
_TOKEN = re.compile(
    r"(?P<number>\d+ \d+/\d+(?![\d/^])|\d{1,3}(?:,\d{3})+(?![\d,])(?:\.\d+)?"
    r"|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|\.\d+)"
    rf"|(?P<function>(?<![A-Za-z])(?:{_FUNCTION})(?![a-z])|√|∛|∑|∫|\\[A-Za-z]+)"
    rf"|(?P<name>(?<![A-Za-z])(?:{_GREEK})(?![A-Za-z])|(?<![A-Za-z])(?:[A-Z]{{2,4}}|(?!(?:{_SHORT_WORDS})(?![a-z]))[a-z]{{2}}"
    r"|abc|xyz|mnp|pqr|[a-z][A-Z]|[A-Z][a-z](?=\^)|[ABCK][xyz]|[A-Za-z]\d?)(?![A-Za-z\d])['′]*|[\u0370-\u03ff∞∅ℓħ]|[\u2124\u211d\u2115\u211a])"
    r"|(?P<suffix>[⁰¹²³⁴-⁹⁻⁺ⁿˣᵏ₀-₉ₙₖ!%°½⅓⅔¼¾⅛]+)"
    r"|(?P<operator>\*\*|[-+−–*·×/÷^_=<>≤≥≠≈≡±∓∈∪∩|]|\b(?:mod)\b)"
    r"|(?P<open>[(\[{⌊⌈⟨])|(?P<close>[)\]}⌋⌉⟩])|(?P<comma>,)|(?P<space>[ \u00a0\u2009]+)"
)
_OPERANDS = ("number", "name", "function", "open")
_SIGN = re.compile(r"[-+−±∓]")
_LABEL = re.compile(r"[(\[{]\s*(?:[A-Za-z]|\d{1,2}|[ivx]{1,4})\s*[)\]}]")
_PLAIN = re.compile(r"[-+−]?\s*(?:\d[\d.,]*%?|[A-Za-z]{1,4}\d?)")
_UNIT = re.compile(r"[A-Za-z]{1,3}(?:\s*[/·*]\s*[A-Za-z]{1,3}|\^?[-−⁻]?[\d²³¹]+){1,4}")

Token = tuple[str, int, int]


def formulas(text: str) -> list[tuple[int, int, str]]:
    """Return (start, end, formula) of the formulas in a text without delimiters of TeX."""
    out = []
    for run in _runs(text):
        for start, end in _trimmed(run, text):
            formula = text[start:end]
            if _PLAIN.fullmatch(formula) or _LABEL.fullmatch(formula):
                continue
            if _UNIT.fullmatch(formula) and re.search(r"[\d)}$]\s*$", text[:start]):
                continue
            out.append((start, end, formula))
    return out


def _runs(text: str) -> Iterator[list[Token]]:
    """Yield the longest sequences of tokens that may be formulas."""
    run: list[Token] = []
    depth = at = 0
    for m in _TOKEN.finditer(text):
        kind = str(m.lastgroup)
        if m.start() != at or (kind == "close" and not depth) or (kind == "comma" and not depth):
            yield run
            run, depth = [], 0
        at = m.end()
        if kind == "space":
            continue
        if (kind == "close" and not run) or (kind == "comma" and not run):
            continue
        if kind in _OPERANDS and run and not depth and _apart(run, kind, m):
            yield run
            run, depth = [], 0
        depth += (kind == "open") - (kind == "close")
        run.append((kind, m.start(), m.end()))
    yield run


def _apart(run: list[Token], kind: str, m: re.Match[str]) -> bool:
    """Return whether a space between two operands separates them."""
    last, _, end = run[-1]
    if (
        end == m.start()
        or m.string.startswith("(mod", m.start())
        or last not in ("number", "name", "suffix", "close")
    ):
        return False
    if re.fullmatch(r"d[a-zθ]", m[0]) and last != "number":
        return False  # of an integral
    if re.fullmatch("[b-zB-HJ-Z]", m[0]) and any(m.string[a] == "=" for _, a, _ in run):
        return False  # `√2 K cos x`, `x = 5 m`
    before_function = kind == "function" and (last != "name" or len(run) > 1)
    after_function = len(run) > 1 and run[-2][0] == "function" and kind == "function"
    return not (before_function or after_function)


def _trimmed(run: list[Token], text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of a run without operators at its ends and brackets that stay open."""
    open_at: list[int] = []
    for i, (kind, _, _) in enumerate(run):
        if kind == "open":
            open_at.append(i)
        elif kind == "close":
            open_at.pop()
    for before, after in pairwise((-1, *open_at, len(run))):
        yield from _without_ends(run[before + 1 : after], text)


def _without_ends(run: list[Token], text: str) -> Iterator[tuple[int, int]]:
    first, last = 0, len(run)
    while last > first and run[last - 1][0] in ("operator", "comma", "function"):
        last -= 1
    while first < last and (
        run[first][0] in ("comma", "suffix")
        or (run[first][0] == "operator" and not _SIGN.match(text[run[first][1]]))
    ):
        first += 1
    if first < last:
        yield run[first][1], run[last - 1][2]
