"""Find the answer in a reference answer, which is bare, a sentence, a phrase or a whole solution.

`There are 12 such numbers.`             12: number or math right after the verb
`A circle of radius 5`                   the whole phrase: its numbers are not its answer
`… so he has 5.\\n#### 5`, `\\boxed{5}`    what a response with this text would answer
"""

from __future__ import annotations

import re

from gradebox.checkers.math.extract.answer import announced, boxes, extract_answer, first_sentence
from gradebox.checkers.math.extract.bare import is_bare
from gradebox.checkers.math.extract.markdown import with_short_blanks, without_bold
from gradebox.checkers.math.extract.pieces import CLOSING_PHRASE
from gradebox.checkers.math.extract.prose import is_check
from gradebox.checkers.math.extract.segments import last_segment
from gradebox.checkers.math.read.labels import read_labels
from gradebox.checkers.math.read.normalise import normalise
from gradebox.checkers.math.read.split import split_items

_SHORT = 40  # characters; shorter text without a verb is an answer
MAX_PHRASE_WORDS = 40
MAX_PARTS = 6
_SEVERAL = re.compile(r"[,;]|\(b\)|\band\b")
_PART_MARK = re.compile(  # `(a) `, `Part (b):`, `**(c)**`, `Blank 1:`, `第二空：`, `②`
    r"(?:^|(?<=[\s,;.*；，。]))\*{0,3}(?:(?:part\s+\(?([a-f1-6])\)?[\s:.*]|\(([a-f])\))\*{0,3}(?=[\s:*])"
    r"|(?:第?([一二三四1-4])[个]?空[:：是为]|blank\s([1-4]):|(first|second|third)(?:\sblank)?:|([①②③④]))\s*)",
    re.I,
)
_RANKS = {mark: str(i) for row in ("一二三四", "①②③④", ("first", "second", "third"))
          for i, mark in enumerate(row, 1)}  # fmt: skip
_NAMED = re.compile(r"[=:]|[A-Za-z]{3}")
_OUTER = re.compile(r"^(?:\\\{|[(\[{])(.*?)(?:\\\}|[)\]}])$")
_ASSIGNED_LINE = re.compile(
    r"[\s*$|-]*(?P<name>\\?[A-Za-zα-ω]+(?:_\w)?)\s*[=|]\s*(?P<value>[^=,|]{1,40}?)[\s*$.|]*"
)
_HEAD = re.compile(r"^[A-Z][A-Za-z ]{2,40}:\**\s+(?=\S)")  # `Axis of symmetry:** $x=2$`
_NAMED_LINE = re.compile(  # `- **Center:** $(2,-3)$`
    r"\s*[-*•]\s+\**(?P<name>[A-Za-z][A-Za-z ]{2,30})(?::\**|\**:)\s*"
    r"(?P<value>[^:\n]{1,60}?)[\s*.]*"
)
MAX_PHRASE_CHARS = 400  # a phrase is compared in the caller's process
_ANSWER = r"(\$[^$]+\$|\\\(.+?\\\)|[$€£]?-?\d(?:[\d,./]*\d)?%?)"
_STATED = re.compile(  # `The only such pair is $(2,3)$.`, `John has 5 apples left.`
    rf"(?!.*\b(?:if|when|where|such\s+that|for\s+which|which|whose)\b)[A-Z][^,;:.=$\\\d]{{1,80}}?"
    rf"\b(?:is|are|was|were|has|have|equals|costs?|gets?|needs?|earns?|pays?)\s+(?:(?:exactly|only|equal\s+to)\s+)?"
    rf"{_ANSWER}(?P<rest>(?:\s+(?!more|less|fewer|than|times|modulo|mod|or|and|greater)[a-z]+){{0,4}})\.?",
    re.S,
)
_ONLY = re.compile(
    rf"{_ANSWER}\s+(?:is|are)\s+the\s+(?:only\s+)?(?:solutions?|answers?|such\s+\w+)\.?"
)
_SOLUTION_IS = re.compile(
    r"^(?:the\s+)?solutions?(?:\s+set)?\s+(?:is|are)\s*:?\s*(?=[$\\(\[{\w])", re.I
)
_VERDICT = re.compile(  # `No. It would lead to 0 = 1.`, not `Yes, for x > 0`
    r"([Yy]es|[Nn]o)(?:[.,;:]\s+[A-Z][a-z]|,\s+(?:because|since|as|it|they|the|there|this|that|we)\b)"
)
_EXACTLY = re.compile(
    r"\b(?:if\s+and\s+only\s+if|iff|(?:exactly|precisely)\s+(?:when|if|for))\s+([^.!?]{1,200})[.!]?\s*$",
    re.I,
)
_SAID = re.compile(r"(?:^|[.!?,:;]\s+)(yes|no)(?=[.!]\s+[A-Z]|,\s|$)", re.I)
_SENTENCES = re.compile(r"\n|[.!?]\s+[A-Z]|####|=\s*\S+.*=\s*\S+")
_COMPARISON = re.compile(r"[<>]|\\(?:[lg]eq?|[lg]t)(?![A-Za-z])")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])|\n+")
_WORD = re.compile(r"(?<![\\A-Za-z])(?:[A-Za-z]{3,}|no|No)(?![A-Za-z])")
_TEX_WORD = re.compile(r"\\(?:text|mbox|mathrm|textbf)\s*\{([^{}]*)\}|\\[A-Za-z]+")


