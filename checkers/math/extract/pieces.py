"""Find the pieces of a text that may be answers: math, matrices, tuples, times, numbers."""

from __future__ import annotations

import re

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
_AND = re.compile(r"\s*(?:,|,?\s*and|,?\s*or|[或和、，])\s*")


def math_contents(match: re.Match[str]) -> str:
    """Return what is between the delimiters of a MATH match."""
    return next(g for g in match.groups() if g)


def pieces(text: str) -> list[tuple[int, int, str]]:
    """Return (start, end, contents) of math, matrices, tuples and numbers, without overlaps."""
    found = [(m.start(), m.end(), math_contents(m)) for m in MATH.finditer(text)]
    for pattern in (ENVIRONMENT, _TUPLE, _CLOCK, _NUMBER):
        for m in pattern.finditer(text):
            inside = any(a < m.end() and m.start() < b for a, b, _ in found)
            if m[0].strip() and not inside:
                found.append((m.start(), m.end(), m[0].strip()))
    return sorted(found)


def last_piece(text: str) -> str:
    """Return the last math or number of prose and those joined to it; else the text itself."""
    text = CLOSING_PHRASE.sub("", text).strip()
    found = pieces(text)
    if not found:
        return text
    kept = [found[-1]]
    for earlier in reversed(found[:-1]):
        if not _AND.fullmatch(text[earlier[1] : kept[0][0]]):
            break
        kept.insert(0, earlier)
    answer = ",".join(contents.strip() for _, _, contents in kept)
    tail = text[kept[-1][1] :]
    return answer + "%" if re.match(r"\s*(?:\\?%|percent|pct)", tail) else answer
