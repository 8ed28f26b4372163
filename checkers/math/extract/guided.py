"""Find an answer with the reference answer's kind in view: parts, several values, letters, a value.

several   `(2, 3)`        *so* `a = 2`*, and then* `b = 3`
letters   `B`             *the smallest is B*
bound     `3`             `|w - z| \\ge 3`*, with equality for* `w = 5`
value     `1/(s + a)`     `1/(s + a)` *for* `s > -a`; `7` for `rs = 3 + 4 = 7`

The reference answer itself is bare, a sentence, a phrase or a whole solution.
"""

from __future__ import annotations

import re
from itertools import pairwise

from gradebox.checkers.math.extract import phrases
from gradebox.checkers.math.extract.answer import contents_of, extract_answer, last_announcement
from gradebox.checkers.math.extract.closing import is_bare, is_check
from gradebox.checkers.math.extract.document import (
    boxes,
    model_text,
    read,
    with_short_blanks,
    without_bold,
)
from gradebox.checkers.math.extract.formulas import is_mention, pieces
from gradebox.checkers.math.read.normalise import normalise
from gradebox.checkers.math.read.split import split_items

MAX_CHARS = 400  # of a reference answer, an answer, or the end of a response
MAX_STATED = 900  # characters at the end of a response that states several values
MAX_ITEMS = 8
_SHORT = 40  # characters; shorter text without a verb is an answer
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z$\\])|\n+|(?<=。)")
_RELATION = re.compile(
    r"[=<>≤≥≠≡]|\\(?:[lg]eq?|[lg]t|neq?|equiv|in|[lg]eqslant|sim|parallel|perp|to)(?![A-Za-z])"
)
# ---- the reference answer ----

_SOLUTION = re.compile(r"\n|[.!?]\s+[A-Z]|####|=\s*\S+.*=\s*\S+")  # sentences, or a chain


def extract_gold(gold: str) -> str:
    """Return the reference answer: what a solution boxes or announces, else the text itself."""
    text = with_short_blanks(gold).strip()
    text = text.rpartition("####")[2].strip() or text  # a solution of GSM8K, or its last line
    if boxes(text):
        return extract_answer(gold)
    if len(text) <= _SHORT:
        return text
    if last_announcement(read(text)) or (_SOLUTION.search(text) and not is_bare(text)):
        answer = extract_answer(gold)
        return text if re.fullmatch("[A-Za-z]", answer) else answer  # `…, so $A$ has no inverse`
    return text


def last_sentence(response: str) -> str:
    """Return the last sentence of a response without a box; what is announced stands for it."""
    text = without_bold(phrases.CLOSING_PHRASE.sub("", model_text(response)))
    document = read(text)
    if found := last_announcement(document):
        return found.answer
    sentences = [] if document.boxes else _sentences(text[-MAX_CHARS:])
    return sentences[-1] if sentences else ""


def answer_for(gold: str, answer: str, response: str, strict: bool) -> str:
    """Return the answer found in a response, or what suits the reference answer better.

    strict  only what is boxed or announced counts
    """
    text = model_text(response)
    contents = contents_of(boxes(text), text)
    if len(contents) > 1 and len(contents) == _count(gold) and len(_items(contents[-1])) == 1:
        return ", ".join(contents)
    announced = last_announcement(read(text)) is not None
    stated = ""
    if not (strict or contents):
        if not announced or (";" in gold and not text.isascii()):
            stated = _several(gold, answer, text)
        if not announced:
            stated = stated or _letters(gold, answer, text)
            said = _SAYS_SO.match(text) if gold.strip(" .").lower() in ("yes", "no") else None
            stated = said[1] if said else stated
    return stated or _value_of(gold, answer, response)


_SAYS_SO = re.compile(r"(?is)\W*(yes|no)\b[.,;:!*](?!\s*(?:yes|no)\b)(?!.*\bso (?:yes|no)\b)")
_SEVERAL = re.compile(r"[,;]|\\\\|\(b\)|\band\b")
_OUTER = re.compile(r"^(?:\\\{|[(\[{])(.*?)(?:\\\}|[)\]}])$")


def _items(text: str) -> list[str]:
    return split_items(_OUTER.sub(r"\1", normalise(text)), enclosed=True)


def _count(gold: str) -> int:
    """Return how many items a short reference answer has."""
    return len(_items(gold)) if len(gold) <= MAX_CHARS and _SEVERAL.search(gold) else 1


def _sentences(text: str) -> list[str]:
    return [s for s in _SENTENCE.split(text) if s.strip()]


# ---- several values ----

_SO = re.compile(r"\b(?:so|hence|thus|therefore|giv(?:es?|ing))\b|所以|因此|故", re.I)
_NAMED = re.compile(r"\s*(\\?[A-Za-z](?:_\w)?)\s*=")  # `x = 5`
_SEVERAL_VALUES = re.compile(r"[,±&]|^\W*[(\[]")
_COMMAND = re.compile(r"\\[A-Za-z]+")
_FREE = re.compile(r"[A-Za-df-hj-z]")  # a letter, but for e and i
_CHOSEN = re.compile(r"\b(?:only|extraneous|reject|discard|invalid|valid|exclude|but)", re.I)
_JOINED = re.compile(r"[,，;；]|[^\W\d_]{2}")  # between two values


def _value(equation: str) -> str:
    return _COMMAND.sub("", equation.rpartition("=")[2])