_HENCE = re.compile(
    r"\b(?:so|thus|hence|therefore|then|giving|gives?|get|find|obtain|with|when|using|yields"
    r"|answer|desired|conclude)\b",
    re.I,
)
_RELATION = re.compile(
    r"[=<>≤≥≡]|\\(?:[lg]eq?|[lg]t|equiv|in|neq?|sim|parallel|perp|to)(?![A-Za-z])"
)
_LABEL = re.compile(r"\W*(?:text\w*\W*)?[A-J]\)")  # `(B) 5`, `\text{(B)}`
_COMMAND = re.compile(r"\\(?!left|right|cdot|times|mathbf|text)[a-z]+")


def extract_gold(gold: str) -> str:
    """Return the reference answer: what a solution boxes or announces, else the text itself."""
    text = with_short_blanks(gold).strip()
    text = text.rpartition("####")[2].strip() or text  # a solution of GSM8K, or its last line
    if boxes(text):
        return extract_answer(gold)
    stated = _STATED.fullmatch(text) or _ONLY.fullmatch(text)
    if stated:
        return stated[1].strip("$() \\")
    text = _SOLUTION_IS.sub("", text)
    if verdict := _VERDICT.match(text):
        return verdict[1]
    if len(text) <= _SHORT:
        return text
    if announced(text) or (_SENTENCES.search(text) and not is_bare(text)):
        answer = extract_answer(gold)
        return text if re.fullmatch("[A-Za-z]", answer) else answer  # `…, so $A$ has no inverse`
    return text


def is_phrase(gold: str) -> bool:
    """Return whether a reference answer is a phrase, such as `a circle of radius 5`."""
    if len(gold) > MAX_PHRASE_CHARS:
        return False
    words = _WORD.findall(_TEX_WORD.sub(r" \1 ", gold))
    return 0 < len(words) <= MAX_PHRASE_WORDS


def value_for(gold: str, answer: str, response: str) -> str:
    """Return the value that a response's equations end with when the reference answer is a value.

    `7` for *Therefore* `rs = 3 + 4 = 7` and for `r^3 = 1, r + s = 7`. An equation in one letter
    stays, as its sides may be the letter's condition, so do boxed and bare equations.
    """
    concludes = answer.strip(" .$") != response.strip(" .$") and _HENCE.search(response[-600:])
    if not concludes or "=" not in answer or _RELATION.search(gold) or _LABEL.match(answer):
        return answer
    if boxes(response):
        return answer
    parts = re.split(r",\s+(?=[^=<>]*=)", answer.strip(" .$"))
    lefts = [re.sub(r"_\{?\w+\}?", "", p.partition("=")[0]).strip() for p in parts]
    if re.search(r"[<>]|\\(?:[lg]eq?|equiv|begin\{(?:cases|align))", answer) or len(
        set(lefts)
    ) < len(parts):
        return answer
    if len(parts) > 1 and not re.search(r",|\band\b", gold):
        answer = parts[-1]
    sides = answer.strip(" .$").split("=")
    named = _COMMAND.sub("f g", sides[0])
    whole = sides[-1].count(r"\begin") == sides[-1].count(r"\end")
    if len(sides) > 1 and whole and len(set(re.findall("[A-Za-z]", named))) > 1:
        return sides[-1].strip()
    return answer


def is_comparison(gold: str) -> bool:
    """Return whether a reference answer is a relation, which a response may state in words."""
    return len(gold) <= MAX_PHRASE_CHARS and bool(_COMPARISON.search(gold))


