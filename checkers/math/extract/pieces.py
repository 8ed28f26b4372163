"""Find the pieces of a text that may be answers: math, matrices, tuples, times, numbers."""

from __future__ import annotations

import re
from itertools import pairwise

from gradebox.checkers.math.normalise.tables import word_list
from gradebox.checkers.math.parse.dates import MONTH
from gradebox.checkers.math.parse.units import UNITS

CLOSING_PHRASE = re.compile(r"\.?\s{0,9}I hope (?:it|this) is correct\.?.*$", re.I | re.S)
MATH = re.compile(
    r"\$\$(?P<a>.{1,4000}?)\$\$|\\\[(?P<b>.{1,4000}?)\\\]|\\\((?P<c>.{1,4000}?)\\\)"
    # `$400 + $60` is money
    r"|(?<!\\)\$(?!\d[^$]{0,200}(?:\s\$|\$\d))(?P<d>(?:\\.|[^$\\]){1,4000}?)\$",
    re.S,
)
ENVIRONMENT = re.compile(
    r"\\begin\{([pbvBV]?matrix|array|align\*?|aligned|gather\*?|equation\*?|cases)\}.{0,4000}?\\end\{\1\}",
    re.S,
)
_NUMBER = re.compile(  # `-1,234.5`, `$45`, `3/4`, `12%`
    r"(?<![A-Za-z0-9_.])[-−]?(?:[$€£]\s?)?(?:\d{1,3}(?:(?:,|\{,\}|\\,)\d{3})+(?!\d)|\d+)?(?:\.\d+|(?<=\d))(?:[eE][-+]?\d+)?"
    r"(?:\s?/\s?\d+)?(?:\s?\\?%)?"
)
_TUPLE = re.compile(r"[(\[]\s*[^()\[\]\n,]{1,40}(?:,[^()\[\]\n,]{1,40}){1,6}[)\]]")
_CLOCK = re.compile(  # a time or a ratio
    r"(?<![\w:.])\d{1,3}:\d{1,3}(?![\w:])(?:\s?[ap]\.?m\b\.?|\s+in\s+the\s+(?:morning|afternoon|evening))?",
    re.I,
)
_DATE = re.compile(  # `30 June`, `June 30th, 2024`
    rf"\b\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{MONTH}\b(?:,?\s+\d{{4}})?"
    rf"|\b{MONTH}\.?\s+\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s+\d{{4}})?"
)
_UNIT_AFTER = re.compile(  # `1.5 seconds`, `96 cm²`
    r"\s*\$?\s*((?:(?:square|cubic|sq\.?)\s+)?([A-Za-z]{2,}|[a-z](?=/[a-z]))(?:[²³]|\^\{?[23]\}?)?(?:\s*(?:/|per)\s*([A-Za-z]+))?)(?![A-Za-z\d])"
)
_SCALE_AFTER = re.compile(r"\s+(thousand|million|billion|trillion|dozen)\b", re.I)
_NOT_UNITS = frozenset(
    word_list("in a to bar won cup min sec second seconds dozen u am units unit")
)
_DOMAIN = re.compile(  # `(n \in \mathbb{N}^*)`: where the answer holds
    r"\(?\s*[a-z](?:\s*,\s*[a-z])*\s*(?:\\in|∈)\s*(?:\\mathbb\s*\{?[A-Z]\}?|[ℝℤℕℚ]|[RZNQ])[^,]{0,12}\)?"
)
_AND = re.compile(r"\s*(?:,|,?\s*(?:and|or|und|oder|et|ou|y|e|o|en|of)(?![A-Za-z])|[或和、，])\s*")


def math_contents(match: re.Match[str]) -> str:
    """Return what is between the delimiters of a MATH match."""
    return next(g for g in match.groups() if g)


def pieces(text: str) -> list[tuple[int, int, str]]:
    """Return (start, end, contents) of math, matrices, tuples and numbers, without overlaps."""
    found = [(m.start(), m.end(), math_contents(m)) for m in MATH.finditer(text)]
    for pattern in (ENVIRONMENT, _TUPLE, _CLOCK, _DATE, _NUMBER):
        for m in pattern.finditer(text):
            inside = any(a < m.end() and m.start() < b for a, b, _ in found)
            if m[0].strip() and not inside:
                found.append((m.start(), m.end(), m[0].strip()))
    return sorted(found)


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
    if not found:
        return text
    while len(found) > 1 and _DOMAIN.fullmatch(found[-1][2].strip()):
        found.pop()
    kept = [found[-1]]
    for earlier in reversed(found[:-1]):
        if not _AND.fullmatch(text[earlier[1] : kept[0][0]]):
            break
        kept.insert(0, earlier)
    answer = kept[0][2].strip()
    for (_, end, _), (start, _, contents) in pairwise(kept):
        answer += ("," if text[end:start] == "," else ", ") + contents.strip()
    tail = text[kept[-1][1] :]
    if scale := _SCALE_AFTER.match(tail):
        return f"{answer} {scale[1]}"
    if unit := unit_after(tail):
        return f"{answer} {unit}"
    return answer + "%" if re.match(r"\s*(?:\\?%|percent|pct)", tail) else answer
