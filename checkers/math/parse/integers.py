"""Read sets of whole numbers: `3 < k \\le 10, k \\in \\mathbb{Z}`, *odd numbers from 1 to 9*.

A finite set is read as the set of its numbers, an infinite one as `integers from 1 to ∞`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from gradebox.checkers.math.normalise.tables import strip_marks
from gradebox.checkers.math.parse.values import Quantity, Seq, Value, Words

MAX_NUMBERS = 200
MAX_DIGITS = 6
_SET = r"\\mathbb\{(?P<set>[ZN])\}\s*(?P<sign>[\^_]\s*\{?\s*(?:\+|\*|>\s*0|\\ge\s*[01])\s*\}?)?"
_MEMBER = re.compile(
    rf"(?P<rest>.*?)[\s,;]*(?:and\s+|where\s+|with\s+|for\s+)?(?P<name>[a-z])\s*\\in\s*{_SET}"
)
_BUILDER = re.compile(
    rf"\\\{{\s*(?P<name>[a-z])\s*\\in\s*{_SET}\s*(?:[:|]|\\mid)\s*(?P<rest>.+)\\\}}"
)
_SIGN = r"(<|>|\\le(?![a-z])|\\ge(?![a-z])|=)"
_NUMBER = rf"(-?\d{{1,{MAX_DIGITS}}})"
_CHAIN = re.compile(rf"{_NUMBER}\s*{_SIGN}\s*([a-z])\s*{_SIGN}\s*{_NUMBER}")
_ONE = re.compile(rf"([a-z])\s*{_SIGN}\s*{_NUMBER}")
_WORDS = re.compile(
    r"(?:all|every|any)?\s*(?:the\s+)?(?P<kind>positive|negative|non-?negative|natural)\s+(?:whole\s+)?(?:integers?|numbers?)"
    rf"(?:\s+(?P<name>[a-z]))?(?:\s*(?P<rest>(?:\\ge|>)\s*{_NUMBER}))?",
    re.I,
)
_RANGE = re.compile(
    r"(?:all\s+)?(?:the\s+)?(?P<kind>odd|even|prime|whole)?\s*(?:positive\s+)?(?P<noun>numbers?|integers?|primes?)\s+"
    rf"(?:(?:from|between)\s+(?P<low>\d{{1,{MAX_DIGITS}}})\s+(?:to|and)\s+(?P<high>\d{{1,{MAX_DIGITS}}})"
    rf"|(?P<sign>less\s+than|below|under|up\s+to)\s+(?P<top>\d{{1,{MAX_DIGITS}}}))",
    re.I,
)
_KINDS: dict[str, Callable[[int], bool]] = {
    "odd": lambda n: n % 2 == 1,
    "even": lambda n: n % 2 == 0,
    "whole": lambda n: True,
    "prime": lambda n: n > 1 and all(n % d for d in range(2, int(n**0.5) + 1)),
}
_FLIPPED = {"<": ">", ">": "<", r"\le": r"\ge", r"\ge": r"\le", "=": "="}


def read_integers(text: str) -> Value | None:
    """Return the whole numbers that a normalised text describes; None for anything else."""
    text = " ".join(strip_marks(text).split())
    if m := _WORDS.fullmatch(text):
        return _with_bounds({"positive": 1, "natural": 1}.get(m["kind"].lower()), m)
    if m := _RANGE.fullmatch(text):
        return _listed(m)
    m = _BUILDER.fullmatch(text) or _MEMBER.fullmatch(text)
    if m is None or (not m["rest"] and not m["sign"] and m["set"] == "Z"):
        return None
    return _bounded(
        m["rest"], m["name"], 1 if m["sign"] and not re.search(r"\\ge\s*0", m["sign"]) else None
    )


def _with_bounds(low: int | None, m: re.Match[str]) -> Value | None:
    if low is None:
        return None
    if m["rest"]:
        return _bounded(f"n {m['rest']}", "n", low)
    return Words(f"integers from {low}")


def _bounded(rest: str, name: str, low: int | None) -> Value | None:
    """Return the whole numbers that satisfy `3 < k \\\\le 10` and are at least `low`."""
    high: int | None = None
    bounds: list[tuple[str, int]] = []
    if m := _CHAIN.fullmatch(rest.strip(" ,;")):
        bounds = [(_FLIPPED[m[2]], int(m[1])), (m[4], int(m[5]))]
        named = m[3]
    elif m := _ONE.fullmatch(rest.strip(" ,;")):
        bounds, named = [(m[2], int(m[3]))], m[1]
    elif rest.strip():
        return None
    else:
        named = name
    if named != name or any(sign == "=" for sign, _ in bounds):
        return None
    for sign, value in bounds:
        if sign in (">", r"\ge"):
            low = max(value + (sign == ">"), value if low is None else low)
        else:
            high = value - (sign == "<")
    if low is None:
        return None
    if high is None:
        return Words(f"integers from {low}")
    return _as_set(range(low, high + 1))


def _listed(m: re.Match[str]) -> Value | None:
    """Return the odd, even or prime numbers of a range."""
    low = int(m["low"] or 1)
    high = int(m["high"] or m["top"]) + (0 if m["high"] or m["sign"].lower() == "up to" else -1)
    kind = "prime" if m["noun"].lower().startswith("prime") else (m["kind"] or "").lower()
    if high - low > 5 * MAX_NUMBERS or not kind:
        return None
    return _as_set([n for n in range(low, high + 1) if _KINDS[kind](n)])


def _as_set(numbers: range | list[int]) -> Value | None:
    if not 0 < len(numbers) <= MAX_NUMBERS:
        return None
    return Seq("{}", tuple(Quantity(str(n)) for n in numbers))
