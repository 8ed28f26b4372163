"""Split a normalised answer at commas and words outside brackets, and cut what surrounds it.

split_items            the items of a list; whole_bracket takes brackets off
without_lead           words before an answer
without_condition      the condition on a parameter
read_real_set          intervals, unions and differences
"""

from __future__ import annotations

import re

from gradebox.checkers.math.read.normalise import strip_ends
from gradebox.checkers.math.read.tables import TEXT_CLOSE, TEXT_OPEN, read_number_words
from gradebox.checkers.math.read.units import UNITS
from gradebox.checkers.math.read.values import Interval, Quantity, RealSet, Seq, Value

_OPEN, _CLOSE = "([{", ")]}"
MAX_ITEMS = 500  # of a list; longer lists are compared as text
_THOUSANDS = re.compile(r"[-+]?[＄€£¥₹₩₱฿₫₽₺₦]?\s?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)")
COMMA = re.compile(r"[,;]")
_SPACED_COMMA = re.compile(r"[,;](?!\d{3}(?!\d))|,(?=\d{3}(?!\d))(?<!\d,)")
_SEMICOLON = re.compile(r";")
_COUNTED = re.compile(rf"{_THOUSANDS.pattern}\s*(?:[A-Za-z%\\{TEXT_OPEN}][^,;]*)?")
_SUM_OF_COUNTED = re.compile(  # `1,200 + 1,800 = 3,000`
    r"(?=.*(?:\+|\\times|\\cdot|!))"
    r"(?:[^\d,]*(?:\d{1,3}(?:,\d{3})+|\d+)(?![\d,]))+[^\d,]*"
)
_LEADING_ZERO = re.compile(r",0\d\d")
BRACKETS = (  # (opener, closers, the kind of Seq)
    (r"\{", (r"\}",), "{}"),
    (r"\langle", (r"\rangle",), "<>"),
    ("(", (")", "]"), "()"),
    ("[", ("]", ")"), "[]"),
    ("{", ("}",), "{}"),
    ("<", (">",), "<>"),
)


def _depths(text: str) -> list[int]:
    """Return the bracket depth before each character; any closer closes any opener."""
    depth, out = 0, []
    for i, c in enumerate(text):
        if c in _CLOSE and depth > 0:
            depth -= 1
        out.append(depth)
        if c in _OPEN or text.startswith((r"\langle", r"\begin"), i):
            depth += 1
        elif text.startswith((r"\rangle", r"\end"), i):
            depth = max(0, depth - 1)
    return out


def split_top(text: str, pattern: re.Pattern[str]) -> tuple[list[str], list[str]]:
    """Return the parts and separators of `text` at the matches of `pattern` outside brackets."""
    depth = _depths(text)
    parts, separators, start = [], [], 0
    for m in pattern.finditer(text):
        if depth[m.start()] == 0 and m.start() >= start:
            parts.append(text[start : m.start()])
            separators.append(m[0])
            start = m.end()
    parts.append(text[start:])
    return [p.strip() for p in parts], separators


def split_items(text: str, enclosed: bool = False) -> list[str]:
    """Return the items of a list; commas that group thousands do not split `2,400 apples`.

    Within brackets (`enclosed`) they do, because `(100,200)` is a point, unless a group starts
    with 0.
    """
    parts = split_top(text, _SEMICOLON)[0] if ";" in text else [text]
    if len(parts) == 1:
        if _COUNTED.fullmatch(text) and not (enclosed and not _LEADING_ZERO.search(text)):
            return [text]
        spaced = re.search(r"[^,],\s", text) or _SUM_OF_COUNTED.fullmatch(text)
        parts, _ = split_top(text, _SPACED_COMMA if spaced else COMMA)
    # A longer list is not split: it is compared as one text.
    return [p for p in parts if p] if len(parts) <= MAX_ITEMS else [text]


def whole_bracket(text: str) -> tuple[str, str, str] | None:
    """Return (opener, contents, closer) when one pair of brackets encloses the whole text."""
    for opener, closers, _ in BRACKETS:
        if not text.startswith(opener):
            continue
        for closer in closers:
            if text.endswith(closer) and len(text) >= len(opener) + len(closer):
                inner = text[len(opener) : len(text) - len(closer)]
                if _balanced(inner):
                    return opener, inner.strip(), closer
    return None


def _balanced(text: str) -> bool:
    depth = 0
    for c in text:
        if c in _OPEN:
            depth += 1
        elif c in _CLOSE:
            depth -= 1
            if depth < 0:
                return False
    return depth == 0


