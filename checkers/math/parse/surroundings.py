"""Cut what surrounds an answer: *the answer is*, *or about 0.417*, *where k is an integer*.

without_lead           words before it, `\\text{The answer is } 5`, and reasons after it
with_marked_rounding   `5/12, or about 0.417` as `5/12 \\approx 0.417`; `8 (eight)` as 8
without_condition      the condition on a parameter or a constant, and whether it is an integer
"""

from __future__ import annotations

import re

from gradebox.checkers.math.normalise.number_words import read_number_words
from gradebox.checkers.math.normalise.rewrite import strip_ends
from gradebox.checkers.math.normalise.tables import LETTER, TEXT_CLOSE, TEXT_OPEN, strip_marks
from gradebox.checkers.math.parse.units import UNITS

_OR_ABOUT = re.compile(  # `, or about 0.417`, `(approximately 0.417)`
    rf"[,(\s]\s*(?:or\s+|which\s+is\s+)?{TEXT_OPEN}?\s*"
    rf"(?:approximately|approx\.?|about|roughly|\\approx)\s*{TEXT_CLOSE}?"
    r"\s*(-?[\d.,]*\d[^()]*)\)?$",
    re.I,
)
_GLOSS = re.compile(r"([a-z -]{3,40}|\d{1,12})\s*\(\s*([a-z -]{3,40}|\d{1,12})\s*\)", re.I)
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
_CONSTANTS = re.compile(  # `, where a, b are real`, ` for constants c, d`
    rf"[\s,;({TEXT_OPEN}]+(?:where|for|with)[\s{TEXT_CLOSE}{TEXT_OPEN}]+(?:(?:any|some|all|arbitrary)\s+)*(?:real\s+)?(?:constants?|reals?|numbers?)?[\s{TEXT_CLOSE}]*"
    rf"(?P<letters>[a-dkmABCK](?:[\s{TEXT_OPEN}{TEXT_CLOSE}]*(?:,|and)[\s{TEXT_OPEN}{TEXT_CLOSE}]*[a-dkmABCK])+)"
    rf"[\s{TEXT_OPEN}]*(?:\\in\s*\\mathbb\{{R\}}|are\s+(?:arbitrary\s+|any\s+)*(?:real(?:\s+(?:numbers|constants))?|constants))?[\s{TEXT_CLOSE})]*$"
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
    r"^(?:for\s+)?(?:all|every|any)\s+(?:integers?\s+"
    r"|real\s+(?:numbers?\s+)?)?(?=[a-z]\s*(?:\\[gl]e|\\ne|[<>]))"
    r"|^(?:final\s+answer\s*:\s*|then|so|thus|hence|therefore|approximately|approx\.?"
    r"|about|around|roughly|exactly|only|just|option|choice|answer|"
    r"both|either|(?:the\s+)?(?:general\s+|complete\s+|unique\s+)?(?:answers?|solutions?)\s+(?:is|are)|equals|total(?:\s+of)?)\s*:?\s+(?=\S)"
    r"|^(?:solution|result|ans)\s*:\s*(?=\S)"
    r"|^(?:in|by|on|at)\s+(?:the\s+year\s+)?(?=\d{4}$|\d{1,2}:\d\d|(?:Jan|Feb|Mar|Apr|May"
    r"|Ju|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?\s\d)"
    r"|^(?:it\s+is\s+)?the\s+(?:matrix|vector|point|interval|equation|polynomial|set|function|line"
    r"|value|(?:hyper)?plane)\s+(?:is\s+)?(?=[$\\\[({\d]|[a-z](?![a-z]))"
    r"|^(?:it\s+is\s+|the\s+[a-z]+\s+is\s+)?the\s+[a-z]+\s+(?:given\s+by|with|of)\s+(?:the\s+)?equation\s+"
    r"|^(?:it\s+)?converges\s+to\s+(?=[-\d\\$(a-z])|^an?\s+(?=[\d.]+\s?%)|^at\s+(?=\()"
    r"|^(?:[a-z]+\s+){0,3}(?:equation|formula|expression)(?:\s+of\s+[a-z ]{1,30})?\s*:\s+(?=\S)"
    r"|^yes[,:;.]\s+(?=[-\d\\$(]|[a-z]\s*=)"
    r"|^(?:the|its)\s+(?:[a-z]+\s+){1,5}(?:\\[a-z]+\s+)?has\s+(?:an?\s+)?(?:length|area|volume"
    r"|height|radius|measure|value)\s+(?:of\s+)?(?=[$\\(\d])",
    re.I,
)
_THEM = re.compile(
    r"^there\s+(?:is|are)\s+(?=[\d$])|\s+of\s+(?:them|these|those)$"
    r"|(?<=[\d%}])\s+of\s+(?:the|his|her|their|its|all)\s+[a-z ]+$",
    re.I,
)  # `60% of the students`
_DISTRIBUTED = re.compile(r"^[A-Z]\s*\\approx\s*(?=[A-Z])")  # `X \sim N(0,1)`
_NAMED_TUPLE = re.compile(  # `8 pairs (a,b)`
    rf"^(\d+\s*{TEXT_OPEN}?\s*(?:ordered\s+)?[a-z]{{4,}}\s*{TEXT_CLOSE}?)\s*\(\s*[a-z](?:\s*,\s*[a-z])+\s*\)$"
)
_PART_OF = re.compile(r"(?<=[\d}])\s+of\s+an?\s+([a-z]+)$", re.I)  # `5/12 of a cup`
_NONE_IE = re.compile(rf"^[^\d$\\]{{1,30}},?\s+i\.?e\.?,?\s*{TEXT_CLOSE}?\s*(?=[-\d$\\])", re.I)
_ONE_TEXT = re.compile(
    rf"{TEXT_OPEN}([^{TEXT_OPEN}{TEXT_CLOSE}]*[a-z]{{4}} [^{TEXT_OPEN}{TEXT_CLOSE}]*){TEXT_CLOSE}"
)
_WHERE = re.compile(  # `\{1, \omega\} where \omega = e^{2\pi i/3}`
    r"(?P<body>.+?)[\s,;]+(?:where|with)\s+(?P<name>\\[a-z]+|[a-z])\s*=\s*(?P<value>[^,;=]+)", re.S
)
_SIGN_WORD = re.compile(r"^(?:minus|negative) (?=[\d.\\＄]|infinity$)", re.I)


