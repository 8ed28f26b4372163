"""Decide by their meaning whether two answers state the same, where both can be read so.

integers   all odd n = {2k+1 : k in Z}      integer_sets.py, members.py
labels     mean 4, median 5                 labels.py
formula    p -> q = (not p) or q            formulas.py
relation   AB is parallel to CD             relations.py
compound   H_2SO_4 = H2SO4                  compounds.py
cycles     (1 2 3) = (2 3 1)                cycles.py
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from gradebox.checkers.math.normalise.rewrite import normalise
from gradebox.checkers.math.parse.expressions.tokens import ParseError
from gradebox.checkers.math.statements.compounds import same_compound
from gradebox.checkers.math.statements.cycles import same_permutation
from gradebox.checkers.math.statements.formulas import same_formula
from gradebox.checkers.math.statements.integer_sets import IntegerSet, only_bounds, read_integer_set
from gradebox.checkers.math.statements.kinds import MAX_CHARS, SAID
from gradebox.checkers.math.statements.labels import are_labels, read_labels, same_labels
from gradebox.checkers.math.statements.members import same_members
from gradebox.checkers.math.statements.relations import read_relation

_INTERVAL = re.compile(r"[(\[][^()\[\]]*,[^()\[\]]*[)\]]")


def _is_interval(found: IntegerSet | None, text: str) -> bool:
    """Return whether an answer is a set of real numbers by bounds that are not said to be whole."""
    if found is None:
        return bool(_INTERVAL.fullmatch(text))
    return not found.stated and only_bounds(found) and bool(re.search(r"[<>]|\\[lg]e", text))


def _has_primes(found: IntegerSet) -> bool:
    atoms = [a for part in found.parts if isinstance(part, tuple) for a in part]
    return found.domain == "prime" or any(a.kind == "prime" and not a.negated for a in atoms)


_UNKNOWN = re.compile(r"\s*([a-z])\s*(?:=|\\(?:not|ne|equiv|in)(?![a-z]))")


def _unknown(text: str) -> str:
    """Return the n of `n = 2k+1` and `n \\not= 0 \\pmod 3`; "" for a text that names none."""
    m = _UNKNOWN.match(text)
    return m[1] if m else ""


def same_meaning(gold: str, answer: str, same: Callable[[str, str], bool]) -> bool | None:
    """Return the verdict on two answers of one kind of this package; None for others.

    `same` compares two values that are named alike.
    """
    if len(gold) > MAX_CHARS or len(answer) > MAX_CHARS:
        return None
    for same_in in (same_formula, same_compound):
        if (verdict := same_in(gold, answer)) is not None:
            return verdict
    relations = read_relation(gold), read_relation(answer)
    if all(relations):
        return relations[0] == relations[1]
    left, right = normalise(gold), normalise(answer)
    if (permutation := same_permutation(left, right)) is not None:
        return permutation
    one, other = read_integer_set(left), read_integer_set(right)
    if one and one.stated and _is_interval(other, right):
        return False  # 2 < k <= 6 for whole numbers k
    if one and other and (one.stated or other.stated):
        names = _unknown(left), _unknown(right)
        if _has_primes(one) or _has_primes(other):  # p is a prime beside primes
            one = replace(one, domain="prime") if names[0] == "p" else one
            other = replace(other, domain="prime") if names[1] == "p" else other
        if all(names) and names[0] != names[1]:
            return False
        try:
            if same_members(one, other):
                return True
            if one.stated and other.stated:
                return False
        except ParseError:
            return None
    labels = read_labels(left), read_labels(right)
    if not (any(map(are_labels, labels)) or SAID.search(left + right)):
        return None
    return same_labels(*labels, same)
