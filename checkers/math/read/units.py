"""Units of measurement and currencies: their names in one spelling, and the factors between them.

units.txt is the table: `60,000 CHF`, `CHF 60,000` and `US$60,000` are read by its rows.
`split_unit` takes an expression apart: `15 \\text{ cm}^2` → Quantity("15", "cm^2").
"""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

from gradebox.checkers.math.read.tables import (
    FUNCTIONS,
    SCALE_WORDS,
    TEXT_CLOSE,
    TEXT_OPEN,
    plain_words,
    read_number_words,
    strip_marks,
    word_list,
)
from gradebox.checkers.math.read.values import Quantity, Value, Words

MAX_POWER = 6
Dimensions = tuple[tuple[str, int], ...]

# name → (dimensions, factor to the base units)
UNITS: dict[str, tuple[str, str]] = {}
# sign or code as it is written → the unit's first name: "US$" → "usd", "€" → "euro"
MONEY: dict[str, str] = {}
_FIRST_NAME: dict[tuple[str, str], str] = {}
_PREFIXES = {  # letter → (name, power of ten); \mu is "u"
    "t": ("tera", 12), "g": ("giga", 9), "M": ("mega", 6), "k": ("kilo", 3),
    "m": ("milli", -3), "u": ("micro", -6), "n": ("nano", -9),
}  # fmt: skip


def _load() -> None:
    """Fill the tables from units.txt."""
    money = False
    prefixed: list[tuple[list[str], str, Fraction, str]] = []
    for line in (Path(__file__).parent / "units.txt").read_text(encoding="utf-8").splitlines():
        money |= line == "# currencies"
        if not line or line.startswith("#"):
            continue
        row, dimension, factor, *prefixes = (part.strip() for part in line.split("|"))
        names = row.split()
        prefixed.append((names, dimension, Fraction(factor), "".join(prefixes)))
        for name in names:
            if money and "_" not in name and not (name.islower() and len(name) != 3):
                MONEY[name.upper() if name.islower() else name] = names[0]
            if name.islower() and name.isascii() and name.replace("_", "").isalpha():
                UNITS[name] = dimension, factor
    for names, dimension, base, letters in prefixed:
        for letter in letters.replace("m", "M").replace("sMall", "mun").replace(" ", ""):
            long, power = _PREFIXES[letter]
            symbol = f"{letter.lower()}{names[0]}" if power > 0 else f"{long}_{names[0]}"
            for name in (symbol, *(long + n for n in names if len(n) > 2)):
                UNITS.setdefault(name, (dimension, str(base * Fraction(10) ** power)))
    for name, scale in UNITS.items():
        _FIRST_NAME.setdefault(scale, name)


_load()
_DOLLARS = frozenset(d.split()[1] for d, _ in UNITS.values() if d.startswith("dollar "))
_CURRENCIES = frozenset(UNITS[name][0] for name in MONEY.values())
_SMALL = re.compile(  # `mJ`, where case tells milli from mega; `μC`
    r"(?<![A-Za-z])(m|n|\\mu\s*|[\u00b5\u03bc])(A|C|F|Hz|J|mol|N|Pa|V|W|T)(?![A-Za-z])"
)
# units whose names directly after a number are read as a product: `3lm`
_AFTER_A_SPACE = frozenset(["au", "ly", "pc", "db", "wb", "lm", "us", "ns", "ps", "fs"])
_NEWTON_METER = re.compile(r"[NJWVAC](?:-|\s?\\cdot\s?)[a-z]")
_NO_UNIT = frozenset(
    word_list(
        "pi mod choose to january february march april may june july august september october "
        "november december"
    )
)
_SHORT_NOUNS = frozenset(word_list("man men boy cat dog cow pig hen egg car bus pen bag box toy"))
NEUTRAL_UNITS = frozenset(["unit", "units", "u"])  # match every unit
SQUARE_WORDS = frozenset(["square", "sq", "squared"])
CUBIC_WORDS = frozenset(["cubic", "cu", "cubed"])
_EXPONENT_WORDS = {"squared": "^2", "cubed": "^3"}  # written after the unit
_SAME_UNITS = (  # `45 pounds` is £45, `25 C` may be Celsius
    {"pound_money", "lb"}, {"yen", "yuan"}, {"cent", "c"}, {"celsius", "c"}, {"fahrenheit", "f"},
)  # fmt: skip


