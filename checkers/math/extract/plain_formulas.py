"""Find a formula in plain text at the end of a sentence: `So x = nπ/3 for n ∈ ℤ`, `… = x³/3 + C`.

formula := single letters, names of functions, digits, operators and brackets, not words

The formula has an equals sign with a letter on its right, or is the whole line. A parameter that
the sentence calls an integer is said behind the formula: `nπ/3, n\\in\\mathbb{Z}`.
"""

from __future__ import annotations

import re

from gradebox.checkers.math.extract.formula_tokens import formulas

_RELATION = re.compile(r"[=<>≤≥≠]")
_BETWEEN = re.compile(r",\s?(?:and\s|or\s)?|\s(?:and|or)\s")
_EXAMPLES = re.compile(r",?\s+\(?(?:e\.g\.|for\s+(?:example|instance))[,:]?\s.*$", re.S)
_CONSTANT = re.compile(r",?\s+(?:where|with)\s+C\s.*\bconstant\b.*$", re.I)
_FOR_ALL = re.compile(r",?\s+for\s+(?:all|every|any)\s+(?:real\s+(?:numbers?\s+)?)?[a-z]$")
_INTEGER = re.compile(
    r",?\s+\(?(?:(?:for|where|with)\s+)?(?:(?:all|any|every|some)\s+)?(?:integers?\s+(?P<a>[a-z])"
    r"|(?P<b>[a-z])\s+(?:is\s+|being\s+)?(?:an?\s+|any\s+)?(?:arbitrary\s+)?integer"
    r"|(?P<c>[a-z])\s*∈\s*(?:ℤ|Z))\)?$"
)
_MEASURED = re.compile(r"[-−\d.,/·×*^()\s⁻⁰-⁹²³]*\d\s+(?:[A-Za-zμ]|°)(?![A-Za-z]).*", re.S)
_LETTER = re.compile(
    r"(?<![A-Za-z])(?!(?:sin|cos|tan|ln|log|exp|sqrt|pi|max|min)(?![A-Za-z]))[A-Za-z]{1,2}(?![A-Za-z])"
)
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
    start, formula = _joined_at_end(text)
    _, equals, right = formula.rpartition("=")
    alone = start == 0 and not equals and re.search(r"[-+*/^]", formula)
    if not alone and not (equals and _LETTER.search(right) and not _MEASURED.fullmatch(right)):
        return ""
    if formula.count("=") > 1 and not re.search(r",|\s(?:and|or)\s", formula):
        formula = right.strip()
    letter = (whole["a"] or whole["b"] or whole["c"]) if whole else ""
    return rf"{formula}, {letter}\in\mathbb{{Z}}" if letter else formula


def ends_with_equations(text: str) -> int | None:
    """Return where the equations or inequalities begin that end a text; None without any."""
    start, found = _joined_at_end(text)
    if not all(map(_RELATION.search, _BETWEEN.split(found))) or not _LETTER.search(found):
        return None
    return start


def _joined_at_end(text: str) -> tuple[int, str]:
    """Return (start, text) of the formulas at the end, `x = 1 or x = -2`; (len, "") without one."""
    found = formulas(text)
    end = start = len(text.rstrip(" ,"))
    for first, last, _ in reversed(found):
        if last != start and not _BETWEEN.fullmatch(text[last:start]):
            break
        start = first
    return start, text[start:end]
