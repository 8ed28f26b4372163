"""Units of measurement: their names in one spelling, and the factors between them."""

from __future__ import annotations

import re
from fractions import Fraction

from gradebox.checkers.math.normalise.number_words import (
    NUMBER_WORDS,
    SCALE_WORDS,
    read_number_words,
)
from gradebox.checkers.math.normalise.tables import FUNCTIONS, strip_marks

# names separated by spaces, dimensions, factor to the base units (m, g, s, A); units of the same
# dimensions convert
_UNIT_ROWS: tuple[tuple[str, str, float | int | str], ...] = (
    ("m meter meters metre metres", "length", 1),
    ("km kilometer kilometers kilometre kilometres", "length", 1000),
    ("cm centimeter centimeters centimetre centimetres", "length", "1/100"),
    ("mm millimeter millimeters millimetre millimetres", "length", "1/1000"),
    ("nm nanometer nanometers", "length", "1/1000000000"),
    ("in inch inches", "length", "254/10000"),
    ("ft foot feet", "length", "3048/10000"),
    ("yd yard yards yds", "length", "9144/10000"),
    ("mi mile miles", "length", "1609344/1000"),
    ("g gram grams gm", "mass", 1),
    ("kg kilogram kilograms kgs", "mass", 1000),
    ("mg milligram milligrams", "mass", "1/1000"),
    ("lb lbs pound pounds", "mass", "45359237/100000"),
    ("oz ounce ounces", "mass", "45359237/1600000"),
    ("ton tons tonne tonnes", "mass", 10**6),
    ("s sec secs second seconds", "time", 1),
    ("ms millisecond milliseconds", "time", "1/1000"),
    ("us microsecond microseconds", "time", "1/1000000"),
    ("ns nanosecond nanoseconds", "time", "1/1000000000"),
    ("ps picosecond picoseconds", "time", "1/1000000000000"),
    ("fs femtosecond femtoseconds", "time", "1/1000000000000000"),
    ("min mins minute minutes", "time", 60),
    ("h hr hrs hour hours", "time", 3600),
    ("day days", "time", 86400),
    ("week weeks", "time", 604800),
    ("month months", "month", 1),
    ("year years yr yrs", "month", 12),
    ("l liter liters litre litres", "length^3", "1/1000"),
    ("ml milliliter milliliters millilitre millilitres cc", "length^3", "1/1000000"),
    ("gal gallon gallons", "volume_us", 16),
    ("quart quarts qt", "volume_us", 4),
    ("pint pints", "volume_us", 2),
    ("cup cups", "volume_us", 1),
    ("dollar dollars usd buck bucks", "dollar", 100),
    ("cent cents", "dollar", 1),
    ("euro euros eur", "euro", 1),
    ("pound_money gbp", "pound_money", 1),
    ("yen jpy", "yen", 1),
    ("yuan rmb cny", "yuan", 100),
    ("jiao", "yuan", 10),
    ("fen", "yuan", 1),
    ("decimeter decimeters dm", "length", "1/10"),
    ("rupee rupees inr", "rupee", 1),
    ("ruble rubles", "ruble", 1),
    ("won", "won", 1),
    ("mph", "length time^-1", "1609344/3600000"),
    ("kph kmh", "length time^-1", "1000/3600"),
    ("n newton newtons", "mass length time^-2", 1000),
    ("kn kilonewton kilonewtons", "mass length time^-2", 10**6),
    ("j joule joules", "mass length^2 time^-2", 1000),
    ("kj kilojoule kilojoules", "mass length^2 time^-2", 10**6),
    ("w watt watts", "mass length^2 time^-3", 1000),
    ("kw kilowatt kilowatts", "mass length^2 time^-3", 10**6),
    ("v volt volts", "mass length^2 time^-3 current^-1", 1000),
    ("a amp amps ampere amperes", "current", 1),
    ("ma milliamp milliamps milliampere milliamperes", "current", "1/1000"),
    ("ohm ohms", "mass length^2 time^-3 current^-2", 1000),
    ("pa pascal pascals", "mass length^-1 time^-2", 1000),
    ("kpa kilopascal kilopascals", "mass length^-1 time^-2", 10**6),
    ("hz hertz", "time^-1", 1),
    ("mol mole moles", "mole", 1),
    ("k kelvin kelvins", "kelvin", 1),
    ("celsius", "celsius", 1),
    ("fahrenheit", "fahrenheit", 1),
    ("c coulomb coulombs", "current time", 1),
    ("t tesla teslas", "mass time^-2 current^-1", 1000),
    ("f farad farads", "mass^-1 length^-2 time^4 current^2", "1/1000"),
    ("erg ergs", "mass length^2 time^-2", "1/10000"),
    ("ev electronvolt electronvolts", "ev", 1),
    ("cal calorie calories", "mass length^2 time^-2", 4184),
    ("kcal kilocalorie kilocalories", "mass length^2 time^-2", 4184000),
    ("atm atmosphere atmospheres", "mass length^-1 time^-2", 101325000),
    ("bar bars", "mass length^-1 time^-2", 10**8),
    ("micrometer micrometers micron microns", "length", "1/1000000"),
    ("hectare hectares ha", "length^2", 10000),
    ("rad rads radian radians", "rad", 1),
    ("dozen dozens", "dozen", 1),
    ("acre acres", "length^2", "40468564224/10000000"),
    ("arcsec arcsecs arcsecond arcseconds", "arc", 1),
    ("mas milliarcsec milliarcseconds", "arc", "1/1000"),
    ("arcmin arcmins arcminute arcminutes", "arc", 60),
    ("angstrom angstroms", "length", "1/10000000000"),
    ("au", "length", 149597870700),
    ("ly lightyear lightyears", "length", 9460730472580800),
    ("pc parsec parsecs", "parsec", 1),
    ("kpc kiloparsec kiloparsecs", "parsec", 10**3),
    ("mpc megaparsec megaparsecs", "parsec", 10**6),
    ("gpc gigaparsec gigaparsecs", "parsec", 10**9),
    ("amu dalton daltons", "amu", 1),
    ("mag mags magnitude magnitudes", "mag", 1),
    ("bit bits", "bit", 1),
    ("byte bytes", "bit", 8),
    ("db decibel decibels", "db", 1),
    ("psi", "mass length^-1 time^-2", "6894757293168/1000000"),
    ("mmhg torr", "mass length^-1 time^-2", "133322368/1000"),
    ("dyn dyne dynes", "mass length time^-2", "1/100"),
    ("rpm", "revolution time^-1", "1/60"),
    ("rev revs revolution revolutions", "revolution", 1),
    ("ppm", "ppm", 1),
    ("kwh", "mass length^2 time^-2", 3600000000),
    ("wb weber webers", "mass length^2 time^-2 current^-1", 1000),
    ("lm lumen lumens", "lumen", 1),
    ("myr", "month", 12 * 10**6),
    ("gyr", "month", 12 * 10**9),
)
UNITS: dict[str, tuple[str, str]] = {
    name: (dimension, str(factor))
    for names, dimension, factor in _UNIT_ROWS
    for name in names.split()
}
_PREFIXES = {  # letter: (name, power of ten)
    "t": ("tera", 12), "g": ("giga", 9), "k": ("kilo", 3), "n": ("nano", -9),
}  # fmt: skip
_PREFIXED = {  # symbol: (names, the letters in use before it); m is mega in front of these
    "hz": ("hertz", "tgk"), "pa": ("pascal", "gk"), "w": ("watt", "tgkn"), "j": ("joule", "gk"),
    "ev": ("electronvolt", "gk"), "ohm": ("ohm", "k"), "v": ("volt", "k"),
}  # fmt: skip
for _symbol, (_name, _letters) in _PREFIXED.items():
    for _letter in [*_letters, "m"]:
        _long, _power = ("mega", 6) if _letter == "m" else _PREFIXES[_letter]
        _dimension, _factor = UNITS[_symbol]
        _scaled = (_dimension, str(Fraction(_factor) * Fraction(10) ** _power))
        for _spelled in (_letter + _symbol, _long + _name, f"{_long}{_name}s"):
            if _spelled != "mv":
                UNITS.setdefault(_spelled, _scaled)