def is_unit(tail: str) -> bool:
    """Return whether the letters after a number are a unit or a counted noun."""
    first = re.match(r"[A-Za-z]+", tail)
    if first is None:
        return False
    name = first[0].lower()
    if name == "sec" and tail.strip(" .").lower() == "sec":
        return True
    if (name in FUNCTIONS and name != "min") or name in _NO_UNIT:
        return False
    if any(
        name.startswith(f) and len(name) - len(f) <= 1
        for f in FUNCTIONS
        if f not in ("min", "sec", "ln", "lg")
    ):
        return False
    if name in _AFTER_A_SPACE:
        return False
    if re.match(r"[A-Z]\s*\\cdot\s*[a-z]+(?![A-Za-z])", tail):
        return name in UNITS  # N·m, J·s
    if len(name) == 1:
        compound = re.match(r"[A-Za-z]\s*/\s*[A-Za-z]+|m\s?\^\s?\{?\s?[23]\s?\}?$", tail)
        return bool(compound) and name in UNITS
    known = UNITS.keys() | _SHORT_NOUNS | NEUTRAL_UNITS | SQUARE_WORDS | CUBIC_WORDS
    return name in known or len(name) >= 4 or (len(name) == 3 and " " in tail)


def is_compound_unit(tail: str) -> bool:
    """Return whether all names after a number and a space are units: `cm^3/mol`, `N-m`."""
    if unit_scale(unit_name(tail)) is None:
        return False
    return bool(re.search(r"[A-Za-z]{2}|/|\^\s?\{?\s?-", tail) or _NEWTON_METER.fullmatch(tail))


def unit_name(text: str) -> str:
    """Return one spelling of a unit: "square centimeters", "cm²" and "sq cm" give `cm^2`."""
    text = re.sub(r"\bM\b", "mol/l", strip_marks(text))
    text = re.sub(r"^\s*A\s*$", "ampere", text)  # not the article
    text = _SMALL.sub(lambda m: f"{_PREFIXES.get(m[1], _PREFIXES['u'])[0]}_{m[2]}", text)
    text = re.sub(r"\belectron\s+volt", "electronvolt", text.lower())
    text = re.sub(r"\bper\b", "/", re.sub(r"[\\{}$.,()]", " ", text))
    power = ""
    tokens: list[str] = []
    for token in re.findall(r"mod \d+|[a-z_]+(?:\s*\^\s*-?\d)?|/", text):
        name, _, exponent = token.replace(" ", "").partition("^")
        if name in _EXPONENT_WORDS and tokens and "^" not in tokens[-1]:
            tokens[-1] += _EXPONENT_WORDS[name]
        elif name in SQUARE_WORDS:
            power = "^2"
        elif name in CUBIC_WORDS:
            power = "^3"
        elif name not in ("a", "an", "the", "of", "cdot"):
            tokens.append(_singular(name) + f"^{exponent}" * (exponent not in ("", "1")))
    if not tokens:
        return ""
    below = [t for t in tokens if "^-" in t]
    if below and "/" not in tokens and len(below) < len(tokens):
        tokens = [t for t in tokens if t not in below]
        for token in below:  # m s^-2 is m/s^2
            tokens += ["/", token.replace("^-1", "").replace("^-", "^")]
    if power and "^" not in tokens[0]:
        tokens[0] += power
    return " ".join(tokens).replace(" / ", "/").replace("/ ", "/")


def _singular(name: str) -> str:
    if name in UNITS:
        return _FIRST_NAME[UNITS[name]]
    return name[:-1] if len(name) > 3 and name.endswith("s") and not name.endswith("ss") else name


def unit_scale(unit: str) -> tuple[Dimensions, Fraction] | None:
    """Return (dimensions, factor) of a product or quotient of known units and powers; else None."""
    total: dict[str, int] = {}
    scale = Fraction(1)
    above, *below = unit.split("/")
    for part, sign in ((above, 1), *((b, -1) for b in below)):
        if not part.strip():
            return None
        for name, power in _powers(part):
            if name not in UNITS or abs(power) > MAX_POWER:
                return None
            dimensions, factor = UNITS[name]
            scale *= Fraction(factor) ** (sign * power)
            for dimension, exponent in _powers(dimensions):
                total[dimension] = total.get(dimension, 0) + sign * power * exponent
    return tuple(sorted((d, n) for d, n in total.items() if n)), scale


def _powers(text: str) -> list[tuple[str, int]]:
    """Return [("m", 1), ("s", -2)] for `m s^-2`."""
    found = []
    for token in text.split():
        name, _, exponent = token.partition("^")
        found.append((name, int(exponent) if re.fullmatch(r"-?\d{1,2}", exponent) else 1))
    return found


