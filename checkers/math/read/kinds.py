"""Tell from its text alone what kind of answer an answer is: a number, an equation, a point, …

letter       `B`, `(D)`
matrix       `\\begin{pmatrix}…`
relation     `x = 5`, `x \\ge 2`, `2x+y = 7`
tuple        `(1,2)`, `[0,3)`
list         `1, 2`, `3 or 4`
expression   with letters: `2x+1`
number       without: `\\frac{3}{4}`, `5 cm`, `2\\pi`
words        anything else
"""

from __future__ import annotations

import re

MAX_CHARS = 400
_LETTER = re.compile(r"\(?\s*[A-K]\s*\)?|(?:\([A-K]\)|[A-K][.)])\s.*")
_CLOCK = re.compile(r"\d\s*:\s*\d")
RELATION = re.compile(
    r"[=<>≤≥≠≈≡∈]|\\(?:[lg]eq?|[lg]t|equiv|in|neq?|approx|sim|parallel|perp|to)(?![A-Za-z])"
)
_TUPLE = re.compile(r"[(\[]([^()\[\]]|\([^()]*\))*,.*[)\]]", re.S)
_LIST = re.compile(r"[;,，；]|(?<![A-Za-z])(?:and|or)(?![A-Za-z])")
_BRACKETED = re.compile(r"[(\[{][^()\[\]{}]*[)\]}]")
_SEPARATED = re.compile(r"\d{1,3}(?:(?:,|\{,\})\d{3})+")
_TEXT = re.compile(r"\\(?:text\w*|mathrm|mbox|operatorname)\s*\{[^{}]*\}")
_COMMAND = re.compile(r"\\(?:left|right|[A-Za-z]+)")
_GREEK = re.compile(
    r"\\(alpha|beta|gamma|delta|epsilon|theta|lambda|mu|nu|rho|sigma|tau|phi|omega)(?![A-Za-z])"
)
_FUNCTION = re.compile(
    r"(?<![A-Za-z])(?:a(?:rc)?)?(?:sin|cos|tan|cot|sec|csc|ln|log|sqrt|exp|max|min|lim|pi|deg)h?"
)
_UNIT_TAIL = re.compile(
    r"(?<=[\d)}%°$⁰¹²³⁴-⁹])\s+(?:[A-Za-z]+[²³]?(?:\^\{?-?\d\}?)?(?:\s*/\s*|\s+|$)){1,4}$"
)
_JOINING = re.compile(r"\b(?:and|or)\b")
_WORD = re.compile(r"(?=[A-Za-z]{3})[A-Za-z]*[a-z]{2}")
_EQUATION = re.compile(r"(?<![<>!])=|[≈≡]|\\(?:approx|equiv|to)(?![A-Za-z])")
_NAMED = re.compile(r"\\?[A-Za-z]+(?:_(?:\{[^{}]*\}|\w))?'*(?:\([a-z]\))?\s*=")  # `f(x) =`
_NAME = re.compile(  # `x`, `f(x)`, `a+b`, `AB`, not `2x` or `x^2`
    r"(?:\\?[A-Za-z]+(?![A-Za-z])(?:_(?:\{[^{}]*\}|\w))?'*|[-+|()\s\\,{}]|\((?:-?\d+|\\?[a-z]+)\)){1,30}"
)
_SUBSCRIPT = re.compile(r"_(?:\{[^{}]*\}|\w)")


def kind_of(text: str) -> str:
    """Return the kind of an answer, one of those above."""
    text = text.strip(" $.\n")
    if len(text) > MAX_CHARS:
        return "words"
    if _LETTER.fullmatch(text):
        return "letter"
    if r"\begin" in text:
        return "relation" if RELATION.search(text.partition(r"\begin")[0]) else "matrix"
    if text.startswith(r"\{"):
        return "list"
    if has_words(text) or _CLOCK.search(text):
        return "words"
    if _LIST.search(_without_brackets(_SEPARATED.sub("1", text))):
        return "list"
    if RELATION.search(text):
        return "relation"
    if _TUPLE.fullmatch(text.replace(r"\left", "").replace(r"\right", "").strip()):
        return "tuple"
    return "expression" if letters_of(text) else "number"


def has_words(text: str) -> bool:
    """Return whether a text has words beside its math, other than a unit at its end."""
    plain = _without_commands(_UNIT_TAIL.sub("", text))
    return bool(_WORD.search(_JOINING.sub(" ", _FUNCTION.sub(" ", plain))))


def letters_of(text: str) -> frozenset[str]:
    """Return the letters that an expression is in, without e, i, subscripts and units."""
    greek = frozenset(_GREEK.findall(text))
    plain = _FUNCTION.sub(" ", _without_commands(_SUBSCRIPT.sub("", _UNIT_TAIL.sub("", text))))
    return greek | frozenset(re.findall(r"[A-Za-z]", plain)) - {"e", "i"}


def fits(gold: str, answer: str) -> bool:
    """Return whether an answer is of the kind of a reference answer, as far as texts show.

    A number: also an equation that names it, `x = 5`, or a chain that ends with it. An expression
    has the letters of the reference answer. Words, lists and matrices fit anything.
    """
    named = _NAMED.match(gold.strip(" $"))
    gold = value_side(gold) if named and gold.count("=") == 1 else gold
    wanted, kind = kind_of(gold), kind_of(answer)
    if wanted in ("words", "list", "matrix"):
        return True
    if wanted == "number" and kind == "relation":
        return _names_number(answer)
    if wanted == "relation":
        return kind == "relation" and _unknowns(gold) == _unknowns(answer)
    if wanted == "expression" and kind in ("expression", "relation"):
        value = value_side(answer)
        same = bool(letters_of(value)) and _unknowns(gold) == _unknowns(value)
        return same and (kind == "expression" or bool(_EQUATION.search(answer)))
    if wanted == "tuple" and kind == "relation":
        return not _EQUATION.search(answer) or kind_of(value_side(answer)) == "tuple"
    if wanted == "tuple":
        return kind == "list" or (kind == "tuple" and letters_of(gold) >= letters_of(answer))
    return kind == wanted


def value_side(text: str) -> str:
    """Return the last side of a relation; any other text as it is."""
    return RELATION.split(text)[-1].strip(" $.")


def names_value(relation: str) -> bool:
    """Return whether an equation names or calculates a value: not `2x = 4` and `b^2 = 225`."""
    if not _EQUATION.search(relation):
        return False
    sides = [s.strip(" $.") for s in RELATION.split(relation)]
    letters = letters_of(sides[0])
    conditional = len(letters) == 1 and min(letters).islower() and not _NAME.fullmatch(sides[0])
    return len(sides) > 2 or (len(sides) == 2 and not conditional)


def _without_brackets(text: str) -> str:
    return _BRACKETED.sub("", _BRACKETED.sub("", text))


def _unknowns(text: str) -> set[str]:
    """Return the letters of an answer in lower case, without those of constants and integers."""
    return {letter.lower() for letter in letters_of(text)} - {"c", "k", "n"}


def _names_number(relation: str) -> bool:
    """Return whether a relation is a bound, names a number or is a chain that ends with one."""
    if not _EQUATION.search(relation):
        return True
    return names_value(relation) and kind_of(value_side(relation)) == "number"


def _without_commands(text: str) -> str:
    return _COMMAND.sub(" ", _TEXT.sub(" ", text))
