"""Cleaned answer text → its structure: lists, tuples, sets, intervals, relations, units.

Text is split only; nothing is evaluated and SymPy is not needed.

    "x \\in [0,1)\\cup\\{3\\}"   Region([Piece 0 closed … 1 open], [3])
    "(1,2)"                     Seq "()", also an open interval to whoever needs one
    "a=4,-8"                    Seq ""  of Relation, Leaf
    "15 \\text{ cm}^2"          Leaf "15", unit "cm^2"
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction

from checkers.math import tables
from checkers.math.clean import TEXT_CLOSE, TEXT_OPEN, strip_ends, words


class TooLong(ValueError):
    """An answer with more parts than the reader takes."""


@dataclass(frozen=True)
class Leaf:
    """One expression, with what was said about its unit."""

    text: str
    unit: str = ""
    percent: bool = False
    degree: bool = False


@dataclass(frozen=True)
class Words:
    """A text answer, lower case, one spelling for one meaning."""

    text: str


@dataclass(frozen=True)
class Seq:
    """Several answers. `kind`: "" a plain list, "()" tuple, "[]", "{}" set, "<>" vector."""

    kind: str
    items: tuple[Value, ...]
    joined_by_or: bool = False


@dataclass(frozen=True)
class Piece:
    """An interval, its ends as text."""

    low: str
    high: str
    low_open: bool
    high_open: bool


@dataclass(frozen=True)
class Region:
    """A union of intervals and points, less some points."""

    pieces: tuple[Piece, ...]
    points: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


@dataclass(frozen=True)
class Relation:
    """`sides[0] ops[0] sides[1] …`; ops: < > <= >= = !="""

    sides: tuple[str, ...]
    ops: tuple[str, ...]

    @property
    def is_equation(self) -> bool:
        return all(op == "=" for op in self.ops)


@dataclass(frozen=True)
class Ratio:
    parts: tuple[str, ...]


@dataclass(frozen=True)
class Exact:
    """A time of day or a date: equal when the fields are."""

    kind: str
    fields: tuple[int | str, ...] = field(default=())


Value = Leaf | Words | Seq | Region | Relation | Ratio | Exact

MOST_ITEMS = 500  # of a list; longer ones are compared as text
_OPEN, _CLOSE = "([{", ")]}"
_THOUSANDS = re.compile(r"[-+]?[＄€£¥₹]?\s?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)")
_OPS = re.compile(r"\\(?:le|ge|ne|approx)(?![A-Za-z])|[<>=]")
_OP_NAMES = {r"\le": "<=", r"\ge": ">=", r"\ne": "!=", r"\approx": "=", "<": "<", ">": ">", "=": "="}
_AND_OR = re.compile(r"(?<![A-Za-z\\])(?:and|or)(?![A-Za-z])|\\text\{\s*(?:and|or)\s*\}|&(?!\w)")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?\s*([ap])?\.?\s*(?:m\.?)?", re.I)
_DATE = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})|(\d{1,2})/(\d{1,2})/(\d{4})")
_MEMBER = re.compile(r"^[A-Za-z](?:_\{?\w+\}?)?\s*\\in(?![A-Za-z])\s*|^[\w,() ]{1,12}\\in(?![A-Za-z])\s*")
_CONDITION = re.compile(
    rf"[,;(\s{TEXT_OPEN}]*(?:(?:where|for|with|and)\s*{TEXT_CLOSE}?\s*)?(?:any|all|some|every)?\s*"
    rf"(?:[a-z]\s*\\in\s*\\mathbb\{{[ZNQRC]\}}(?:\^?[+*])?"
    rf"|(?:integers?\s+[a-z]|[a-z]\s*{TEXT_OPEN}?\s*(?:is\s+)?(?:an\s+|any\s+)?integers?))"
    rf"\s*{TEXT_CLOSE}?\)?$"
)
_HEDGE = re.compile(
    r"^(?:approximately|approx\.?|about|around|roughly|exactly|only|just|option|choice|answer|"
    r"(?:the\s+)?answer\s+is|equals|total(?:\s+of)?)\s*:?\s+(?=\S)",
    re.I,
)


def depth_steps(text: str) -> list[int]:
    """Bracket depth before each character; any closer closes any opener."""
    depth, out = 0, []
    for i, c in enumerate(text):
        if c in _CLOSE and depth > 0:
            depth -= 1
        out.append(depth)
        if c in _OPEN:
            depth += 1
        elif text.startswith((r"\langle", r"\begin"), i):
            depth += 1
        elif text.startswith((r"\rangle", r"\end"), i):
            depth = max(0, depth - 1)
    return out


def split_top(text: str, pattern: re.Pattern[str]) -> tuple[list[str], list[str]]:
    """Parts and separators of `text` at the matches of `pattern` outside all brackets."""
    depth = depth_steps(text)
    parts, seps, start = [], [], 0
    for m in pattern.finditer(text):
        if depth[m.start()] == 0 and m.start() >= start:
            parts.append(text[start : m.start()])
            seps.append(m[0])
            start = m.end()
    parts.append(text[start:])
    return [p.strip() for p in parts], seps


_COMMA = re.compile(r"[,;]")
_SPACED_COMMA = re.compile(r"[,;](?!\d{3}(?!\d))|,(?=\d{3}(?!\d))(?<!\d,)")
_SEMICOLON = re.compile(r";")


def split_items(text: str) -> list[str]:
    """Items of a list; commas that group thousands do not split."""
    if ";" in text:
        parts, _ = split_top(text, _SEMICOLON)
        if len(parts) > 1:
            return _checked(parts)
    if _THOUSANDS.fullmatch(text):
        return [text]
    spaced = re.search(r"[^,],\s", text) is not None
    parts, _ = split_top(text, _SPACED_COMMA if spaced else _COMMA)
    return _checked(parts)


def _checked(parts: list[str]) -> list[str]:
    if len(parts) > MOST_ITEMS:
        raise TooLong(f"a list of more than {MOST_ITEMS} items")
    return [p for p in parts if p]


def _whole_bracket(text: str) -> tuple[str, str, str] | None:
    """(opener, contents, closer) when one pair of brackets holds the whole text."""
    for opener, closers in (
        (r"\{", (r"\}",)),
        (r"\langle", (r"\rangle",)),
        ("(", (")", "]")),
        ("[", ("]", ")")),
        ("{", ("}",)),
        ("<", (">",)),
    ):
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


def read(text: str, level: int = 0) -> Value:
    """The structure of a cleaned answer."""
    text = _HEDGE.sub("", strip_ends(text))
    text = _MEMBER.sub("", _CONDITION.sub("", text))
    if level > 6 or not text:
        return Words(words(text))
    return (
        _region(text)
        or _exact(text)
        or _named(text)
        or _joined(text, level)
        or _bracketed(text, level)
        or _listed(text, level)
        or _plus_minus(text, level)
        or _relation(text)
        or _ratio(text)
        or leaf(text)
    )


def _exact(text: str) -> Value | None:
    m = _CLOCK.fullmatch(text)
    if m and int(m[1]) < 25 and int(m[2]) < 60:
        return Exact("clock", (int(m[1]), int(m[2]), int(m[3] or 0), (m[4] or "").lower()))
    m = _DATE.fullmatch(text)
    if m and m[1]:
        return Exact("date", (int(m[1]), int(m[2]), int(m[3])))
    if m:
        return Exact("date?", (int(m[4]), int(m[5]), int(m[6])))
    return None


_REAL_LINE = re.compile(r"\\mathbb\{R\}|\\mathbf\{R\}|R(?=\s*\\setminus|\s*-\s*\\\{)")


def _named(text: str) -> Value | None:
    plain = words(text)
    if plain == "all real numbers":
        return Region((Piece(r"-\infty", r"\infty", True, True),))
    if text in (r"\emptyset", r"\{\}") or plain == "no solution":
        return Words("no solution")
    if plain in ("infinity",):
        return Leaf(r"\infty")
    return None


def _region(text: str) -> Region | None:
    """A union or difference of sets written with brackets; None when it is none."""
    if not re.search(r"\\cup|\\setminus|(?:\)|\]|\bU\b)\s*U\s*(?=[(\[])|\\mathbb\{R\}", text):
        mixed = _whole_bracket(text)
        if mixed and mixed[0] + mixed[2] in ("(]", "[)"):
            piece = _piece(text)
            return Region((piece,)) if piece else None
        if mixed and mixed[0] + mixed[2] in ("()", "[]") and r"\infty" in text:
            piece = _piece(text)
            return Region((piece,)) if piece else None
        return None
    body, *minus = split_top(text, re.compile(r"\\setminus|(?<=\})\s*-\s*(?=\\\{)|\\(?=\\\{)"))[0]
    without: list[str] = []
    for part in minus:
        inner = _whole_bracket(part)
        if inner is None or inner[0] not in (r"\{", "{"):
            return None
        without += split_items(inner[1])
    pieces: list[Piece] = []
    points: list[str] = []
    for part in split_top(body, re.compile(r"\\cup|(?<=[)\]])\s*U\s*(?=[(\[])"))[0]:
        if _REAL_LINE.fullmatch(part):
            pieces.append(Piece(r"-\infty", r"\infty", True, True))
            continue
        whole = _whole_bracket(part)
        if whole and whole[0] in (r"\{", "{"):
            points += split_items(whole[1])
            continue
        piece = _piece(part)
        if piece is None:
            return None
        pieces.append(piece)
    return Region(tuple(pieces), tuple(points), tuple(without))


def _piece(text: str) -> Piece | None:
    whole = _whole_bracket(text)
    if whole is None or whole[0] not in "([":
        return None
    ends = split_items(whole[1])
    if len(ends) != 2:
        return None
    return Piece(ends[0], ends[1], whole[0] == "(", whole[2] == ")")


def as_piece(value: Value) -> Piece | None:
    """The interval that "(a,b)" or "[a,b]" also is."""
    if isinstance(value, Seq) and value.kind in ("()", "[]") and len(value.items) == 2:
        low, high = value.items
        if isinstance(low, Leaf) and isinstance(high, Leaf):
            is_open = value.kind == "()"
            return Piece(low.text, high.text, is_open, is_open)
    return None


def _joined(text: str, level: int) -> Value | None:
    """"1 and 2", "x<1 or x>3"."""
    parts, seps = split_top(text, _AND_OR)
    parts = [strip_ends(p) for p in parts]
    if len(parts) < 2 or not all(parts):
        return None
    items: list[Value] = []
    for part in parts:
        value = read(part, level + 1)
        if isinstance(value, Seq) and value.kind == "":
            items += value.items
        else:
            items.append(value)
    if all(isinstance(i, Words) for i in items):
        return None
    return Seq("", tuple(items), any("or" in s for s in seps))


_KINDS = {"(": "()", "[": "[]", r"\{": "{}", "{": "{}", r"\langle": "<>", "<": "<>"}


def _bracketed(text: str, level: int) -> Value | None:
    whole = _whole_bracket(text)
    if whole is None:
        return None
    opener, inner, _ = whole
    if opener == r"\{":
        built = re.match(r"[^|:]{1,40}?(?:\||:|\\mid)\s*(.+)$", inner)
        if built and _OPS.search(inner):
            return read(built[1], level + 1)
    items = split_items(inner)
    if opener in ("(", "{") and len(items) < 2:
        return read(inner, level + 1) if inner and opener == "{" else None
    if not items:
        return Words("no solution") if opener == r"\{" else None
    if len(items) == 1 and opener in ("[", "<"):
        return read(inner, level + 1)
    values: list[Value] = []
    for item in items:
        value = read(item, level + 1)
        if isinstance(value, Seq) and value.kind == "":
            values += value.items
        else:
            values.append(value)
    return Seq(_KINDS[opener], tuple(values))


def _listed(text: str, level: int) -> Value | None:
    items = split_items(text)
    if len(items) < 2:
        return None
    values: list[Value] = []
    for item in items:
        value = read(item, level + 1)
        if isinstance(value, Seq) and value.kind == "":
            values += value.items
        else:
            values.append(value)
    if all(isinstance(v, Words) for v in values) and len(values) < 2:
        return None
    return Seq("", tuple(values))


def _plus_minus(text: str, level: int) -> Value | None:
    if not re.search(r"\\[pm][mp](?![A-Za-z])|\+/-|\+-", text):
        return None
    if len(re.findall(r"\\[pm][mp](?![A-Za-z])", text)) > 4:
        return None
    text = re.sub(r"\+/-|\+-", r"\\pm ", text)
    upper = re.sub(r"\\mp(?![A-Za-z])", "-", re.sub(r"\\pm(?![A-Za-z])", "+", text))
    lower = re.sub(r"\\mp(?![A-Za-z])", "+", re.sub(r"\\pm(?![A-Za-z])", "-", text))
    return Seq("", (read(upper, level + 1), read(lower, level + 1)))


def _relation(text: str) -> Relation | None:
    sides, ops = split_top(text, _OPS)
    if not ops or not all(sides):
        return None
    return Relation(tuple(sides), tuple(_OP_NAMES[o] for o in ops))


def _ratio(text: str) -> Ratio | None:
    parts = [p.strip() for p in text.split(":")]
    if len(parts) == 1:
        parts = [p.strip() for p in re.split(r"(?<=\d)\s+to\s+(?=\d)", text)]
    if 2 <= len(parts) <= 6 and all(re.fullmatch(r"[-\w.\\{}/()+*^ ]{1,40}", p) for p in parts):
        return Ratio(tuple(parts))
    return None


# -- one expression and its unit ------------------------------------------------
_MARKED_TAIL = re.compile(
    rf"^(?P<value>[^{TEXT_OPEN}]*[^\s{TEXT_OPEN}])\s*(?P<unit>{TEXT_OPEN}.*)$", re.S
)
_BARE_TAIL = re.compile(
    r"^(?P<value>.*[\d)}\]%])\s*(?P<unit>[A-Za-z]+\.?(?:[\s/.-]+[A-Za-z]+\.?)*(?:\s*\^\s*\{?-?\d\}?)?)$",
    re.S,
)
_MONEY = "".join(tables.CURRENCY)
_MONEY_BEFORE = re.compile(rf"^([-+]?)\s*(?:US|USD|AUD|CAD)?\s*([{_MONEY}])\s*(?=[-\d.(\\])")
_MONEY_AFTER = re.compile(rf"^(.*[\d)}}])\s*([{_MONEY}])$", re.S)
_TEMPERATURE = re.compile(rf"\\degree\s*{TEXT_OPEN}?\s*([CF])\s*{TEXT_CLOSE}?$")


_GLUED_FUNCTION = re.compile(r"-?(?:sin|cos|tan|cot|sec|csc|ln|log) ?(?:pi|[a-z])")


def leaf(text: str) -> Value:
    """One expression without its unit, or words when it is a text."""
    unit = ""
    if m := _MONEY_BEFORE.match(text):
        text, unit = m[1] + text[m.end() :], tables.CURRENCY[m[2]]
    elif m := _MONEY_AFTER.match(text):
        text, unit = m[1], tables.CURRENCY[m[2]]
    elif m := _TEMPERATURE.search(text):
        text, unit = text[: m.start()], {"C": "celsius", "F": "fahrenheit"}[m[1]]
    text, scale = _cut_scale(text)
    text, tail = _cut_unit(text)
    unit = _merge_units(unit, tail)
    number = number_words(text)
    if number is not None:
        return Leaf(number, unit)
    if not re.search(r"[\d\\(+*/^=_]", text):
        plain = words(text)
        spelled, spelled_unit = _spelled_with_unit(plain)
        if spelled is not None:
            return Leaf(spelled, spelled_unit)
        if _GLUED_FUNCTION.fullmatch(plain):
            return Leaf(plain, unit)
        if len(re.sub(r"[^A-Za-z]", "", plain)) > 1 and plain not in ("pi", "-x") or not plain:
            if not re.fullmatch(r"-?[a-z]{2,3}", text) and not re.search(r"[-+]", plain):
                return Words(plain)
    if TEXT_OPEN in text:
        inner = text.replace(TEXT_OPEN, " ").replace(TEXT_CLOSE, " ").strip()
        if not re.search(r"\d|\\", inner):
            return Words(words(inner))
        text = inner
    text = text.strip()
    percent = text.endswith("%")
    if percent:
        text = text[:-1].strip()
    degree = bool(re.search(r"\\degree\s*$", text))
    if degree:
        text = re.sub(r"\\degree\s*$", "", text).strip()
    if degree and re.search(r"\\(?:sin|cos|tan|cot|sec|csc)|^(?:sin|cos|tan|cot|sec|csc)", text):
        text, degree = text + r"\degree", False
    return Leaf(f"({text})*{scale}" if scale != 1 else text, unit, percent, degree)


_SCALED = re.compile(
    rf"^(.*[\d)}}])\s*{TEXT_OPEN}?\s*({'|'.join(tables.SCALE_WORDS)})(?![A-Za-z])(.*)$", re.I | re.S
)


def _cut_scale(text: str) -> tuple[str, int]:
    """`1.5 million dollars` → (`1.5 dollars`, 10**6)."""
    m = _SCALED.match(text)
    if m is None:
        return text, 1
    rest = m[3].replace(TEXT_CLOSE, " ").replace(TEXT_OPEN, " ")
    return (m[1] + rest).strip(), tables.SCALE_WORDS[m[2].lower()]


def _cut_unit(text: str) -> tuple[str, str]:
    m = _MARKED_TAIL.match(text)
    if m and re.search(r"\d|\\|^[A-Za-z]$", m["value"]) and not m["value"].rstrip().endswith(
        ("+", "-", "*", "/", "^", "_", "(", "{")
    ):
        return m["value"].strip(), unit_name(m["unit"])
    m = _BARE_TAIL.match(text)
    if m and _is_unit(m["unit"]) and not m["value"].rstrip().endswith("\\"):
        return m["value"].strip(), unit_name(m["unit"])
    return text, ""


def _is_unit(tail: str) -> bool:
    first = re.match(r"[A-Za-z]+", tail)
    if first is None:
        return False
    name = first[0].lower()
    if name == "sec" and tail.strip(" .").lower() == "sec":
        return True
    if name in tables.FUNCTIONS and name != "min" or name in ("pi", "mod", "choose", "to"):
        return False
    if any(name.startswith(f) and len(name) - len(f) <= 1 for f in tables.FUNCTIONS if f not in ("min", "sec", "ln", "lg")):
        return False
    if len(name) == 1:
        return bool(re.match(r"[A-Za-z]\s*/\s*[A-Za-z]+", tail)) and name in tables.UNITS
    return name in tables.UNITS or name in tables.NEUTRAL_UNITS or len(name) >= 4 or (
        len(name) == 3 and " " in tail
    ) or name in tables.SQUARE_WORDS | tables.CUBIC_WORDS


def _merge_units(first: str, second: str) -> str:
    if first and second and tables.UNITS.get(second, ("",))[0] == first:
        return first
    return first or second


def unit_name(text: str) -> str:
    """One spelling of a unit: "square centimeters", "cm²" and "sq cm" are `cm^2`."""
    text = text.replace(TEXT_OPEN, " ").replace(TEXT_CLOSE, " ").lower()
    text = re.sub(r"[\\{}$.,()]", " ", text)
    text = re.sub(r"\bper\b", "/", text)
    power = ""
    tokens = []
    for token in re.findall(r"[a-z_]+(?:\s*\^\s*-?\d)?|/", text):
        name, _, exponent = token.replace(" ", "").partition("^")
        if name in tables.SQUARE_WORDS:
            power = "^2"
        elif name in tables.CUBIC_WORDS:
            power = "^3"
        elif name not in ("a", "an", "the", "of", "cdot"):
            tokens.append(_singular(name) + (f"^{exponent}" if exponent and exponent != "1" else ""))
    if not tokens:
        return ""
    if power and "^" not in tokens[0]:
        tokens[0] += power
    name = " ".join(tokens).replace(" / ", "/").replace("/ ", "/")
    return {"mi/h": "mph", "km/h": "kph"}.get(name, name)


_CANONICAL: dict[tuple[str, str], str] = {}
for _name, _key in tables.UNITS.items():
    _CANONICAL.setdefault(_key, _name)


def _singular(name: str) -> str:
    if name in tables.UNITS:
        return _CANONICAL[tables.UNITS[name]]
    return name[:-1] if len(name) > 3 and name.endswith("s") and not name.endswith("ss") else name


def unit_scale(unit: str) -> tuple[str, Fraction] | None:
    """(dimension, factor) of a simple unit or power of one; None when it has none."""
    name, _, exponent = unit.partition("^")
    if name not in tables.UNITS or (exponent and not exponent.isdigit()):
        return None
    dimension, factor = tables.UNITS[name]
    n = int(exponent or 1)
    return f"{dimension}^{n}", Fraction(factor) ** n


def number_words(text: str) -> str | None:
    """"forty-two", "two thirds", "minus one" as an expression; None when it is none."""
    tokens = re.findall(r"[a-z]+", text.lower())
    if not tokens or re.search(r"[^A-Za-z\s,.-]", text.replace(TEXT_OPEN, "").replace(TEXT_CLOSE, "")):
        return None
    sign = ""
    if tokens[0] in ("minus", "negative"):
        sign, tokens = "-", tokens[1:]
    if tokens and tokens[-1] in tables.FRACTION_WORDS:
        low = tables.FRACTION_WORDS[tokens[-1]]
        top = _cardinal([t for t in tokens[:-1] if t != "a"]) if tokens[:-1] not in ([], ["a"]) else 1
        return None if top is None else rf"{sign}\frac{{{top}}}{{{low}}}"
    value = _cardinal(tokens)
    return None if value is None else f"{sign}{value}"


def _cardinal(tokens: list[str]) -> int | None:
    total, current, seen = 0, 0, False
    for token in tokens:
        if token in tables.NUMBER_WORDS:
            current += tables.NUMBER_WORDS[token]
        elif token == "hundred":
            current = max(current, 1) * 100
        elif token in tables.SCALE_WORDS:
            total += max(current, 1) * tables.SCALE_WORDS[token]
            current = 0
        elif token == "and" and seen:
            continue
        else:
            return None
        seen = True
    return total + current if seen else None


def _spelled_with_unit(plain: str) -> tuple[str | None, str]:
    first, _, rest = plain.partition(" ")
    if rest and (number := number_words(first)) is not None:
        return number, unit_name(rest)
    return None, ""
