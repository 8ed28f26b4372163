"""Read a value for each case: `n/2 if n is even, n if n is odd`, `3 when n=1 and 5 otherwise`.

The result is a list of (value, condition), as a `cases` environment gives it.
"""

from __future__ import annotations

import re

from gradebox.checkers.math.normalise.tables import strip_marks

MAX_CASES = 12
MAX_CHARS = 600
_WORD = re.compile(r"\b(?:if|when|for|where|with|otherwise|else)\b", re.I)
_CASE = re.compile(
    r"(?P<value>[^,;]+?)[\s,:]+(?:(?:if|when|for|where|with)\s+(?P<condition>.+)|(?P<else>otherwise|else))",
    re.I,
)
_BETWEEN = re.compile(
    r"\s*(?:[,;]\s*(?:and\s+)?|\band\s+)(?=[^,;]*?\s(?:if|when|for|where|with|otherwise|else)\b)"
)
_TRAILING = re.compile(r"[\s,.;:]+$")


def split_cases(text: str) -> list[tuple[str, str]]:
    """Return (value, condition) of each case; [] for a text with fewer than two cases."""
    if len(text) > MAX_CHARS or _WORD.search(text) is None:
        return []
    text = " ".join(strip_marks(text).split())
    parts = [p for p in _BETWEEN.split(text) if p.strip()]
    if not 2 <= len(parts) <= MAX_CASES:
        return []
    found = [_CASE.fullmatch(_TRAILING.sub("", part)) for part in parts]
    return [(m["value"], m["condition"] or "otherwise") for m in found if m] if all(found) else []
