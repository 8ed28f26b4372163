"""One expression without its unit: `15 \\text{ cm}^2` → Leaf("15", "cm^2")."""

from __future__ import annotations

import re

from checkers.math import tables
from checkers.math.clean import TEXT_CLOSE, TEXT_OPEN, words
from checkers.math.units import is_unit, merge_units, number_words, spelled_with_unit, unit_name
from checkers.math.values import Leaf, Value, Words

_MARKED_TAIL = re.compile(
    rf"^(?P<value>[^{TEXT_OPEN}]*[^\s{TEXT_OPEN}])\s*(?P<unit>{TEXT_OPEN}.*)$", re.S
)
_BARE_TAIL = re.compile(
    r"^(?P<value>.*(?:[\d)}\]%]|\\pi(?![A-Za-z])))\s*(?P<unit>[A-Za-z]+\.?(?:(?:[\s/.-]|\\cdot(?![A-Za-z]))+[A-Za-z]+\.?)*(?:\s*\^\s*\{?-?\d\}?)?)$",
    re.S,
)
_MONEY = "".join(tables.CURRENCY)
_MONEY_BEFORE = re.compile(rf"^([-+]?)\s*(?:US|USD|AUD|CAD)?\s*([{_MONEY}])\s*(?=[-\d.(\\])")
_MONEY_AFTER = re.compile(rf"^(.*[\d)}}])\s*([{_MONEY}])$", re.S)
_TEMPERATURE = re.compile(
    rf"(?:\\degree|{TEXT_OPEN}?\s*degrees?)\s*{TEXT_OPEN}?\s*(C|F)(?:elsius|ahrenheit)?\s*{TEXT_CLOSE}?$",
    re.I,
)


_GLUED_FUNCTION = re.compile(r"-?(?:sin|cos|tan|cot|sec|csc|ln|log) ?(?:pi|[a-z])")


def leaf(text: str) -> Value:
    """One expression without its unit, or words when it is a text."""
    unit = ""
    if m := _MONEY_BEFORE.match(text):
        text, unit = m[1] + text[m.end() :], tables.CURRENCY[m[2]]
    elif m := _MONEY_AFTER.match(text):
        text, unit = m[1], tables.CURRENCY[m[2]]
    elif m := _TEMPERATURE.search(text):
        text, unit = text[: m.start()], {"c": "celsius", "f": "fahrenheit"}[m[1].lower()]
    text, scale = _cut_scale(text)
    text, tail = _cut_unit(text)
    unit = merge_units(unit, tail)
    number = number_words(text)
    if number is not None:
        return Leaf(number, unit)
    if not re.search(r"[\d\\(+*/^=_]", text):
        plain = words(text)
        spelled, spelled_unit = spelled_with_unit(plain)
        if spelled is not None:
            return Leaf(spelled, spelled_unit)
        if _GLUED_FUNCTION.fullmatch(plain):
            return Leaf(plain, unit)
        if _is_text(plain, text):
            return Words(plain)
    if TEXT_OPEN in text:
        inner = text.replace(TEXT_OPEN, " ").replace(TEXT_CLOSE, " ").strip()
        if not re.search(r"\d|\\", inner):
            return Words(words(inner))
        text = inner
    text = text.strip()
    percent = text.endswith("%")
    if percent:
        text = text[:-1].strip()
    degree = bool(re.search(r"\\degree\s*$", text))
    if degree:
        text = re.sub(r"\\degree\s*$", "", text).strip()
    if degree and re.search(r"\\(?:sin|cos|tan|cot|sec|csc)|^(?:sin|cos|tan|cot|sec|csc)", text):
        text, degree = text + r"\degree", False
    return Leaf(f"({text})*{scale}" if scale != 1 else text, unit, percent, degree)


_SCALED = re.compile(
    rf"^(.*[\d)}}])\s*{TEXT_OPEN}?\s*({'|'.join(tables.SCALE_WORDS)})(?![A-Za-z])(.*)$", re.I | re.S
)


def _cut_scale(text: str) -> tuple[str, int]:
    """`1.5 million dollars` → (`1.5 dollars`, 10**6)."""
    m = _SCALED.match(text)
    if m is None:
        return text, 1
    rest = m[3].replace(TEXT_CLOSE, " ").replace(TEXT_OPEN, " ")
    return (m[1] + rest).strip(), tables.SCALE_WORDS[m[2].lower()]


def _is_text(plain: str, text: str) -> bool:
    """Whether letters are words; up to three small ones are a product of variables."""
    if not plain:
        return True
    if re.fullmatch(r"-?[a-z]{2,3}", text) or re.search(r"[-+]", plain) or plain == "pi":
        return False
    return len(re.sub(r"[^A-Za-z]", "", plain)) > 1


_MARKED = re.compile(rf"{TEXT_OPEN}([^{TEXT_CLOSE}]*){TEXT_CLOSE}")
_BETWEEN_UNITS = re.compile(r"(?:[\s/.()]|\\cdot(?![A-Za-z])|\^\s?\{?\s?-?\d\s?\}?)*")
_CONDITION = re.compile(r"\b(?:if|when|unless|than|plus|minus)\b", re.I)


def _is_only_unit(tail: str) -> bool:
    """Whether marked words are a unit: `\\text{cm}^2`, not `\\text{cm}+3`, not `\\text{if } n`."""
    outside = _BETWEEN_UNITS.fullmatch(_MARKED.sub(" ", tail))
    return outside is not None and not _CONDITION.search(tail)


def _cut_unit(text: str) -> tuple[str, str]:
    m = _MARKED_TAIL.match(text)
    if (
        m
        and re.search(r"\d|\\|^[A-Za-z]$", m["value"])
        and not m["value"].rstrip().endswith(("+", "-", "*", "/", "^", "_", "(", "{"))
        and _is_only_unit(m["unit"])
    ):
        return m["value"].strip(), unit_name(m["unit"])
    m = _BARE_TAIL.match(text)
    if m and m["value"].endswith("pi") and re.match(r"(?!cm|mm|km|ft|in)[A-Za-z]{2}\b", m["unit"]):
        return text, ""  # 2\pi hr is a product
    if m and is_unit(m["unit"]) and not m["value"].rstrip().endswith("\\"):
        return m["value"].strip(), unit_name(m["unit"])
    return text, ""
