"""Read a normalised answer into a structure of values.py.

The reader only splits text: it evaluates nothing and does not need SymPy.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from gradebox.checkers.math.read.dates import read_date_or_time
from gradebox.checkers.math.read.normalise import plain_words, strip_ends
from gradebox.checkers.math.read.number_words import read_number_words
from gradebox.checkers.math.read.tables import LETTER, TEXT_CLOSE, TEXT_OPEN, strip_marks
from gradebox.checkers.math.read.unit_split import split_unit
from gradebox.checkers.math.read.units import add_units
from gradebox.checkers.math.read.values import (
    Interval,
    Quantity,
    Ratio,
    RealSet,
    Relation,
    Rounded,
    Seq,
    TooLong,
    Value,
    Words,
)

MAX_ITEMS = 500  # of a list; longer lists are compared as text
MAX_DEPTH = 6  # of nested lists
_OPEN, _CLOSE = "([{", ")]}"
_WHOLE_LINE = Interval(r"-\infty", r"\infty", True, True)

_THOUSANDS = re.compile(r"[-+]?[＄€£¥₹]?\s?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)")
_COMMA = re.compile(r"[,;]")
_SPACED_COMMA = re.compile(r"[,;](?!\d{3}(?!\d))|,(?=\d{3}(?!\d))(?<!\d,)")
_SEMICOLON = re.compile(r";")
_COUNTED = re.compile(rf"{_THOUSANDS.pattern}\s*(?:[A-Za-z%\\{TEXT_OPEN}][^,;]*)?")
_SUM_OF_COUNTED = re.compile(  # `1,200 + 1,800 = 3,000`
    r"(?=.*(?:\+|\\times|\\cdot))"
    r"(?:[^\d,]*(?:\d{1,3}(?:,\d{3})+|\d+)(?![\d,]))+[^\d,]*"
)
_LEADING_ZERO = re.compile(r",0\d\d")

_RELATION = re.compile(r"\\(?:le|ge|ne|approx)(?![A-Za-z])|[<>=]")
_RELATION_OPS = {
    r"\le": "<=", r"\ge": ">=", r"\ne": "!=", r"\approx": "=", "<": "<", ">": ">", "=": "=",
}  # fmt: skip
_APPROX = re.compile(r"\\approx(?![A-Za-z])")
_VARIABLE = re.compile(r"\\?[A-Za-z]+(?:_\{?\w+\}?)?(?:\([\w, ]+\))?")
_DECIMAL = re.compile(r"[-+]?[\d,]*\.?\d+")
_OR_ABOUT = re.compile(  # `, or about 0.417`, `(approximately 0.417)`
    rf"[,(\s]\s*(?:or\s+|which\s+is\s+)?{TEXT_OPEN}?\s*"
    rf"(?:approximately|approx\.?|about|roughly|\\approx)\s*{TEXT_CLOSE}?"
    r"\s*(-?[\d.,]*\d[^()]*)\)?$",
    re.I,
)
_ROUNDED_NOTE = re.compile(r"\s*\((?:approx\.?|approximately|rounded)\)$")
_PM, _MP = re.compile(r"\\pm(?![A-Za-z])"), re.compile(r"\\mp(?![A-Za-z])")
_AND_OR = re.compile(r"(?<![A-Za-z\\])(?:and|or)(?![A-Za-z])|\\text\{\s*(?:and|or)\s*\}|&(?!\w)")
_MEMBER = re.compile(  # `x \in `
    rf"^(?:{LETTER}\s*|[\w,() ]{{1,12}})\\in(?![A-Za-z])\s*"
)
_CONDITION = re.compile(  # `, where n \in \mathbb{Z}`, ` for all real x`
    rf"[,;(\s{TEXT_OPEN}]{{0,8}}(?:(?:where|for|with|and)\s*{TEXT_CLOSE}?\s*)?(?:any|all|some|every)?\s*"
    rf"(?:[a-z]\s*\\in\s*\\mathbb\{{[ZNQRC]\}}(?:\^?[+*])?"
    rf"|(?:integers?\s+[a-z]|[a-z]\s*{TEXT_OPEN}?\s*(?:is\s+)?(?:an\s+|any\s+)?integers?))"
    rf"\s*{TEXT_CLOSE}?\)?$"
    rf"|(?:[,;(\s]|{TEXT_OPEN})\s*for\s+(?:all|any|every)\s*{TEXT_CLOSE}?\s*(?:real\s+(?:numbers?\s+)?)?[a-z]"
    rf"\s*{TEXT_CLOSE}?\)?$"
)
_LEAD = re.compile(  # `approximately `, `The answer is `, `Solution: `
    r"^(?:then|so|thus|hence|therefore|approximately|approx\.?|about|around|roughly|exactly|only|just|option|choice|answer|"
    r"(?:the\s+)?answer\s+is|equals|total(?:\s+of)?)\s*:?\s+(?=\S)|^(?:solution|result|ans)\s*:\s*(?=\S)",
    re.I,
)
_SIGN_WORD = re.compile(r"^(?:minus|negative) (?=[\d.\\＄]|infinity$)", re.I)

_REAL_LINE = re.compile(r"\\mathbb\{R\}|\\mathbf\{R\}|R(?=\s*\\setminus|\s*-\s*\\\{)")
_UNION = re.compile(r"\\cup|(?<=[)\]])\s*U\s*(?=[(\[])")
_DIFFERENCE = re.compile(r"\\setminus|(?<=\})\s*-\s*(?=\\\{)|\\(?=\\\{)")
_SET_OPERATION = re.compile(r"\\cup|\\setminus|(?:\)|\]|\bU\b)\s*U\s*(?=[(\[])|\\mathbb\{R\}")
_CONDITION_SIGN = re.compile(r"[<>=|:]|\\(?:le|ge|ne|in)(?![A-Za-z])")
_ALL_REALS_EXCEPT = re.compile(
    r"\s*all\s+reals?(?:\s+numbers?)?(?:\s+[a-z])?\s+(?:except|but|other\s+than)(?:\s+for)?"
    r"\s+(?:[a-z]\s*=)?\s*([-\d\\][^=<>]*)$",
    re.I,
)
_BRACKETS = (  # (opener, closers, the kind of Seq)
    (r"\{", (r"\}",), "{}"),
    (r"\langle", (r"\rangle",), "<>"),
    ("(", (")", "]"), "()"),
    ("[", ("]", ")"), "[]"),
    ("{", ("}",), "{}"),
    ("<", (">",), "<>"),
)
_KINDS = {opener: kind for opener, _, kind in _BRACKETS}


def read_answer(text: str, level: int = 0) -> Value:
    """Return the structure of a normalised answer; raise TooLong for more than MAX_ITEMS."""
    text = _ROUNDED_NOTE.sub("", _LEAD.sub("", strip_ends(text)))
    total = add_units(text)
    if total is not None:
        return Quantity(*total)
    text = _mark_rounding(text)
    text = strip_ends(_SIGN_WORD.sub("-", text))
    text = _MEMBER.sub("", _CONDITION.sub("", text).strip() or text)
    if level > MAX_DEPTH or not text:
        return Words(plain_words(text))
    return (
        _read_real_set(text)
        or read_date_or_time(text)
        or _read_phrase(text)
        or _read_named_point(text)
        or _read_joined(text, level)
        or _read_bracketed(text, level)
        or _read_list(text, level)
        or _read_rounded(text, level)
        or _read_plus_minus(text, level)
        or _read_relation(text)
        or _read_ratio(text)
        or split_unit(text)
    )


# -- splitting -------------------------------------------------------------------


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
        parts, _ = split_top(text, _SPACED_COMMA if spaced else _COMMA)
    if len(parts) > MAX_ITEMS:
        raise TooLong(f"a list of more than {MAX_ITEMS} items")
    return [p for p in parts if p]


def _read_items(parts: Iterable[str], level: int) -> tuple[Value, ...]:
    """Read each part; the items of a part that is itself a plain list are spliced in."""
    items: list[Value] = []
    for part in parts:
        value = read_answer(part, level + 1)
        if isinstance(value, Seq) and value.kind == "":
            items += value.items
        else:
            items.append(value)
    return tuple(items)


def _whole_bracket(text: str) -> tuple[str, str, str] | None:
    """Return (opener, contents, closer) when one pair of brackets encloses the whole text."""
    for opener, closers, _ in _BRACKETS:
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


# -- sets of real numbers and phrases ----------------------------------------------


def _read_real_set(text: str) -> RealSet | None:
    """Read a half-open or infinite interval, or a union or difference of sets."""
    if not _SET_OPERATION.search(text):
        whole = _whole_bracket(text)
        brackets = whole[0] + whole[2] if whole else ""
        if brackets in ("(]", "[)") or (brackets in ("()", "[]") and r"\infty" in text):
            interval = _read_interval(text)
            return RealSet((interval,)) if interval else None
        return None
    body, *minus = split_top(text, _DIFFERENCE)[0]
    excluded_points: list[str] = []
    excluded_intervals: list[Interval] = []
    for part in minus:
        inner = _whole_bracket(part)
        if inner is not None and inner[0] in (r"\{", "{"):
            excluded_points += split_items(inner[1])
        elif excluded := _read_interval(part):
            excluded_intervals.append(excluded)
        else:
            return None
    intervals: list[Interval] = []
    points: list[str] = []
    for part in split_top(body, _UNION)[0]:
        whole = _whole_bracket(part)
        if _REAL_LINE.fullmatch(part):
            intervals.append(_WHOLE_LINE)
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
    whole = _whole_bracket(text)
    if whole is None or whole[0] not in "([":
        return None
    ends = split_items(whole[1], enclosed=True)
    if len(ends) != 2:
        return None
    return Interval(ends[0], ends[1], whole[0] == "(", whole[2] == ")")


def as_interval(value: Value) -> Interval | None:
    """Return the interval that the pair `(a,b)` or `[a,b]` may also be."""
    if isinstance(value, Seq) and value.kind in ("()", "[]") and len(value.items) == 2:
        low, high = value.items
        if isinstance(low, Quantity) and isinstance(high, Quantity):
            is_open = value.kind == "()"
            return Interval(low.text, high.text, is_open, is_open)
    return None


def _read_phrase(text: str) -> Value | None:
    """Read "all reals except 2", "no solution", "infinity" and numbers in words."""
    plain = plain_words(text)
    if excepted := _ALL_REALS_EXCEPT.match(strip_marks(text)):
        parts = split_top(excepted[1], _AND_OR)[0]
        points = tuple(p for part in parts for p in split_items(part))
        return RealSet((_WHOLE_LINE,), (), points)
    if plain == "all real numbers":
        return RealSet((_WHOLE_LINE,))
    if text in (r"\emptyset", r"\{\}") or plain == "no solution":
        return Words("no solution")
    if plain in ("infinity", "-infinity"):
        return Quantity(plain.replace("infinity", r"\infty"))
    number = read_number_words(text)
    return None if number is None else Quantity(number)


def _read_named_point(text: str) -> Relation | None:
    """Read `A(1,2)` as A = (1,2)."""
    m = re.match(r"([A-Z])\s?(?=\()", text)
    whole = _whole_bracket(text[m.end() :]) if m else None
    if m is None or whole is None or not 2 <= len(split_items(whole[1], enclosed=True)) <= 3:
        return None
    return Relation((m[1], text[m.end() :]), ("=",))


# -- lists -------------------------------------------------------------------------


def _read_joined(text: str, level: int) -> Value | None:
    """Read `1 and 2` and `x<1 or x>3`."""
    parts, separators = split_top(text, _AND_OR)
    parts = [strip_ends(p) for p in parts]
    if len(parts) < 2 or not all(parts):
        return None
    items = _read_items(parts, level)
    if all(isinstance(i, Words) for i in items):
        return None
    return Seq("", items, any("or" in s for s in separators))


def _read_bracketed(text: str, level: int) -> Value | None:
    whole = _whole_bracket(text)
    if whole is None:
        return None
    opener, inner, _ = whole
    if opener in (r"\{", "{"):
        condition = re.match(r"[^|:]{1,40}?(?:\||:|\\mid)\s*(.+)$", inner)
        if condition and _RELATION.search(inner):  # { x | x > 2 }
            return read_answer(condition[1], level + 1)
    items = split_items(inner, enclosed=opener != "{")
    if opener in ("(", "{") and len(items) < 2:
        return read_answer(inner, level + 1) if inner and opener == "{" else None
    if not items:
        return Words("no solution") if opener == r"\{" else None
    if len(items) == 1 and opener in ("[", "<"):
        return read_answer(inner, level + 1)
    return Seq(_KINDS[opener], _read_items(items, level))


def _read_list(text: str, level: int) -> Seq | None:
    items = split_items(text)
    if len(items) < 2:
        return None
    return Seq("", _read_items(items, level))


def _read_plus_minus(text: str, level: int) -> Seq | None:
    """Read `3 \\pm 2` as the two values."""
    signs = len(_PM.findall(text)) + len(_MP.findall(text))
    if signs > 4 or not (signs or re.search(r"\+/-|\+-", text)):
        return None
    text = re.sub(r"\+/-|\+-", r"\\pm ", text)
    upper, lower = _MP.sub("-", _PM.sub("+", text)), _MP.sub("+", _PM.sub("-", text))
    return Seq("", (read_answer(upper, level + 1), read_answer(lower, level + 1)))


# -- one value -----------------------------------------------------------------------


def _mark_rounding(text: str) -> str:
    """Return `5/12 \\approx 0.417` for `5/12, or about 0.417`."""
    m = _OR_ABOUT.search(text)
    return rf"{text[: m.start()].strip(' ,')} \approx {m[1]}" if m and m.start() else text


def _read_rounded(text: str, level: int) -> Rounded | None:
    """Read `x = 2\\sqrt{5} \\approx 4.47`; in `x \\approx 4.47` the decimal is the only value."""
    parts, separators = split_top(text, _APPROX)
    if not separators or not all(parts) or _VARIABLE.fullmatch(parts[0]):
        return None
    decimal = read_answer(parts[-1], level + 1)
    if not isinstance(decimal, Quantity) or not _DECIMAL.fullmatch(decimal.text):
        return None
    return Rounded(read_answer(parts[0], level + 1), decimal)


def _read_relation(text: str) -> Relation | None:
    sides, ops = split_top(text, _RELATION)
    if not ops or not all(sides):
        return None
    return Relation(tuple(sides), tuple(_RELATION_OPS[o] for o in ops))


def _read_ratio(text: str) -> Ratio | None:
    parts = [p.strip() for p in text.split(":")]
    if len(parts) == 1:
        parts = [p.strip() for p in re.split(r"(?<=\d)\s+to\s+(?=\d)", text)]
    if 2 <= len(parts) <= 6 and all(re.fullmatch(r"[-\w.\\{}/()+*^ ]{1,40}", p) for p in parts):
        return Ratio(tuple(parts))
    return None