for _symbol in ("a", "c", "f", "hz", "j", "mol", "n", "ohm", "pa", "t", "v", "w"):
    _dimension, _factor = UNITS[_symbol]
    for _long, _power in (("milli", -3), ("micro", -6), ("nano", -9)):
        _scaled = (_dimension, str(Fraction(_factor) * Fraction(10) ** _power))
        UNITS.setdefault(f"{_long}_{_symbol}", _scaled)
        for _name in [n for n, scale in UNITS.items() if scale == UNITS[_symbol] and len(n) > 3]:
            UNITS.setdefault(_long + _name, _scaled)
_SMALL = re.compile(  # `mJ`, where case tells milli from mega; `μC`
    r"(?<![A-Za-z])(m|n|\\mu\s*|[\u00b5\u03bc])(A|C|F|Hz|J|mol|N|Pa|V|W|T)(?![A-Za-z])"
)
_SMALL_PREFIXES = {"m": "milli", "n": "nano"}
_AFTER_A_SPACE = frozenset(  # `3lm` is a product
    ["au", "ly", "pc", "db", "wb", "lm", "us", "ns", "ps", "fs"]
)
_FUNCTION_OF = re.compile(r"(?:sec|min)\s[a-z]")  # `sec t`
_NEWTON_METER = re.compile(r"[NJWVAC](?:-|\s?\\cdot\s?)[a-z]")
# placeholders that match every unit
NEUTRAL_UNITS = frozenset(["unit", "units", "u"])
SQUARE_WORDS = frozenset(["square", "sq", "squared"])
CUBIC_WORDS = frozenset(["cubic", "cu", "cubed"])
_FIRST_NAME: dict[tuple[str, str], str] = {}  # (dimension, factor) → the unit's first name
for _name, _scale in UNITS.items():
    _FIRST_NAME.setdefault(_scale, _name)
