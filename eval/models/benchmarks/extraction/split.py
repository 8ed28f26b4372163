"""Split a text with several answers."""

from __future__ import annotations

import re
from collections.abc import Sequence

# No white space at its ends: a search would try a long run of it from each position.
_AND = re.compile(r"\\(?:text|mbox)\{\s*(?:and|or)\s*\}|(?<!\S)and(?!\S)")
_OPENING, _CLOSING = "([{", ")]}"


def split_answers(question: str, answers: Sequence[str]) -> list[str]:
    """Split each answer at "and", and at commas if the question asks for "separated by commas".

    Commas inside a tuple, an interval or a set do not split it.
    """
    parts: list[str] = []
    for answer in answers:
        for part in _AND.split(answer):
            if "separated by commas" in question:
                parts += split_commas(part)
            else:
                parts.append(part)
    return [stripped for part in parts if (stripped := part.strip().strip(",").strip())]


def split_commas(text: str, separators: str = ",") -> list[str]:
    """Split at separators outside brackets; "1,000" is one number."""
    parts, depth, start = [], 0, 0
    for i, char in enumerate(text):
        if char in _OPENING:
            depth += 1
        elif char in _CLOSING:
            depth -= 1
        elif char in separators and depth <= 0 and not _is_thousands_separator(text, i):
            parts.append(text[start:i].strip())
            start = i + 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def _is_thousands_separator(text: str, i: int) -> bool:
    digits = text[i + 1 : i + 4]
    return (
        text[i] == ","
        and i > 0
        and text[i - 1].isdigit()
        and len(digits) == 3
        and digits.isdigit()
        and not text[i + 4 : i + 5].isdigit()
    )
