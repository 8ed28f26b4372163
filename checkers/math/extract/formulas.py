"""Find the values in a sentence: math, formulas in plain text, tuples, times, dates, numbers.

    piece   (start, end, contents), in order and without overlaps

A formula in plain text is `nπ/3`, `3M^{-3}`, `4 + 2π`, not a plain number, a letter or a unit:

    formula := operands joined by operators; within brackets also by commas and spaces
    operand := number | letter, `xy`, `AB`, `C1` | function name | bracketed formula | TeX command

A word ends a formula, so does a space between two operands, but for `sin x` and `A sin x`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from gradebox.checkers.math.extract.document import FORMULA, math_contents
from gradebox.checkers.math.extract.phrases import CLOSING_PHRASE
from gradebox.checkers.math.read.units import UNITS

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
    r"|abc|xyz|mnp|pqr|[a-z][A-Z]|[A-Z][a-z](?=\^)|[ABCK][xyz]|[A-Za-z]\d?)(?![A-Za-z\d])(?!['’][a-z])['′]*|[\u0370-\u03ff∞∅ℓħ]|[\u2124\u211d\u2115\u211a])"
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


# ---- pieces ----

Piece = tuple[int, int, str]
_NUMBER = re.compile(  # `-1,234.5`, `$45`, `3/4`, `12%`
    r"(?<![A-Za-z0-9_.])[-−]?(?:[$€£]\s?)?(?:\d{1,3}(?:(?:,|\{,\}|\\,)\d{3})+(?!\d)|\d+)?(?:\.\d+|(?<=\d))(?:[eE][-+]?\d+)?"
    r"(?:\s?/\s?\d+)?(?:\s?\\?%)?(?!-[a-z]{2})"
)
_TUPLE = re.compile(r"[(\[]\s*[^()\[\]\n,]{1,40}(?:,[^()\[\]\n,]{1,40}){1,6}[)\]]")
_CLOCK = re.compile(  # a time or a ratio
    r"(?<![\w:.])\d{1,3}(?: : |:)\d{1,3}(?![\w:])(?:\s?[ap]\.?m\b\.?"
    r"|\s+in\s+the\s+(?:morning|afternoon|evening))?",
    re.I,
)
_UNIT_AFTER = re.compile(  # `1.5 seconds`, `96 cm²`
    r"\s*\$?\s*((?:(?:square|cubic|sq\.?)\s+)?([A-Za-z]{2,}|[a-z](?=/[a-z]))(?:[²³]|\^\{?[23]\}?)?(?:\s*(?:/|per)\s*([A-Za-z]+))?)(?![A-Za-z\d])"
)
_NOT_UNITS = frozenset(
    "in a to bar won cup min sec second seconds dozen u am units unit".split()  # noqa: SIM905
)
_IMPLIES = re.compile(r"\\(?:implies|Rightarrow|Longrightarrow)(?![A-Za-z])|[⟹⇒]")
_DOMAIN = re.compile(  # `(n \in \mathbb{N}^*)`: where the answer holds
    r"\(?\s*[a-z](?:\s*,\s*[a-z])*\s*(?:\\in|∈)\s*(?:\\mathbb\s*\{?[A-Z]\}?|[ℝℤℕℚ]|[RZNQ])[^,]{0,12}\)?"
)
_SIMPLE = re.compile(  # `x_1 = 5`
    r"\s*([A-Za-z](?:_?\d|_\{?\w\}?|[₀-₉]|\(\w{1,3}\))?)\s*(?:=|≈|\\approx)\s*([^=<>≤≥]{1,80})",
    re.S,
)
_AND = re.compile(r"\s*(?:,|,?\s*(?:and|or|und|oder|et|ou|y|e|o|en|of)(?![A-Za-z])|[或和、，])\s*")
_PERCENT = re.compile(r"\s*(?:\\?%|percent|pct)")


def pieces(text: str) -> list[Piece]:
    """Return the math, formulas, tuples and numbers of a text."""
    found = [(*m.span(), _IMPLIES.split(math_contents(m[0]))[-1]) for m in FORMULA.finditer(text)]

    def add(start: int, end: int, contents: str) -> None:
        if contents and not any(a < end and start < b for a, b, _ in found):
            found.append((start, end, contents))

    for m in _CLOCK.finditer(text):
        add(m.start(), m.end(), m[0].strip())
    for start, end, formula in formulas(text):
        add(start, end, _result(formula))
    for pattern in (_TUPLE, _NUMBER):
        for m in pattern.finditer(text):
            add(m.start(), m.end(), m[0].strip())
    return sorted(found)


def _result(formula: str) -> str:
    """Return the last side of a calculation with numbers, `40*3 = 120`; else the formula."""
    left, _, right = formula.rpartition("≡" if "≡" in formula and "mod" not in formula else "=")
    return right.strip() if left and not re.search(r"[^\W\d_]", left) else formula


def unit_after(tail: str) -> str:
    """Return the unit of measurement that a text begins with; "" without one."""
    m = _UNIT_AFTER.match(tail)
    if m is None or m[2].lower() not in UNITS:
        return ""
    ends = not tail[m.end() :].strip(" .!") or m[2].lower() not in _NOT_UNITS
    return m[1] if ends else ""


def last_piece(text: str) -> str:
    """Return the last math or number of prose and those joined to it; else the text itself."""
    text = CLOSING_PHRASE.sub("", text).strip()
    found = pieces(text)
    while len(found) > 1 and (
        _DOMAIN.fullmatch(found[-1][2].strip()) or is_mention(text, found[-1])
    ):
        found.pop()
    if not found:
        return text
    kept = [found[-1]]
    for earlier in reversed(found[:-1]):
        if not _AND.fullmatch(text[earlier[1] : kept[0][0]]):
            break
        kept.insert(0, earlier)
    before = text[: kept[0][0]]
    if ("=" in kept[0][2] and re.search(r"\bor\s+\W?$", before)) or re.search(
        r"\bof\s+the\s+form\s+\W?$", before
    ):
        return text  # `n is prime or n = 1`
    kept = _without_steps(kept)
    answer = kept[0][2].strip()
    if len(kept) > 1 and all(text[start:end] == contents for start, end, contents in kept):
        answer, kept = text[kept[0][0] : kept[-1][1]], kept[-1:]
    for (_, end, _), (start, _, contents) in pairwise(kept):
        answer += ("," if text[end:start] == "," else ", ") + contents.strip()
    return answer + after(text[kept[-1][1] :])


def after(tail: str) -> str:
    """Return the unit or the percent sign behind a value, with a blank before words."""
    if unit := unit_after(tail):
        return f" {unit}"
    return "%" if _PERCENT.match(tail) else ""


def is_mention(text: str, piece: Piece) -> bool:
    """Return whether a piece is a letter that is spoken of: `the $x$-axis`, `in terms of $n$`."""
    start, end, contents = piece
    if not re.fullmatch(r"\s*\\?[A-Za-z]+\s*", contents):
        return False
    before = re.search(r"\b(?:of|in|on|by|with|for)\s+$", text[:start])
    return before is not None or text.startswith("-", end)


def _without_steps(kept: list[Piece]) -> list[Piece]:
    """Return the pieces that state the result: `a = 7` of `15 - 2a = 1, 2a = 14, a = 7`.

    Equations are results together when each gives a letter its value: `x = 1, y = 2`, or the last
    letter several: `y = 4` and `y = 5` of `u = 1, u = 2, y = 4, y = 5`.
    """
    names = [m[1] if (m := _SIMPLE.fullmatch(contents)) else "" for _, _, contents in kept]
    if "∈" in kept[-1][2] or not names[-1]:
        return kept[-1:] if re.search("[=∈]", kept[-1][2]) else kept
    first = len(names)
    while first and names[first - 1]:
        first -= 1
    names, kept = names[first:], kept[first:]
    last = names.count(names[-1])
    if 1 < last < len(names) and len(set(names[-last:])) == 1 and len(set(names)) > 1:
        return kept[-last:]
    return kept