_CONDITION = re.compile(  # `, where n \in \mathbb{Z}`, ` for all real x`
    rf"[,;(\s{TEXT_OPEN}]{{0,8}}(?:(?:where|for|with|and)\s*{TEXT_CLOSE}?\s*)?(?:any|all"
    rf"|some|every)?\s*"
    rf"(?:[A-Za-z]\s*\\in\s*\\mathbb\{{[ZNQRC]\}}(?:\^?[+*])?"
    rf"|(?:integers?\s+[a-z]|(?<![A-Za-z])[a-z]\s*{TEXT_OPEN}?\s*(?:is\s+)?(?:an\s+|any\s+)?integers?))"
    rf"\s*{TEXT_CLOSE}?\)?$"
    rf"|[,;(\s{TEXT_OPEN}]+(?:where\s*{TEXT_CLOSE}?\s*)?[a-zC]\s*{TEXT_OPEN}?\s*is\s+(?:an?|any)\s"
    rf"(?:real\s|arbitrary\s)*(?:constant|number)\s*{TEXT_CLOSE}?\)?$"
    rf"|(?:[,;(\s]|{TEXT_OPEN})\s*for\s+(?:all|any|some"
    rf"|every)\s*{TEXT_CLOSE}?\s*(?:real\s+)?(?:(?:numbers?|constants?)\s*{TEXT_CLOSE}?\s+)?[a-zC]"
    rf"\s*{TEXT_CLOSE}?\)?$"
)
_PARAMETER = re.compile(r"(?<![A-Za-z\\])[kn](?![A-Za-z])")
_INTEGER_PARAMETER = re.compile(
    r"([a-z])\s*\\in\s*\\mathbb\{Z\}|integers?\s+([a-z])"
    r"|([a-z])\s*\W?\s*(?:is\s+)?(?:an\s+|any\s+)?integer"
)
_LEAD = re.compile(  # `approximately `, `The answer is `, `Solution: `
    r"^(?:(?:final\s+answer\s*:|so|thus|hence|therefore|approximately|approx\.?|about|around|roughly"
    r"|exactly|only|just|option|choice|answer|both|either|equals|total(?:\s+of)?"
    r"|(?:the\s+)?(?:answers?|solutions?)\s+(?:is|are))\s*:?\s+(?=\S)"
    r"|(?:solution|result|ans)\s*:\s*(?=\S)|at\s+(?=\()"
    r"|(?:in|by|on|at)\s+(?:the\s+year\s+)?(?=\d{4}$|\d{1,2}:\d\d)"
    r"|yes[,:;.]\s+(?=[-\d\\$(]|[a-z]\s*=)|(?:it\s+)?converges\s+to\s+(?=[-\d\\$(a-z])|(?:it\s+is\s+)?the\s+[a-z]+\s+(?:is\s+)?(?=[$\\\[({\d]))",
    re.I,
)
_MARKED_LEAD = re.compile(  # `\text{The answer is } 5`, `\text{There are } 7 \text{ ways}`
    rf"^{TEXT_OPEN}(?:[^{TEXT_CLOSE}]*\b(?:is|are|equals|be|at)|\s*(?:final\s+)?answer\s*:?"
    rf"|[^{TEXT_CLOSE}]*:)\s*"
    rf"{TEXT_CLOSE}\s*(?=[-\d\\$(\[]|[a-zA-Z](?![a-zA-Z]))",
    re.I,
)
_SIGN_WORD = re.compile(r"^(?:minus|negative) (?=[\d.\\＄]|infinity$)", re.I)
_PART_OF = re.compile(  # `5/12 of a cup`, `60% of the students`
    r"(?<=[\d}%])\s+of\s+(?:an?\s+([a-z]+)|(?:the|his|her|its|all)\s+[a-z ]+)$", re.I
)
_ASIDE = re.compile(  # `7 loads (after rounding up)`, `H_2O (water)`
    r"(?<=[\w$})%])\s+\((?!\s*(?:mod|if|when|for|where|with|in|from|not|base|binary|octal|hex|ternary|otherwise|or|and|approx|rounded|choice|option|all|any|noon|\d[\d.,]*\))|[-+]?[\w./]+\s*,)"
    r"(?![^()]*\b(?:reject|extraneous|invalid|wrong|incorrect|not|but)\w*)"
    r"(?=[^()]*[a-z]{3})(?P<inner>[^()=<>≤≥≈\\$^]+)\)\s*\.?$"
)


def without_aside(text: str) -> str:
    """Return an answer without a remark in brackets; a unit or a condition stays."""
    m = _ASIDE.search(text)
    if m is None or not re.search(r"[\d\\₀-₉√π]", text[: m.start()]):
        return text
    inner = m["inner"]
    number = read_number_words(inner)
    stays = inner.split()[0].lower() in UNITS or number not in (None, text[: m.start()].strip())
    return text if stays else text[: m.start()]


def without_lead(text: str) -> str:
    """Return an answer without the words before it."""
    text = _LEAD.sub("", _MARKED_LEAD.sub("", strip_ends(text))).removesuffix(" only")
    text = strip_ends(_SIGN_WORD.sub("-", text))
    return _PART_OF.sub(lambda m: f" {m[1]}" if m[1] else "", text)


def without_condition(text: str) -> str:
    """Return an answer without the condition on its parameter. A period's parameter is k."""
    m = _CONDITION.search(text)
    integer = None
    if m and text[: m.start()].strip():
        text = text[: m.start()].strip()
        integer = _INTEGER_PARAMETER.search(m[0])
    letters = set(_PARAMETER.findall(text)) if r"\pi" in text else set()
    letters |= set(filter(None, integer.groups())) if integer else set()
    if len(letters) == 1 and "k" not in text:
        text = re.sub(rf"(?<![A-Za-z\\]){letters.pop()}(?![A-Za-z])", "k", text)
    return text


# ---- sets of real numbers ----

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
