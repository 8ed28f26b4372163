"""Units and numbers in words: names into one spelling, and how units convert."""

from __future__ import annotations

import re
from fractions import Fraction

from checkers.math import tables
from checkers.math.clean import TEXT_CLOSE, TEXT_OPEN


def is_unit(tail: str) -> bool:
    first = re.match(r"[A-Za-z]+", tail)
    if first is None:
        return False
    name = first[0].lower()
    if name == "sec" and tail.strip(" .").lower() == "sec":
        return True
    if (name in tables.FUNCTIONS and name != "min") or name in ("pi", "mod", "choose", "to"):
        return False
    if any(
        name.startswith(f) and len(name) - len(f) <= 1
        for f in tables.FUNCTIONS
        if f not in ("min", "sec", "ln", "lg")
    ):
        return False
    if re.match(r"[A-Z]\s*\\cdot\s*[a-z]+(?![A-Za-z])", tail):
        return name in tables.UNITS  # N·m, J·s
    if len(name) == 1:
        return bool(re.match(r"[A-Za-z]\s*/\s*[A-Za-z]+", tail)) and name in tables.UNITS
    return (
        name in tables.UNITS
        or name in tables.NEUTRAL_UNITS
        or len(name) >= 4
        or (len(name) == 3 and " " in tail)
        or name in tables.SQUARE_WORDS | tables.CUBIC_WORDS
    )


def merge_units(first: str, second: str) -> str:
    if first and second and tables.UNITS.get(second, ("",))[0] == first:
        return first
    return first or second


_POWER_AFTER = {"squared": "^2", "cubed": "^3"}  # of the unit before


def unit_name(text: str) -> str:
    """One spelling of a unit: "square centimeters", "cm²" and "sq cm" are `cm^2`."""
    text = text.replace(TEXT_OPEN, " ").replace(TEXT_CLOSE, " ").lower()
    text = re.sub(r"[\\{}$.,()]", " ", text)
    text = re.sub(r"\bper\b", "/", text)
    power = ""
    tokens: list[str] = []
    for token in re.findall(r"[a-z_]+(?:\s*\^\s*-?\d)?|/", text):
        name, _, exponent = token.replace(" ", "").partition("^")
        if name in _POWER_AFTER and tokens and "^" not in tokens[-1]:
            tokens[-1] += _POWER_AFTER[name]
        elif name in tables.SQUARE_WORDS:
            power = "^2"
        elif name in tables.CUBIC_WORDS:
            power = "^3"
        elif name not in ("a", "an", "the", "of", "cdot"):
            tokens.append(
                _singular(name) + (f"^{exponent}" if exponent and exponent != "1" else "")
            )
    if not tokens:
        return ""
    below = [t for t in tokens if "^-" in t]
    if below and "/" not in tokens and len(below) < len(tokens):
        tokens = [t for t in tokens if t not in below]
        for token in below:  # m s^-2 is m/s^2
            tokens += ["/", token.replace("^-1", "").replace("^-", "^")]
    if power and "^" not in tokens[0]:
        tokens[0] += power
    name = " ".join(tokens).replace(" / ", "/").replace("/ ", "/")
    return {"mi/h": "mph", "km/h": "kph"}.get(name, name)


_CANONICAL: dict[tuple[str, str], str] = {}
for _name, _key in tables.UNITS.items():
    _CANONICAL.setdefault(_key, _name)


def _singular(name: str) -> str:
    if name in tables.UNITS:
        return _CANONICAL[tables.UNITS[name]]
    return name[:-1] if len(name) > 3 and name.endswith("s") and not name.endswith("ss") else name


_SPEEDS = {"mph": "mi/h", "kph": "km/h"}


def unit_scale(unit: str) -> tuple[str, Fraction] | None:
    """(dimension, factor) of a simple unit, a power or quotient of some; None when it has none."""
    above, slash, below = _SPEEDS.get(unit, unit).partition("/")
    if slash:
        top, bottom = unit_scale(above), unit_scale(below)
        return (f"{top[0]}/{bottom[0]}", top[1] / bottom[1]) if top and bottom else None
    name, _, exponent = unit.partition("^")
    if name not in tables.UNITS or (exponent and not exponent.isdigit()):
        return None
    dimension, factor = tables.UNITS[name]
    n = int(exponent or 1)
    return f"{dimension}^{n}", Fraction(factor) ** n


