"""Dates and times of day, each spelling into one value.

`3:05 p.m.` ─▶ clock (3, 5, 0, "p")     `3 March 2020`, `2020-03-03` ─▶ date (2020, 3, 3)
`March 3` ─▶ date (0, 3, 3)             `3/4/2020` ─▶ date? (3, 4, 2020): the order is anyone's
"""

from __future__ import annotations

import re

from checkers.math.clean import TEXT_CLOSE, TEXT_OPEN
from checkers.math.tables import word_list
from checkers.math.values import Exact

_MONTH_NAMES = "jan feb mar apr may jun jul aug sep oct nov dec"
MONTHS = {name: i for i, name in enumerate(word_list(_MONTH_NAMES), start=1)}
_MONTH = (
    "(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    "|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
_LONG_DATE = re.compile(
    rf"(?P<month>{_MONTH})\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:,?\s+(?P<y1>\d{{4}}))?"
    rf"|(?:the\s+)?(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month2>{_MONTH})(?:,?\s+(?P<y2>\d{{4}}))?",
    re.I,
)
_DATE_GROUPS = (("day", "day2"), ("month", "month2"), ("y1", "y2"))
_HOUR = re.compile(r"(\d{1,2})\s*([ap])\.?\s*m\.?", re.I)
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?\s*([ap])?\.?\s*(?:m\.?)?", re.I)
_DATE = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})|(\d{1,2})/(\d{1,2})/(\d{4})")


def moment(text: str) -> Exact | None:
    """The date or the time of day that a whole text says, else None."""
    text = " ".join(text.replace(TEXT_OPEN, " ").replace(TEXT_CLOSE, " ").split())
    text = text.replace(" : ", ":")
    m = _CLOCK.fullmatch(text)
    if m and int(m[1]) < 25 and int(m[2]) < 60:
        return Exact("clock", (int(m[1]), int(m[2]), int(m[3] or 0), (m[4] or "").lower()))
    m = _HOUR.fullmatch(text)
    if m and int(m[1]) < 25:
        return Exact("clock", (int(m[1]), 0, 0, m[2].lower()))
    m = _LONG_DATE.fullmatch(text)
    if m:
        day, month, year = (m[k] or m[k2] for k, k2 in _DATE_GROUPS)
        return Exact("date", (int(year or 0), MONTHS[month[:3].lower()], int(day)))
    m = _DATE.fullmatch(text)
    if m and m[1]:
        return Exact("date", (int(m[1]), int(m[2]), int(m[3])))
    if m:
        return Exact("date?", (int(m[4]), int(m[5]), int(m[6])))
    return None
