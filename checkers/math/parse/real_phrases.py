"""Read sets of real numbers in words: *all positive reals*, *all x strictly between 0 and 1*.

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
from gradebox.checkers.math.parse.set_reader import WHOLE_LINE
from gradebox.checkers.math.parse.split import split_items, split_top
from gradebox.checkers.math.parse.values import Interval, RealSet

_PHRASE = re.compile(
    r"(?:the\s+set\s+of\s+)?(?P<all>all\s+|any\s+|every\s+|the\s+)?(?P<sign>positive\s+|negative\s+|non-?\s?negative\s+"
    r"|non-?\s?positive\s+|non-?\s?zero\s+)?(?P<noun>reals?(?:\s+numbers?)?|numbers?|(?:values?\s+of\s+)?[xyt])(?:\s+[a-z](?=\s|$))?"
    r"(?:\s+(?P<rest>.+))?",
    re.I,
)
_SIGNS = {
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
        return RealSet((_SIGNS[sign],)) if sign and m["noun"].lower().startswith("real") else None
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
