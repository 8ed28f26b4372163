"""Split an expression from its unit: `15 \\text{ cm}^2` → Quantity("15", "cm^2")."""

from __future__ import annotations

import re

from gradebox.checkers.math.read.normalise import plain_words
from gradebox.checkers.math.read.number_words import SCALE_WORDS, read_number_words
from gradebox.checkers.math.read.tables import TEXT_CLOSE, TEXT_OPEN, strip_marks
from gradebox.checkers.math.read.units import (
    MONEY,
    is_compound_unit,
    is_small_unit,
    is_unit,
    merge_units,
    unit_name,
    unit_scale,
)
from gradebox.checkers.math.read.values import Quantity, Value, Words

_MARKED_TAIL = re.compile(
    rf"^(?P<value>[^{TEXT_OPEN}]*[^\s{TEXT_OPEN}])\s*(?P<unit>{TEXT_OPEN}.*)$", re.S
)
_BARE_TAIL = re.compile(
    r"^(?P<value>.*(?:[\d)}\]%]|\\pi(?![A-Za-z])))\s*(?P<unit>[A-Za-z]+\.?(?:(?:[\s/.-]|\\cdot(?![A-Za-z]))+[A-Za-z]+\.?)*(?:\s*\^\s*\{?-?\d\}?)?)$",
    re.S,
)
_UNIT = r"[A-Za-z]+\.?(?:\s?\^\s?\{?\s?-?\d\s?\}?)?"
_COMPOUND_TAIL = re.compile(  # `kcal m^{-2} yr^{-1}`, `cm^3/(mol K)`
    rf"(?P<value>.*?[\d)}}\]%])\s+"
    rf"(?P<unit>{_UNIT}(?:(?:\s?(?:[/-]|\\cdot(?![A-Za-z]))\s?|\s)\(?{_UNIT}){{0,5}}\)?)",
    re.S,
)
_MARKED_DIVISOR = re.compile(rf"[a-z]\s*/\s*{TEXT_OPEN}")  # `\mathrm{m}/\mathrm{min}`
_BRACKETED_UNIT = re.compile(r"(?P<value>.*[\d}])\s*\((?P<unit>[A-Za-z][A-Za-z /^23]{0,20})\)")
_RATE = re.compile(r"([-+]?\d[\d.,]*)\s*/\s*([a-z]{3,})")
_SIGNS = {"＄": "dollar", **{sign: name for sign, name in MONEY.items() if len(sign) == 1}}
_MONEY = "".join(_SIGNS).replace("$", "")
_MONEY_BEFORE = re.compile(rf"^([-+]?)\s*([{_MONEY}])\s*(?=[-\d.(\\])")
_MONEY_AFTER = re.compile(rf"^(.*[\d)}}])\s*([{_MONEY}])$", re.S)
_TEMPERATURE = re.compile(
    rf"(?:\\degree|{TEXT_OPEN}?\s*degrees?)\s*{TEXT_OPEN}?\s*(C|F)(?:elsius|ahrenheit)?\s*{TEXT_CLOSE}?$",
    re.I,
)
_SCALED = re.compile(
    rf"^(.*[\d)}}])\s*{TEXT_OPEN}?\s*({'|'.join(SCALE_WORDS)})(?![A-Za-z])(.*)$", re.I | re.S
)
_GLUED_FUNCTION = re.compile(r"-?(?:sin|cos|tan|cot|sec|csc|ln|log) ?(?:pi|[a-z])")
_TRIGONOMETRIC = re.compile(r"(?<![A-Za-z])(?:sin|cos|tan|cot|sec|csc|cis)")
_DEGREE_SIGN = re.compile(r"\\degree\s*")
_MARKED = re.compile(rf"{TEXT_OPEN}([^{TEXT_CLOSE}]*){TEXT_CLOSE}")
_BETWEEN_UNITS = re.compile(r"(?:[\s/.()-]|\\cdot(?![A-Za-z])|\^\s?\{?\s?-?\d\s?\}?)*")
_CONDITION = re.compile(r"\b(?:if|when|unless|than|plus|minus)\b", re.I)