def _several(gold: str, answer: str, text: str) -> str:
    """Return the values of the last sentence, or of its conclusion, one for each item of the gold.

    "" where the answer that was found is a list itself.
    """
    count = _count(gold)
    plain = _COMMAND.sub("", answer.replace("{,}", ""))[:MAX_CHARS]
    one = not _SEVERAL_VALUES.search(plain) or re.search("[a-z]{4}", plain)
    if not 2 <= count <= MAX_ITEMS or not one or re.search(r"\\cup|\\infty", gold):
        return ""
    text = "" if answer.strip() == text else text[-MAX_STATED:]
    if not text or _CHOSEN.search(text):
        return ""
    sentences = [s for s in _sentences(text) if not is_check(s)]
    tail = without_bold(" ".join(sentences))
    stated = [contents for _, _, contents in pieces(tail)]
    valued = [c for c in stated if _NAMED.match(c) and not _FREE.search(_value(c))]
    names = [c.partition("=")[0].strip() for c in valued]
    same = [c for c, name in zip(valued, names, strict=True) if name == names[-1]]
    each = list(dict(zip(names, valued, strict=True)).values())
    named = same if len(same) == count else each[-count:]
    if len(named) == count and valued[-1] == stated[-1]:
        return "; ".join(named)
    sentence = without_bold(sentences[-1]) if sentences else ""
    for part in (_SO.split(sentence)[-1], sentence):
        found = [piece for piece in pieces(part) if not is_mention(part, piece)]
        between = (part[a[1] : b[0]] for a, b in pairwise(found))
        solved = any(_NAMED.match(contents) for _, _, contents in found)  # `x^2-5x = 0, x = 5`
        if len(found) == count and not solved and all(map(_JOINED.search, between)):
            return "; ".join(contents.rpartition("=")[2].strip() for _, _, contents in found)
    return ""


# ---- letters ----

_CHOICE = r"(?:\$\s*)?\(?\$?(?:\\text\w*\{)?\(?([A-K])\)?\}?\$?\)?(?:\s*\$)?"
_CHOICES = rf"{_CHOICE}(?:(?:\s*(?:,|and)\s*){{1,3}}{_CHOICE}){{0,9}}"
_GOLD_LETTERS = re.compile(rf"\W*{_CHOICES}\W*")
_ONE_LETTER = re.compile(r"(?<![A-Za-z\\^_'’])([A-K])(?![A-Za-z'’])")
_LETTERS_AT_END = re.compile(
    r"(?:\b(?:is|are|be|to|choose|pick|select|option|choice|graph|letter|statement|for|only)|[是为选项.!?])\s*:?\s*"
    rf"(?P<letters>{_CHOICES})(?:\s+only)?[\s.!。]*$"
)


def _letters(gold: str, answer: str, text: str) -> str:
    """Return the letters that the last sentence of a text chooses; "" for another gold."""
    if len(gold) > 60 or not _GOLD_LETTERS.fullmatch(gold):
        return ""
    if _GOLD_LETTERS.fullmatch(answer) and len(_ONE_LETTER.findall(answer)) >= len(
        _ONE_LETTER.findall(gold)
    ):
        return ""
    sentences = _sentences(without_bold(text[-4 * MAX_CHARS :]))
    last = sentences[-1][-MAX_CHARS:] if sentences else ""
    if end := _LETTERS_AT_END.search(last):
        return ", ".join(_ONE_LETTER.findall(end["letters"]))
    return ""


# ---- a value ----

_HENCE = re.compile(
    r"\b(?:so|thus|hence|therefore|then|giving|gives?|get|find|obtain|with|when|using|yields"
    r"|answer|desired|conclude)\b",
    re.I,
)
_ATTAINED = re.compile(r"(?!.*\bnot\b).*(?:\b(?:equality|attained|achieved)\b|等号|取等)", re.S)
_BOUND = re.compile(r"[<>≤≥]|\\(?:[lg]eq?|[lg]t)(?![A-Za-z])")
_CHOICE_LABEL = re.compile(r"\W*(?:text\w*\W*)?[A-J]\)")  # `(B) 5`, `\text{(B)}`
_NAMED_COMMAND = re.compile(r"\\(?!left|right|cdot|times|mathbf|text)[a-z]+")
_SYSTEM = re.compile(r"[<>]|\\(?:[lg]eq?|equiv|begin\{(?:cases|align))")


def _value_of(gold: str, answer: str, response: str) -> str:
    """Return the value that a response's equations end with when the reference answer is a value.

    `7` for *Therefore* `rs = 3 + 4 = 7` and for `r^3 = 1, r + s = 7`. An equation in one letter
    stays, as its sides may be the letter's condition, so do boxed and bare equations.
    """
    boxed = bool(boxes(response))
    if not boxed and _ATTAINED.match(response[-200:]) and not _RELATION.search(gold):
        return _BOUND.split(answer.strip(" .$"))[-1].strip()
    concludes = answer.strip(" .$") != response.strip(" .$") and _HENCE.search(response[-600:])
    if not concludes or "=" not in answer or _RELATION.search(gold) or _CHOICE_LABEL.match(answer):
        return answer
    parts = re.split(r",\s+(?=[^=<>]*=)", answer.strip(" .$"))
    lefts = {re.sub(r"_\{?\w+\}?", "", p.partition("=")[0]).strip() for p in parts}
    if boxed or _SYSTEM.search(answer) or len(lefts) < len(parts):
        return answer
    if len(parts) > 1 and not re.search(r",|\band\b", gold):
        answer = parts[-1]
    sides = answer.strip(" .$").split("=")
    letters = set(re.findall("[A-Za-z]", _NAMED_COMMAND.sub("f g", sides[0])))
    whole = sides[-1].count(r"\begin") == sides[-1].count(r"\end")
    return sides[-1].strip() if len(sides) > 1 and whole and len(letters) > 1 else answer
