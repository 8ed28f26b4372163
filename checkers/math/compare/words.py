"""Compare choice letters, `(B) 42`, *A, C and D*, and words: a few fixed meanings, else the words.

    no, it is impossible                                no
    it is an ellipse                                    ellipse
    Bob and Alice                                       alice, bob

Subject, verb, articles and endings are left out, words.txt unifies spellings, lists are sets.
"""

from __future__ import annotations

import re

from gradebox.checkers.math.read.normalise import normalise
from gradebox.checkers.math.read.tables import WORDS, plain_words, strip_marks, word_list

MAX_CHARS = 200
_NOUN = (
    r"(?:solutions?|integers?|numbers?|values?|pairs?|triples?|functions?|polynomials?|primes?|roots?"
    r"|sets?|points?|such\s+\w+)"
)
# what is written → what it means; the first that fits the whole text counts
_MEANINGS = tuple(
    (re.compile(pattern), meaning)
    for pattern, meaning in (
        (r"(?:it\s+)?(?:is\s+)?(?:not\s+(?:true|correct|possible|valid|always|necessarily)"
         r"|cannot(?:\s+be\s+done)?|does\s*(?:not|n't)(?:\s+hold)?)", "no"),
        (rf"none|nothing|(?:there\s+(?:is|are|exists?)\s+)?no\s+(?:(?:such|real|integer|rational"
         rf"|positive|natural|other|possible)\s+)*{_NOUN}(?:\s+(?:that\s+)?(?:exists?|works?))?"
         r"|(?:the\s+)?(?:empty\s+set|solution\s+set\s+is\s+empty)"
         r"|does\s+not\s+exist|dne|emptyset", "no solution"),
        (rf"(?:there\s+(?:is|are)\s+)?(?:an?\s+)?infinite(?:ly\s+many|\s+number\s+of)?(?:\s+{_NOUN})?"
         r"|infinity|diverges?\s+to\s+infinity", "infinity"),
        (r"(?:it\s+)?(?:does\s+not|doesn't)\s+converge|not\s+convergent", "diverge"),
        (r"neither(?:\s+[a-z ]+\s+nor\s+[a-z ]+)?", "neither"),
    )
)  # fmt: skip
_WINS = re.compile(
    r"(?<=[a-z])\s(?:always\s)?(?:wins?|has\s(?:a|the)\swinning\sstrategy)(?:\sthe\sgame)?$"
)
_SEPARATOR = re.compile(r"\s*(?:,\s*and|,|;|\band\b|&)\s*")
_LEFT_OUT = frozenset(
    word_list(
        "the a an due is are be of it on in at by to that which there only just one player "
        "direction condition number triangle function matrix lines line events strictly "
        "monotonically"
    )
)
_WORDED = re.compile(r"[A-Za-z0-9 ,.;:'-]*[A-Za-z]{3}[A-Za-z0-9 ,.;:'-]*")
_NO = re.compile(r"\W*no\W*", re.I)
_MIXED_CASE_UNIT = re.compile(r"\d\s*(?:[a-z]+[A-Z]|[A-Z]+[a-z])[A-Za-z]?\s*$")  # `5 MPa`
_BEFORE = re.compile(  # what a sentence ends with is its answer
    r"(?:^|\b(?:is|are|was|be|becomes?|has|there|represents?|describes?|shows?|called|series"
    r"|integral|it|they|word|equation\s+of|letters?|named?|facing)\s+)(?:an?\s+|the\s+)?[\"'“]?$"
)
_DENIED = re.compile(
    r"n['’]t\b|\b(?:not?|never|neither|nor|cannot|unless|if|whether|than|rather|except|left|right"
    r"|instead|when|where|while|false|wrong|would|might|could|suppose|assume|either|or)\b"
)
_ENDS = " .!\"'“”"
_YES_NO = re.compile(r"(yes|no|true|false)[,;:.]\s(?!(?:yes|no)\b(?!\ssuch\s))")
_TRUTH = {"t": "true", "f": "false"}
_KNOWN = frozenset({*WORDS.values(), *(meaning for _, meaning in _MEANINGS), "yes", "no"})


def is_worded(text: str) -> bool:
    """Return whether a text is words with at most one number, without math."""
    plain = re.sub(r"(?<![A-Za-z])([a-z])\s?\([a-z]\)", r"\1", strip_marks(text))
    if _MIXED_CASE_UNIT.search(plain):
        return False
    worded = len(text) <= MAX_CHARS and (_WORDED.fullmatch(plain) or _NO.fullmatch(plain))
    return bool(worded) and len(re.findall(r"\d+", plain)) < 2


def same_words(gold: str, answer: str) -> bool:
    """Return whether two answers in lower case say the same."""
    if gold == answer or _TRUTH.get(answer) == gold:
        return True
    for one, other in ((gold, answer), (answer, gold)):
        if (said := _YES_NO.match(other)) and canonical(one) == canonical(said[1]):
            return True
    left, right = canonical(gold), canonical(answer)
    if left and left == right:
        return True
    ordered = re.search(r",|\b(?:not|than|before|after|and|over)\b", gold + answer)
    if not ordered and sorted(left.split()) == sorted(right.split()) and " " in left:
        return True  # adjectives
    items = items_of(gold), items_of(answer)
    if "," in gold and " and " not in gold and len(items[0]) > 2:
        return items[0] == items[1]  # may be a ranking
    return len(items[0]) > 1 and sorted(items[0]) == sorted(items[1])


