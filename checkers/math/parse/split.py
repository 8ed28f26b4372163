"""Split a normalised answer at commas and words outside brackets, and take brackets off.

A value for each case is split too: `n/2 if n is even, n if n is odd`, `3 when n=1 and 5 otherwise`.
"""

from __future__ import annotations

import re

from gradebox.checkers.math.normalise.tables import TEXT_OPEN, strip_marks
from gradebox.checkers.math.parse.values import TooLong

_OPEN, _CLOSE = "([{", ")]}"
MAX_ITEMS = 500  # of a list; longer lists are compared as text
_THOUSANDS = re.compile(r"[-+]?[＄€£¥₹]?\s?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)")
COMMA = re.compile(r"[,;]")
_SPACED_COMMA = re.compile(r"[,;](?!\d{3}(?!\d))|,(?=\d{3}(?!\d))(?<!\d,)")
_SEMICOLON = re.compile(r";")
_COUNTED = re.compile(rf"{_THOUSANDS.pattern}\s*(?:[A-Za-z%\\{TEXT_OPEN}][^,;]*)?")
_SUM_OF_COUNTED = re.compile(  # `1,200 + 1,800 = 3,000`
    r"(?=.*(?:\+|\\times|\\cdot|!))"
    r"(?:[^\d,]*(?:\d{1,3}(?:,\d{3})+|\d+)(?![\d,]))+[^\d,]*"
)
_NAMED_THOUSANDS = re.compile(rf"[^,=<>\d]{{1,20}}=\s*{_THOUSANDS.pattern}\s*[^,=]*")
_LEADING_ZERO = re.compile(r",0\d\d")
BRACKETS = (  # (opener, closers, the kind of Seq)
    (r"\{", (r"\}",), "{}"),
    (r"\langle", (r"\rangle",), "<>"),
    ("(", (")", "]"), "()"),
    ("[", ("]", ")"), "[]"),
    ("{", ("}",), "{}"),
    ("<", (">",), "<>"),
)


def _depths(text: str) -> list[int]:
    """Return the bracket depth before each character; any closer closes any opener."""
    depth, out = 0, []
    for i, c in enumerate(text):
        if c in _CLOSE and depth > 0:
            depth -= 1
        out.append(depth)
        if c in _OPEN or text.startswith((r"\langle", r"\begin"), i):
            depth += 1
        elif text.startswith((r"\rangle", r"\end"), i):
            depth = max(0, depth - 1)
    return out


def split_top(text: str, pattern: re.Pattern[str]) -> tuple[list[str], list[str]]:
    """Return the parts and separators of `text` at the matches of `pattern` outside brackets."""
    depth = _depths(text)
    parts, separators, start = [], [], 0
    for m in pattern.finditer(text):
        if depth[m.start()] == 0 and m.start() >= start:
            parts.append(text[start : m.start()])
            separators.append(m[0])
            start = m.end()
    parts.append(text[start:])
    return [p.strip() for p in parts], separators


def split_items(text: str, enclosed: bool = False) -> list[str]:
    """Return the items of a list; commas that group thousands do not split `2,400 apples`.

    Within brackets (`enclosed`) they do, because `(100,200)` is a point, unless a group starts
    with 0.
    """
    parts = split_top(text, _SEMICOLON)[0] if ";" in text else [text]
    if len(parts) == 1:
        if _COUNTED.fullmatch(text) and not (enclosed and not _LEADING_ZERO.search(text)):
            return [text]
        if not enclosed and _NAMED_THOUSANDS.fullmatch(text):
            return [text]
        spaced = re.search(r"[^,],\s", text) or _SUM_OF_COUNTED.fullmatch(text)
        parts, _ = split_top(text, _SPACED_COMMA if spaced else COMMA)
    if len(parts) > MAX_ITEMS:
        raise TooLong(f"a list of more than {MAX_ITEMS} items")
    return [p for p in parts if p]


def whole_bracket(text: str) -> tuple[str, str, str] | None:
    """Return (opener, contents, closer) when one pair of brackets encloses the whole text."""
    for opener, closers, _ in BRACKETS:
        if not text.startswith(opener):
            continue
        for closer in closers:
            if text.endswith(closer) and len(text) >= len(opener) + len(closer):
                inner = text[len(opener) : len(text) - len(closer)]
                if _balanced(inner):
                    return opener, inner.strip(), closer
    return None


def _balanced(text: str) -> bool:
    depth = 0
    for c in text:
        if c in _OPEN:
            depth += 1
        elif c in _CLOSE:
            depth -= 1
            if depth < 0:
                return False
    return depth == 0


MAX_CASES = 12
MAX_CASE_CHARS = 600
_CASE_WORD = re.compile(r"\b(?:if|when|for|where|with|otherwise|else)\b", re.I)
_CASE = re.compile(
    r"(?P<value>[^,;]+?)[\s,:]+(?:(?:if|when|for|where|with)\s+(?P<condition>.+)|(?P<else>otherwise|else))",
    re.I,
)
_BETWEEN_CASES = re.compile(
    r"\s*(?:[,;]\s*(?:and\s+)?|\band\s+)(?=[^,;]*?\s(?:if|when|for|where|with|otherwise|else)\b)"
)
_TRAILING = re.compile(r"[\s,.;:]+$")


def split_cases(text: str) -> list[tuple[str, str]]:
    """Return (value, condition) of each case; [] for a text with fewer than two cases."""
    if len(text) > MAX_CASE_CHARS or _CASE_WORD.search(text) is None:
        return []
    text = " ".join(strip_marks(text).split())
    parts = [p for p in _BETWEEN_CASES.split(text) if p.strip()]
    if not 2 <= len(parts) <= MAX_CASES:
        return []
    found = [_CASE.fullmatch(_TRAILING.sub("", part)) for part in parts]
    return [(m["value"], m["condition"] or "otherwise") for m in found if m] if all(found) else []
