"""Remove what a response says is not the answer: `It is not 12`, `12 is wrong`, `we reject -2`.

before    "not", "cannot be", "does not equal", …, then a number, math or a choice letter
after     a number, math or a letter, then "is not the answer", "is wrong", …
rejected  "reject", "rule out", …, then a value, or a value and "is extraneous", …: the sentence
          goes, and in the alternatives before it the value goes
"""

from __future__ import annotations

import re

_PIECE = (
    r"(?:\$(?:(?!\\boxed)[^$]){1,200}\$|\\\((?:(?!\\boxed).){1,200}?\\\)"
    r"|[-−]?[$€£]?\d(?:[\d,./]*\d)?%?(?![\w^])|(?-i:\(?\b[A-HJ]\b\)?)(?!['’]))"
)
_FILLER = (
    r"(?:be|equal|equals|to|exactly|necessarily|simply|just|the|answer|is|a|number|value|actually"
    r"|possibly|really|definitely|likely|solution|option|choice|think|believe|that|:)"
)
_BEFORE = re.compile(
    rf"(?:,?\s+(?:and\s+)?)?(?:\b(?:is|are|was|does|do|can|could|will|would"
    rf"|should)\s+)?(?:\b(?:definitely|certainly|clearly)\s+)?"
    rf"(?:\b(?:not|never|cannot|neither|no\s+es|close\s+to|nearly|almost|just\s+(?:under"
    rf"|over|below|above))|\b\w+n['’]t|而不是)\s*(?<=[\s是])(?:{_FILLER}\s+)*\**{_PIECE}\**"
    rf"(?:\s*,\s*{_PIECE})*(?:\s*,?\s*(?:nor|or)\s+{_PIECE})*(?P<but>\s*,?\s*(?:but"
    rf"|sino)\s+(?:rather\s+|instead\s+)?(?=[-$\\\d*A-J]))?",
    re.I,
)
_AFTER = re.compile(
    rf"(?<![\w$^{{]){_PIECE}\s+(?:(?:is|was|would\s+be)\s+(?:definitely\s+|certainly\s+"
    rf"|clearly\s+)?"
    r"(?:not|never)|isn['’]t|wasn['’]t|cannot\s+be|can['’]t\s+be)\s+"
    r"(?:(?:the|our|a)\s+)?(?:(?:correct|right|final|valid|possible)\b\s*)?(?:answer"
    r"|solution|value|option)?(?=\s*(?:[.,;:!]|$|\n|because|since|as\b))"
    rf"|(?<![\w$^{{]){_PIECE}\s+(?:is|was|would\s+be)\s+(?:wrong|incorrect|false"
    rf"|impossible|(?:only\s+|just\s+|merely\s+)?an?\s+(?:lower|upper)\s+bound"
    rf"|(?:still\s+)?too\s+(?:small|large|big|low|high|many|few)|not\s+enough"
    rf"|my\s+guess)(?=\s*(?:[.,;:!]|$|\n|because|since|as\b))",
    re.I,
)
_MARKED = re.compile(  # `x = 5 (rejected)`
    rf"(?:[a-z]\s*=\s*)?{_PIECE}\s*\((?:(?:is|to\s+be)\s+)?(?:reject(?:ed)?|extraneous|discarded|invalid"
    r"|impossible|not\s+(?:valid|possible|allowed|admissible))\)",
    re.I,
)
_ANY = re.compile(
    r"not|no es|不是|n['’]t|never|neither|wrong|incorrect|false|impossible|bound|too|enough"
    r"|close|nearly|almost|just|reject|extraneous|discarded|invalid",
    re.I,
)
_EMPTY = re.compile(
    r"(?<=[\d$)}]) [(\[]\s*(?:so|and|but|or)?\s*[)\]]"
)  # what is left of `24 (not 42)`
_KEPT = re.compile(  # `all reals not equal to 2`, `true or false`
    r"\b(?:all|any|every|each|if\s+and\s+only|such\s+that)\b[^.]{0,60}$", re.I
)
MAX_SENTENCE = 300  # characters of a sentence that rejects
MAX_TEXT = 4000  # characters at the end that are searched
_NUMBER = r"[-−]?\d{1,12}(?:[./]\d{1,12})?"
_VALUE = rf"(?:\$[^$\n]{{1,60}}\$|\\\([^\n]{{1,60}}?\\\)|(?:[a-z]\s?=\s?)?{_NUMBER})"
_REJECTED = re.compile(
    r"\b(?:reject|rejecting|discard|discarding|exclude|excluding|eliminate|rule\s+out|throw\s+out"
    r"|ignore|disregard|drop)\s+(?:the\s+)?(?:(?:negative|second|first|other|extraneous)\s+)?"
    rf"(?:(?:value|solution|root|case|possibility|candidate)\s+)?(?P<a>{_VALUE})"
    rf"|(?P<b>{_VALUE})\s+(?:is|must\s+be|can\s+be|gets?)\s+(?:an?\s+)?(?:extraneous|rejected"
    r"|discarded|excluded|ruled\s+out|eliminated|inadmissible|invalid|impossible"
    r"|not\s+(?:valid|allowed|admissible|possible))"
    rf"|(?P<c>{_VALUE})\s+(?:does(?:n['’]t|\s+not)\s+(?:work|satisfy|qualify|fit)|fails)",
    re.I,
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n")


def without_negated(text: str) -> str:
    """Return a text without the numbers, math and choices that it denies."""
    if _ANY.search(text) is None:
        return text
    text = _MARKED.sub(" ", text)
    return _EMPTY.sub("", _AFTER.sub(_cut, _BEFORE.sub(_cut, text)))


def _cut(m: re.Match[str]) -> str:
    if _KEPT.search(m.string[max(0, m.start() - 80) : m.start()]):
        return m[0]
    if m.re is _BEFORE and m["but"]:
        return " is "
    return " "


def without_rejected(text: str) -> str:
    """Return a text without the values that it rejects, where nothing states a value after them."""
    sentences = _SENTENCE_END.split(text[-MAX_TEXT:])
    for i in range(len(sentences) - 1, 0, -1):
        found = _REJECTED.search(sentences[i]) if len(sentences[i]) <= MAX_SENTENCE else None
        if found is None:
            if re.search(r"\d", sentences[i]):
                return text
            continue
        number = re.search(_NUMBER, found["a"] or found["b"] or found["c"])
        before = re.sub(r"\b[Ee]ither\s+(?=[$\\a-z\d])", "", "\n".join(sentences[:i]))
        shorter = _without_alternative(before, number[0]) if number else before
        return shorter if shorter != before and re.search(r"\d", shorter) else text
    return text


def _without_alternative(text: str, number: str) -> str:
    """Return `x = 6` for `x = 6 or x = -2` without -2."""
    value = rf"\$?(?:[a-z]\s*=\s*)?{re.escape(number)}\$?"
    joint = r"\s*(?:,\s*)?(?:\bor\b|\band\b|,)\s*"
    return re.sub(rf"{joint}{value}(?![\w.]\w)|{value}{joint}", " ", text)
