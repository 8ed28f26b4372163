"""Find a formula in plain text at the end of a sentence: `So x = nπ/3 for n ∈ ℤ`, `… = x³/3 + C`.

formula := single letters, names of functions, digits, operators and brackets, not words

The formula has an equals sign with a letter on its right, or is the whole line. A parameter that
the sentence calls an integer is said behind the formula: `nπ/3, n\\in\\mathbb{Z}`.
"""

from __future__ import annotations

import re

_NAME = r"(?:arc)?(?:sin|cos|tan|cot|sec|csc)h?|ln|log|exp|sqrt|pi|max|min"
_TOKEN = (
    r"(?:[-+−*/^=(),.|√π∞±·×αβθλμφω⁻⁰¹²³⁴-⁹ⁿ₀-₉°\d\s]|(?<![A-Za-z])[A-Za-z](?![A-Za-z])"
    rf"|(?<=\d)[A-Za-z](?![A-Za-z])|(?<![A-Za-z])(?:{_NAME})(?![A-Za-z])|\s(?:or|and)\s)"
)
_FORMULA = re.compile(rf"(?:^|(?<=[\s:])){_TOKEN}{{3,160}}$")
_EXAMPLES = re.compile(r",?\s+\(?(?:e\.g\.|for\s+(?:example|instance))[,:]?\s.*$", re.S)
_CONSTANT = re.compile(r",?\s+(?:where|with)\s+C\s.*\bconstant\b.*$", re.I)
_FOR_ALL = re.compile(r",?\s+for\s+(?:all|every|any)\s+(?:real\s+(?:numbers?\s+)?)?[a-z]$")
_INTEGER = re.compile(
    r",?\s+\(?(?:(?:for|where|with)\s+)?(?:(?:all|any|every|some)\s+)?(?:integers?\s+(?P<a>[a-z])"
    r"|(?P<b>[a-z])\s+(?:is\s+|being\s+)?(?:an?\s+|any\s+)?(?:arbitrary\s+)?integer"
    r"|(?P<c>[a-z])\s*∈\s*(?:ℤ|Z))\)?$"
)
_MEASURED = re.compile(r"[-−\d.,/·×*^()\s⁻⁰-⁹²³]*\d\s+(?:[A-Za-zμ]|°)(?![A-Za-z]).*", re.S)
_LETTER = re.compile(rf"(?<![A-Za-z])(?!(?:{_NAME})(?![A-Za-z]))[A-Za-z](?![A-Za-z])")
MAX_SENTENCE = 400  # characters


def formula_at_end(sentence: str) -> str:
    """Return the formula that ends a sentence without TeX; "" without one."""
    if len(sentence) > MAX_SENTENCE or re.search(r"[$\\]|\*\*", sentence):
        return ""
    text = _CONSTANT.sub("", _EXAMPLES.sub("", sentence.strip().rstrip(".")))
    text = _FOR_ALL.sub("", text)
    whole = _INTEGER.search(text)
    if whole:
        text = text[: whole.start()]
    m = _FORMULA.search(text)
    if m is None:
        return ""
    formula = m[0].strip(" ,")
    _, equals, right = formula.rpartition("=")
    alone = m.start() == 0 and not equals and re.search(r"[-+*/^]", formula)
    if not alone and not (equals and _LETTER.search(right) and not _MEASURED.fullmatch(right)):
        return ""
    several = re.search(r",|\s(?:and|or)\s", formula)
    if formula.startswith("=") or (formula.count("=") > 1 and not several):
        formula = right.strip()
    letter = (whole["a"] or whole["b"] or whole["c"]) if whole else ""
    return rf"{formula}, {letter}\in\mathbb{{Z}}" if letter else formula
