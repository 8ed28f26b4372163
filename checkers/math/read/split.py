"""Split a normalised answer at commas and words outside brackets, and cut what surrounds it.

split_items            the items of a list; whole_bracket takes brackets off
split_cases            `n/2 if n is even, n if n is odd`, `3 when n=1 and 5 otherwise`
without_lead           words before an answer, `\\text{The answer is } 5`, and reasons after it
with_marked_rounding   `5/12, or about 0.417` as `5/12 \\approx 0.417`
without_condition      the condition on a parameter or a constant, and whether it is an integer
"""

from __future__ import annotations

import re

from gradebox.checkers.math.read.normalise import strip_ends
from gradebox.checkers.math.read.number_words import read_number_words
from gradebox.checkers.math.read.tables import LETTER, TEXT_CLOSE, TEXT_OPEN, strip_marks
from gradebox.checkers.math.read.units import UNITS
from gradebox.checkers.math.read.values import TooLong

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
_NAMED_THOUSANDS = re.compile(rf"[^,=<>\d]{{1,20}}=\s*{_THOUSANDS.pattern}\s*[^,=]*")
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
        if not enclosed and _NAMED_THOUSANDS.fullmatch(text):
            return [text]
        spaced = re.search(r"[^,],\s", text) or _SUM_OF_COUNTED.fullmatch(text)
        parts, _ = split_top(text, _SPACED_COMMA if spaced else COMMA)
    if len(parts) > MAX_ITEMS:
        raise TooLong(f"a list of more than {MAX_ITEMS} items")
    return [p for p in parts if p]


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


MAX_CASES = 12
MAX_CASE_CHARS = 600
_CASE_WORD = re.compile(r"\b(?:if|when|for|where|with|otherwise|else)\b", re.I)
_CASE = re.compile(
    r"(?P<value>[^,;]+?)[\s,:]+(?:(?:if|when|for|where|with)\s+(?P<condition>.+)|(?P<else>otherwise|else))",
    re.I,
)
_BETWEEN_CASES = re.compile(
    r"\s*(?:[,;]\s*(?:and\s+)?|\band\s+)(?=[^,;]*?\s(?:if|when|for|where|with|otherwise|else)\b)"
)
_TRAILING = re.compile(r"[\s,.;:]+$")


def split_cases(text: str) -> list[tuple[str, str]]:
    """Return (value, condition) of each case; [] for a text with fewer than two cases."""
    if len(text) > MAX_CASE_CHARS or _CASE_WORD.search(text) is None:
        return []
    text = " ".join(strip_marks(text).split())
    parts = [p for p in _BETWEEN_CASES.split(text) if p.strip()]
    if not 2 <= len(parts) <= MAX_CASES:
        return []
    found = [_CASE.fullmatch(_TRAILING.sub("", part)) for part in parts]
    return [(m["value"], m["condition"] or "otherwise") for m in found if m] if all(found) else []


