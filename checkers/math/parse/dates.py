"""Dates and times of day, each spelling as one value.

`3:05 p.m.` → clock (3, 5, 0, "p")     `3 March 2020`, `2020-03-03` → date (2020, 3, 3)
`March 3`   → date (0, 3, 3)           `3/4/2020` → date? (3, 4, 2020): day and month ambiguous
`quarter to four` → clock (3, 45, 0, "")
"""

from __future__ import annotations

import re

from gradebox.checkers.math.normalise.number_words import read_number_words
from gradebox.checkers.math.normalise.tables import strip_marks, word_list
from gradebox.checkers.math.parse.values import DateOrTime

_MONTH_NAMES = "jan feb mar apr may jun jul aug sep oct nov dec"
MONTHS = {name: i for i, name in enumerate(word_list(_MONTH_NAMES), start=1)}
MONTH = (
    "(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    "|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
_LONG_DATE = re.compile(
    rf"(?P<month>{MONTH})\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:,?\s+(?P<y1>\d{{4}}))?"
    rf"|(?:the\s+)?(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month2>{MONTH})(?:,?\s+(?P<y2>\d{{4}}))?",
    re.I,
)
_DATE_GROUPS = (("day", "day2"), ("month", "month2"), ("y1", "y2"))
_HOUR = re.compile(r"(\d{1,2})\s*([ap])\.?\s*m\.?", re.I)
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?\s*([ap])?\.?\s*(?:m\.?)?", re.I)
_DATE = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})|(\d{1,2})/(\d{1,2})/(\d{4})")


_PART_OF_DAY = re.compile(
    r"(?:(?<=\d)|(?<=[ap]m)|(?<=\.m\.)|(?<=clock)|(?<=[a-z]{3}))\s+(?:in\s+the\s+(morning|afternoon|evening)|noon|\(noon\))$",
    re.I,
)
_SPOKEN = re.compile(  # `quarter to four`, `half past 8`, `ten minutes to six p.m.`
    r"(?:an?\s)?(quarter|half|[a-z\d-]+\sminutes?)\s(past|after|to|before)\s([a-z\d]+)(?:\s?([ap])\.?\s?m\.?)?",
    re.I,
)
_OCLOCK = re.compile(r"([a-z\d]+)\s?o'?\s?clock(?:\s?([ap])\.?\s?m\.?)?", re.I)
_PARTS_OF_AN_HOUR = {"quarter": 15, "half": 30}
_NAMED_TIMES = {
    "midday": DateOrTime("clock", (12, 0, 0, "p")),
    "noon": DateOrTime("clock", (12, 0, 0, "p")),
    "midnight": DateOrTime("clock", (12, 0, 0, "a")),
}


def read_date_or_time(text: str) -> DateOrTime | None:
    """Return the date or the time of day that the whole text is; else None."""
    text = " ".join(strip_marks(text).split()).replace(" : ", ":")
    text = _PART_OF_DAY.sub(lambda m: " am" if m[1].lower() == "morning" else " pm", text)
    if text.lower() in _NAMED_TIMES:
        return _NAMED_TIMES[text.lower()]
    m = _CLOCK.fullmatch(text)
    if m and int(m[1]) < 25 and int(m[2]) < 60:
        return DateOrTime("clock", (int(m[1]), int(m[2]), int(m[3] or 0), (m[4] or "").lower()))
    if spoken := _spoken_time(text.replace("midnight", "twelve am").replace("noon", "twelve pm")):
        return spoken
    m = _HOUR.fullmatch(text)
    if m and int(m[1]) < 25:
        return DateOrTime("clock", (int(m[1]), 0, 0, m[2].lower()))
    if m := _LONG_DATE.fullmatch(text):
        day, month, year = (m[k] or m[k2] for k, k2 in _DATE_GROUPS)
        return DateOrTime("date", (int(year or 0), MONTHS[month[:3].lower()], int(day)))
    if m := _DATE.fullmatch(text):
        kind, first = ("date", 1) if m[1] else ("date?", 4)
        return DateOrTime(kind, (int(m[first]), int(m[first + 1]), int(m[first + 2])))
    return None


def _spoken_time(text: str) -> DateOrTime | None:
    """Read `seven o'clock` and `quarter to four`; None for anything else."""
    if m := _OCLOCK.fullmatch(text):
        hour, minute, half = _count(m[1]), 0, m[2]
    elif (m := _SPOKEN.fullmatch(text)) and (
        minute := _PARTS_OF_AN_HOUR.get(m[1].lower(), _count(m[1].split()[0]))
    ):
        hour, half = _count(m[3]), m[4]
        if m[2] in ("to", "before"):
            if half and hour == 12:
                half = "a" if half.lower() == "p" else "p"
            hour, minute = (hour - 1) or 12, 60 - minute
    else:
        return None
    if not (0 < hour < 25 and 0 <= minute < 60):
        return None
    return DateOrTime("clock", (hour, minute, 0, (half or "").lower()))


def _count(word: str) -> int:
    """Return a whole number in digits or words; 0 for anything else."""
    digits = word if word.isdigit() else read_number_words(word) or ""
    return int(digits) if digits.isdigit() and len(digits) < 3 else 0
