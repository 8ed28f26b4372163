"""Cleaned answer text → its structure (checkers.math.values).

Text is split only; nothing is evaluated and SymPy is not needed.
"""

from __future__ import annotations

import re

from checkers.math.clean import TEXT_CLOSE, TEXT_OPEN, strip_ends, words
from checkers.math.leaf import leaf
from checkers.math.moments import moment
from checkers.math.remarks import APPROX, DECIMAL, UNKNOWN, with_about
from checkers.math.units import compound, number_words
from checkers.math.values import (
    Leaf,
    Piece,
    Ratio,
    Region,
    Relation,
    Rounded,
    Seq,
    TooLong,
    Value,
    Words,
)

MOST_ITEMS = 500  # of a list; longer ones are compared as text
_OPEN, _CLOSE = "([{", ")]}"
_THOUSANDS = re.compile(r"[-+]?[＄€£¥₹]?\s?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)")
_OPS = re.compile(r"\\(?:le|ge|ne|approx)(?![A-Za-z])|[<>=]")
_OP_NAMES = {
    r"\le": "<=",
    r"\ge": ">=",
    r"\ne": "!=",
    r"\approx": "=",
    "<": "<",
    ">": ">",
    "=": "=",
}
_AND_OR = re.compile(r"(?<![A-Za-z\\])(?:and|or)(?![A-Za-z])|\\text\{\s*(?:and|or)\s*\}|&(?!\w)")
_MEMBER = re.compile(
    r"^[A-Za-z](?:_\{?\w+\}?)?\s*\\in(?![A-Za-z])\s*|^[\w,() ]{1,12}\\in(?![A-Za-z])\s*"
)
_CONDITION = re.compile(
    rf"[,;(\s{TEXT_OPEN}]{{0,8}}(?:(?:where|for|with|and)\s*{TEXT_CLOSE}?\s*)?(?:any|all|some|every)?\s*"
    rf"(?:[a-z]\s*\\in\s*\\mathbb\{{[ZNQRC]\}}(?:\^?[+*])?"
    rf"|(?:integers?\s+[a-z]|[a-z]\s*{TEXT_OPEN}?\s*(?:is\s+)?(?:an\s+|any\s+)?integers?))"
    rf"\s*{TEXT_CLOSE}?\)?$"
    rf"|(?:[,;(\s]|{TEXT_OPEN})\s*for\s+(?:all|any|every)\s*{TEXT_CLOSE}?\s*(?:real\s+(?:numbers?\s+)?)?[a-z]"
    rf"\s*{TEXT_CLOSE}?\)?$"
)
_HEDGE = re.compile(
    r"^(?:then|so|thus|hence|therefore|approximately|approx\.?|about|around|roughly|exactly|only|just|option|choice|answer|"
    r"(?:the\s+)?answer\s+is|equals|total(?:\s+of)?)\s*:?\s+(?=\S)|^(?:solution|result|ans)\s*:\s*(?=\S)",
    re.I,
)


_SIGN_WORD = re.compile(r"^(?:minus|negative) (?=[\d.\\＄]|infinity$)", re.I)


def depth_steps(text: str) -> list[int]:
    """Bracket depth before each character; any closer closes any opener."""
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
_COUNTED = re.compile(rf"{_THOUSANDS.pattern}\s*(?:[A-Za-z%\\{TEXT_OPEN}][^,;]*)?")
_SUM_OF_COUNTED = re.compile(  # `1,200 + 1,800 = 3,000`
    r"(?=.*(?:\+|\\times|\\cdot))"
    r"(?:[^\d,]*(?:\d{1,3}(?:,\d{3})+|\d+)(?![\d,]))+[^\d,]*"
)
_LEADING_ZERO = re.compile(r",0\d\d")


def split_items(text: str, enclosed: bool = False) -> list[str]:
    """Items of a list; commas that group thousands do not split (`2,400 apples`).

    In brackets they do, as `(100,200)` is a point, unless a group starts with 0.
    """
    if ";" in text:
        parts, _ = split_top(text, _SEMICOLON)
        if len(parts) > 1:
            return _checked(parts)
    if _COUNTED.fullmatch(text) and not (enclosed and not _LEADING_ZERO.search(text)):
        return [text]
    spaced = re.search(r"[^,],\s", text) or _SUM_OF_COUNTED.fullmatch(text)
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
    text = re.sub(r"\s*\((?:approx\.?|approximately|rounded)\)$", "", text)
    together = compound(text)
    if together is not None:
        return Leaf(*together)
    text = with_about(text)
    text = strip_ends(_SIGN_WORD.sub("-", text))
    text = _MEMBER.sub("", _CONDITION.sub("", text).strip() or text)
    if level > 6 or not text:
        return Words(words(text))
    return (
        _region(text)
        or moment(text)
        or _named(text)
        or _point(text)
        or _joined(text, level)
        or _bracketed(text, level)
        or _listed(text, level)
        or _rounded(text, level)
        or _plus_minus(text, level)
        or _relation(text)
        or _ratio(text)
        or leaf(text)
    )