_ASIDE = re.compile(  # `7 loads (after rounding up)`, `H_2O (water)`
    r"(?<=[\w$})%])\s+\((?!\s*(?:mod|if|when|for|where|with|in|from|not|base|binary|octal|hex|ternary|otherwise|or|and|approx|rounded|choice|option|all|any|noon|\d[\d.,]*\))|[-+]?[\w./]+\s*,)"
    r"(?![^()]*\b(?:reject|extraneous|invalid|wrong|incorrect|not|but)\w*)"
    r"(?=[^()]*[a-z]{3})(?P<inner>[^()=<>≤≥≈\\$^]+)\)\s*\.?$"
)
_BRACKETED_CONDITION = re.compile(  # `x^2-y^2 = 1 (x \ge 1)`
    rf"(?<=[\w}})])\s*\((\s*{LETTER}\s*(?:[<>]|\\[lg]e(?![A-Za-z]))[^()]*)\)$"
)


def without_aside(text: str) -> str:
    """Return an answer without a remark in brackets; a unit or a condition stays."""
    m = _ASIDE.search(text)
    if m is None or not re.search(r"[\d\\₀-₉√π]", text[: m.start()]):
        return text
    inner = m["inner"]
    stays = inner.split()[0].lower() in UNITS or read_number_words(inner) is not None
    return text if stays else text[: m.start()]


def without_lead(text: str) -> str:
    """Return an answer without the words around it, and with `where \\omega = …` filled in."""
    text = _ONE_TEXT.sub(r"\1", text) if _ONE_TEXT.fullmatch(text) else text
    text = _MARKED_REASON.sub("", _MARKED_LEAD.sub("", strip_ends(text)))
    text = _ROUNDED_NOTE.sub("", _LEAD.sub("", text))
    text = _DISTRIBUTED.sub("", _NAMED_TUPLE.sub(r"\1", text).removesuffix(" only"))
    text = _PART_OF.sub(r" \1", _THEM.sub("", _NONE_IE.sub("", text)))
    text = _BRACKETED_CONDITION.sub(r", \1", text)
    if "wh" in text and (where := _WHERE.fullmatch(strip_marks(text).strip())):
        text = _substituted(where["body"], where["name"], where["value"])
    return text


def _substituted(text: str, name: str, value: str) -> str:
    """Return a text with a value for a letter; unchanged where the letter is not in it."""
    return re.sub(
        rf"(?<![A-Za-z\\]){re.escape(name)}(?![A-Za-z])", lambda _: f"({value.strip()})", text
    )


def with_marked_rounding(text: str) -> str:
    """Return `5/12 \\approx 0.417` for `5/12, or about 0.417`, and 8 for `8 (eight)`."""
    return strip_ends(_SIGN_WORD.sub("-", _mark_rounding(_without_gloss(text))))


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


def without_condition(text: str) -> tuple[str, bool]:
    """Return an answer without the condition on its parameter, and whether that is an integer.

    Every integer parameter is k.
    """
    if (several := _CONSTANTS.search(text)) and text[: several.start()].strip():
        text = text[: several.start()]
        for i, letter in enumerate(
            re.findall(r"(?<![A-Za-z\\])[a-dkmABCK](?![A-Za-z])", several["letters"]), 1
        ):
            text = re.sub(rf"(?<![A-Za-z\\]){letter}(?!\w*\\)", f"c_{{{i}}}", text)
        return text.strip(" ,;("), False
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
