"""Notations that stand for something the reader knows, in a cleaned answer: text in, text out.

`{}_{10}C_3` ─▶ `\\binom{10}{3}`          `3\\text{rd}` ─▶ `3`
`\\mathbb{R}_{\\ge 0}` ─▶ `[0,\\infty)`      `17 \\bmod 5` ─▶ `2`
`2\\mathbf{i}-\\mathbf{j}` ─▶ `(2,-1)`     `(1,2)^T` ─▶ `(1,2)`
`52 base 8` ─▶ `52_{8}`                 `]1,2]` ─▶ `(1,2]`
`4.8 x 10^5` ─▶ `4.8 \\times 10^5`       `USD 5` ─▶ `＄5`
"""

from __future__ import annotations

import re

from checkers.math.tables import NUMBER_WORDS

LONGEST_POWER = 6  # digits of a base, an exponent and a modulus
_CHOSEN = re.compile(  # the subscript first, the superscript first, or a function
    r"(?:\{\s*\})?\s*[_^]\s*\{?\s*(\d{1,4})\s*\}?\s*C\s*_\s*\{?\s*(\d{1,4})\s*\}?"
    r"|(?<![A-Za-z\\])C\s*_\s*\{?\s*(\d{1,4})\s*\}?\s*\^\s*\{?\s*(\d{1,4})\s*\}?"
    r"|(?<![A-Za-z\\])C\s*\^\s*\{?\s*(\d{1,4})\s*\}?\s*_\s*\{?\s*(\d{1,4})\s*\}?"
    r"|(?<![A-Za-z\\])C\(\s*(\d{1,4})\s*,\s*(\d{1,4})\s*\)"
)
_ORDINAL = re.compile(  # the suffix that belongs to the number: `2rd` is a product
    "(?:(?<=1\\d)|(?P<one>(?<=1))|(?P<two>(?<=2))|(?P<three>(?<=3))|(?<=[04-9]))"
    "\\s?\\^?\\s?\\{?\\s?\ue000?\\s?(?(one)st|(?(two)nd|(?(three)rd|th)))"
    "\\s?\ue001?\\s?\\}?(?![A-Za-z}])"
)
_HALF_LINE = re.compile(
    r"((?:[a-z]\s*\\in\s*)?)\\mathbb\{R\}\s*(?:_\s*\{?\s*(\\ge|\\le|>|<)\s*0\s*\}?|\^\s*\{?\s*([+-])\s*\}?)"
)
_HALVES = {
    r"\ge": r"[0,\infty)", ">": r"(0,\infty)", r"\le": r"(-\infty,0]", "<": r"(-\infty,0)",
    "+": r"(0,\infty)", "-": r"(-\infty,0)",
}  # fmt: skip
_LETTERS = re.compile(  # `\\text{(C) and (D)}`
    "\ue000\\s*(\\(?[A-J]\\)?(?:\\s*(?:,\\s*and|,|and|&)\\s*\\(?[A-J]\\)?)+)\\s*\ue001"
)
_ROOT = re.compile(r"(?<!frac)\\sqrt\s*(\d{2,})")
_TRANSPOSED = re.compile(r"(.*[)\]])\s*\^\s*\{?\s*(?:T|\\top)\s*\}?", re.S)
_REMAINDER = re.compile(r"(\d+)(?:\s*\^\s*\{?\s*(\d+)\s*\}?)?\s*\\bmod\s*\{?\s*(\d+)\s*\}?")
_CODES = {"USD": "＄", "EUR": "€", "GBP": "£", "INR": "₹", "JPY": "¥"}
_CODE = re.compile(rf"\b({'|'.join(_CODES)})\s?(?=\d)")
_BASE = re.compile(r"(\d[\dA-Z]*)\s*(?:in\s+)?\(?\s*base[\s-]\s*(\d{1,2}|[a-z]{3,7})\s*\)?", re.I)
_TIMES_TEN = re.compile(r"(?<=\d)\s*[xX]\s*(?=10\s*\^)")
_OUTWARD = re.compile(r"([\[\]])([^\[\]]{1,60})([\[\]])")
_FONT = r"\\(?:mathbf|boldsymbol|bm|hat|vec|overrightarrow|widehat)"
_UNIT_VECTOR = re.compile(
    rf"{_FONT}\s*(?:\{{\s*)?(?:{_FONT}\s*(?:\{{\s*)?)?\\?([ijk])(?:math)?(?![A-Za-z])(?:\s*\}}){{0,2}}"
    r"|(?<![A-Za-z\\{])([ijk])(?![A-Za-z])"
)
_COEFFICIENT = re.compile(r"[-+]?\s*(?:[\d.,/{}()\s]|\\[dt]?frac|\\sqrt|\\pi|\\left|\\right)*")


