"""One text with several answers → the answers."""

from __future__ import annotations

import re
from collections.abc import Sequence

# No white space at its ends: a long run of it would be looked through from every place in it.
_AND = re.compile(r"\\(?:text|mbox)\{\s*(?:and|or)\s*\}|(?<!\S)and(?!\S)")
OPENING, CLOSING = "([{", ")]}"


def split_answers(question: str, answers: Sequence[str]) -> list[str]:
    """The answers one by one.

    At "and"; at commas when the question asks for answers "separated by commas", unless the
    answer is one tuple, interval or set.
    """
    parts: list[str] = []
    for answer in answers:
        for part in _AND.split(answer):
            if "separated by commas" in question:
                parts += split_commas(part)
            else:
                parts.append(part)
    return [bare for part in parts if (bare := part.strip().strip(",").strip())]


def split_commas(text: str, separators: str = ",") -> list[str]:
    """The parts at the separators outside of brackets; "1,000" is one number."""
    parts, depth, start = [], 0, 0
    for i, char in enumerate(text):
        if char in OPENING:
            depth += 1
        elif char in CLOSING:
            depth -= 1
        elif char in separators and depth <= 0 and not _thousands(text, i):
            parts.append(text[start:i].strip())
            start = i + 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def _thousands(text: str, comma: int) -> bool:
    digits = text[comma + 1 : comma + 4]
    return (
        text[comma] == ","
        and comma > 0
        and text[comma - 1].isdigit()
        and len(digits) == 3
        and digits.isdigit()
        and not text[comma + 4 : comma + 5].isdigit()
    )
