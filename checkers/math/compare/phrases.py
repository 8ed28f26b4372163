"""Compare answers in words that were not the same text.

none             no such n, there is no such number, none exist
any order        Alice and Bob = Bob, Alice
lead and number  it is increasing = increasing; every positive integer = all positive integers
yes, no          `No, such numbers do not exist` = no
numbering        third quadrant = Quadrant III; fourth = 4th; XIV = 14
days, months     Thurs. = Thursday; in December = December
statements       `$n$ is even` = *all n that are even*, word by word; *at least 3* = `\\ge 3`
"""

from __future__ import annotations

import re

from gradebox.checkers.math.normalise.number_words import NUMBER_WORDS
from gradebox.checkers.math.normalise.tables import strip_marks, word_list

_LEAD = re.compile(r"^(?:it|they|this|that|he|she)\s(?:is|was|are|were|will be)\s(?:an?\s|the\s)?")
_NONE = re.compile(
    r"(?:there\s(?:is|are|exists?)\s)?(?:none|no\ssolutions?|no\ssuch(?:\s\w+)?)(?:\sexists?)?"
    r"|such\s(?:an?\s)?\$?\w+\$?\s(?:does|do)\snot\sexist"
)
_WINS = re.compile(
    r"\s(?:(?:can|will|must|should)\s)?(?:always\s)?(?:wins?|has\s(?:a\s|the\s)?winning\sstrategy)(?:\sthe\sgame)?$"
)
_SUBJECT = re.compile(  # `the series is divergent`
    r"^(?:the\s)?(?:given\s)?(?:series|sequence|integral|limit|function|graph|curve|triangle|figure|sum)"
    r"\s(?:is\s(?:an?\s|the\s)?)?(?=\w)"
)
_CLASS = re.compile(
    r"^([a-z]+(?:al|ar|es|id|ven|odd|ute|ght|use|ed|ic|ous|ing))\s(?:triangle|function|curve)$"
)
_PREDICATE = re.compile(
    r".*\b(?:is|are|was|were|be|but)\s+(?:rather\s+)?(?:an?\s+|the\s+)?(.{2,40})$"
)
_EVERY = re.compile(r"^(?:every|any|each)\s")
_YES_NO = re.compile(r"(yes|no|true|false)[,;:.]\s")
_SEPARATOR = re.compile(r"\s*(?:,\s*and|,|;|\band\b|&)\s*")
_YES = {"yes": "true", "no": "false"}
_PREPOSITION = re.compile(r"^(?:in|on|at|by|due)\s+(?:the\s+)?")
_ORDINALS = word_list(
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
    "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
)
_ROMAN = re.compile(r"x{0,3}(?:ix|iv|v?i{0,3})")
_ROMAN_LETTERS = {"i": 1, "v": 5, "x": 10}
_DAYS = word_list("monday tuesday wednesday thursday friday saturday sunday")
_MONTHS = word_list(
    "january february march april may june july august september october november december"
)
_SHORT_NAMES = (
    {  # "thurs" → "thursday"
        name[:length]: name
        for names, lengths in ((_DAYS, (3, 4, 5)), (_MONTHS, (3, 4)))
        for name in names
        for length in lengths
        if length < len(name) and name[:length] not in ("marc", "sun")
    }
    | {"sun": "sunday"}
)


def same_words(gold: str, answer: str) -> bool:
    """Return whether two answers in lower case say the same by the rules of this module."""
    if gold == answer:
        return True
    for one, other in ((gold, answer), (answer, gold)):
        said = _YES_NO.match(other)
        if said and one == _YES.get(said[1], said[1]):
            return True
    left, right = _plain(gold), _plain(answer)
    if left == right or left == _plain(_predicate(answer)):
        return True
    items = [sorted(i for i in _SEPARATOR.split(text) if i) for text in (left, right)]
    return (len(items[0]) > 1 and items[0] == items[1]) or same_numbering(gold, answer)


def is_predicate(word: str, sentence: str) -> bool:
    """Return whether a sentence in lower case says of its subject that it is `word`."""
    return bool(word) and _plain(word) == _plain(_predicate(sentence))


