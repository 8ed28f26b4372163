"""Read an expression in words: *cube root of 4*, *two pi over three*, *x squared plus 1*.

A text counts when all its words are in the tables here or are numbers, letters or π.
"""

from __future__ import annotations

import re

from gradebox.checkers.math.normalise.number_words import (
    NUMBER_WORDS,
    SCALE_WORDS,
    read_number_words,
)
from gradebox.checkers.math.normalise.tables import strip_marks

MAX_CHARS = 120
_ROOTS = {
    "square": 2,
    "": 2,
    "cube": 3,
    "cubed": 3,
    "cubic": 3,
    "fourth": 4,
    "fifth": 5,
    "sixth": 6,
}
_ORDINALS = {"second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "nth": "n"}
_NUMBER = rf"(?:{'|'.join([*NUMBER_WORDS, *SCALE_WORDS])})"
_NUMBERS = re.compile(rf"\b{_NUMBER}(?:[\s-]+(?:and\s+)?{_NUMBER})*\b", re.I)
_ATOM = r"(?:\\sqrt\[?\d?\]?\{[^{}]*\}|\d[\d.]*|\\pi|[a-z]|\([^()]*\))"
_TERM = rf"(?:\d[\d.]*\s*)?{_ATOM}"
_ROOT = re.compile(
    r"\b(?:the\s+)?(?:(square|cubed?|cubic|fourth|fifth)\s+root\s+of|root(?=\s+\d))"
    r"\s+(?:the\s+)?([a-z]|\d+|\\pi)(?!\w)",
    re.I,
)
_POWER = re.compile(
    rf"({_ATOM})\s+(?:raised\s+)?to\s+the\s+(?:power\s+(?:of\s+)?(-?\w+)|(\w+)\s+power)\b"
)
_SPOKEN = (
    (re.compile(rf"({_ATOM})\s+squared\b"), r"\1^{2}"),
    (re.compile(rf"({_ATOM})\s+cubed\b"), r"\1^{3}"),
    (re.compile(rf"({_TERM})\s+over\s+(?:the\s+)?({_TERM})"), r"\\frac{\1}{\2}"),
    (re.compile(r"\s+plus\s+"), " + "),
    (re.compile(r"\s+minus\s+"), " - "),
    (re.compile(r"\s+times\s+"), r" \\cdot "),
    (re.compile(r"\s+divided\s+by\s+"), " / "),
)
_SAYS = re.compile(
    r"\b(?:root|squared|cubed|power|over|plus|minus|times|divided)\b|\bpi\b.*\s|\s.*\bpi\b", re.I
)
_READ = re.compile(r"(?:\\[a-z]+|\^|[-+/\d.\s{}\[\]()_]|(?<![A-Za-z])[a-z](?![A-Za-z]))+")


def spoken_math(text: str) -> str:
    """Return the LaTeX of an expression in words; any other text as it is."""
    if len(text) > MAX_CHARS or _SAYS.search(text) is None:
        return text
    plain = " ".join(strip_marks(text).split())
    plain = re.sub(r"(?<!\\)\bpi\b", r"\\pi", plain)
    plain = _NUMBERS.sub(lambda m: read_number_words(m[0]) or m[0], plain)
    plain = _ROOT.sub(lambda m: rf"\sqrt[{_ROOTS[(m[1] or '').lower()]}]{{{m[2]}}}", plain)
    plain = _POWER.sub(lambda m: f"{m[1]}^{{{m[2] or _ORDINALS.get(m[3].lower(), '')}}}", plain)
    for pattern, latex in _SPOKEN:
        plain = pattern.sub(latex, plain)
    return plain if _READ.fullmatch(plain) else text
