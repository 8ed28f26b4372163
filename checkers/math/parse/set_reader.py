"""Read sets of real numbers: intervals, unions, differences, and the same in words.

phrase    := ["the set of"] ["all"] [sign] ("real numbers" | "reals" | letter) [condition]
sign      := "positive" | "negative" | "nonnegative" | "nonpositive" | "nonzero"
condition := ("such that" | "with" | "satisfying" | …) relations
           | ("except" | "other than" | "but") points
           | ("greater than" | "at least" | …) end
           | ["strictly"] ("between" | "from") end ("and" | "to") end ["inclusive" | "exclusive"]

*Between a and b* alone does not say whether the ends belong to the set: it is not read.
"""

from __future__ import annotations

import re

from gradebox.checkers.math.normalise.tables import strip_marks
from gradebox.checkers.math.parse.split import split_items, split_top, whole_bracket
from gradebox.checkers.math.parse.values import Interval, Quantity, RealSet, Seq, Value

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

_PHRASE = re.compile(
    r"(?:the\s+set\s+of\s+)?(?P<all>all\s+|any\s+|every\s+|the\s+)?(?P<sign>positive\s+|negative\s+|non-?\s?negative\s+"
    r"|non-?\s?positive\s+|non-?\s?zero\s+)?(?P<noun>reals?(?:\s+numbers?)?|numbers?|(?:values?\s+of\s+)?[xyt])(?:\s+[a-z](?=\s|$))?"
    r"(?:\s+(?P<rest>.+))?",
    re.I,
)
_SIGN_SETS = {
    "positive": Interval("0", r"\infty", True, True),
    "negative": Interval(r"-\infty", "0", True, True),
    "nonnegative": Interval("0", r"\infty", False, True),
    "nonpositive": Interval(r"-\infty", "0", True, False),
}
_SUCH_THAT = re.compile(
    r"(?:such\s+that|with|where|satisfying|for\s+which)\s+(.*(?:[<>=]|\\(?:ne|le|ge)).*)", re.I
)
_EXCEPT = re.compile(
    r"(?:except|but|other\s+than|excluding)(?:\s+for)?\s+(?:[a-z]\s*=)?\s*([-\d\\][^=<>]*)", re.I
)
_AND_OR = re.compile(r"(?<![A-Za-z\\])(?:and|or)(?![A-Za-z])|&")
_BOUND = re.compile(
    r"(?:(?:that|which)\s+are\s+)?(?P<strict>strictly\s+)?(?P<word>greater|larger|bigger|more|less|smaller|above|below|at\s+least|at\s+most)"
    r"(?:\s+than)?(?P<equal>\s+or\s+equal\s+to)?\s+(?P<end>[-\d\\][^<>=,]*)",
    re.I,
)
_BETWEEN = re.compile(
    r"(?:(?:that|which)\s+are\s+)?(?P<strict>strictly\s+)?(?:between|from)\s+(?P<low>[-\d\\]\S*)\s+(?:and|to)\s+(?P<high>[-\d\\]\S*?)"
    r"(?:,?\s*\(?(?:the\s+)?(?:end\s?points?\s+)?(?P<ends>inclusive|exclusive|included|excluded)\)?)?",
    re.I,
)


def read_real_phrase(text: str) -> RealSet | str | None:
    """Return the set that words describe, or the relations that they state as text; else None."""
    m = _PHRASE.fullmatch(" ".join(strip_marks(text).split()))
    if m is None or (m["noun"].lower().startswith("number") and not m["rest"]):
        return None
    sign = re.sub(r"[\s-]", "", (m["sign"] or "").lower())
    if not m["rest"]:
        if sign == "nonzero":
            return RealSet((WHOLE_LINE,), (), ("0",))
        return (
            RealSet((_SIGN_SETS[sign],)) if sign and m["noun"].lower().startswith("real") else None
        )
    if sign:
        return None
    rest = m["rest"].strip()
    if stated := _SUCH_THAT.fullmatch(rest):
        return stated[1].strip()
    if excepted := _EXCEPT.fullmatch(rest):
        parts = split_top(excepted[1], _AND_OR)[0]
        return RealSet((WHOLE_LINE,), (), tuple(p for part in parts for p in split_items(part)))
    if bound := _BOUND.fullmatch(rest):
        return RealSet((_half_line(bound),))
    if between := _BETWEEN.fullmatch(rest):
        ends = (between["ends"] or "").lower()
        if not ends and not between["strict"]:
            return None
        is_open = bool(between["strict"]) or ends.startswith("ex")
        return RealSet((Interval(between["low"], between["high"], is_open, is_open),))
    return None


def _half_line(m: re.Match[str]) -> Interval:
    words = m["word"].lower().split()
    is_open = not (m["equal"] or words[0] == "at")
    if words[-1] in ("greater", "larger", "bigger", "more", "above", "least"):
        return Interval(m["end"].strip(), r"\infty", is_open, True)
    return Interval(r"-\infty", m["end"].strip(), True, is_open)