def phrases_of(response: str) -> list[str]:
    """Return the sentences of a response that may state its answer: the announced, the last one."""
    text = without_bold(CLOSING_PHRASE.sub("", last_segment(response)))
    if boxes(text):
        return []
    if announced(text) or _EXACTLY.search(text[-MAX_PHRASE_CHARS:]):
        phrase = phrase_of(response)
        return [phrase] if phrase else []
    sentences = [s for s in _SENTENCE.split(text[-MAX_PHRASE_CHARS:]) if s.strip()]
    found = [text] if len(text) <= MAX_PHRASE_CHARS and "\n" not in text else []
    return [*sentences[-1:], *found]


def yes_or_no_of(response: str) -> str:
    """Return the yes or no that a response without an announced answer says, and only that.

    No for `No. A parity argument …`, yes for `As it is a square, yes, such integers exist.`
    """
    text = last_segment(response)
    if len(text) > MAX_PHRASE_CHARS or boxes(text) or announced(text):
        return ""
    said = {m[1].lower() for m in _SAID.finditer(text)}
    return said.pop() if len(said) == 1 else ""


def parts_for(gold: str, response: str) -> str:
    """Return what a response answers to the parts of a question, one for each item of the gold.

    The parts are boxes, texts under (a), (b), …, lines such as `r = 3`, or named values: *the
    length is 12 and the width is 5*. Return "" for any other response.
    """
    if not _SEVERAL.search(gold) or len(gold) > MAX_PHRASE_CHARS:
        return ""
    items = list(_PART_MARK.finditer(gold)) or split_items(
        _OUTER.sub(r"\1", normalise(gold)), enclosed=True
    )
    text = last_segment(response)
    if not 2 <= len(items) <= MAX_PARTS:
        return ""
    contents = [c.strip() for _, _, c in boxes(text)]
    if not contents and not announced(text):
        contents = _assigned_lines(text, len(items)) or [extract_answer(p) for p in _labelled(text)]
        if len(contents) != len(items):
            sentences = [s for s in _SENTENCE.split(text[-MAX_PHRASE_CHARS:]) if s.strip()]
            named = read_labels(normalise(sentences[-1])) if sentences else {}
            contents = list(named.values()) if not _NAMED.search(gold) and _are_words(named) else []
        return f"({'; '.join(contents)})" if len(contents) == len(items) and all(contents) else ""
    if len(contents) != len(items) or any(len(split_items(c)) > 1 for c in contents):
        return ""
    if len(split_items(_OUTER.sub(r"\1", normalise(contents[-1])), enclosed=True)) == len(items):
        return ""  # the last box has all the items
    return ", ".join(contents) if len(set(contents)) == len(contents) else ""


def _assigned_lines(text: str, count: int) -> list[str]:
    """Return the values of the last lines when each names one: `r = 3` and `\\theta = \\pi/2`."""
    lines = [line for line in text.strip().splitlines() if line.strip() and not is_check(line)]
    found = [
        _ASSIGNED_LINE.fullmatch(line) or _NAMED_LINE.fullmatch(line) for line in lines[-count:]
    ]
    names = {m["name"] for m in found if m}
    return [m["value"] for m in found if m] if len(names) == count == len(found) else []


def _are_words(named: dict[str, str]) -> bool:
    """Return whether names in words have numbers as values."""
    return all(re.search("[a-z]{3}", n) for n in named) and all(
        re.fullmatch(r"[-+＄$€£]?\s?[\d.,/]+[%\s\w]*", v) for v in named.values()
    )


def _labelled(text: str) -> list[str]:
    """Return the texts under (a), (b), …, in order; [] when the marks are others."""
    marks = list(_PART_MARK.finditer(text))
    names = [next(filter(None, m.groups())).lower() for m in marks]
    names = [_RANKS.get(name, name) for name in names]
    if len(names) < 2 or not any(names == list(row[: len(names)]) for row in ("abcdef", "123456")):
        return []
    ends = [*(m.start() for m in marks[1:]), len(text)]
    parts = [text[m.end() : end].strip(" :.\n*；，;,") for m, end in zip(marks, ends, strict=True)]
    return [_HEAD.sub("", part) for part in parts]


def phrase_of(response: str) -> str:
    """Return the sentence that a response announces, or the whole of a short response."""
    found = announced(response)
    if exactly := _EXACTLY.search(response[-MAX_PHRASE_CHARS:]):
        return exactly[1].strip(" .")
    if found:
        return found[0] if len(found[0]) <= MAX_PHRASE_CHARS else ""
    text = response.strip()
    if len(text) > MAX_PHRASE_CHARS:
        return ""
    if len(text.split()) <= MAX_PHRASE_WORDS and not boxes(text):
        return first_sentence(text)
    return ""