def split_unit(text: str) -> Value:
    """Return an expression and its unit as a Quantity; a text answer as Words."""
    unit = ""
    if m := _MONEY_BEFORE.match(text):
        text, unit = m[1] + text[m.end() :], _SIGNS[m[2]]
    elif m := _MONEY_AFTER.match(text):
        text, unit = m[1], _SIGNS[m[2]]
    elif m := _TEMPERATURE.search(text):
        text, unit = text[: m.start()], {"c": "celsius", "f": "fahrenheit"}[m[1].lower()]
    text, scale = _cut_scale(text)
    text, tail = _cut_unit(text)
    if rate := _RATE.fullmatch(text):  # `＄460/week`
        text, unit = rate[1], f"{unit or 'unit'}/{unit_name(rate[2])}"
    unit = merge_units(unit, tail)
    number = read_number_words(text.removesuffix("%"))
    if number is not None:
        return Quantity(number, unit, percent=text.endswith("%"))
    if not re.search(r"[\d\\(+*/^=_]", text):
        plain = plain_words(text)
        words = plain.split()
        for count in range(len(words) - 1, 0, -1):  # `two and a half hours`
            number = read_number_words(" ".join(words[:count]))
            if number is not None:
                return Quantity(number, unit_name(" ".join(words[count:])))
        if _GLUED_FUNCTION.fullmatch(plain):
            return Quantity(plain, unit)
        if _is_text(plain, text):
            return Words(plain)
    if TEXT_OPEN in text:
        text = strip_marks(text).strip()
        if not re.search(r"\d|\\", text):
            return Words(plain_words(text))
    text = text.strip()
    percent = text.endswith("%")
    if percent:
        text = text[:-1].strip()
    degree = bool(_DEGREE_SIGN.search(text)) and not _TRIGONOMETRIC.search(text)
    if degree:  # \sin 30\degree is a number
        text = _DEGREE_SIGN.sub(" ", text).strip()
    return Quantity(f"({text})*{scale}" if scale != 1 else text, unit, percent, degree)


def _cut_scale(text: str) -> tuple[str, int]:
    """Return (`1.5 dollars`, 10**6) for `1.5 million dollars`."""
    m = _SCALED.match(text)
    if m is None:
        return text, 1
    return (m[1] + strip_marks(m[3])).strip(), SCALE_WORDS[m[2].lower()]


def _is_text(plain: str, text: str) -> bool:
    """Return whether letters are words; two or three small ones are a product of variables."""
    if not plain:
        return True
    if (
        re.fullmatch(r"-?[a-z]{2,3}|[A-Za-z](?: [A-Za-z])+", text.strip())
        or re.search(r"[-+]", plain)
        or plain == "pi"
    ):
        return False
    return len(re.sub(r"[^A-Za-z]", "", plain)) > 1


def _is_only_unit(tail: str) -> bool:
    """Return whether marked words are a unit: `\\text{cm}^2`, not `\\text{cm}+3`."""
    outside = _BETWEEN_UNITS.fullmatch(_MARKED.sub(" ", tail))
    return outside is not None and not _CONDITION.search(tail)


def _is_unit_after(m: re.Match[str]) -> bool:
    """Return whether letters after a number are a unit; `mN` is one after a space."""
    spaced = m.end("value") < m.start("unit")
    return is_unit(m["unit"]) or (spaced and is_small_unit(m["unit"]))


def _cut_unit(text: str) -> tuple[str, str]:
    """Return (expression, unit name); the name is "" without a unit."""
    if (m := _BRACKETED_UNIT.fullmatch(text)) and unit_scale(unit_name(m["unit"])):
        return m["value"].strip(), unit_name(m["unit"])
    m = _MARKED_TAIL.match(text)
    if (
        m
        and re.search(r"\d|\\|^[A-Za-z]$", m["value"])
        and not m["value"].rstrip().endswith(("+", "-", "*", "/", "^", "_", "(", "{"))
        and _is_only_unit(m["unit"])
    ):
        return m["value"].strip(), unit_name(m["unit"])
    m = _COMPOUND_TAIL.fullmatch(text)
    if m and is_compound_unit(m["unit"]):
        return m["value"], unit_name(m["unit"])
    m = _BARE_TAIL.match(strip_marks(text).strip() if _MARKED_DIVISOR.search(text) else text)
    if m and m["value"].endswith("pi") and re.match(r"(?!cm|mm|km|ft|in)[A-Za-z]{2}\b", m["unit"]):
        return text, ""  # 2\pi hr is a product
    if m and not m["value"].rstrip().endswith("\\") and _is_unit_after(m):
        return m["value"].strip(), unit_name(m["unit"])
    return text, ""
