"""Dates and times of day, each spelling as one value.

`3:05 p.m.` → clock (3, 5, 0, "p")     `3 March 2020`, `2020-03-03` → date (2020, 3, 3)
`March 3`   → date (0, 3, 3)           `3/4/2020` → date? (3, 4, 2020): day and month ambiguous
"""

from __future__ import annotations

import re

from gradebox.checkers.math.read.number_words import NUMBER_WORDS
from gradebox.checkers.math.read.tables import strip_marks, word_list
from gradebox.checkers.math.read.values import DateOrTime

_MONTHS = word_list("jan feb mar apr may jun jul aug sep oct nov dec")
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
_CLOCK = re.compile(
    r"(?P<hour>\d{1,2}|[a-z]+)(?::(?P<minute>\d{2})(?::(?P<second>\d{2}))?|\s?o'?\s?clock)?"
    r"\s*(?:(?P<half>[ap])\.?\s*(?:m\.?)?)?",
    re.I,
)
_DATE = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})|(\d{1,2})/(\d{1,2})/(\d{4})")
_PART_OF_DAY = re.compile(
    r"(?<=[\dmk.])\s+(?:in\s+the\s+(morning|afternoon|evening)|noon|\(noon\))$", re.I
)
_NAMED_TIMES = {
    "midday": DateOrTime("clock", (12, 0, 0, "p")),
    "noon": DateOrTime("clock", (12, 0, 0, "p")),
    "midnight": DateOrTime("clock", (12, 0, 0, "a")),
}


def read_date_or_time(text: str) -> DateOrTime | None:
    """Return the date or the time of day that the whole text is; else None."""
    text = " ".join(strip_marks(text).split()).replace(" : ", ":")
    text = _PART_OF_DAY.sub(lambda m: " am" if (m[1] or "").lower() == "morning" else " pm", text)
    if text.lower() in _NAMED_TIMES:
        return _NAMED_TIMES[text.lower()]
    m = _CLOCK.fullmatch(text)
    hour = NUMBER_WORDS.get(m["hour"].lower(), m["hour"]) if m else ""
    timed = m and (m["minute"] or "clock" in text or re.search(r"[ap]\.?\s?m\.?$", text, re.I))
    if m and timed and str(hour).isdigit() and int(hour) < 25 and int(m["minute"] or 0) < 60:
        parts = (int(hour), int(m["minute"] or 0), int(m["second"] or 0))
        return DateOrTime("clock", (*parts, (m["half"] or "").lower()))
    if m := _LONG_DATE.fullmatch(text):
        day, month, year = (m[k] or m[k2] for k, k2 in _DATE_GROUPS)
        return DateOrTime("date", (int(year or 0), _MONTHS.index(month[:3].lower()) + 1, int(day)))
    if m := _DATE.fullmatch(text):
        kind, first = ("date", 1) if m[1] else ("date?", 4)
        return DateOrTime(kind, (int(m[first]), int(m[first + 1]), int(m[first + 2])))
    return None
