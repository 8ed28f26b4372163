"""Read sets of real numbers: intervals, unions, differences, *all real numbers except 2*."""

from __future__ import annotations

import re

from gradebox.checkers.math.read.split import split_items, split_top, whole_bracket
from gradebox.checkers.math.read.tables import strip_marks
from gradebox.checkers.math.read.values import Interval, Quantity, RealSet, Seq, Value

WHOLE_LINE = Interval(r"-\infty", r"\infty", True, True)
_REAL_LINE = re.compile(r"\\mathbb\{R\}|\\mathbf\{R\}|R(?=\s*\\setminus|\s*-\s*\\\{)")
_UNION = re.compile(r"\\cup|(?<=[)\]])\s*U\s*(?=[(\[])")
_DIFFERENCE = re.compile(r"\\setminus|(?<=\})\s*-\s*(?=\\\{)|\\(?=\\\{)")
_SET_OPERATION = re.compile(r"\\cup|\\setminus|(?:\)|\]|\bU\b)\s*U\s*(?=[(\[])|\\mathbb\{R\}")
_CONDITION_SIGN = re.compile(r"[<>=|:]|\\(?:le|ge|ne|in)(?![A-Za-z])")


def read_real_set(text: str) -> RealSet | None:
    """Read a half-open or infinite interval, or a union or difference of sets."""
    if not _SET_OPERATION.search(text):
        whole = whole_bracket(text)
        brackets = whole[0] + whole[2] if whole else ""
        if brackets in ("(]", "[)") or (brackets in ("()", "[]") and r"\infty" in text):
            interval = _read_interval(text)
            return RealSet((interval,)) if interval else None
        return None
    body, *minus = split_top(text, _DIFFERENCE)[0]
    excluded_points: list[str] = []
    excluded_intervals: list[Interval] = []
    for part in minus:
        inner = whole_bracket(part)
        if inner is not None and inner[0] in (r"\{", "{"):
            excluded_points += split_items(inner[1])
        elif excluded := _read_interval(part):
            excluded_intervals.append(excluded)
        else:
            return None
    intervals: list[Interval] = []
    points: list[str] = []
    for part in split_top(body, _UNION)[0]:
        whole = whole_bracket(part)
        if _REAL_LINE.fullmatch(part):
            intervals.append(WHOLE_LINE)
        elif whole and whole[0] in (r"\{", "{"):
            if _CONDITION_SIGN.search(whole[1]):
                return None
            points += split_items(whole[1])
        elif interval := _read_interval(part):
            intervals.append(interval)
        else:
            return None
    return RealSet(
        tuple(intervals), tuple(points), tuple(excluded_points), tuple(excluded_intervals)
    )


def _read_interval(text: str) -> Interval | None:
    whole = whole_bracket(text)
    if whole is None or whole[0] not in "([":
        return None
    ends = split_items(whole[1], enclosed=True)
    if len(ends) != 2 or "=" in whole[1]:
        return None
    return _interval(ends[0], ends[1], whole[0] == "(", whole[2] == ")")


def _interval(low: str, high: str, low_open: bool, high_open: bool) -> Interval | None:
    """Return an interval; None for `[0,\\infty]`, as infinity is in no set of real numbers."""
    if (r"\infty" in low and not low_open) or (r"\infty" in high and not high_open):
        return None
    return Interval(low, high, low_open, high_open)


def as_interval(value: Value) -> Interval | None:
    """Return the interval that the pair `(a,b)` or `[a,b]` may also be."""
    if isinstance(value, Seq) and value.kind in ("()", "[]") and len(value.items) == 2:
        low, high = value.items
        if isinstance(low, Quantity) and isinstance(high, Quantity):
            is_open = value.kind == "()"
            return _interval(low.text, high.text, is_open, is_open)
    return None


# -- in words ------------------------------------------------------------------------

_PHRASE = re.compile(  # `all real numbers except 2`, `nonnegative reals`
    r"(?:the\s+set\s+of\s+)?(?:all\s+|any\s+|every\s+|the\s+)?(?P<sign>(?:non-?\s?)?(?:positive|negative|zero)\s+)?"
    r"reals?(?:\s+numbers?)?(?:\s+[a-z](?=\s|$))?"
    r"(?:\s+(?:except|but|other\s+than|excluding)(?:\s+for)?\s+(?:[a-z]\s*=)?\s*(?P<except>[-\d\\][^=<>]*))?",
    re.I,
)
_SIGN_SETS = {
    "positive": RealSet((Interval("0", r"\infty", True, True),)),
    "negative": RealSet((Interval(r"-\infty", "0", True, True),)),
    "nonnegative": RealSet((Interval("0", r"\infty", False, True),)),
    "nonpositive": RealSet((Interval(r"-\infty", "0", True, False),)),
    "nonzero": RealSet((WHOLE_LINE,), (), ("0",)),
}
_AND_OR = re.compile(r"(?<![A-Za-z\\])(?:and|or)(?![A-Za-z])|&")


def read_real_phrase(text: str) -> RealSet | None:
    """Return the set of real numbers that words describe; else None."""
    m = _PHRASE.fullmatch(" ".join(strip_marks(text).split()))
    if m is None or (m["sign"] and m["except"]):
        return None
    if m["except"]:
        parts = split_top(m["except"], _AND_OR)[0]
        return RealSet((WHOLE_LINE,), (), tuple(p for part in parts for p in split_items(part)))
    sign = re.sub(r"[\s-]", "", (m["sign"] or "").lower())
    return _SIGN_SETS.get(sign, RealSet((WHOLE_LINE,)))