def number_words(text: str) -> str | None:
    """ "forty-two", "two thirds", "minus one" as an expression; None when it is none."""
    tokens = re.findall(r"[a-z]+", text.lower())
    if not tokens or re.search(
        r"[^A-Za-z\s,.-]", text.replace(TEXT_OPEN, "").replace(TEXT_CLOSE, "")
    ):
        return None
    sign = ""
    if tokens[0] in ("minus", "negative"):
        sign, tokens = "-", tokens[1:]
    whole = 0
    if "and" in tokens and tokens[-1] in tables.FRACTION_WORDS:
        at = len(tokens) - 1 - tokens[::-1].index("and")
        before = _cardinal(tokens[:at])
        if before is None:
            return None
        whole, tokens = before, tokens[at + 1 :]
    if tokens and tokens[-1] in tables.FRACTION_WORDS:
        part = _fraction_words(tokens)
        return None if part is None else rf"{sign}\frac{{{whole * part[1] + part[0]}}}{{{part[1]}}}"
    value = _cardinal(tokens)
    return None if value is None else f"{sign}{value}"


def _fraction_words(tokens: list[str]) -> tuple[int, int] | None:
    """ "two thirds", "a half", "half"; a bare "third" is a place, not a share."""
    low = tables.FRACTION_WORDS[tokens[-1]]
    if tokens in (["half"], ["a", tokens[-1]], ["one", tokens[-1]]):
        return 1, low
    top = _cardinal(tokens[:-1])
    return None if top is None else (top, low)


def _cardinal(tokens: list[str]) -> int | None:
    total, current, seen = 0, 0, False
    for token in tokens:
        if token in tables.NUMBER_WORDS:
            current += tables.NUMBER_WORDS[token]
        elif token == "hundred":
            current = max(current, 1) * 100
        elif token in tables.SCALE_WORDS:
            total += max(current, 1) * tables.SCALE_WORDS[token]
            current = 0
        elif token == "and" and seen:
            continue
        else:
            return None
        seen = True
    return total + current if seen else None


def spelled_with_unit(plain: str) -> tuple[str | None, str]:
    first, _, rest = plain.partition(" ")
    if rest and (number := number_words(first)) is not None:
        return number, unit_name(rest)
    return None, ""


def conversion(gold: str, answer: str) -> Fraction | None:
    """Factor from the gold's unit to the answer's; None when they do not convert."""
    if {gold.split("^")[0], answer.split("^")[0]} & tables.NEUTRAL_UNITS:
        return Fraction(1)
    a, b = unit_scale(gold), unit_scale(answer)
    if a and b:
        return a[1] / b[1] if a[0] == b[0] else None
    if a or b:
        return None
    left, right = set(gold.split()), set(answer.split())
    return Fraction(1) if left <= right or right <= left else None


_COMPOUND = re.compile(
    r"(\d+(?:\.\d+)?)\s*([A-Za-z]+)\.?[\s,]*(?:and\s+)?(\d+(?:\.\d+)?)\s*([A-Za-z]+)\.?"
)


def compound(text: str) -> tuple[str, str] | None:
    """`2 hours 30 minutes` → (`2*60+30`, `min`): two units of one dimension."""
    m = _COMPOUND.fullmatch(text.replace(TEXT_OPEN, " ").replace(TEXT_CLOSE, " ").strip())
    if m is None:
        return None
    units = unit_name(m[2]), unit_name(m[4])
    scales = [unit_scale(u) for u in units]
    if scales[0] is None or scales[1] is None or scales[0][0] != scales[1][0]:
        return None
    if scales[0][1] <= scales[1][1]:
        return None
    return f"{m[1]}*({scales[0][1] / scales[1][1]})+{m[3]}", units[1]