_EXPONENT_WORDS = {"squared": "^2", "cubed": "^3"}  # written after the unit
_SAME_UNITS = (  # `45 pounds` is £45, `25 C` may be Celsius
    {"pound_money", "lb"}, {"yen", "yuan"}, {"cent", "c"}, {"celsius", "c"}, {"fahrenheit", "f"},
)  # fmt: skip
MAX_POWER = 6
_HOURS_AND_MINUTES = re.compile(r"^(\d{1,3}):([0-5]\d)\s*(?:h|hrs?|hours?)$")
_TWO_UNITS = re.compile(
    r"(\d+(?:\.\d+)?)\s*([A-Za-z]+)\.?[\s,]*(?:and\s+)?(\d+(?:\.\d+)?)\s*([A-Za-z]+)\.?"
)


def is_unit(tail: str) -> bool:
    """Return whether the letters after a number are a unit or a counted noun."""
    first = re.match(r"[A-Za-z]+", tail)
    if first is None:
        return False
    name = first[0].lower()
    if name == "sec" and tail.strip(" .").lower() == "sec":
        return True
    if (name in FUNCTIONS and name != "min") or name in ("pi", "mod", "choose", "to"):
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
        return bool(re.match(r"[A-Za-z]\s*/\s*[A-Za-z]+", tail)) and name in UNITS
    return (
        name in UNITS
        or name in NEUTRAL_UNITS
        or len(name) >= 4
        or (len(name) == 3 and " " in tail)
        or name in SQUARE_WORDS | CUBIC_WORDS
    )


def is_small_unit(tail: str) -> bool:
    """Return whether letters are a unit with a prefix below 1: `mN`, `mW`."""
    return _SMALL.fullmatch(tail) is not None


def is_compound_unit(tail: str) -> bool:
    """Return whether all names after a number and a space are units: `cm^3/mol`, `N-m`."""
    if _FUNCTION_OF.search(tail) or unit_scale(unit_name(tail)) is None:
        return False
    return bool(re.search(r"[A-Za-z]{2}|/|\^\s?\{?\s?-", tail) or _NEWTON_METER.fullmatch(tail))


def merge_units(first: str, second: str) -> str:
    """Return the unit given before a number (`$`) or after it (`dollars`)."""
    if first and second and UNITS.get(second, ("",))[0] == first:
        return first
    return first or second


