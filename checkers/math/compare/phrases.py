"""Compare answers in words that were not the same text.

none             no such n, there is no such number, none exist
any order        Alice and Bob = Bob, Alice
lead and number  it is increasing = increasing; every positive integer = all positive integers
yes, no          `No, such numbers do not exist` = no
"""

from __future__ import annotations

import re

_LEAD = re.compile(r"^(?:it|they|this|that|he|she)\s(?:is|was|are|were|will be)\s(?:an?\s|the\s)?")
_NONE = re.compile(
    r"(?:there\s(?:is|are|exists?)\s)?(?:none|no\ssolutions?|no\ssuch(?:\s\w+)?)(?:\sexists?)?"
)
_EVERY = re.compile(r"^(?:every|any|each)\s")
_YES_NO = re.compile(r"(yes|no|true|false)[,;:.]\s")
_SEPARATOR = re.compile(r"\s*(?:,\s*and|,|;|\band\b|&)\s*")
_YES = {"yes": "true", "no": "false"}


def same_words(gold: str, answer: str) -> bool:
    """Return whether two answers in lower case say the same by the rules of this module."""
    if gold == answer:
        return True
    for one, other in ((gold, answer), (answer, gold)):
        said = _YES_NO.match(other)
        if said and one == _YES.get(said[1], said[1]):
            return True
    left, right = _plain(gold), _plain(answer)
    if left == right:
        return True
    items = [sorted(i for i in _SEPARATOR.split(text) if i) for text in (left, right)]
    return len(items[0]) > 1 and items[0] == items[1]


def _plain(text: str) -> str:
    text = _EVERY.sub("all ", _LEAD.sub("", text))
    text = text.replace("prime number", "prime")
    if _NONE.fullmatch(text):
        return "no solution"
    return re.sub(r"(?<=[a-z]{3})(?<!s)s\b", "", text)