def ends_with(gold: str, sentence: str) -> bool:
    """Return whether a sentence without a negation ends with what a reference answer says."""
    said = canonical(plain_words(normalise(gold)))
    sentence = re.sub(r"\s+by\s+the\s+[a-z ]*test\W*$", "", sentence)
    words = (
        strip_marks(normalise(sentence)).lower().strip(_ENDS).removesuffix(" absolutely").split()
    )
    for length in range(1, min(len(gold.split()) + 4, len(words)) + 1):
        before, end = " ".join([*words[:-length], ""]), " ".join(words[-length:]).strip(_ENDS)
        if said and said == canonical(end):
            return bool(_BEFORE.search(before)) and _DENIED.search(before) is None
    return False


def canonical(text: str) -> str:
    """Return the meaning of words, or the words without subject, articles and endings."""
    text = re.sub(r"(?<=[a-z])-(?=[a-z])", "", strip_marks(text).lower())
    text = " ".join(text.split()).strip(" .,;:!'")
    if meaning := _meaning(text):
        return meaning
    text = " ".join(WORDS.get(word, word) for word in _WINS.sub("", text).split())
    if meaning := _meaning(text):
        return meaning
    words = text.split()
    kept = [w for w in words if w not in _LEFT_OUT] or words
    return " ".join(re.sub(r"(?<=[a-z]{3})(?<!s)s$", "", w) for w in kept)


def _meaning(text: str) -> str:
    return next((form for pattern, form in _MEANINGS if pattern.fullmatch(text)), "")


def has_meaning(text: str) -> bool:
    """Return whether words are one of the known answers: yes, no solution, third quadrant."""
    plain = canonical(text).removeprefix("not ")
    return plain in _KNOWN or ":" in plain or bool(_meaning(plain))


def items_of(text: str) -> list[str]:
    """Return the items of a list in words, in one spelling."""
    return [canonical(item) for item in _SEPARATOR.split(text) if item]


def is_one_word(text: str) -> bool:
    """Return whether words are one word, or a list of such: a name, an adjective."""
    items = map(canonical, _SEPARATOR.split(text))
    return all(len(item.split()) < 2 and not re.fullmatch("[ivx]{2,}", item) for item in items)


# -- choice letters ---------------------------------------------------------------------

_LETTER = re.compile(r"(?:(?:[Oo]ption|[Cc]hoice|[Aa]nswer)\s)?\(?\s*([A-Ja-j])\s*\)?\.?")
_LABELLED = re.compile(  # `(B) 33`
    r"(?:\(\s*([A-J])\s*\)|([A-J])\s*[.)]|([A-J]):\s)\s*(?![,;&]|(?:and|or)\b)\S.*", re.S
)
_LABEL_BEFORE = re.compile(r"\s*\(?\s*[A-J]\s*[.):]\s*")
_LABEL_AFTER = re.compile(r"(?<=[\d}])\s+\(\s?(?:(?:choice|option)\s+)?([A-E])\s?\)$")  # `42 (C)`
_LETTER_LIST = re.compile(
    r"[A-F]{2,6}|\(?[A-F]\)?(?:(?:\s*[,;]\s*|\s+)(?:and\s+|&\s*)?\(?[A-F]\)?){1,5}"
    r"|(?:\([A-F]\)\s*){2,6}"
)


def compare_choices(left: str, right: str) -> bool | None:
    """Return the verdict on a letter and a labelled choice (`B` and `(B) 42`); else None."""
    left, right = (strip_marks(t, "").strip() for t in (left, right))
    a, b = _letter(left), _letter(right)
    if a is None or b is None:
        return _compare_letter_lists(left, right)
    if a != b and _LABELLED.fullmatch(left) and _LABELLED.fullmatch(right):
        return False
    if not _LETTER.fullmatch(left) and not _LETTER.fullmatch(right):
        return None
    return a == b


def is_choice(text: str) -> bool:
    """Return whether an answer is choice letters: `B`, `(D)`, `ABD`."""
    text = strip_marks(text, "").strip()
    return bool(re.fullmatch(r"\(?\s*[A-J]\s*\)?\.?", text) or _letters(text))


def without_label(one: str, other: str) -> str:
    """Return `33` for `(B) 33` when the other side has no choice letter, or the same."""
    text = strip_marks(one, "")
    both = all(_LABELLED.fullmatch(strip_marks(t, "")) for t in (one, other))
    if not both and re.search(r"(?<![A-Za-z\\])[A-J](?![a-z])", other):
        return one
    operator = r"\\(?:cdot|times|c[au]p|setminus|[lg]e|in|ne)(?![a-z])|[+*/^=<>_]"
    label = _LABEL_BEFORE.match(text) if _LABELLED.fullmatch(text) else None
    if label and not re.match(operator, text[label.end() :]):
        marked = _LABEL_BEFORE.match(one)
        return one[marked.end() :] if marked else text[label.end() :]
    return _LABEL_AFTER.sub("", one)


def _compare_letter_lists(left: str, right: str) -> bool | None:
    """Return the verdict on `ACD` and `A, C and D`; None for anything else."""
    found = [_letters(t) for t in (left, right)]
    if not all(found) or ("," in left and "," in right):
        return None
    runs = [t.isalpha() for t in (left, right)]
    if any(
        run and letters != sorted(set(letters)) for run, letters in zip(runs, found, strict=True)
    ):
        return None  # `BAD` is a word
    return None if all(runs) and len(found[0]) == 2 else sorted(found[0]) == sorted(found[1])


def _letters(text: str) -> list[str]:
    """Return the choices that `ACD`, `A, C and D` or `(A)(C)(D)` lists; [] for anything else."""
    text = text.strip("{}\\ ")
    return re.findall(r"[A-F]", text) if _LETTER_LIST.fullmatch(text) else []


def _letter(text: str) -> str | None:
    m = _LETTER.fullmatch(text) or _LABELLED.fullmatch(text) or _LABEL_AFTER.search(text)
    return m[m.lastindex or 1].upper() if m else None
