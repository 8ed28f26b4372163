"""Compare statements word by word: `$n$ is even` = *all n that are even*."""

from __future__ import annotations

import re

from gradebox.checkers.math.normalise.number_words import NUMBER_WORDS
from gradebox.checkers.math.normalise.tables import strip_marks, word_list

MAX_TOKENS = 60
_SIGNS = (
    (
        r"(?:an?\s+)?(increase|decrease|reduction|rise|drop|gain|loss|profit"
        r"|discount)[sd]?\s+(?:of|by)\s+([\d.]+\s?%?)",
        r"\2 \1",
    ),
    (r"([\d.]+\s?%)\s+(?:more|higher|greater)", r"\1 increase"),
    (r"([\d.]+\s?%)\s+(?:less|lower|fewer)", r"\1 decrease"),
    (r"(?:strictly|monotonically)\s+(?=(?:in|de)creasing)", ""),
    (
        r"(?:greater|more|larger)\s+than\s+or\s+equal\s+to|at\s+least",
        r" \\ge ",
    ),
    (r"(?:less|smaller|fewer)\s+than\s+or\s+equal\s+to|at\s+most", r" \\le "),
    (r"(?:strictly\s+)?(?:greater|more|larger|bigger)\s+than", " > "),
    (r"(?:strictly\s+)?(?:less|smaller|fewer)\s+than", " < "),
    (r"congruent\s+to", " = "),
    (r"modulo", "mod"),
    (r"other\s+than|but", "except"),
    (r"right-angled", "right"),
    (r"for\s+(?:all|every|each|any)", r" \\forall "),
    (r"there\s+(?:is|are|exists?)\s+(?:an?\s+|some\s+)?", r" \\exists "),
    (r"(?:an?\s+)?(?:integer\s+)?multiples?\s+of", "divisible by"),
    (r"(\w+)\s*\\nmid\s*(\w+)", r"\2 not divisible by \1"),
    (r"(?<=\W)(?=\\(?:triangle|angle))|^\\(?=triangle|angle)", " "),
)
_TOKEN = re.compile(r"\\?[A-Za-z]+|\d+(?:\.\d+)?|[^\sA-Za-z\d]")
_SAID = {
    "\\perp": "perpendicular", "\\parallel": "parallel", "\\nearrow": "increasing",
    "\\searrow": "decreasing", "\\triangle": "triangle", "\\angle": "angle",
}  # fmt: skip
_LEFT_OUT = frozenset(
    word_list(
        "the is are be being was were must it they this that which there all every any "
        "each such set of only if and iff when precisely exactly numbers number $ . , \\ \\pmod"
    )
)
_WORD = re.compile(r"[a-z]{3,}")
_WORDED = re.compile(r"(?<![A-Za-z\\])[A-Za-z]{3}")
_MIXED_CASE = re.compile(r"(?=.*[a-z])[A-Za-z]+[A-Z][a-z]?")  # `MPa`
_ARTICLE = re.compile(r"(?<![A-Za-z\\])an?\s+(?!and\b|or\b)(?=[A-Za-z]{3})", re.I)  # not a variable
_ORDERED = frozenset(["than", "divide", "beat", "not", "over", "before", "after", "contain"])
_QUANTIFIERS = frozenset(["\\forall", "\\exists"])
_BESIDE_QUANTIFIERS = frozenset(word_list(": ( ) with such that real \\in \\mathbb { } R"))


_QUANTIFIED = re.compile(
    r"(?P<sign>\\forall|\\exists)\s*(?P<name>[a-z](?:_\{?0\}?)?)\s*"
    r"(?P<range>\\in\s*\\mathbb\{[A-Z]\}|(?:[<>]|\\[lg]e|\\ne)\s*-?\d+)?"
    r"\s*(?:[,:;.|]|such\s+that|with|we\s+have|it\s+holds\s+that)*\s*\(?(?P<body>.+?)\)?"
)
_FOR_ALL_LAST = re.compile(
    r"(?P<body>.+?),?\s+(?P<sign>\\forall|for\s+(?:all|every|each|any)\b)(?P<rest>.+)"
)
_REAL = re.compile(r"\b(?:(?:all|every|each|any|an?|some)\s+)?real(?:\s+numbers?)?\s+([a-z])\b")


def _quantified(text: str) -> tuple[str, str, str] | None:
    """Return (sign, range, body) of `\\forall x \\in R, x^2 > 0` with the variable x; or None."""
    text = " ".join(strip_marks(text).split())
    if m := _FOR_ALL_LAST.fullmatch(text):
        text = rf"\forall {m['rest']}, {m['body']}"
    text = re.sub(r"^for\s+(?:all|every|each|any)\s+", r"\\forall ", text, flags=re.I)
    text = re.sub(
        r"^there\s+(?:is|exists?|are)\s+(?:an?\s+|some\s+)?", r"\\exists ", text, flags=re.I
    )
    text = _REAL.sub(r"\1\\in\\mathbb{R}", text)
    m = _QUANTIFIED.fullmatch(text)
    if m is None:
        return None
    parts = [re.sub(r"\s|[()]", "", m[g] or "") for g in ("range", "body")]
    name = re.escape(m["name"])
    body = re.sub(rf"(?<![A-Za-z\\]){name}(?![A-Za-z])", "x", parts[1])
    return m["sign"], "" if parts[0] == r"\in\mathbb{R}" else parts[0], body


def same_statement(gold: str, answer: str) -> bool:
    """Return whether two normalised answers, both with words, say the same word by word."""
    quantified = _quantified(gold)
    if quantified is not None and quantified == _quantified(answer):
        return True
    if not (_WORDED.search(gold) or _WORDED.search(answer)):
        return False
    left, right = _tokens(gold), _tokens(answer)
    if not left or len(left) > MAX_TOKENS:
        return False
    if left == right or _without_quantifiers(left, right):
        return True
    listed = "," in gold  # `Dan, Ann, Cal` may be an order
    if not listed and sorted(left) == sorted(right) and left[-1] == right[-1] and len(left) < 5:
        return all(_WORD.fullmatch(t) and t not in _ORDERED for t in left)  # adjectives
    swapped = len(left) == 2 and left == right[::-1]
    return swapped and sum(len(t) == 1 and t.isalpha() for t in left) == 1


def _without_quantifiers(left: list[str], right: list[str]) -> bool:
    """Return whether `\\forall x (x^2 > 0)` and `\\forall x: x^2 > 0` are the same statement."""
    if not (_QUANTIFIERS & set(left) and _QUANTIFIERS & set(right)):
        return False
    return [t for t in left if t not in _BESIDE_QUANTIFIERS] == [
        t for t in right if t not in _BESIDE_QUANTIFIERS
    ]


def _tokens(text: str) -> list[str]:
    text = _ARTICLE.sub("", re.sub(r"\^\{(\w)\}", r"^\1", strip_marks(text)))
    for pattern, sign in _SIGNS:
        text = re.sub(rf"(?<![A-Za-z0-9_])(?:{pattern})(?![A-Za-z0-9_])", sign, text, flags=re.I)
    found = []
    for token in _TOKEN.findall(text):
        kept = len(token) == 1 or _MIXED_CASE.fullmatch(token)
        token = _SAID.get(token, token if kept else token.lower())
        if token in NUMBER_WORDS:
            token = str(NUMBER_WORDS[token])
        if token not in _LEFT_OUT:
            found.append(re.sub(r"(?<=[a-z]{3})(?<!s)s$", "", token) if token[0] != "\\" else token)
    return found
