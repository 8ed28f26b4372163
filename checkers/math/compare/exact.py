"""Compare exact texts and plain numbers without SymPy: the first tier."""

from __future__ import annotations

import re
from fractions import Fraction

from gradebox.checkers.math.policy import Policy

_RATIONAL = re.compile(
    r"\$?\s*(?P<sign>[-+]?)\s*(?:"
    r"(?P<whole>\d{1,3}(?:,\d{3})+|\d{1,400})(?:\.(?P<part>\d{0,400}))?(?:\s*/\s*(?P<low>\d{1,400}))?"
    r"|\.(?P<only>\d{1,400})"
    r"|\\[dt]?frac\{(?P<top>-?\d{1,400})\}\{(?P<under>\d{1,400})\}"
    r")\s*\$?\.?\s*"
)
MAX_PLAIN_CHARS = 64
_HARNESS_MARKS = re.compile(
    r"\\(?:left|right|[,!;: ]|displaystyle|quad|qquad|text|mathrm|mathbf|mbox|[()\[\]])"
    r"|[${}\s]|\\%|%"
)


def rational(text: str) -> tuple[int, int] | None:
    """Return (numerator, denominator), not reduced, of a plain number or fraction; else None."""
    m = _RATIONAL.fullmatch(text)
    if m is None:
        return None
    sign = -1 if m["sign"] == "-" else 1
    whole = m["whole"]
    if whole is not None:
        whole = whole.replace(",", "")
        low, part = m["low"], m["part"]
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
    """Return the verdict on equal texts or two plain numbers; None for anything else."""
    if gold == answer:
        return bool(gold.strip())
    if policy.text_only or len(gold) > MAX_PLAIN_CHARS or len(answer) > MAX_PLAIN_CHARS:
        return None
    a = rational(gold)
    b = rational(answer) if a else None
    if a is None or b is None:
        return None
    if a[0] * b[1] == b[0] * a[1]:
        return True
    if not (policy.rel_tol or policy.abs_tol or policy.percent):
        if ("." in gold) != ("." in answer) and len(gold) + len(answer) > 8:
            return None  # the decimal may be the rounding of a fraction
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


def harness_form(text: str) -> str:
    """Return what the policy `harness` compares: lower case, no LaTeX markers, no spaces."""
    text = re.sub(r"\\[dt]frac", r"\\frac", text)
    return _HARNESS_MARKS.sub("", text).strip(" .").lower()