def _predicate(text: str) -> str:
    """Return `circle` for `the curve is a circle`, *neither* for *is neither even nor odd*."""
    m = _PREDICATE.match(text)
    if m is None:
        return ""
    return "neither" if m[1].startswith("neither ") else m[1]


def same_numbering(gold: str, answer: str) -> bool:
    """Return whether both name the same numbered things, days, months."""
    roman = "quadrant" in gold + answer or bool(
        re.match("q ?[iv]", gold) or re.match("q ?[iv]", answer)
    )
    left, right = (_numbering(t, roman) for t in (gold, answer))
    return bool(left) and left == right


def _numbering(text: str, roman: bool) -> list[str]:
    """Return the sorted items of a list, each as `3 quadrant` or `monday`; [] for other words."""
    found: list[str] = []
    for item in _SEPARATOR.split(_PREPOSITION.sub("", text.lower().strip(" ."))):
        item = re.sub(r"^q ?(?=[iv1-4]+$)|\bquadrants?\b|\bthe\b", " ", item)
        words = [_number_or_name(w.strip("."), roman) for w in item.split()]
        if not words or not any(w[0].isdigit() or w in _DAYS or w in _MONTHS for w in words):
            return []
        found.append(" ".join(sorted(words)))
    return sorted(found)


def _number_or_name(word: str, roman: bool) -> str:
    if word in _ORDINALS:
        return str(_ORDINALS.index(word))
    if m := re.fullmatch(r"(\d+)(?:st|nd|rd|th)?", word):
        return m[1]
    if word in NUMBER_WORDS:
        return str(NUMBER_WORDS[word])
    if (len(word) > 1 or roman) and word and _ROMAN.fullmatch(word):
        values = [_ROMAN_LETTERS[c] for c in word]
        signed = (v if v >= max(values[i:]) else -v for i, v in enumerate(values))
        return str(sum(signed))
    return _SHORT_NAMES.get(word, word)


def _plain(text: str) -> str:
    text = _EVERY.sub("all ", _LEAD.sub("", text))
    text = _SUBJECT.sub("", _WINS.sub("", text))
    text = re.sub(r"(?<=[a-z])-(?=[a-z])", " ", text)
    text = re.sub(r"^(con|di)vergent$", r"\1verge", text)
    text = _CLASS.sub(r"\1", text).removesuffix(" one")
    text = text.replace("prime number", "prime")
    if _NONE.fullmatch(text):
        return "no solution"
    return re.sub(r"(?<=[a-z]{3})(?<!s)s\b", "", text)


MAX_TOKENS = 60
_SIGNS = (
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
        "the a an is are be being was were must it they this that which there all every any "
        "each such set of only if and iff when precisely exactly numbers number $ . , \\ \\pmod"
    )
)
_WORD = re.compile(r"[a-z]{3,}")
_WORDED = re.compile(r"[A-Za-z]{3}")
_ORDERED = frozenset(["than", "divide", "beat", "not", "over", "before", "after", "contain"])
_QUANTIFIERS = frozenset(["\\forall", "\\exists"])
_BESIDE_QUANTIFIERS = frozenset(word_list(": ( ) with such that real \\in \\mathbb { } R"))


def same_statement(gold: str, answer: str) -> bool:
    """Return whether two normalised answers, both with words, say the same word by word."""
    if not (_WORDED.search(gold) or _WORDED.search(answer)):
        return False
    left, right = _tokens(gold), _tokens(answer)
    if not left or len(left) > MAX_TOKENS:
        return False
    if left == right or _without_quantifiers(left, right):
        return True
    if sorted(left) == sorted(right) and left[-1] == right[-1] and len(left) < 5:
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
    text = re.sub(r"\^\{(\w)\}", r"^\1", strip_marks(text))
    for pattern, sign in _SIGNS:
        text = re.sub(rf"\b(?:{pattern})\b", sign, text, flags=re.I)
    found = []
    for token in _TOKEN.findall(text):
        token = _SAID.get(token, token.lower() if len(token) > 1 else token)
        if token in NUMBER_WORDS:
            token = str(NUMBER_WORDS[token])
        if token not in _LEFT_OUT:
            found.append(re.sub(r"(?<=[a-z]{3})(?<!s)s$", "", token) if token[0] != "\\" else token)
    return found