def plain_notation(text: str) -> str:
    """A cleaned answer without the notations of this module."""
    text = _LETTERS.sub(r"\1", _ORDINAL.sub("", text))
    text = _ROOT.sub(r"\\sqrt{\1}", text)
    if "C" in text:
        text = _CHOSEN.sub(_chosen, text)
    if half := _HALF_LINE.fullmatch(text):
        return half[1] + _HALVES[half[2] or half[3]]
    if based := _BASE.fullmatch(text.replace("\ue000", " ").replace("\ue001", " ").strip()):
        base = NUMBER_WORDS.get(based[2].lower(), based[2])
        return f"{based[1]}_{{{base}}}"
    if text.startswith("]") or text.endswith("["):
        return _OUTWARD.sub(_inward, text)
    text = _CODE.sub(lambda m: _CODES[m[1]], text)
    text = _TIMES_TEN.sub(r"\\times ", text)
    turned = _TRANSPOSED.fullmatch(text)
    if turned and _is_vector(turned[1]):
        return turned[1]
    if (m := _REMAINDER.fullmatch(text)) and all(len(g or "") <= LONGEST_POWER for g in m.groups()):
        return str(pow(int(m[1]), int(m[2] or 1), int(m[3]))) if int(m[3]) else text
    return text


def _inward(m: re.Match[str]) -> str:
    """`]1,2[` as `(1,2)`: a bracket that turns its back on the interval leaves its end out."""
    return f"{'(' if m[1] == ']' else '['}{m[2]}{')' if m[3] == '[' else ']'}"


def _chosen(m: re.Match[str]) -> str:
    subscript_first, superscript_first = (m[1] or m[7], m[2] or m[8]), (m[3] or m[6], m[4] or m[5])
    n, k = subscript_first if subscript_first[0] else superscript_first
    return rf"\binom{{{n}}}{{{k}}}" if int(n) >= int(k) else m[0]


def _is_vector(text: str) -> bool:
    """One row or one column; a matrix is another when it is transposed."""
    if r"\begin" not in text:
        return text[0] in "([" and not re.search(r"[(\[]", text[1:])
    return "&" not in text or r"\\" not in text


def unit_vectors(text: str) -> str:
    """`2\\mathbf{i}-3\\mathbf{j}` as `(2,-3)`: a sum of two or three unit vectors."""
    name, equals, total = text.rpartition("=")
    found = list(_UNIT_VECTOR.finditer(total))
    if not 2 <= len(found) <= 3:
        return text
    parts: dict[str, str] = {}
    end = 0
    for m in found:
        part = total[end : m.start()].strip(" $*").removesuffix(r"\cdot").strip()
        end = m.end()
        signed = part.startswith(("+", "-"))
        if not _COEFFICIENT.fullmatch(part) or (parts and not signed):
            return text
        parts[m[1] or m[2]] = part + "1" if part in ("", "+", "-") else part
    if total[end:].strip(" $.}") or len(parts) != len(found):
        return text
    letters = "ijk" if "k" in parts else "ij"
    return f"{name}{equals}({','.join(parts.get(c, '0') for c in letters)})"
