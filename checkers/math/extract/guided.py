"""Find an answer with the reference answer's kind in view: parts, several values, letters, a value.

parts     `1, 2`          boxes, texts under (a) and (b), lines such as `r = 3`
several   `(2, 3)`        *so* `a = 2`*, and then* `b = 3`
letters   `B`             *the smallest is B*
bound     `3`             `|w - z| \\ge 3`*, with equality for* `w = 5`
value     `1/(s + a)`     `1/(s + a)` *for* `s > -a`; `7` for `rs = 3 + 4 = 7`

The reference answer itself is bare, a sentence, a phrase or a whole solution.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from gradebox.checkers.math.extract import phrases
from gradebox.checkers.math.extract.answer import (
    extract_answer,
    last_announcement,
)
from gradebox.checkers.math.extract.closing import TEX_WORDS, WORD, is_bare, is_check
from gradebox.checkers.math.extract.document import boxes, model_text, read, without_bold
from gradebox.checkers.math.extract.formats import with_short_blanks
from gradebox.checkers.math.extract.formulas import pieces, unit_after
from gradebox.checkers.math.extract.phrases import without_denied
from gradebox.checkers.math.read.normalise import normalise
from gradebox.checkers.math.read.split import COMMA, split_items, split_top
from gradebox.checkers.math.read.tables import strip_marks

MAX_CHARS = 400  # of a reference answer, an answer, or the end of a response
MAX_STATED = 900  # characters at the end of a response that states several values
MAX_ITEMS = 8
_SHORT = 40  # characters; shorter text without a verb is an answer
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z$\\])|\n+|(?<=。)")
_RELATION = re.compile(
    r"[=<>≤≥≠≡]|\\(?:[lg]eq?|[lg]t|neq?|equiv|in|[lg]eqslant|sim|parallel|perp|to)(?![A-Za-z])"
)
_BOUND = re.compile(r"[<>≤≥≠]|\\(?:[lg]eq?|[lg]t|neq?|[lg]eqslant)(?![A-Za-z])")

# ---- the reference answer ----

_VALUE = r"(\$[^$]+\$|\\\(.+?\\\)|[$€£]?-?\d(?:[\d,./]*\d)?%?)"
_STATED = re.compile(  # `The only such pair is $(2,3)$.`, `John has 5 apples left.`
    rf"(?!.*\b(?:if|when|where|such\s+that|for\s+which|which|whose)\b)[A-Z][^,;:.=$\\\d]{{1,80}}?"
    rf"\b(?:is|are|was|were|has|have|equals|costs?|gets?|needs?|earns?|pays?)\s+(?:(?:exactly|only|equal\s+to)\s+)?"
    rf"{_VALUE}(?:(?:\s+(?!more|less|fewer|than|times|modulo|mod|or|and|greater)[a-z]+){{0,4}})\.?"
    rf"|{_VALUE}\s+(?:is|are)\s+the\s+(?:only\s+)?(?:solutions?|answers?|such\s+\w+)\.?",
    re.S,
)
_SOLUTION_IS = re.compile(
    r"^(?:the\s+)?solutions?(?:\s+set)?\s+(?:is|are)\s*:?\s*(?=[$\\(\[{\w])", re.I
)
_SOLUTION = re.compile(r"\n|[.!?]\s+[A-Z]|####|=\s*\S+.*=\s*\S+")  # sentences, or a chain
_TWO_SPELLINGS = re.compile(r"\\?#\s?\\?#")  # `\frac{3}{10} \# \# 0.3`


def extract_gold(gold: str) -> str:
    """Return the reference answer: what a solution boxes or announces, else the text itself."""
    text = with_short_blanks(gold).strip()
    text = text.rpartition("####")[2].strip() or text  # a solution of GSM8K, or its last line
    if boxes(text):
        return extract_answer(gold)
    if stated := _STATED.fullmatch(text):
        return (stated[1] or stated[2]).strip("$() \\")
    text = _SOLUTION_IS.sub("", text)
    if len(text) <= _SHORT:
        return _TWO_SPELLINGS.split(text)[0].strip() + "$" * (text[:1] == "$" and "#" in text)
    if last_announcement(read(text)) or (_SOLUTION.search(text) and not is_bare(text)):
        answer = extract_answer(gold)
        return text if re.fullmatch("[A-Za-z]", answer) else answer  # `…, so $A$ has no inverse`
    return text


_TEX_TEXT = re.compile(r"\\(?:text|mbox|mathrm|textbf)\s*\{([^{}]*)\}|\\[A-Za-z]+")
_PHRASE_WORD = re.compile(r"(?<![\\A-Za-z])(?:[A-Za-z]{3,}|no|No)(?![A-Za-z])")
_COMPARISON = re.compile(r"[<>]|\\(?:[lg]eq?|[lg]t)(?![A-Za-z])")
MAX_PHRASE_WORDS = 40


def may_be_worded(gold: str) -> bool:
    """Return whether a reference answer is a phrase or a comparison, which may be said in words."""
    words = _PHRASE_WORD.findall(_TEX_TEXT.sub(r" \1 ", gold[: MAX_CHARS + 1]))
    return len(gold) <= MAX_CHARS and bool(
        0 < len(words) <= MAX_PHRASE_WORDS or _COMPARISON.search(gold)
    )


def phrases_of(response: str) -> list[str]:
    """Return the sentences of a response that may state its answer: the announced, the last one."""
    text = without_bold(phrases.CLOSING_PHRASE.sub("", model_text(response)))
    document = read(text)
    if document.boxes:
        return []
    if found := last_announcement(document):
        return [found.answer] if len(found.answer) <= MAX_CHARS else []
    sentences = [s for s in re.split(r"(?<=[.!?])\s+(?=[A-Z])|\n+", text[-MAX_CHARS:]) if s.strip()]
    return [*sentences[-1:], *([text] if len(text) <= MAX_CHARS and "\n" not in text else [])]


# ---- parts ----

_SEVERAL = re.compile(r"[,;]|\\\\|\(b\)|\band\b")
_PART_MARK = re.compile(  # `(a) `, `Part (b):`, `**(c)**`, `Blank 1:`, `第二空：`, `②`
    r"(?:^|(?<=[\s,;.*；，。]))\*{0,3}(?:(?:part\s+\(?([a-f1-6])\)?[\s:.*]|\(([a-f])\))\*{0,3}(?=[\s:*])"
    r"|(?:第?([一二三四1-4])[个]?空[:：是为]|blank\s([1-4]):|(first|second|third)(?:\sblank)?:|([①②③④]))\s*)",
    re.I,
)
_RANKS = {mark: str(i) for row in ("一二三四", "①②③④", ("first", "second", "third"))
          for i, mark in enumerate(row, 1)}  # fmt: skip
_OUTER = re.compile(r"^(?:\\\{|[(\[{])(.*?)(?:\\\}|[)\]}])$")
_COLUMN = re.compile(
    r"(?:\\left)?[(\[]?\\begin\{(?:[pb]?matrix|array)\}(?:\{\w\})?([^&]*)\\end\{\w+\}[)\]]?"
)
_NAMED_LINE = re.compile(  # `r = 3`
    r"[\s*$|-]*(?P<name>\\?[A-Za-zα-ω]+(?:_\w)?)\s*[=|]\s*(?P<value>[^=,|]{1,40}?)[\s*$.|]*"
)


def parts_for(gold: str, response: str) -> str:
    """Return what a response answers to the parts of a question, one for each item of the gold."""
    if not _SEVERAL.search(gold) or len(gold) > MAX_CHARS:
        return ""
    items = list(_PART_MARK.finditer(gold)) or _items(gold)
    text = model_text(response)
    if not 2 <= len(items) <= MAX_ITEMS:
        return ""
    contents = [box.contents.strip() for box in boxes(text)]
    if not contents and not last_announcement(read(text)):
        contents = _named_lines(text, len(items)) or [extract_answer(p) for p in _marked(text)]
        return f"({'; '.join(contents)})" if len(contents) == len(items) and all(contents) else ""
    if len(contents) != len(items) or any(len(split_items(c)) > 1 for c in contents):
        return ""
    if len(_items(contents[-1])) == len(items):
        return ""  # the last box has all the items
    return ", ".join(contents) if len(set(contents)) == len(contents) else ""


def _items(text: str) -> list[str]:
    text = normalise(text)
    if column := _COLUMN.fullmatch(text):
        return [row.strip() for row in column[1].split(r"\\") if row.strip()]
    return split_items(_OUTER.sub(r"\1", text), enclosed=True)


def _sentences(text: str) -> list[str]:
    return [s for s in _SENTENCE.split(text) if s.strip()]


def _named_lines(text: str, count: int) -> list[str]:
    """Return the values of the last lines when each names one: `r = 3` and `\\theta = \\pi/2`."""
    lines = [line for line in text.strip().splitlines() if line.strip() and not is_check(line)]
    found = [m for line in lines[-count:] if (m := _NAMED_LINE.fullmatch(line))]
    names = {m["name"] for m in found}
    return [m["value"] for m in found] if len(names) == count == len(found) else []


def _marked(text: str) -> list[str]:
    """Return the texts under (a), (b), …, in order; [] when the marks are others."""
    marks = list(_PART_MARK.finditer(text))
    names = [next(filter(None, m.groups())).lower() for m in marks]
    names = [_RANKS.get(name, name) for name in names]
    if len(names) < 2 or not any(names == list(row[: len(names)]) for row in ("abcdef", "123456")):
        return []
    ends = [*(m.start() for m in marks[1:]), len(text)]
    return [text[m.end() : end].strip(" :.\n*；，;,") for m, end in zip(marks, ends, strict=True)]


# ---- several values ----

_CLAUSE = re.compile(r"(?<=[.!?])\s+(?=[A-Z$\\])|\n+|[。；;]")
_SO = re.compile(r"\b(?:so|hence|thus|therefore|giv(?:es?|ing))\b|所以|因此|故", re.I)
_NOT_ONE = re.compile(  # values, an interval, a set or words rather than one value
    r"[,;<>≤≥∈∪ℝ±\[\]]|\\\{|\\(?:[lg]eq?|[lg]t|in|pm|cup|begin|mathbb)(?![A-Za-z])"
    r"|[A-Za-z]{3}\s+[A-Za-z]{3}|[=)]\s*\(|\b(?:and|or)\b"
)
_MEASURED = re.compile(r"[-−]?[$€£]?\d[\d,./]*(?:\s+[a-z]+){1,4}")  # `30 miles per hour`
_CHOSEN = re.compile(r"\b(?:only|extraneous|reject|discard|invalid|valid|exclude|but)", re.I)
_LETTER = re.compile(r"\\?[A-Za-zα-ω](?:[\u0304\u0302])?(?:_\{?\w+\}?)?|\\(?:bar|hat|vec)\{[a-z]\}")
_FREE = re.compile(r"(?<![A-Za-z\\])[A-Za-df-hj-zα-ορ-ω](?![A-Za-z])")
_CONSTANT = re.compile(r"\d|\\(?:pi|infty)|[π∞]|(?<![A-Za-z])[ei](?![A-Za-z])")

_IN_BRACKETS = re.compile(r"(?<=[\w$})°%.²³]) \((?!\s*-?\d[^()]*,)[^()]*(?:\([^()]*\)[^()]*)*\)")


class Statement(NamedTuple):
    """A value that a text states, and the single letter that has it, or "", and where."""

    letter: str
    value: str
    start: int
    end: int


def statements(text: str) -> list[Statement]:
    """Return the formulas and numbers of a text in order; those of a list in math are apart."""
    found: list[Statement] = []
    for start, end, contents in pieces(text):
        unit = unit_after(text[end:])
        for part in split_top(contents.strip(" .。"), COMMA)[0]:
            name, *_, side = (
                s.strip() for s in (f"={part}" if "=" not in part else part).split("=")
            )
            value = f"{side} {unit}".strip()
            shown = re.sub(r"\\[A-Za-z]+", " ", strip_marks(normalise(side)))
            constant = _CONSTANT.search(side) and not _FREE.search(shown)
            letter = name if constant and _LETTER.fullmatch(name) else ""
            if not name and found and found[-1].start == start and found[-1].letter:
                letter, before, *_ = found.pop()  # `x = 1, -2`
                value = f"{before}, {value}"
            if side:
                found.append(Statement(letter, value, start, end))
    return found


def several_for(gold: str, answer: str, response: str) -> str:
    """Return the values that a response states, one for each item of the gold, or ""."""
    short = max(len(gold), len(answer)) <= MAX_CHARS and answer.strip() != response.strip()
    items = _items(gold) if short and _SEVERAL.search(gold) else []
    text = model_text(response)
    announced = last_announcement(read(text))
    if boxes(text) or (announced and (text.isascii() or ";" not in gold)):
        return ""
    if not 2 <= len(items) <= MAX_ITEMS or r"\cup" in gold:
        return ""
    sentences = _sentences(text[-MAX_STATED:])
    while len(sentences) > 1 and is_check(sentences[-1]):
        sentences.pop()
    text = _IN_BRACKETS.sub("", without_denied(without_bold("\n".join(sentences))))
    found = statements(text)
    count = len(items) + sum(r"\pm" in item for item in items)
    letters = _of_letters(count, found)
    letter = [] if _CHOSEN.search(text) else _of_letter(count, found)
    if not _is_one(answer):
        if r"\begin" not in gold or r"\begin" in answer:
            return "; ".join(letter) if 1 < len(_items(answer)) < count else ""
        return f"({'; '.join(letters)})" if letters else ""
    ordered = re.search(r"(?:^|=\s*)\(|\\begin", normalise(gold))
    if letter and not (ordered and letters):
        return "; ".join(letter)
    clauses = _of_clauses(count, text) if ";" in gold else []
    values = letters or clauses or _stated(count, text)
    return f"({'; '.join(values)})" if values else ""


def _is_one(answer: str) -> bool:
    """Return whether an answer is a single value, or prose, as far as its text shows."""
    words = [w for w in WORD.findall(TEX_WORDS.sub(" ", answer)) if len(w) > 2]
    if _MEASURED.fullmatch(answer.strip(" .")) or len(words) > 2:
        return True
    return "," not in answer and not _NOT_ONE.search(answer.rpartition("=")[2])


def _of_letters(count: int, found: list[Statement]) -> list[str]:
    """Return the values of the last letters, which differ, in the order of the alphabet."""
    last = {s.letter: s.value for s in found[-1 - count * 2 :] if s.letter}
    names = list(dict.fromkeys(s.letter for s in reversed(found) if s.letter))[:count]
    complete = len(names) == count and found[-1].letter
    return [last[name] for name in sorted(names) if name in last] if complete else []


def _of_letter(count: int, found: list[Statement]) -> list[str]:
    """Return the last values of the last letter when they are as many as asked for."""
    same = [s.value for s in found if s.letter and s.letter == found[-1].letter]
    values: list[str] = []
    while same and len(values) < count:
        values = [*split_items(same.pop(), enclosed=True), *values]
    stated_again = set(values) & set(same) or len(set(values)) < len(values)
    return values if len(values) == count and not stated_again else []


def _of_clauses(count: int, text: str) -> list[str]:
    """Return the last value of each clause when they are as many as asked for."""
    clauses = [c for c in _CLAUSE.split(text) if c.strip()]
    values = [s[-1].value for s in map(statements, clauses) if s]
    return values if len(values) == len(clauses) == count else []


def _stated(count: int, text: str) -> list[str]:
    """Return the values of the last sentence, or of its conclusion, when it has so many."""
    sentence = (_sentences(text) or [""])[-1]
    for part in (_SO.split(sentence)[-1], sentence):
        found = statements(part)
        between = (part[a.end : b.start] for a, b in pairwise(found))
        joined = all(re.search(r"[,，;；]|[^\W\d_]{2}", text) for text in between)
        if len(found) == count and joined and not any(s.letter for s in found):
            return [s.value for s in found]
    return []


# ---- letters ----

_CHOICE = r"(?:\$\s*)?\(?\$?(?:\\text\w*\{)?\(?([A-K])\)?\}?\$?\)?(?:\s*\$)?"
_CHOICES = rf"{_CHOICE}(?:(?:\s*(?:,|and)\s*){{1,3}}{_CHOICE}){{0,9}}"
_GOLD_LETTERS = re.compile(rf"\W*{_CHOICES}\W*")
_ONE_LETTER = re.compile(r"(?<![A-Za-z\\^_'’])([A-K])(?![A-Za-z'’])")
_LETTERS_AT_END = re.compile(
    r"(?:\b(?:is|are|be|to|choose|pick|select|option|choice|graph|letter|statement|for|only)|[是为选项.!?])\s*:?\s*"
    rf"(?P<letters>{_CHOICES})(?:\s+only)?[\s.!。]*$"
)
_NAMED_LETTER = re.compile(r"\b(?:option|choice|answer)\s+\(?([A-K])\b\)?(?!['’])", re.I)


def letters_for(gold: str, answer: str, response: str) -> str:
    """Return the letters that the last sentence of a response chooses; "" for another gold."""
    if len(gold) > 60 or not _GOLD_LETTERS.fullmatch(gold):
        return ""
    if _GOLD_LETTERS.fullmatch(answer) and len(_ONE_LETTER.findall(answer)) >= len(
        _ONE_LETTER.findall(gold)
    ):
        return ""
    text = model_text(response)
    if boxes(text) or last_announcement(read(text)):
        return ""
    sentences = _sentences(without_bold(text[-4 * MAX_CHARS :]))
    last = without_denied(sentences[-1][-MAX_CHARS:]) if sentences else ""
    if end := _LETTERS_AT_END.search(last):
        return ", ".join(_ONE_LETTER.findall(end["letters"]))
    named = set(_NAMED_LETTER.findall(last))
    return named.pop() if len(named) == 1 else ""


# ---- a value ----

_ATTAINED = re.compile(
    r"(?!.*(?:\b(?:not|never|cannot)\b|n['’]t|不)).*(?:\b(?:equality|attained|achieved|reached)\b|等号|取等)",
    re.I | re.S,
)
_HENCE = re.compile(
    r"\b(?:so|thus|hence|therefore|then|giving|gives?|get|find|obtain|with|when|using|yields"
    r"|answer|desired|conclude)\b",
    re.I,
)
_CHOICE_LABEL = re.compile(r"\W*(?:text\w*\W*)?[A-J]\)")  # `(B) 5`, `\text{(B)}`
_COMMAND = re.compile(r"\\(?!left|right|cdot|times|mathbf|text)[a-z]+")
_SYSTEM = re.compile(r"[<>]|\\(?:[lg]eq?|equiv|begin\{(?:cases|align))")
_CONDITION = re.compile(  # `1/(s + a)` for `s > -a`; `x + 5`, valid for `x > 5`
    r"(?P<value>.*?[\w})$]),?\s+(?:valid\s+)?(?:for|when|where|provided|assuming)\s+(?:that\s+|all\s+)?"
    r"\$?[A-Za-z]\s*(?:[<>≤≥≠]|\\(?:[lg]eq?|[lg]t|neq?)(?![A-Za-z]))\s*[^\s,;=<>]{1,30}",
    re.S,
)
_CONDITIONED = re.compile(r"\b(?:for|if|when|where|with)\b")


def bound_for(gold: str, answer: str, response: str) -> str:
    """Return the last side of an inequality that the response says to be attained, or ""."""
    if len(answer) > MAX_CHARS or "=" in gold or _BOUND.search(gold):
        return ""
    *others, last = (side.strip() for side in _BOUND.split(answer.strip(" .$")))
    if not others or not last:
        return ""
    after = model_text(response)[-MAX_CHARS:].rpartition(last)[2]
    return last.rpartition("=")[2].strip() if _ATTAINED.match(after) else ""


def unconditioned(gold: str, answer: str) -> str:
    """Return an answer without the condition that it ends with, where the reference has none."""
    if max(len(gold), len(answer)) > MAX_CHARS or _BOUND.search(gold):
        return answer
    found = _CONDITION.fullmatch(answer.strip(" ."))
    if found is None or _CONDITIONED.search(gold + found["value"]):
        return answer
    return found["value"] if found["value"].count("$") % 2 == 0 else answer


def value_for(gold: str, answer: str, response: str) -> str:
    """Return the value that a response's equations end with when the reference answer is a value.

    `7` for *Therefore* `rs = 3 + 4 = 7` and for `r^3 = 1, r + s = 7`. An equation in one letter
    stays, as its sides may be the letter's condition, so do boxed and bare equations.
    """
    concludes = answer.strip(" .$") != response.strip(" .$") and _HENCE.search(response[-600:])
    if not concludes or "=" not in answer or _RELATION.search(gold) or _CHOICE_LABEL.match(answer):
        return answer
    parts = re.split(r",\s+(?=[^=<>]*=)", answer.strip(" .$"))
    lefts = {re.sub(r"_\{?\w+\}?", "", p.partition("=")[0]).strip() for p in parts}
    if boxes(response) or _SYSTEM.search(answer) or len(lefts) < len(parts):
        return answer
    if len(parts) > 1 and not re.search(r",|\band\b", gold):
        answer = parts[-1]
    sides = answer.strip(" .$").split("=")
    letters = set(re.findall("[A-Za-z]", _COMMAND.sub("f g", sides[0])))
    whole = sides[-1].count(r"\begin") == sides[-1].count(r"\end")
    return sides[-1].strip() if len(sides) > 1 and whole and len(letters) > 1 else answer
