"""Cut the condition on which an answer holds, where the other answer has none.

`f(x) = 2x` for all real x       `p^2-1` for odd p       `4h+4` for h \\ge 1       `\\ln x`, x > 0
"""

from __future__ import annotations

import re

from gradebox.checkers.math.normalise.tables import strip_marks

_CONDITION = re.compile(r"(?<![A-Za-z])(?:for|if|when|where)(?![A-Za-z])")
_FOR_SOME = re.compile(
    r"(?<=[\w)}])[\s,]+for\s+(?:(?:odd|even|prime|positive|natural|all|any|every|integers?|primes?)"
    r"\s+)+\$?[a-z]$"
)
_FUNCTION = re.compile(r"[A-Za-z]\s*\(\s*[a-z]\s*\)\s*=.*\bfor\s")
_QUANTIFIER = re.compile(  # `f(x)=x` for all real x
    r"[\s,]+for\s+(?:all|every|any|each)\s+(?:(?:real|positive|non-?negative|natural|rational"
    r"|integers?|numbers?|reals?)\s+)*[a-z](?:\s*\\in\s*\\mathbb\{[A-Z]\}\S*?)?"
    r"(?=\s*(?:$|[,;]|and\b|or\b))"
)
_RANGE = re.compile(  # `, for all x > 0`, `(0 \\le t < 5)`
    r"(?:,|\s)[\s,(]{0,4}(?:(?:valid\s+)?(?:for|where|with|if|when|on)\s+)?(?:(?:all|any|every|real)\s+)*"
    r"(?:[-\d.]{1,9}\s*(?:<|\\le)\s*)?(?P<bar>\|)?(?P<letter>[a-z])(?(bar)\|)\s*(?:[<>]|\\[lgn]e)\s*-?[\w.\\/{}]{1,20}\)?$"
)
_RANGED = re.compile(r"[<>,]|\\(?:[lg]e|ne|in)(?![A-Za-z])|\b(?:if|when|for)\b|\\begin")


def without_conditions(gold: str, answer: str) -> tuple[str, str]:
    """Return a gold and an answer without the conditions that only one of them has."""
    gold, answer = (
        _QUANTIFIER.sub("", strip_marks(t)) if _FUNCTION.search(t) else t for t in (gold, answer)
    )
    gold, answer = _without_condition(gold, answer), _without_condition(answer, gold)
    return gold, _without_range(answer, gold)


def _without_condition(one: str, other: str) -> str:
    """Return `p^2-1` for `p^2-1` for odd p when the other side has no condition."""
    one_condition = strip_marks(one).count(" for ") == 1
    m = (
        _FOR_SOME.search(strip_marks(one))
        if one_condition and not _CONDITION.search(other)
        else None
    )
    return strip_marks(one)[: m.start()] if m else one


def _without_range(answer: str, gold: str) -> str:
    """Return `4h+4` for `4h+4` for h \\ge 1 where the gold has no condition."""
    m = _RANGE.search(strip_marks(answer)) if not _RANGED.search(gold) else None
    if m is None:
        return answer
    formula = strip_marks(answer)[: m.start()]
    letter = rf"(?<![A-Za-z\\]){m['letter']}(?![A-Za-z])"
    stated = not _RANGED.search(formula) and re.search(letter, gold) and re.search(letter, formula)
    return formula if stated else answer
