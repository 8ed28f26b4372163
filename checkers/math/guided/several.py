"""Find the values that a response states one after the other, for a reference answer of several.

named     `R = e, I = (-e, e)`   the last value of each of its names
letters   `(2, 3)`               *so* `a = 2`*, and then* `b = 3`
letter    `-4, 4`                *first* `x = -4`*, then* `x = 4`
stated    `30, 40`               *it drove 30 mph going and 40 mph returning*
blanks    `a; b`                 one value in each of two clauses
"""

from __future__ import annotations

import re
from itertools import pairwise

from gradebox.checkers.math.extract.answer import announced, boxes
from gradebox.checkers.math.extract.bare import EXCEPTION, TEX_WORDS, WORD
from gradebox.checkers.math.extract.markdown import without_bold
from gradebox.checkers.math.extract.negation import without_negated
from gradebox.checkers.math.extract.prose import is_check
from gradebox.checkers.math.extract.segments import last_segment
from gradebox.checkers.math.guided.statements import Statement, plain, statements, without_brackets
from gradebox.checkers.math.read.normalise import normalise
from gradebox.checkers.math.read.split import split_items, whole_bracket

MAX_CHARS = 900  # at the end of a response
MAX_ANSWER = 400  # characters of an answer
MAX_ITEMS = 8
_COLUMN = re.compile(
    r"(?:\\left)?[(\[]?\\begin\{(?:[pb]?matrix|array)\}(?:\{\w\})?([^&]*)\\end\{\w+\}[)\]]?"
)
_TUPLE = re.compile(r"(?:^|=\s*)\(|\\begin")
_NAMED = re.compile(r"(?P<name>[^=<>]{1,60})=(?P<value>[^=]+)", re.S)
_LEAD = re.compile(r"^(?:and\s|or\s|[A-Za-z ]{4,30}:)\s*")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z$\\])|\n+|(?<=[。])")
_CLAUSE = re.compile(r"(?<=[.!?])\s+(?=[A-Z$\\])|\n+|[。；;]")
_SO = re.compile(
    r"\b(?:so|hence|thus|therefore|giv(?:es?|ing))\b|所以|因此|故", re.I
)  # the start of a conclusion
_SEVERAL = re.compile(  # values, an interval, a set or words rather than one value
    r"[,;<>≤≥∈∪ℝ±\[\]]|\\\{|\\(?:[lg]eq?|[lg]t|in|pm|cup|begin|mathbb)(?![A-Za-z])"
    r"|[A-Za-z]{3}\s+[A-Za-z]{3}|[=)]\s*\("
)
_AMOUNT = re.compile(r"[-−]?[$€£]?\d[\d,./]*(?:\s+[a-z]+){1,4}")  # `30 miles per hour`
_CHOSEN = re.compile(r"\b(?:only|extraneous|reject|discard|invalid|valid|exclude|but)", re.I)
_LABEL = re.compile(  # `Outbound: `, `- bicycle = `, `第一空：`
    r"(?:^|(?<=[.!?]\s)|\n)[-*•\s]*[A-Za-z][a-z]{2,}(?:\s[a-z]{2,}){0,2}\s*[:=]\s|第[一二三四][空问]"
)
_HEADING = re.compile(r"^[#*_ \t]*(?:final\s+)?answers?[#*_: \t]*\n", re.I | re.M)
_ROUNDED = re.compile(
    r"(?:,\s|\sor\s)\s*(?:(?:that\s+is|i\.e\.|or),?\s+)?(?:roughly|about|approximately)\s.*$"
)


def gold_items(gold: str) -> list[str]:
    """Return the items of a list, of a tuple or of a column; a name before them is left out."""
    text = normalise(gold)
    named = _NAMED.fullmatch(text)
    if named and whole_bracket(named["value"].strip()) and "," in named["name"]:
        text = named["value"].strip()  # `(x, y) = (1, 2)`
    if column := _COLUMN.fullmatch(text):
        return [row.strip() for row in column[1].split(r"\\") if row.strip()]
    whole = whole_bracket(text)
    items = split_items(whole[1] if whole else text, enclosed=whole is not None)
    return [_LEAD.sub("", item) for item in items]


