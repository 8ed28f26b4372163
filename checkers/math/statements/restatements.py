"""Split an answer that says one thing twice: `x < 2, i.e. (-\\infty,2)`, `x < 2 : (-\\infty,2)`."""

from __future__ import annotations

import re

from gradebox.checkers.math.normalise.tables import strip_marks
from gradebox.checkers.math.parse.split import split_top

MAX_CHARS = 400
_AGAIN = re.compile(
    r"[,;]?\s+(?:or,?\s+)?\(?(?:i\.\s?e\b\.?|that\s+is|equivalently|or\s+simply|in\s+other\s+words|(?:or\s+)?in\s+(?:intervals|(?:interval|set(?:-builder)?|inequality)"
    r"\s+(?:notation|form))|also\s+written\s+as|which\s+is\s+the\s+same\s+as)\s*[,:]?\s+"
    r"|\s*\\(?:iff|Leftrightarrow|Longleftrightarrow)(?![A-Za-z])\s*",
    re.I,
)
_COLON = re.compile(r"\s*:\s*")
_INEQUALITY = re.compile(r"no\s+solution|[<>]|\\(?:[lg]e|ne)(?![A-Za-z])", re.I)
_INTERVAL = re.compile(r"[(\[].*,.*[)\]]|\\mathbb\{R\}.*|\\emptyset")


def restated(text: str) -> list[str]:
    """Return what a normalised text says first and again; the text alone when it does not."""
    if len(text) > MAX_CHARS:
        return [text]
    plain = " ".join(strip_marks(text).split())
    parts = [p.strip(" ,;") for p in _AGAIN.split(plain)]
    if len(parts) > 1 and all(parts):
        last = parts[-1]
        unmatched = len(re.findall(r"[)\]]", last)) > len(re.findall(r"[(\[]", last))
        parts[-1] = last[:-1] if last.endswith(")") and unmatched else last
        return parts
    if ":" in plain:
        parts, _ = split_top(plain, _COLON)
        if len(parts) == 2 and _INEQUALITY.search(parts[0]) and _INTERVAL.fullmatch(parts[1]):
            return parts
    return [text]