_OR_ABOUT = re.compile(  # `, or about 0.417`, `(approximately 0.417)`
    rf"[,(\s]\s*(?:or\s+|which\s+is\s+)?{TEXT_OPEN}?\s*"
    rf"(?:approximately|approx\.?|about|roughly|\\approx)\s*{TEXT_CLOSE}?"
    r"\s*(-?[\d.,]*\d[^()]*)\)?$",
    re.I,
)
_ROUNDED_NOTE = re.compile(r"\s*\((?:approx\.?|approximately|rounded)\)$")
_CONDITION = re.compile(  # `, where n \in \mathbb{Z}`, ` for all real x`
    rf"[,;(\s{TEXT_OPEN}]{{0,8}}(?:(?:where|for|with|and)\s*{TEXT_CLOSE}?\s*)?(?:any|all"
    rf"|some|every)?\s*"
    rf"(?:[a-z]\s*\\in\s*\\mathbb\{{[ZNQRC]\}}(?:\^?[+*])?"
    rf"|(?:integers?\s+[a-z]|(?<![A-Za-z])[a-z]\s*{TEXT_OPEN}?\s*(?:is\s+)?(?:an\s+|any\s+)?integers?))"
    rf"\s*{TEXT_CLOSE}?\)?$"
    rf"|(?:[,;(\s]|{TEXT_OPEN})\s*for\s+(?:all|any"
    rf"|every)\s*{TEXT_CLOSE}?\s*(?:real\s+(?:numbers?\s+)?)?[a-z]"
    rf"\s*{TEXT_CLOSE}?\)?$"
)
_CONSTANT = re.compile(  # `, where c is a constant`, `(a \\in \\mathbb{R})` of a constant
    rf"[\s,;({TEXT_OPEN}]+(?:(?:where|for|with)[\s{TEXT_CLOSE}]+)?(?:(?:any|some"
    rf"|all)\s+(?:real\s+)?(?:constants?|numbers?|real)?[\s{TEXT_CLOSE}]*([abckmABCK])"
    rf"|([abckABCK])[\s{TEXT_OPEN}]+(?:is\s+)?(?:an?\s+|any\s+)?(?:arbitrary\s+"
    rf"|real\s+)*(?:constant|real(?:\s+(?:number|constant))?)"
    rf"|([abckABCK])\s*\\in\s*\\mathbb\{{R\}})[\s{TEXT_CLOSE})]*$"
)
_MARKED_LEAD = re.compile(  # `\text{The answer is } 5`, `\text{There are } 7 \text{ ways}`
    rf"^{TEXT_OPEN}(?:[^{TEXT_CLOSE}]*\b(?:is|are|equals|be|at)|\s*(?:final\s+)?answer\s*:?"
    rf"|[^{TEXT_CLOSE}]*:)\s*"
    rf"{TEXT_CLOSE}\s*(?=[-\d\\$(\[]|[a-zA-Z](?![a-zA-Z]))",
    re.I,
)
_MARKED_REASON = re.compile(rf"\s*{TEXT_OPEN}\s*\(?\s*(?:since|because|as)\b.*$", re.I)
INTEGER_PARAMETER = re.compile(
    r"([a-z])\s*\\in\s*\\mathbb\{Z\}|integers?\s+([a-z])"
    r"|([a-z])\s*\W?\s*(?:is\s+)?(?:an\s+|any\s+)?integer"
)
_LEAD = re.compile(  # `approximately `, `The answer is `, `Solution: `
    r"^(?:(?:final\s+answer\s*:|so|thus|hence|therefore|approximately|approx\.?|about|around|roughly"
    r"|exactly|only|just|option|choice|answer|both|either|equals|total(?:\s+of)?"
    r"|(?:the\s+)?(?:answers?|solutions?)\s+(?:is|are))\s*:?\s+(?=\S)"
    r"|(?:solution|result|ans)\s*:\s*(?=\S)"
    r"|(?:in|by|on|at)\s+(?:the\s+year\s+)?(?=\d{4}$|\d{1,2}:\d\d|(?:Jan|Feb|Mar|Apr|May"
    r"|Ju|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?\s\d)"
    r"|(?:it\s+is\s+)?the\s+[a-z]+\s+(?:is\s+)?(?=[$\\\[({\d])"
    r"|(?:it\s+)?converges\s+to\s+(?=[-\d\\$(a-z])|at\s+(?=\()"
    r"|yes[,:;.]\s+(?=[-\d\\$(]|[a-z]\s*=))",
    re.I,
)
_THEM = re.compile(
    r"^there\s+(?:is|are)\s+(?=[\d$])|\s+of\s+(?:them|these|those)$"
    r"|(?<=[\d%}])\s+of\s+(?:the|his|her|their|its|all)\s+[a-z ]+$",
    re.I,
)  # `60% of the students`
_DISTRIBUTED = re.compile(r"^[A-Z]\s*\\approx\s*(?=[A-Z])")  # `X \sim N(0,1)`
_PART_OF = re.compile(r"(?<=[\d}])\s+of\s+an?\s+([a-z]+)$", re.I)  # `5/12 of a cup`
_ASIDE = re.compile(  # `7 loads (after rounding up)`, `H_2O (water)`
    r"(?<=[\w$})%])\s+\((?!\s*(?:mod|if|when|for|where|with|in|from|not|base|binary|octal|hex|ternary|otherwise|or|and|approx|rounded|choice|option|all|any|noon|\d[\d.,]*\))|[-+]?[\w./]+\s*,)"
    r"(?![^()]*\b(?:reject|extraneous|invalid|wrong|incorrect|not|but)\w*)"
    r"(?=[^()]*[a-z]{3})(?P<inner>[^()=<>≤≥≈\\$^]+)\)\s*\.?$"
)
_SIGN_WORD = re.compile(r"^(?:minus|negative) (?=[\d.\\＄]|infinity$)", re.I)
_BRACKETED_CONDITION = re.compile(  # `x^2-y^2 = 1 (x \ge 1)`
    rf"(?<=[\w}})])\s*\((\s*{LETTER}\s*(?:[<>]|\\[lg]e(?![A-Za-z]))[^()]*)\)$"
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
    """Return an answer without the words around it."""
    text = _MARKED_REASON.sub("", _MARKED_LEAD.sub("", strip_ends(text)))
    text = _DISTRIBUTED.sub("", _LEAD.sub("", text).removesuffix(" only"))
    text = _PART_OF.sub(r" \1", _THEM.sub("", text))
    return _BRACKETED_CONDITION.sub(r", \1", text)


def with_marked_rounding(text: str) -> str:
    """Return `5/12 \\approx 0.417` for `5/12, or about 0.417`."""
    text = _SIGN_WORD.sub("-", _ROUNDED_NOTE.sub("", text))
    m = _OR_ABOUT.search(text)
    return strip_ends(
        rf"{text[: m.start()].strip(' ,')} \approx {m[1]}" if m and m.start() else text
    )


def without_condition(text: str) -> tuple[str, bool]:
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
    integer = INTEGER_PARAMETER.search(m[0])
    letter = (integer[1] or integer[2] or integer[3]) if integer else "k"
    if letter != "k" and not re.search(r"(?<![A-Za-z\\])k(?![A-Za-z])", text):
        text = re.sub(rf"(?<![A-Za-z\\]){letter}(?![A-Za-z])", "k", text)
    return text, bool(integer) and re.search(r"(?<![A-Za-z\\])k(?![A-Za-z])", text) is not None
