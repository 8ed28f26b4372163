"""Find the number that a sentence of a word problem states among the others that it mentions.

    It took her 45 minutes to read 30 pages.       45: 30 is what she read
    In 3 hours he walks 12 miles.                  12: 3 follows a preposition
    45 of the 60 tickets were sold by noon.        45: 60 follows an article
    1045 leaves a remainder of 45.                 45: a remainder *of* it

The last clause after *so*, *hence*, … counts. In it a number is stated unless the word before it is
one of _NOT_BEFORE. Of several stated numbers none is chosen.
"""

from __future__ import annotations

import re

from gradebox.checkers.math.normalise.tables import word_list

_NUMBER = re.compile(r"(?<![\w.$€£])[$€£]?-?\d(?:[\d,]*\d)?(?:\.\d+)?(?:/\d+)?%?(?![\w^!]|\.\d)")
_CLAUSE = re.compile(
    r"[,;]\s+(?:and\s+)?(?:so|hence|thus|therefore|which\s+(?:leaves|means|gives))\s+"
)
_NOT_BEFORE = frozenset(
    word_list(
        "of with at from between and or than for in by on after before per each when if once since "
        "because while as the a an every within during over under above below about to into out "
        "twice half through past divided times plus minus not all first last only these those "
        "problem question step part case day year page number group row team question's"
    )
)
_JOINED = re.compile(
    r"\d\s*(?:[,:\s]|to|out\s+of|in|by|choose|base|mod)\s*\d|\b(?:and|or|but|either"
    r"|both)\s+[$€£]?\d"
)
_AMOUNT = re.compile(
    r"\b(?:remainder|total|sum|average|mean|score|profit|value|product|probability|maximum|minimum"
    r"|length|area|height|speed|cost|price|distance|population|difference)\s+of$",
    re.I,
)
_REACHED = re.compile(
    r"\b(?:increased|decreased|rose|rises|fell|falls|grew|grows|dropped|drops|reduced"
    r"|amounts?|comes"
    r"|lies|stands|up|equal|adds?(?:\s+up)?)\s+(?:to|at)$",
    re.I,
)
_LEADS = re.compile(
    r"(?:(?:so|thus|hence|therefore|about|approximately|roughly|only|exactly|nearly|almost),?\s+)*",
    re.I,
)
_INFINITIVE = re.compile(r"\bto\s+[a-z]+$")
MAX_CHARS = 400


def main_number(sentence: str) -> str:
    """Return the one number that a sentence states; "" without one, for several or with math."""
    if len(sentence) > MAX_CHARS or re.search(r"[=\\<>≤≥×·^+*]|\$[^$]*\$(?!\d)", sentence):
        return ""
    clause = _CLAUSE.split(sentence)[-1]
    if _JOINED.search(clause):
        return ""
    found = list(_NUMBER.finditer(clause))
    if len(found) < 2:
        return ""
    stated = [m for m in found if m.start() and _is_stated(clause[: m.start()].rstrip(" $€£"))]
    if len(stated) == 1:
        return stated[0][0]
    first = found[0]
    leads = _LEADS.fullmatch(clause[: first.start()])
    return first[0] if not stated and leads else ""


def _is_stated(before: str) -> bool:
    """Return whether the words before a number make it what a clause states."""
    if _AMOUNT.search(before) or _REACHED.search(before):
        return True
    word = re.search(r"([A-Za-z']+)$", before)
    if word is None or word[1].lower() in _NOT_BEFORE:
        return False
    return not _INFINITIVE.search(before)
