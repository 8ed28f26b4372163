"""What is said beside an answer: `5/12, or about 0.417`, `64 squares (8 rows of 8)`."""

from __future__ import annotations

import re

from checkers.math.clean import TEXT_CLOSE, TEXT_OPEN

APPROX = re.compile(r"\\approx(?![A-Za-z])")
UNKNOWN = re.compile(r"\\?[A-Za-z]+(?:_\{?\w+\}?)?(?:\([\w, ]+\))?")
DECIMAL = re.compile(r"[-+]?[\d,]*\.?\d+")
_ABOUT = re.compile(
    rf"[,(\s]\s*(?:or\s+|which\s+is\s+)?{TEXT_OPEN}?\s*"
    rf"(?:approximately|approx\.?|about|roughly|\\approx)\s*{TEXT_CLOSE}?"
    r"\s*(-?[\d.,]*\d[^()]*)\)?$",
    re.I,
)
_ASIDE = re.compile(r"(?<=[\w$)}%]) \((?!mod)([^()$\\]{3,200})\)$")


def with_about(text: str) -> str:
    """`5/12, or about 0.417` and `5/12 (approximately 0.417)` as `5/12 \\approx 0.417`."""
    m = _ABOUT.search(text)
    return rf"{text[: m.start()].strip(' ,')} \approx {m[1]}" if m and m.start() else text


def without_aside(text: str) -> str:
    """`64 squares (8 rows of 8)` without what its last brackets say in words."""
    m = _ASIDE.search(text)
    return text[: m.start()] if m and re.search(r"[a-z]{2} ", m[1]) else text