_REAL_LINE = re.compile(r"\\mathbb\{R\}|\\mathbf\{R\}|R(?=\s*\\setminus|\s*-\s*\\\{)")


_EXCEPT = re.compile(
    r"\s*all\s+reals?(?:\s+numbers?)?(?:\s+[a-z])?\s+(?:except|but|other\s+than)(?:\s+for)?"
    r"\s+(?:[a-z]\s*=)?\s*([-\d\\][^=<>]*)$",
    re.I,
)


def _named(text: str) -> Value | None:
    plain = words(text)
    excepted = _EXCEPT.match(text.replace(TEXT_OPEN, " ").replace(TEXT_CLOSE, " "))
    if excepted:
        parts = split_top(excepted[1], _AND_OR)[0]
        points = tuple(p for part in parts for p in split_items(part))
        return Region((Piece(r"-\infty", r"\infty", True, True),), (), points)
    if plain == "all real numbers":
        return Region((Piece(r"-\infty", r"\infty", True, True),))
    if text in (r"\emptyset", r"\{\}") or plain == "no solution":
        return Words("no solution")
    if plain in ("infinity", "-infinity"):
        return Leaf(plain.replace("infinity", r"\infty"))
    spelled = number_words(text)
    if spelled is not None:
        return Leaf(spelled)
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
    less: list[Piece] = []
    for part in minus:
        inner = _whole_bracket(part)
        if inner is not None and inner[0] in (r"\{", "{"):
            without += split_items(inner[1])
        elif taken := _piece(part):
            less.append(taken)
        else:
            return None
    pieces: list[Piece] = []
    points: list[str] = []
    for part in split_top(body, re.compile(r"\\cup|(?<=[)\]])\s*U\s*(?=[(\[])"))[0]:
        if _REAL_LINE.fullmatch(part):
            pieces.append(Piece(r"-\infty", r"\infty", True, True))
            continue
        whole = _whole_bracket(part)
        if whole and whole[0] in (r"\{", "{"):
            if re.search(r"[<>=|:]|\\(?:le|ge|ne|in)(?![A-Za-z])", whole[1]):
                return None
            points += split_items(whole[1])
            continue
        piece = _piece(part)
        if piece is None:
            return None
        pieces.append(piece)
    return Region(tuple(pieces), tuple(points), tuple(without), tuple(less))


def _piece(text: str) -> Piece | None:
    whole = _whole_bracket(text)
    if whole is None or whole[0] not in "([":
        return None
    ends = split_items(whole[1], enclosed=True)
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


def _point(text: str) -> Relation | None:
    """`A(1,2)` names a point: A = (1,2)."""
    m = re.match(r"([A-Z])\s?(?=\()", text)
    whole = _whole_bracket(text[m.end() :]) if m else None
    if m is None or whole is None or not 2 <= len(split_items(whole[1], enclosed=True)) <= 3:
        return None
    return Relation((m[1], text[m.end() :]), ("=",))


def _joined(text: str, level: int) -> Value | None:
    """ "1 and 2", "x<1 or x>3"."""
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
    if opener in (r"\{", "{"):
        built = re.match(r"[^|:]{1,40}?(?:\||:|\\mid)\s*(.+)$", inner)
        if built and _OPS.search(inner):
            return read(built[1], level + 1)
    items = split_items(inner, enclosed=opener != "{")
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


def _rounded(text: str, level: int) -> Rounded | None:
    """`x = 2\\sqrt{5} \\approx 4.47`; `x \\approx 4.47` names its only value and is none."""
    parts, seps = split_top(text, APPROX)
    if not seps or not all(parts) or UNKNOWN.fullmatch(parts[0]):
        return None
    about = read(parts[-1], level + 1)
    if not isinstance(about, Leaf) or not DECIMAL.fullmatch(about.text):
        return None
    return Rounded(read(parts[0], level + 1), about)


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
