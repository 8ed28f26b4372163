"""The first tier: exact text and exact rational equality, in this process, without SymPy."""

from __future__ import annotations

import re
from fractions import Fraction

from checkers.math.extract import extract_answer, extract_gold
from checkers.math.policy import Policy

_RATIONAL = re.compile(
    r"\$?\s*(?P<sign>[-+]?)\s*(?:"
    r"(?P<whole>\d{1,3}(?:,\d{3})+|\d{1,400})(?:\.(?P<part>\d{0,400}))?(?:\s*/\s*(?P<low>\d{1,400}))?"
    r"|\.(?P<only>\d{1,400})"
    r"|\\[dt]?frac\{(?P<top>-?\d{1,400})\}\{(?P<under>\d{1,400})\}"
    r")\s*\$?\.?\s*"
)
_PLAIN_SHORT = 64


def rational(text: str) -> tuple[int, int] | None:
    """(numerator, denominator), not reduced, of a plain number or fraction; else None."""
    m = _RATIONAL.fullmatch(text)
    if m is None:
        return None
    sign = -1 if m["sign"] == "-" else 1
    whole = m["whole"]
    if whole is not None:
        if "," in whole:
            whole = whole.replace(",", "")
        low = m["low"]
        part = m["part"]
        if part:
            if low:
                return None
            return sign * int(whole + part), 10 ** len(part)
        if low is None:
            return sign * int(whole), 1
        bottom = int(low)
        return (sign * int(whole), bottom) if bottom else None
    if m["only"] is not None:
        return sign * int(m["only"]), 10 ** len(m["only"])
    bottom = int(m["under"])
    return (sign * int(m["top"]), bottom) if bottom else None


def quick(gold: str, answer: str, policy: Policy) -> bool | None:
    """The verdict on two answers that are the same text or two plain numbers; else None."""
    if gold == answer:
        return bool(gold.strip())
    if policy.text_only or len(gold) > _PLAIN_SHORT or len(answer) > _PLAIN_SHORT:
        return None
    a = rational(gold)
    if a is None:
        return None
    b = rational(answer)
    if b is None:
        return None
    if a[0] * b[1] == b[0] * a[1]:
        return True
    if not (policy.rel_tol or policy.abs_tol or policy.percent):
        if ("." in gold) != ("." in answer) and len(gold) + len(answer) > 8:
            return None  # a decimal may be the rounding of a fraction: second tier
        return False
    return _within(Fraction(*a), Fraction(*b), gold + answer, policy)


def _within(a: Fraction, b: Fraction, text: str, policy: Policy) -> bool:
    largest = max(abs(a), abs(b))
    whole = a.denominator == b.denominator == 1
    allowed = max(_exactly(policy.abs_tol), _exactly(policy.rel_tol) * largest)
    if abs(a - b) <= allowed and not (whole and max(policy.rel_tol, policy.abs_tol) < 1e-6):
        return True
    if not policy.percent or "." not in text:
        return False
    tolerance = _exactly(policy.percent_rel_tol)
    return any(
        abs(x * 100 - y) <= tolerance * max(abs(x * 100), abs(y)) for x, y in ((a, b), (b, a))
    )


def _exactly(tolerance: float) -> Fraction:
    return Fraction(repr(tolerance))


def first_tier(gold: str, response: str, policy: Policy) -> tuple[bool | None, str, str]:
    """(verdict or None, gold's answer, response's answer) after extraction."""
    if gold == response:
        return bool(gold.strip()), gold, response
    if len(gold) <= _PLAIN_SHORT and len(response) <= _PLAIN_SHORT:
        verdict = quick(gold.strip(), response.strip(), policy)
        if verdict is not None:
            return verdict, gold, response
    left = extract_gold(gold)
    right = extract_answer(response, policy.strict_extract)
    if policy.ascii_only and not right.isascii():
        right = _ascii(right)
    if not left or not right:
        return False, left, right
    if policy.text_only:
        return harness_form(left) == harness_form(right), left, right
    return quick(left, right, policy), left, right


def _ascii(text: str) -> str:
    from checkers.math.clean import spell_unicode

    return spell_unicode(text).encode("ascii", "ignore").decode()


_HARNESS_MARKS = re.compile(
    r"\\(?:left|right|[,!;: ]|displaystyle|quad|qquad|text|mathrm|mathbf|mbox|[()\[\]])"
    r"|[${}\s]|\\%|%"
)


def harness_form(text: str) -> str:
    """The math harness's own form: LaTeX markers and white space dropped, lower case."""
    text = re.sub(r"\\[dt]frac", r"\\frac", text)
    text = _HARNESS_MARKS.sub("", text)
    return text.strip(" .").lower()
