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
_REMARK = re.compile(
    r",?\s+(?:which\s+(?:is|are)\s+)?(?:attained|achieved|reached|obtained|with\s+equality)\s.*$"
    r"|,?\s+(?:since|because)\s.*$|,\s+(?:and\s+)?not\s.*$|,?\s+(?:rather\s+than|instead\s+of)\s.*$"
    r"|,?\s+(?:when|at|for)\s+(?!.*\b(?:is|are|equals|gives?|get)\b)[^=,]{1,40}=[^,]*(?:,[^=,]{1,12}=[^,]*){0,3}$"
    r"|,\s+(?:but|although|though|however)\s.*$"
    r"|,\s+which\s+(?:occurs|happens|is\s+(?:twice|half|the\s+same|more|less|exactly|\w+\s+(?:times|more|less)))\s.*$"
    r"|(?<=[\d$)}])\s+of\s+(?:the|his|her|its|their|all)\s[a-z ]+$",
    re.I | re.S,
)
_GIVEN = re.compile(r"[\d\\$]|^\W*[A-J]\W*$")
_CASES = re.compile(r"\b(?:if|otherwise|respectively|when\b.*\bwhen)\b", re.I | re.S)
_ASIDE = re.compile(r"(?<=[\w$)}%]) [(\[](?!mod)([^()\[\]$\\]{3,200})[)\]]$")


def with_about(text: str) -> str:
    """`5/12, or about 0.417` and `5/12 (approximately 0.417)` as `5/12 \\approx 0.417`."""
    m = _ABOUT.search(text)
    return rf"{text[: m.start()].strip(' ,')} \approx {m[1]}" if m and m.start() else text


def without_aside(text: str) -> str:
    """`64 squares (8 rows of 8)` without what its last brackets say in words."""
    m = _ASIDE.search(text)
    return text[: m.start()] if m and re.search(r"[a-z]{2} ", m[1]) else text


def without_remark(text: str) -> str:
    """`\\sqrt{2}, attained when a=b`, `9, not 11` and `9 (since …)` without what is said beside.

    Several cases (`5 when n = 1 and 3 when n = 2`) are all of them the answer.
    """
    text = without_aside(text)
    m = _REMARK.search(text)
    if m is None or _CASES.search(text) or not _GIVEN.search(text[: m.start()]):
        return text
    return text[: m.start()]