def conversion_factor(source: str, target: str) -> Fraction | None:
    """Return the factor that converts `source` into `target`; None when they do not convert.

    Unknown units, such as `red apple`, match when the words of one include those of the other.
    """
    if {source.split("^")[0], target.split("^")[0]} & NEUTRAL_UNITS:
        read = [unit_scale(u.replace("unit", "m")) for u in (source, target) if u != "unit"]
        powers = {s[0] for s in read if s and dict(s[0]).get("length")}
        return None if len(powers) > 1 else Fraction(1)  # `square units` are no `cm^3`
    if {source, target} in _SAME_UNITS:
        return Fraction(1)
    for one, other in ((source, target), (target, source)):
        counted = one.removeprefix(f"{other}/")  # dollars per ticket
        paid = UNITS.get(other, ("",))[0] in _CURRENCIES
        if counted != one and (paid or unit_scale(counted) is None):
            return Fraction(1)
    a, b = unit_scale(source), unit_scale(target)
    if a and b:
        return a[1] / b[1] if _same_dimensions(a[0], b[0]) else None
    if a or b:
        return None
    left, right = set(source.split()), set(target.split())
    agree = left <= right or right <= left or "piece" in left | right  # a Chinese counter
    return Fraction(1) if agree else None


def _same_dimensions(a: Dimensions, b: Dimensions) -> bool:
    """Return whether dimensions agree; a dollar of no country is the dollar of any."""
    if len(a) == len(b):
        return a == b
    return [d for d in a if d[0] not in _DOLLARS] == [d for d in b if d[0] not in _DOLLARS]


_TWO_UNITS = re.compile(
    r"(\d+(?:\.\d+)?)\s*([A-Za-z]+)\.?[\s,]*(?:and\s+)?(\d+(?:\.\d+)?)\s*([A-Za-z]+)\.?"
)


def add_units(text: str) -> tuple[str, str] | None:
    """Return (`2*60+30`, `min`) for `2 hours 30 minutes`; None unless two such units add up."""
    text = strip_marks(text)
    m = _TWO_UNITS.fullmatch(text.strip())
    if m is None:
        return None
    unit = unit_name(m[4])
    large, small = unit_scale(unit_name(m[2])), unit_scale(unit)
    if large is None or small is None or large[0] != small[0] or large[1] <= small[1]:
        return None
    return f"{m[1]}*({large[1] / small[1]})+{m[3]}", unit


# ---- an expression and its unit ----

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
_SIGNS = {"＄": "dollar", **{sign: name for sign, name in MONEY.items() if len(sign) == 1}}
_MONEY = "".join(_SIGNS).replace("$", "")
_MONEY_BEFORE = re.compile(rf"^([-+]?)\s*([{_MONEY}])\s*(?=[-\d.(\\])")
_MONEY_AFTER = re.compile(rf"^(.*[\d)}}])\s*([{_MONEY}])$", re.S)
_TEMPERATURE = re.compile(
    rf"(?:\\degree|{TEXT_OPEN}?\s*degrees?)\s*{TEXT_OPEN}?\s*(C|F)(?:elsius|ahrenheit)?\s*{TEXT_CLOSE}?$",
    re.I,
)
_SCALED = re.compile(
    rf"^(.*[\d)}}])\s*{TEXT_OPEN}?\s*({'|'.join(SCALE_WORDS)})s?(?:\s+of)?(?![A-Za-z])(.*)$",
    re.I | re.S,
)
_RATE = re.compile(r"([-+]?\d[\d.,]*)\s*/\s*([a-z]{3,})")
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
    if rate := _RATE.fullmatch(text):  # `＄460/week`
        text, unit = rate[1], f"{unit or 'unit'}/{unit_name(rate[2])}"
    text, scale = _cut_scale(text)
    text, tail = _cut_unit(text)
    unit = unit or tail
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


def _cut_unit(text: str) -> tuple[str, str]:
    """Return (expression, unit name); the name is "" without a unit."""
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
    m = _BARE_TAIL.match(text)
    if m and m["value"].endswith("pi") and re.match(r"(?!cm|mm|km|ft|in)[A-Za-z]{2}\b", m["unit"]):
        return text, ""  # 2\pi hr is a product
    if m and not m["value"].rstrip().endswith("\\") and is_unit(m["unit"]):
        return m["value"].strip(), unit_name(m["unit"])
    return text, ""
