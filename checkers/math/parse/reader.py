"""Read a normalised answer into a structure of values.py.

The reader only splits text: it evaluates nothing and does not need SymPy.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from gradebox.checkers.math.normalise.number_words import read_number_words
from gradebox.checkers.math.normalise.rewrite import plain_words, strip_ends
from gradebox.checkers.math.normalise.tables import LETTER, TEXT_CLOSE, TEXT_OPEN, strip_marks
from gradebox.checkers.math.parse.dates import read_date_or_time
from gradebox.checkers.math.parse.real_phrases import read_real_phrase
from gradebox.checkers.math.parse.set_reader import WHOLE_LINE, read_real_set
from gradebox.checkers.math.parse.split import (
    BRACKETS,
    COMMA,
    split_cases,
    split_items,
    split_top,
    whole_bracket,
)
from gradebox.checkers.math.parse.unit_split import split_unit
from gradebox.checkers.math.parse.units import add_units, unit_name
from gradebox.checkers.math.parse.values import (
    Family,
    Quantity,
    Ratio,
    RealSet,
    Relation,
    Rounded,
    Seq,
    Value,
    Words,
)

MAX_DEPTH = 6  # of nested lists


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
_GLOSS = re.compile(r"([a-z -]{3,40}|\d{1,12})\s*\(\s*([a-z -]{3,40}|\d{1,12})\s*\)", re.I)
_ROUNDED_NOTE = re.compile(r"\s*\((?:approx\.?|approximately|rounded)\)$")
_PM, _MP = re.compile(r"\\pm(?![A-Za-z])"), re.compile(r"\\mp(?![A-Za-z])")
_AND_OR = re.compile(r"(?<![A-Za-z\\])(?:and|or)(?![A-Za-z])|\\text\{\s*(?:and|or)\s*\}|&(?!\w)")
_MEMBER = re.compile(  # `x \in `
    rf"^(?P<name>{LETTER}\s*|\\[a-z]+\s*|[\w,() ]{{1,12}})\\in(?![A-Za-z])\s*"
)
_CONDITION = re.compile(  # `, where n \in \mathbb{Z}`, ` for all real x`
    rf"[,;(\s{TEXT_OPEN}]{{0,8}}(?:(?:where|for|with|and)\s*{TEXT_CLOSE}?\s*)?(?:any|all|some|every)?\s*"
    rf"(?:[a-z]\s*\\in\s*\\mathbb\{{[ZNQRC]\}}(?:\^?[+*])?"
    rf"|(?:integers?\s+[a-z]|[a-z]\s*{TEXT_OPEN}?\s*(?:is\s+)?(?:an\s+|any\s+)?integers?))"
    rf"\s*{TEXT_CLOSE}?\)?$"
    rf"|(?:[,;(\s]|{TEXT_OPEN})\s*for\s+(?:all|any|every)\s*{TEXT_CLOSE}?\s*(?:real\s+(?:numbers?\s+)?)?[a-z]"
    rf"\s*{TEXT_CLOSE}?\)?$"
)
_CONSTANT = re.compile(  # `, where c is a constant`, `(a \\in \\mathbb{R})` of a constant
    rf"[\s,;({TEXT_OPEN}]+(?:(?:where|for|with)[\s{TEXT_CLOSE}]+)?(?:(?:any|some|all)\s+(?:real\s+)?(?:constants?|numbers?|real)?[\s{TEXT_CLOSE}]*([abckmABCK])"
    rf"|([abckABCK])[\s{TEXT_OPEN}]+(?:is\s+)?(?:an?\s+|any\s+)?(?:arbitrary\s+|real\s+)*(?:constant|real(?:\s+(?:number|constant))?)"
    rf"|([abckABCK])\s*\\in\s*\\mathbb\{{R\}})[\s{TEXT_CLOSE})]*$"
)
_MODULUS = re.compile(r"\s*\\pmod\s?(\d+)$")
_MARKED_LEAD = re.compile(  # `\text{The answer is } 5`, `\text{There are } 7 \text{ ways}`
    rf"^{TEXT_OPEN}(?:[^{TEXT_CLOSE}]*\b(?:is|are|equals|be)|\s*(?:final\s+)?answer\s*:?|[^{TEXT_CLOSE}]*:)\s*"
    rf"{TEXT_CLOSE}\s*(?=[-\d\\$(\[]|[a-zA-Z](?![a-zA-Z]))",
    re.I,
)
_MARKED_REASON = re.compile(rf"\s*{TEXT_OPEN}\s*\(?\s*(?:since|because|as)\b.*$", re.I)
_INTEGER = re.compile(
    r"([a-z])\s*\\in\s*\\mathbb\{Z\}|integers?\s+([a-z])|([a-z])\s*\W?\s*(?:is\s+)?(?:an\s+|any\s+)?integer"
)
_LEAD = re.compile(  # `approximately `, `The answer is `, `Solution: `
    r"^(?:for\s+)?(?:all|every|any)\s+(?:integers?\s+|real\s+(?:numbers?\s+)?)?(?=[a-z]\s*(?:\\[gl]e|\\ne|[<>]))"
    r"|^(?:final\s+answer\s*:\s*|then|so|thus|hence|therefore|approximately|approx\.?|about|around|roughly|exactly|only|just|option|choice|answer|"
    r"both|either|(?:the\s+)?answer\s+is|equals|total(?:\s+of)?)\s*:?\s+(?=\S)|^(?:solution|result|ans)\s*:\s*(?=\S)"
    r"|^(?:in|by|on|at)\s+(?:the\s+year\s+)?(?=\d{4}$|\d{1,2}:\d\d|(?:Jan|Feb|Mar|Apr|May|Ju|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?\s\d)"
    r"|^the\s+(?:matrix|vector|point|interval|equation|polynomial|set|function|line|value)\s+(?:is\s+)?(?=[$\\\[({\d])",
    re.I,
)
_THEM = re.compile(r"^there\s+(?:is|are)\s+(?=[\d$])|\s+of\s+(?:them|these|those)$", re.I)
_NONE_IE = re.compile(rf"^[^\d$\\]{{1,30}},?\s+i\.?e\.?,?\s*{TEXT_CLOSE}?\s*(?=[-\d$\\])", re.I)
_ONE_TEXT = re.compile(
    rf"{TEXT_OPEN}([^{TEXT_OPEN}{TEXT_CLOSE}]*[a-z]{{4}} [^{TEXT_OPEN}{TEXT_CLOSE}]*){TEXT_CLOSE}"
)
_WHERE = re.compile(  # `\{1, \omega\} where \omega = e^{2\pi i/3}`
    r"(?P<body>.+?)[\s,;]+(?:where|with)\s+(?P<name>\\[a-z]+|[a-z])\s*=\s*(?P<value>[^,;=]+)", re.S
)
_SIGN_WORD = re.compile(r"^(?:minus|negative) (?=[\d.\\＄]|infinity$)", re.I)

_MULTIPLES = re.compile(
    r"(?:all\s+)?(?:the\s+)?(?:integer\s+|integral\s+)?multiples\s+of\s+([^,;=]{1,40})", re.I
)
_SCALED_TUPLE = re.compile(
    r"(?P<factor>-?(?:\d+(?:[./]\d+)?|\\frac\s*\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}\s*\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|\\sqrt\s*\{[^{}]*\}))"
    r"\s*(?:\\cdot|\\times|\*)?\s*(?P<tuple>\(.+\)|\\langle.+\\rangle)"
)
_DIVIDED_TUPLE = re.compile(  # `\frac{(1,2)}{\sqrt{5}}`
    r"^\\frac\s*\{\s*(\([^()]+,[^()]+\)|\\langle.+\\rangle)\s*\}\s*\{\s*((?:[^{}]|\{[^{}]*\})+)\s*\}$"
)
_UNION = re.compile(r"\\cup(?![A-Za-z])")
_BUILDER_HEAD = re.compile(  # of `\{x \in \mathbb{R} | …\}`, not of `\{x^2 | …\}`
    rf"\(?\s*{LETTER}(?:\s*,\s*{LETTER})*\s*\)?(?:\s*\\in.+)?"
)
_KINDS = {opener: kind for opener, _, kind in BRACKETS}


def read_answer(text: str, level: int = 0) -> Value:
    """Return the structure of a normalised answer; raise TooLong for more than MAX_ITEMS."""
    text = _ONE_TEXT.sub(r"\1", text) if _ONE_TEXT.fullmatch(text) else text
    text = _MARKED_REASON.sub("", _MARKED_LEAD.sub("", strip_ends(text)))
    text = _ROUNDED_NOTE.sub("", _LEAD.sub("", text))
    text = _THEM.sub("", _NONE_IE.sub("", text))
    if "wh" in text and (where := _WHERE.fullmatch(strip_marks(text).strip())):
        text = _substituted(where["body"], where["name"], where["value"])
    total = add_units(text)
    if total is not None:
        return Quantity(*total)
    text = _mark_rounding(_without_gloss(text))
    text = strip_ends(_SIGN_WORD.sub("-", text))
    if level == 0 and (cases := split_cases(text)):
        return Seq("", tuple(_read_case(value, condition) for value, condition in cases))
    if multiples := _MULTIPLES.fullmatch(strip_marks(text).strip()):
        return Family((f"({multiples[1]})*k",), "", Words(plain_words(text)))
    text, integer = _without_condition(text)
    if integer or _MODULUS.search(text):
        return _read_family(text, level) or read_answer(_MODULUS.sub("", text), level + 1)
    member = _MEMBER.match(text)
    if member and _is_set(text[member.end() :]):
        value = read_answer(text[member.end() :], level + 1)
        if isinstance(value, Seq | RealSet) and not value.unknown:
            return replace(value, unknown=member["name"].strip())
        return value
    if level > MAX_DEPTH or not text:
        return Words(plain_words(text))
    return (
        _read_union_of_conditions(text, level)
        or read_real_set(text)
        or read_date_or_time(text)
        or _read_phrase(text)
        or _read_named_point(text)
        or _read_joined(text, level)
        or _read_signed_tuple(text, level)
        or _read_scaled_tuple(text, level)
        or _read_bracketed(text, level)
        or _read_list(text, level)
        or _read_rounded(text, level)
        or _read_plus_minus(text, level)
        or _read_relation(text)
        or _read_ratio(text)
        or split_unit(text)
    )


def _read_union_of_conditions(text: str, level: int) -> Seq | None:
    """Read `\\{x: x < 1\\} \\cup \\{x: x > 2\\}`."""
    parts, unions = split_top(text, _UNION)
    if not unions or not all(p.startswith(r"\{") and _RELATION.search(p) for p in parts):
        return None
    return Seq("", tuple(read_answer(p, level + 1) for p in parts), joined_by_or=True)


def _substituted(text: str, name: str, value: str) -> str:
    """Return a text with a value for a letter; unchanged where the letter is not in it."""
    return re.sub(
        rf"(?<![A-Za-z\\]){re.escape(name)}(?![A-Za-z])", lambda _: f"({value.strip()})", text
    )


def _read_case(value: str, condition: str) -> Seq:
    return Seq("()", (read_answer(value, 1), read_answer(condition, 1)))


def _read_family(text: str, level: int) -> Family | None:
    """Read `x = 7k+3` and `x = 3 \\pmod 7`; None when there is no list of expressions."""
    modulus = _MODULUS.search(text)
    text = text[: modulus.start()].strip() if modulus else text
    if level > MAX_DEPTH or not text:
        return None
    plain = read_answer(text, level + 1)
    sides = plain.sides if isinstance(plain, Relation) and plain.is_equation else ()
    named = len(sides) == 2 and _VARIABLE.fullmatch(sides[0])
    value = read_answer(sides[1], level + 1) if named else plain
    items = value.items if isinstance(value, Seq) and value.kind in ("", "{}") else (value,)
    terms: list[str] = []
    unknown = sides[0] if named else ""
    for item in items:
        if isinstance(item, Relation) and item.is_equation and len(item.sides) == 2:
            unknown, item = item.sides[0], read_answer(item.sides[1], level + 1)
        parts = item.items if isinstance(item, Seq) and item.kind == "" else (item,)
        for part in parts:
            if not isinstance(part, Quantity) or part.unit:
                return None
            terms.append(rf"({part.text})\degree" if part.degree else part.text)
    if modulus:
        terms = [f"({term})+{modulus[1]}*k" for term in terms]
    return Family(tuple(terms), unknown, plain)


def _without_condition(text: str) -> tuple[str, bool]:
    """Return an answer without the condition on its parameter, and whether that is an integer.

    Every integer parameter is k.
    """
    if (constant := _CONSTANT.search(text)) and text[: constant.start()].strip():
        text, letter = text[: constant.start()], constant[1] or constant[2] or constant[3]
        renamed = re.sub(
            r"\\?[A-Za-z]+",
            lambda m: m[0] if m[0][0] == "\\" or len(m[0]) > 3 else m[0].replace(letter, "c"),
            text,
        )
        return renamed.strip(" ,;("), False
    m = _CONDITION.search(text)
    if m is None or not text[: m.start()].strip():
        return text, False
    text = text[: m.start()].strip()
    integer = _INTEGER.search(m[0])
    letter = (integer[1] or integer[2] or integer[3]) if integer else "k"
    if letter != "k" and not re.search(r"(?<![A-Za-z\\])k(?![A-Za-z])", text):
        text = re.sub(rf"(?<![A-Za-z\\]){letter}(?![A-Za-z])", "k", text)
    return text, bool(integer) and re.search(r"(?<![A-Za-z\\])k(?![A-Za-z])", text) is not None


def _is_set(text: str) -> bool:
    """Return whether `x \\in ` applies to a whole text: not to `\\mathbb{R}, x \\ne 3`."""
    return bool(text) and not any(_RELATION.search(i) for i in split_top(text, COMMA)[0][1:])


# -- phrases ----------------------------------------------------------------------


def _read_phrase(text: str) -> Value | None:
    """Read "all reals except 2", "no solution", "infinity" and numbers in words."""
    plain = plain_words(text)
    found = read_real_phrase(text)
    if found is not None:
        return read_answer(found, MAX_DEPTH) if isinstance(found, str) else found
    if plain == "all real numbers":
        return RealSet((WHOLE_LINE,))
    if text in (r"\emptyset", r"\{\}") or plain == "no solution":
        return Words("no solution")
    if plain in ("infinity", "-infinity"):
        return Quantity(plain.replace("infinity", r"\infty"))
    number = read_number_words(text)
    return _read_spelled_quantity(text) if number is None else Quantity(number)


def _read_spelled_quantity(text: str) -> Quantity | None:
    """Read `two and a half hours` and `twenty-five %`; None for a number in one word."""
    if text.endswith("%") and (number := read_number_words(text[:-1])) is not None:
        return Quantity(number, percent=True)
    plain = strip_marks(text)
    part = re.fullmatch(r"\s*(.+?)\s+of\s+an?\s+(\w+)\s*", plain)
    if part and (number := read_number_words(part[1])) is not None:
        return Quantity(number, unit_name(part[2]))
    words = plain.split()
    if "and" not in words or not words[-1].isalpha():
        return None
    number = read_number_words(" ".join(words[:-1]))
    return None if number is None else Quantity(number, unit_name(words[-1]))


def _read_named_point(text: str) -> Relation | None:
    """Read `A(1,2)` as A = (1,2)."""
    m = re.match(r"([A-Z])\s?(?=\()", text)
    whole = whole_bracket(text[m.end() :]) if m else None
    if m is None or whole is None or not 2 <= len(split_items(whole[1], enclosed=True)) <= 3:
        return None
    return Relation((m[1], text[m.end() :]), ("=",))


# -- lists -------------------------------------------------------------------------


def _read_items(parts: Iterable[str], level: int) -> tuple[Value, ...]:
    """Read each part; the items of a part that is itself a plain list are spliced in.

    Points written as assignments stay apart: `x=1,y=2; x=3,y=4`.
    """
    values = _with_repeated_sign([read_answer(part, level + 1) for part in parts])
    names = {_assigned_names(v) for v in values}
    if len(values) > 1 and len(names) == 1 and all(names):
        return tuple(values)
    items: list[Value] = []
    for value in values:
        if isinstance(value, Seq) and value.kind == "":
            items += value.items
        else:
            items.append(value)
    return tuple(items)


def _with_repeated_sign(values: list[Value]) -> list[Value]:
    """Return `x \\ne 0, x \\ne 1` for `x \\ne 0, 1`."""
    first = values[0] if values else None
    if not isinstance(first, Relation) or first.ops != ("!=",):
        return values
    return [
        Relation((first.sides[0], v.text), ("!=",)) if isinstance(v, Quantity) else v
        for v in values
    ]


def _assigned_names(value: Value) -> frozenset[str]:
    """Return {"x", "y"} for `x=1, y=2`; an empty set for anything else."""
    items = value.items if isinstance(value, Seq) and value.kind == "" else ()
    names = {i.sides[0] for i in items if isinstance(i, Relation) and i.is_equation}
    one_each = len(items) > 1 and len(names) == len(items)
    return frozenset(names) if one_each and all(map(_VARIABLE.fullmatch, names)) else frozenset()


def _read_joined(text: str, level: int) -> Value | None:
    """Read `1 and 2` and `x<1 or x>3`."""
    parts, separators = split_top(text, _AND_OR)
    parts = [strip_ends(p) for p in parts]
    if len(parts) < 2 or not all(parts):
        return None
    items = _read_items(parts, level)
    if all(isinstance(i, Words) for i in items):
        return None
    by_or, by_and = (any(word in s for s in separators) for word in ("or", "and"))
    return Seq("", items, by_or, joined_by_and=by_and)


def _read_bracketed(text: str, level: int) -> Value | None:
    whole = whole_bracket(text)
    if whole is None:
        return None
    opener, inner, _ = whole
    if opener in (r"\{", "{"):
        condition = re.match(r"([^|:]{1,60}?)(?:\||:|\\mid)\s*(.+)$", inner)
        if condition and _INTEGER.match(condition[2]):  # { k\pi | k \in \mathbb{Z} }
            return read_answer(f"{condition[1]}, {condition[2]}", level + 1)
        if (
            condition and _RELATION.search(inner) and _BUILDER_HEAD.fullmatch(condition[1].strip())
        ):  # { x | x > 2 }
            name = re.match(r"\s*([a-wyz])(?![A-Za-z])", inner)
            text = condition[2]
            if name:  # any letter may be bound: x stands for all
                text = re.sub(rf"(?<![A-Za-z\\]){name[1]}(?![A-Za-z])", "x", text)
            return read_answer(text, level + 1)
    items = split_items(inner, enclosed=opener != "{")
    if opener in ("(", "{") and len(items) < 2:
        return read_answer(inner, level + 1) if inner and opener == "{" else None
    if not items:
        return Words("no solution") if opener == r"\{" else None
    if len(items) == 1 and opener in ("[", "<"):
        return read_answer(inner, level + 1)
    closer = whole[2]
    kind = _KINDS[opener] if (opener, closer) not in (("(", "]"), ("[", ")")) else opener + closer
    return Seq(kind, _read_items(items, level))


def _read_list(text: str, level: int) -> Seq | None:
    items = split_items(text)
    if len(items) < 2:
        return None
    return Seq("", _read_items(items, level))


def _read_signed_tuple(text: str, level: int) -> Seq | None:
    """Read `(\\pm 1, 2)` as the two points."""
    whole = whole_bracket(text) if "\\pm" in text else None
    one_sign = len(_PM.findall(text)) == 1 or "\\mp" in text
    return _read_plus_minus(text, level) if whole and whole[0] == "(" and one_sign else None


def _read_scaled_tuple(text: str, level: int) -> Seq | None:
    """Read `\\frac{1}{2}(1,2,3)` as a tuple."""
    text = _DIVIDED_TUPLE.sub(r"\\frac{1}{\2}\1", text)
    m = _SCALED_TUPLE.fullmatch(text)
    whole = whole_bracket(m["tuple"]) if m else None
    items = split_items(whole[1], enclosed=True) if whole else []
    if m is None or len(items) < 2:
        return None
    return Seq("()", tuple(Quantity(f"({m['factor']})({item})") for item in items))


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


def _without_gloss(text: str) -> str:
    """Return `8` for `8 (eight)` and for `eight (8)`."""
    m = _GLOSS.fullmatch(text)
    if m is None or {read_number_words(m[1]) or m[1], read_number_words(m[2]) or m[2]} != {
        digits := m[1] if m[1].isdigit() else m[2]
    }:
        return text
    return digits


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