def unit_name(text: str) -> str:
    """Return one spelling of a unit: "square centimeters", "cm²" and "sq cm" give `cm^2`."""
    text = re.sub(
        r"(?i)\belectron\s+volt", "electronvolt", re.sub(r"\bM\b", "mol/l", strip_marks(text))
    )
    text = re.sub(r"^\s*A\s*$", "ampere", text)  # not the article
    text = _SMALL.sub(lambda m: f"{_SMALL_PREFIXES.get(m[1], 'micro')}_{m[2]}", text)
    text = re.sub(r"[\\{}$.,()]", " ", text.lower())
    text = re.sub(r"\bper\b", "/", text)
    power = ""
    tokens: list[str] = []
    for token in re.findall(r"[a-z_]+(?:\s*\^\s*-?\d)?|/", text):
        name, _, exponent = token.replace(" ", "").partition("^")
        if name in _EXPONENT_WORDS and tokens and "^" not in tokens[-1]:
            tokens[-1] += _EXPONENT_WORDS[name]
        elif name in SQUARE_WORDS:
            power = "^2"
        elif name in CUBIC_WORDS:
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
    return " ".join(tokens).replace(" / ", "/").replace("/ ", "/")


def _singular(name: str) -> str:
    if name in UNITS:
        return _FIRST_NAME[UNITS[name]]
    return name[:-1] if len(name) > 3 and name.endswith("s") and not name.endswith("ss") else name


Dimensions = tuple[tuple[str, int], ...]


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
        return Fraction(1)
    if {source, target} in _SAME_UNITS:
        return Fraction(1)
    if {source, target} & {"yen"} and {source, target} & {"jiao", "fen"}:
        return conversion_factor(source.replace("yen", "yuan"), target.replace("yen", "yuan"))
    for one, other in ((source, target), (target, source)):
        counted = one.removeprefix(f"{other}/")  # dollars per ticket
        paid = UNITS.get(other, ("",))[0] in (
            "dollar",
            "euro",
            "pound_money",
            "rupee",
            "yuan",
            "yen",
        )
        if counted != one and (paid or unit_scale(counted) is None):
            return Fraction(1)
    source, target = _measured(source, target), _measured(target, source)
    a, b = unit_scale(source), unit_scale(target)
    if a and b:
        return a[1] / b[1] if a[0] == b[0] else None
    if a or b:
        return None
    left, right = set(source.split()), set(target.split())
    return Fraction(1) if left <= right or right <= left else None


def _measured(one: str, other: str) -> str:
    """Return `gal` for `gal paint` when the other unit does not say what is measured."""
    name, _, noun = one.partition(" ")
    named = noun.isalpha() and noun not in UNITS and name in UNITS
    return name if named and unit_scale(other) else one


_NUMBER_RUN = re.compile(
    rf"(?<![A-Za-z])(?:(?:{'|'.join([*NUMBER_WORDS, *SCALE_WORDS])})[\s-]+)+(?=[A-Za-z])", re.I
)


def _in_digits(text: str) -> str:
    """Return `4 dollars and 50 cents` for the numbers in words."""
    return _NUMBER_RUN.sub(lambda m: f"{read_number_words(m[0]) or m[0]} ", text)


def add_units(text: str) -> tuple[str, str] | None:
    """Return (`2*60+30`, `min`) for `2 hours 30 minutes`; None unless two such units add up."""
    text = _HOURS_AND_MINUTES.sub(r"\1 hours \2 min", strip_marks(text).strip())
    text = re.sub(r"^＄\s?(\d+)(?=\s)", r"\1 dollars", _in_digits(text))
    text = re.sub(r"^(\d+)\s?h\s?(\d+)\s?m$", r"\1 h \2 min", text)
    text = re.sub(r"^(\d+)\s?'\s?(\d+)\s?(?:\"|'')$", r"\1 ft \2 in", text)
    m = _TWO_UNITS.fullmatch(text)
    if m is None:
        return None
    unit = unit_name(m[4])
    large, small = unit_scale(unit_name(m[2])), unit_scale(unit)
    if large is None or small is None or large[0] != small[0] or large[1] <= small[1]:
        return None
    return f"{m[1]}*({large[1] / small[1]})+{m[3]}", unit
