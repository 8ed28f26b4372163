"""Tell from their texts alone whether answers state something, and whether they say the same.

Runs in the caller's process: nothing is evaluated, SymPy is not needed.
"""

from __future__ import annotations

import re

from gradebox.checkers.math.normalise.rewrite import normalise, plain_words
from gradebox.checkers.math.statements.formulas import read_formula
from gradebox.checkers.math.statements.integer_sets import read_integer_set
from gradebox.checkers.math.statements.labels import are_labels, read_labels, same_labels
from gradebox.checkers.math.statements.relations import read_relation
from gradebox.checkers.math.statements.sentences import same_statement
from gradebox.checkers.math.statements.words import (
    ends_with,
    is_worded,
    said_of_subject,
    same_words,
)

MAX_CHARS = 400
SAID = re.compile(
    r"(?<![A-Za-z\\])(?:is|are|has|have|gets?|wins?)(?![A-Za-z])|[A-Za-z]:\s"
)  # a name and its value
_SO = re.compile(r",\s+(?:and\s+)?(?:so|hence|thus|therefore)\s+")
_STATES = re.compile(r"(?:the|it|this|that|they|yes|no)\b", re.I)


def same_kind(gold: str, answer: str) -> bool:
    """Return whether `same_meaning` can decide on two answers, as far as their texts show."""
    if len(gold) > MAX_CHARS or len(answer) > MAX_CHARS:
        return False
    formulas = read_formula(gold), read_formula(answer)
    if formulas[0] and formulas[1]:
        return formulas[0][2] or formulas[1][2]
    if read_relation(gold) and read_relation(answer):
        return True
    left, right = normalise(gold), normalise(answer)
    sets = read_integer_set(left), read_integer_set(right)
    if sets[0] and sets[1]:
        return sets[0].stated or sets[1].stated
    names = read_labels(left), read_labels(right)
    said = any(map(are_labels, names)) or bool(SAID.search(left + right))
    return said and same_labels(*names, lambda a, b: True) is True


def says_same(gold: str, sentence: str) -> bool:
    """Return whether a sentence, or a clause of it, says what a reference answer says."""
    left, right = normalise(gold), normalise(sentence)
    if same_statement(left, right):
        return True
    if not is_worded(left):
        return False
    if said_of_subject(left, right) or ends_with(left, right):
        return True
    clauses = (
        right,
        right.partition(";")[0],
        _SO.split(right)[-1],
        right.partition(", ")[0] if _STATES.match(right) else "",
    )
    return any(is_worded(c) and same_words(plain_words(left), plain_words(c)) for c in clauses if c)
