"""Compare exact texts and plain numbers without SymPy: the first tier."""

from __future__ import annotations

import math
import re
from fractions import Fraction

from gradebox.checkers.math.policy import Policy

_RATIONAL = re.compile(
    r"\$?\s*(?P<sign>[-+]?)\s*(?:"
    r"(?P<whole>[1-9]\d{0,2}(?:,\d{3})+|\d{1,400})(?:\.(?P<part>\d{0,400}))?(?:\s*/\s*(?P<low>\d{1,400}))?"
    r"|\.(?P<only>\d{1,400})"
    r"|\\[dt]?frac\{(?P<top>-?\d{1,400})\}\{(?P<under>\d{1,400})\}"
    r")\s*\$?\.?\s*"
)
MAX_PLAIN_CHARS = 64
_FLOAT = re.compile(  # what a program prints: 15 or more digits, with a point or an exponent
    r"(?<![\d.,])-?(?=[\d.]*[.eE])(?=[.\d]{16})0?\.?0*(?P<digits>[1-9][\d.]*)(?:[eE][-+]?\d{1,3})?"
)
FLOAT_DIGITS = 15
FLOAT_ULPS = 4
EXACT_INTEGERS = 2**53  # doubles skip integers from here on
_HARNESS_MARKS = re.compile(
    r"\\(?:left|right|[,!;: ]|displaystyle|quad|qquad|text|mathrm|mathbf|mbox|[()\[\]])"
    r"|[${}\s]|\\%|%"
)


def rational(text: str) -> tuple[int, int] | None:
    """Return (numerator, denominator), not reduced, of a plain number or fraction; else None."""
    m = _RATIONAL.fullmatch(text)
    if m is None:
        return None
    if m["under"]:
        top, low = int(m["top"]), int(m["under"])
    elif m["only"]:
        top, low = int(m["only"]), 10 ** len(m["only"])
    else:
        part = m["part"] or ""
        if part and m["low"]:
            return None
        top, low = int(m["whole"].replace(",", "") + part), int(m["low"] or 10 ** len(part))
    return (-top if m["sign"] == "-" else top, low) if low else None


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
    if policy.rounded:
        return None
    if len(gold) + len(answer) > FLOAT_DIGITS and (has_float(gold) or has_float(answer)):
        return within_ulps(Fraction(*a), Fraction(*b))
    if not (policy.rel_tol or policy.abs_tol or policy.percent):
        if ("." in gold) != ("." in answer) and len(gold) + len(answer) > 8:
            return None  # the decimal may be the rounding of a fraction
        return False
    return _within(Fraction(*a), Fraction(*b), gold + answer, policy)


def has_float(text: str) -> bool:
    """Return whether a text has a number as programs print it: `0.30000000000000004`."""
    return any(len(m["digits"].replace(".", "")) >= FLOAT_DIGITS for m in _FLOAT.finditer(text))


def within_ulps(a: Fraction, b: Fraction) -> bool:
    """Return whether two numbers, one of them printed as a double, are the same double or nearly.

    Integers of 2^53 and more are never nearly the same.
    """
    if any(x.denominator == 1 and abs(x) >= EXACT_INTEGERS for x in (a, b)):
        return False
    try:
        return abs(a - b) <= FLOAT_ULPS * Fraction(math.ulp(min(abs(float(a)), abs(float(b)))))
    except OverflowError:
        return False


def close(a: Fraction, b: Fraction, rel_tol: float, abs_tol: float) -> bool:
    """Return whether two numbers are within a tolerance; under 1e-6, integers must be equal."""
    if a.denominator == b.denominator == 1 and max(rel_tol, abs_tol) < 1e-6:
        return a == b
    return abs(a - b) <= max(_exactly(abs_tol), _exactly(rel_tol) * max(abs(a), abs(b)))


def _within(a: Fraction, b: Fraction, text: str, policy: Policy) -> bool:
    if close(a, b, policy.rel_tol, policy.abs_tol):
        return True
    if not policy.percent or "." not in text:
        return False
    relative = _exactly(policy.percent_rel_tol)
    absolute = 0 if relative else _exactly(policy.abs_tol)
    return any(
        abs(x * 100 - y) <= max(relative * max(abs(x * 100), abs(y)), absolute)
        for x, y in ((a, b), (b, a))
    )


def _exactly(tolerance: float) -> Fraction:
    return Fraction(repr(tolerance))


def harness_form(text: str) -> str:
    """Return what the policy `harness` compares: lower case, no LaTeX markers, no spaces."""
    text = re.sub(r"\\[dt]frac", r"\\frac", text)
    return _HARNESS_MARKS.sub("", text).strip(" .").lower()
