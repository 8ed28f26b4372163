"""Find the choice letters that a response ends with, where the reference answer is letters.

*The smallest is D.*   *the total is 7x + 8: choice (K)*   *This holds for (A), (C) and (F) only.*
"""

from __future__ import annotations

import re

from gradebox.checkers.math.extract.answer import announced, boxes
from gradebox.checkers.math.extract.markdown import without_bold
from gradebox.checkers.math.extract.negation import without_negated
from gradebox.checkers.math.extract.segments import last_segment

_LETTER = r"(?:\$\s*)?\(?\$?(?:\\text\w*\{)?\(?([A-K])\)?\}?\$?\)?(?:\s*\$)?"
_GOLD = re.compile(rf"\W*{_LETTER}(?:(?:\s*(?:,|and)\s*)+{_LETTER})*\W*")
_ONE = re.compile(r"(?<![A-Za-z\\^_'’])([A-K])(?![A-Za-z'’])")
_AT_END = re.compile(
    rf"(?:\b(?:is|are|be|to|choose|pick|select|option|choice|graph|letter|statement|for|only)|[是为选项])\s*:?\s*"
    rf"(?P<letters>{_LETTER}(?:(?:\s*(?:,|and)\s*)+{_LETTER})*)(?:\s+only)?[\s.!。]*$"
)
_NAMED = re.compile(r"\b(?:option|choice|answer)\s+\(?([A-K])\b\)?(?!['’])", re.I)
MAX_SENTENCE = 400  # characters
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z$\\])|\n+|(?<=。)")


def letters_for(gold: str, answer: str, response: str) -> str:
    """Return the letters that the last sentence of a response chooses; "" for another gold."""
    if len(gold) > 60 or not _GOLD.fullmatch(gold):
        return ""
    if _GOLD.fullmatch(answer) and len(_ONE.findall(answer)) >= len(_ONE.findall(gold)):
        return ""
    text = last_segment(response)
    if boxes(text) or announced(text):
        return ""
    sentences = [s for s in _SENTENCE.split(without_bold(text[-4 * MAX_SENTENCE :])) if s.strip()]
    last = without_negated(sentences[-1][-MAX_SENTENCE:]) if sentences else ""
    if end := _AT_END.search(last):
        return ", ".join(_ONE.findall(end["letters"]))
    named = set(_NAMED.findall(last))
    return named.pop() if len(named) == 1 else ""
