"""Find the number that a sentence of a word problem states among the others that it mentions.

    It took her 45 minutes to read 30 pages.       45: 30 is what she read
    In 3 hours he walks 12 miles.                  12: 3 follows a preposition
    45 of the 60 tickets were sold by noon.        45: 60 follows an article
    1045 leaves a remainder of 45.                 45: a remainder *of* it
    He needs 45 points to reach a score of 60.     45: what follows is a purpose

The last clause after *so*, *hence*, … counts, up to a purpose or a condition behind its first
number. In it a number is stated unless the word before it is one of _NOT_BEFORE. Of several stated
numbers none is chosen.
"""

from __future__ import annotations

import re

from gradebox.checkers.math.read.number_words import read_number_words
from gradebox.checkers.math.read.tables import word_list

_NUMBER = re.compile(
    r"(?<![\w.$€£])[$€£]?-?\d(?:[\d,]*\d)?(?:\.\d+)?(?:/\d+)?%?(?![\w^!]|\.\d|-[a-z])"
)
_PLAIN_MATH = re.compile(r"(?<![\d$])\$(-?\d[\d,]*(?:\.\d+)?)\$(?![\d$])")
_CLAUSE = re.compile(
    r"[,;]\s+(?:and\s+)?(?:so|hence|thus|therefore|which\s+(?:leaves|means|gives))\s+"
)
_NOT_BEFORE = frozenset(
    word_list(
        "of with at from between and or than for in by on after before per each when if once since "
        "because while as the a an every within during over under above below about to into out "
        "twice half through past divided times plus minus not all first last only these those "
        "problem question step part case day year page number group row team question's "
        "his her their its my our your remaining next previous following whole entire "
        "en dans pour des con por para las los nach für mit von pro die den der das"
    )
)
_JOINED = re.compile(
    r"\d\s*(?:,(?!\d{3}(?!\d))|[:\s]|to|out\s+of|in|by|choose|base|mod)\s*\d|\b(?:and|or|but|either"
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
    r"|lies|stands|up|equal|equivalent|adds?(?:\s+up)?)\s+(?:to|at)$",
    re.I,
)
_LEADS = re.compile(
    r"(?:(?:so|thus|hence|therefore|about|approximately|roughly|only|exactly|nearly|almost),?\s+)*",
    re.I,
)
_INFINITIVE = re.compile(
    r"\b(?P<governor>[a-z]+)\s+to\s+(?!(?:the|an?|his|her|their|its|my|our|your|each|every|school|work|home|town"
    r"|bed)\b)[a-z]+\b",
    re.I,
)
_GOVERNORS = frozenset(  # `needs to buy 5` states 5, `3 hours to buy 5` does not
    word_list(
        "need needs needed has have had want wants wanted able going required ought supposed "
        "expected allowed start starts started began continue continues likely plan plans planned "
        "decide decided manages managed got"
    )
)
_ASIDE = re.compile(  # behind the first number: a condition, a means, a purpose
    r",?\s(?:so\s+(?:that|as\s+to)|in\s+order\s+to|if|when|while|because|since|once|unless|considering|including"
    r"|(?:by|after|before|without)\s+[a-z]+ing)\b(?!.*,\s+(?:and|so|but)\s.*\d).*$",
    re.I,
)
_OPENINGS = frozenset(
    word_list("after in at for with by on from before when if since because as while to during")
)
_OF_ANOTHER = re.compile(  # `at a speed of`, `to achieve an average of`
    r"\b(?:at|with|by|for|from|achieve|reach|over|under)\s+(?:(?:an?|the|his|her|their|its)\s+)?(?:[a-z]+\s+)?"
    r"(?!(?:total|sum)\b)[a-z]+\s+of$",
    re.I,
)
MAX_CHARS = 400


def main_number(sentence: str) -> str:
    """Return the one number that a sentence states; "" without one, for several or with math."""
    sentence = _with_digits(_PLAIN_MATH.sub(r"\1", sentence))
    if len(sentence) > MAX_CHARS or re.search(r"[=\\<>≤≥×·^+*]|\$[^$]*\$(?!\d)", sentence):
        return ""
    clause = _CLAUSE.split(sentence)[-1]
    several = len(_NUMBER.findall(clause)) > 1
    clause = _without_aside(clause)
    found = list(_NUMBER.finditer(clause))
    if not several or _JOINED.search(clause):
        return ""
    stated = [m for m in found if m.start() and _is_stated(clause[: m.start()].rstrip(" $€£"))]
    if len(stated) == 1 or len(found) == 1:
        return (stated or found)[0][0]
    first = found[0]
    leads = _LEADS.fullmatch(clause[: first.start()])
    return first[0] if not stated and leads else ""


def _with_digits(sentence: str) -> str:
    """Return `3 buses` for *Three buses* at the start of a sentence."""
    word = re.match(r"(?!One\b)[A-Z][a-z]+(?=\s[a-z])", sentence)
    number = read_number_words(word[0]) if word else None
    return number + sentence[word.end() :] if word and number else sentence


def _without_aside(clause: str) -> str:
    """Return a clause up to the condition, the means or the purpose behind its first number."""
    first = _NUMBER.search(clause)
    opening = re.match(r"\W*([^\W\d_]+)", clause)
    if first is None or (opening and opening[1].lower() in _OPENINGS):
        return clause
    starts = [m.start() for m in [_ASIDE.search(clause, first.end())] if m]
    starts += [
        m.end("governor")
        for m in _INFINITIVE.finditer(clause, first.end())
        if m["governor"].lower() not in _GOVERNORS
    ]
    return clause[: min(starts)] if starts else clause


def _is_stated(before: str) -> bool:
    """Return whether the words before a number make it what a clause states."""
    if _AMOUNT.search(before):
        return not _OF_ANOTHER.search(before)
    if _REACHED.search(before):
        return True
    word = re.search(r"([^\W\d_]['’\w]*)$", before)
    if word is None or word[1].lower() in _NOT_BEFORE:
        return False
    infinitive = re.search(r"(?:\b([a-z]+)\s+)?\bto\s+[a-z]+$", before, re.I)
    return infinitive is None or (infinitive[1] or "").lower() in _GOVERNORS