def several_for(gold: str, answer: str, response: str) -> str:
    """Return the values that a response states, one for each item of the gold, or ""."""
    if not re.search(r"[,;]|\\\\|\band\b", gold) or max(len(gold), len(answer)) > MAX_ANSWER:
        return ""
    items = gold_items(gold)
    if not 2 <= len(items) <= MAX_ITEMS or r"\cup" in gold:
        return ""
    text = _HEADING.sub("", last_segment(response))
    if boxes(text) or (announced(text) and (text.isascii() or ";" not in gold)):
        return ""
    sentences = [s for s in _SENTENCE.split(text[-MAX_CHARS:]) if s.strip()]
    while len(sentences) > 1 and is_check(sentences[-1]):
        sentences.pop()
    text = _ROUNDED.sub("", without_brackets(without_negated(without_bold("\n".join(sentences)))))
    found = statements(text)
    count = len(items) + sum(r"\pm" in item for item in items)
    names = [plain(m["name"]) if (m := _NAMED.fullmatch(i)) else "" for i in items]
    named = all(names) and len(set(names)) == len(names)
    if answer.strip() == response.strip():  # bare
        if named and any(len(s.names) > 1 for s in found):
            return _of_names(names, found)
        values = _of_labels(count, text)
    elif not _is_one(answer):
        if r"\begin" not in gold or r"\begin" in answer:
            more = 1 < len(gold_items(answer)) < count and not _CHOSEN.search(text)
            return "; ".join(_of_letter(count, found)) if more else ""
        values = _of_letters(count, found)
    elif named:
        return _of_names(names, found)
    else:
        ordered = _TUPLE.search(normalise(gold)) and _of_letters(count, found)
        letter = [] if ordered or _CHOSEN.search(text) else _of_letter(count, found)
        if letter:
            return "; ".join(letter)
        values = (
            _of_letters(count, found)
            or _of_labels(count, text)
            or (_of_clauses(count, text) if ";" in gold else [])
            or _stated(count, text)
        )
    return f"({'; '.join(values)})" if values else ""


def _is_one(answer: str) -> bool:
    """Return whether an answer is a single value, or prose, as far as its text shows."""
    if _AMOUNT.fullmatch(answer.strip(" .")):
        return True
    words = [w for w in WORD.findall(TEX_WORDS.sub(" ", answer)) if len(w) > 2]
    if len(words) > 2 and not EXCEPTION.match(answer):
        return True
    several = "," in answer or re.search(r"\b(?:and|or)\b", answer)
    return not several and not _SEVERAL.search(answer.rpartition("=")[2])


def _of_names(names: list[str], found: list[Statement]) -> str:
    """Return the last value of each name; "" when one has none."""
    last = {name: s.value for s in found for name in s.names}
    return ", ".join(f"{n}={last[n]}" for n in names) if set(names) <= set(last) else ""


def _of_letters(count: int, found: list[Statement]) -> list[str]:
    """Return the values of the last letters, which differ, in the order of the alphabet."""
    last = {s.letter: s.value for s in found[-1 - count * 2 :] if s.letter}
    names = list(dict.fromkeys(s.letter for s in reversed(found) if s.letter))[:count]
    if len(names) < count or not found[-1].letter:
        return []
    return [last[name] for name in sorted(names)]


def _of_letter(count: int, found: list[Statement]) -> list[str]:
    """Return the last values of the last letter when they are as many as asked for."""
    same = [s.value for s in found if s.letter and s.letter == found[-1].letter]
    values: list[str] = []
    while same and len(values) < count:
        values = [*split_items(same.pop(), enclosed=True), *values]
    stated_again = set(values) & set(same) or len(set(values)) < len(values)
    return values if len(values) == count and not stated_again else []


def _of_labels(count: int, text: str) -> list[str]:
    """Return the last value behind each label when they are as many as asked for."""
    labels = list(_LABEL.finditer(text))
    if len({m[0].strip().lower() for m in labels}) != count or len(labels) != count:
        return []
    ends = [*(m.start() for m in labels[1:]), len(text)]
    parts = [text[m.end() : end].strip() for m, end in zip(labels, ends, strict=True)]
    found = [statements(_SENTENCE.split(part)[0]) for part in parts]
    return [s[-1].value for s in found] if all(found) else []


def _of_clauses(count: int, text: str) -> list[str]:
    """Return the last value of each clause when they are as many as asked for."""
    clauses = [c for c in _CLAUSE.split(text) if c.strip()]
    values = [s[-1].value for s in map(statements, clauses) if s]
    return values if len(values) == len(clauses) == count else []


def _stated(count: int, text: str) -> list[str]:
    """Return the values of the last sentence, or of its conclusion, when it has so many."""
    sentence = [s for s in _SENTENCE.split(text) if s.strip()][-1]
    starts = [m.end() for m in _SO.finditer(sentence)]
    for part in (sentence[starts[-1] :] if starts else "", sentence):
        found = statements(part)
        between = (part[a.end : b.start] for a, b in pairwise(found))
        joined = all(re.search(r"[,，;；]|[^\W\d_]{2}", text) for text in between)
        if len(found) == count and joined and not any(s.letter for s in found):
            return [s.value for s in found]
    return []
