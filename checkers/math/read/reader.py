"""Read a normalised answer into a structure of values.py.

The reader only splits text: it evaluates nothing and does not need SymPy.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from gradebox.checkers.math.read.normalise import strip_ends
from gradebox.checkers.math.read.split import (
    BRACKETS,
    COMMA,
    WHOLE_LINE,
    read_real_set,
    split_items,
    split_top,
    whole_bracket,
    without_condition,
    without_lead,
)
from gradebox.checkers.math.read.tables import (
    LETTER,
    TEXT_CLOSE,
    TEXT_OPEN,
    plain_words,
    read_number_words,
    strip_marks,
)
from gradebox.checkers.math.read.units import add_units, split_unit
from gradebox.checkers.math.read.values import (
    Quantity,
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
_WORD = re.compile(r"(?<![A-Za-z\\])[A-Za-z]?[a-z]{2}")
_PM = re.compile(r"\\(?:pm|mp)(?![A-Za-z])")
_AND_OR = re.compile(r"(?<![A-Za-z\\])(?:and|or)(?![A-Za-z])|\\text\{\s*(?:and|or)\s*\}|&(?!\w)")
_MEMBER = re.compile(  # `x \in `
    rf"^(?P<name>{LETTER}\s*|\\[a-z]+\s*|[\w,() ]{{1,12}})\\in(?![A-Za-z])\s*"
)
_MODULUS = re.compile(r"\s*\\pmod\s?(\d{1,400})$")
_RESIDUES = re.compile(r"\s*-?\d{1,400}(?:,\s?-?\d{1,400}){0,20}\s*")

_BUILDER_HEAD = re.compile(  # of `\{x \in \mathbb{R} | …\}`, not of `\{x^2 | …\}`
    rf"\(?\s*{LETTER}(?:\s*,\s*{LETTER})*\s*\)?(?:\s*\\in.+)?"
)
_KINDS = {opener: kind for opener, _, kind in BRACKETS}


def read_answer(text: str, level: int = 0) -> Value:
    """Return the structure of a normalised answer."""
    text = without_lead(text)
    total = add_units(text)
    if total is not None:
        return Quantity(*total)
    text = _with_modulus(without_condition(text))
    member = _MEMBER.match(text)
    if member and _is_set(text[member.end() :]):
        value = read_answer(text[member.end() :], level + 1)
        if isinstance(value, Seq | RealSet) and not value.unknown:
            return replace(value, unknown=member["name"].strip())
        return value
    if level > MAX_DEPTH or not text:
        return Words(plain_words(text))
    return (
        read_real_set(text)
        or _read_clock(text)
        or _read_phrase(text)
        or _read_joined(text, level)
        or _read_bracketed(text, level)
        or _read_list(text, level)
        or _read_rounded(text, level)
        or _read_plus_minus(text, level)
        or _read_relation(text)
        or _read_ratio(text)
        or split_unit(text)
    )


def _with_modulus(text: str) -> str:
    """Return `x = 3` in `mod 7`, as a unit, for `x = 10 mod 7`; and 3 for `2^{38} = 3 mod 11`."""
    m = _MODULUS.search(text)
    if m is None or not int(m[1]):
        return text
    name, equals, residue = text[: m.start()].rpartition("=")
    if _RESIDUES.fullmatch(residue):
        residue = re.sub(r"-?\d+", lambda n: str(int(n[0]) % int(m[1])), residue)
    named = f"{name}{equals} " if re.search("[A-Za-z]", name) else ""
    return f"{named}{residue.strip()} {TEXT_OPEN}mod {m[1]}{TEXT_CLOSE}"


def _is_set(text: str) -> bool:
    """Return whether `x \\in ` applies to a whole text: not to `\\mathbb{R}, x \\ne 3`."""
    return bool(text) and not any(_RELATION.search(i) for i in split_top(text, COMMA)[0][1:])


# -- phrases ----------------------------------------------------------------------


def _read_phrase(text: str) -> Value | None:
    """Read "all reals except 2", "no solution", "infinity" and numbers in words."""
    plain = plain_words(text)
    if plain == "all real numbers":
        return RealSet((WHOLE_LINE,))
    if text in (r"\emptyset", r"\{\}") or plain == "no solution":
        return Words("no solution")
    if plain in ("infinity", "-infinity"):
        return Quantity(plain.replace("infinity", r"\infty"))
    number = read_number_words(text)
    return None if number is None else Quantity(number)


# -- lists -------------------------------------------------------------------------


def _read_items(parts: Iterable[str], level: int) -> tuple[Value, ...]:
    """Read each part; the items of a part that is itself a plain list are spliced in.

    Points written as assignments stay apart: `x=1,y=2; x=3,y=4`.
    """
    values = [read_answer(part, level + 1) for part in parts]
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
    if opener == "(" and len(_PM.findall(text)) == 1:  # `(\pm 1, 2)` is two points
        return _read_plus_minus(text, level)
    if opener in (r"\{", "{"):
        condition = re.match(r"([^|:]{1,60}?)(?:\||:|\\mid)\s*(.+)$", inner)
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
    sets = all(i.startswith(r"\{") and _RELATION.search(i) for i in items)  # a domain, a range
    return Seq("()" if sets else "", _read_items(items, level))


def _read_plus_minus(text: str, level: int) -> Seq | None:
    """Read `3 \\pm 2` as the two values, `\\pm a \\pm b` as four."""
    text = re.sub(r"\+/-|\+-", r"\\pm ", text)
    if not 0 < len(_PM.findall(text)) <= 4:
        return None
    last = text[text.rfind("=") + 1 :]
    if "=" in text and whole_bracket(last.strip()) and not _PM.search(last):
        return None  # `m \\pm s = (1,3)`
    four = re.fullmatch(r"\s*\\pm(?![A-Za-z])[^()=,]*\\pm(?![A-Za-z])[^()=,]*", text)
    first = [_PM.sub(sign, text, count=1) for sign in "-+"] if four else [text]
    signs = (("-", "+"), ("+", "-"))  # of `\pm` and of `\mp`
    signed = [_PM.sub(pm, half.replace(r"\mp", mp)) for half in first for pm, mp in signs]
    return Seq("", tuple(read_answer(t, level + 1) for t in signed))


# -- one value -----------------------------------------------------------------------


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
    read = tuple(_RELATION_OPS[o] for o in ops)
    if (
        set(read) <= set("<>") | {"<=", ">="}
        and isinstance(last := split_unit(sides[-1]), Quantity)
        and last.unit
    ):
        sides[-1] = last.text  # `w \le 15` pounds
    return Relation(tuple(sides), read)


_CLOCK = re.compile(
    r"(?P<hour>1?\d)(?P<minute>:[0-5]\d)?\s?(?:o'?\s?clock\s?)?(?:(?P<half>[ap])\.?\s?m\.?)?"
)
_PART_OF_DAY = {" in the morning": " am", " in the afternoon": " pm", " in the evening": " pm"}


def _read_clock(text: str) -> Value | None:
    """Read `3:05 p.m.` and `noon` as `15:05 3:05` and `12:00`, 3:05 alone as a ratio."""
    text = " ".join(strip_marks(text).split()).replace(" : ", ":").lower()
    text = {"noon": "12 pm", "midnight": "12 am"}.get(text, text)
    word, o_clock, _ = text.partition(" o'clock")
    text = (read_number_words(word) or word) + o_clock if o_clock else text
    for words, half in _PART_OF_DAY.items():
        text = text.replace(words, half)
    m = _CLOCK.fullmatch(text)
    if m is None or not (m["half"] or o_clock):
        return None
    hour, minute = int(m["hour"]), m["minute"] or ":00"
    if not m["half"]:
        return Quantity(f"{hour}{minute}")
    first = hour % 12 + 12 * (m["half"] == "p")
    return Words(" ".join(dict.fromkeys((f"{first}{minute}", f"{hour}{minute}"))))


def _read_ratio(text: str) -> Value | None:
    """Read `3:2` and `3 to 2` as a quotient, `1:2:3` as the tuple (1/3, 2/3)."""
    parts = [p.strip() for p in text.split(":")]
    if len(parts) == 1:
        parts = [p.strip() for p in re.split(r"(?<=\d)\s+to\s+(?=\d)", text)]
    if not 2 <= len(parts) <= 6 or any(map(_WORD.search, parts)):  # `men: 5`
        return None
    if not all(re.fullmatch(r"[-\w.\\{}/()+*^ ]{1,40}", p) for p in parts):
        return None
    *first, last = (p if p.isdigit() else f"({p})" for p in parts)
    quotients = tuple(Quantity(f"{part}:{last}") for part in first)
    return quotients[0] if len(quotients) == 1 else Seq("()", quotients)
