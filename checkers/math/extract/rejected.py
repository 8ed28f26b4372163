"""Remove the values that a response rejects: `x = 6 or x = -2. As x > 0, we reject -2.`

Before a rejected value stands *reject*, *discard*, *rule out*, …; after it *is extraneous*, *is not
valid*, … The sentence goes, and in the alternatives before it the value goes.
"""

from __future__ import annotations

import re

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
