"""Units of measurement: their names in one spelling, and the factors between them."""

from __future__ import annotations

import re
from fractions import Fraction

from gradebox.checkers.math.normalise.tables import FUNCTIONS, strip_marks

# names separated by spaces, dimension, factor to the base unit; units of one dimension convert
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
    ("lb lbs pound pounds", "mass_us", 16),
    ("oz ounce ounces", "mass_us", 1),
    ("ton tons tonne tonnes", "ton", 1),
    ("s sec secs second seconds", "time", 1),
    ("ms millisecond milliseconds", "time", "1/1000"),
    ("min mins minute minutes", "time", 60),
    ("h hr hrs hour hours", "time", 3600),
    ("day days", "time", 86400),
    ("week weeks", "time", 604800),
    ("month months", "month", 1),
    ("year years yr yrs", "month", 12),
    ("l liter liters litre litres", "volume", 1000),
    ("ml milliliter milliliters millilitre millilitres", "volume", 1),
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
    ("mph", "mi/h", 1),
    ("kph kmh", "km/h", 1),
    ("n newton newtons", "force", 1),
    ("j joule joules", "energy", 1),
    ("kj kilojoule kilojoules", "energy", 1000),
    ("w watt watts", "power", 1),
    ("kw kilowatt kilowatts", "power", 1000),
    ("v volt volts", "volt", 1),
    ("a amp amps ampere amperes", "amp", 1),
    ("ohm ohms", "ohm", 1),
    ("pa pascal pascals", "pressure", 1),
    ("kpa", "pressure", 1000),
    ("hz hertz", "hertz", 1),
    ("mol mole moles", "mole", 1),
    ("k kelvin kelvins", "kelvin", 1),
    ("celsius", "celsius", 1),
    ("fahrenheit", "fahrenheit", 1),
    ("c coulomb coulombs", "charge", 1),
    ("t tesla teslas", "tesla", 1),
    ("f farad farads", "farad", 1),
    ("ev electronvolt electronvolts", "ev", 1),
    ("cal calorie calories", "calorie", 1),
    ("kcal", "calorie", 1000),
    ("atm atmosphere atmospheres", "atm", 1),
    ("bar bars", "bar", 1),
    ("micrometer micrometers micron microns", "length", "1/1000000"),
    ("hectare hectares", "hectare", 1),
    ("rad rads radian radians", "rad", 1),
    ("dozen dozens", "dozen", 1),
    ("acre acres", "acre", 1),
)
UNITS: dict[str, tuple[str, str]] = {
    name: (dimension, str(factor))
    for names, dimension, factor in _UNIT_ROWS
    for name in names.split()
}
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
_SPEEDS = {"mph": "mi/h", "kph": "km/h"}
_SPEED_NAMES = {quotient: name for name, quotient in _SPEEDS.items()}
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


def merge_units(first: str, second: str) -> str:
    """Return the unit given before a number (`$`) or after it (`dollars`)."""
    if first and second and UNITS.get(second, ("",))[0] == first:
        return first
    return first or second


def unit_name(text: str) -> str:
    """Return one spelling of a unit: "square centimeters", "cm²" and "sq cm" give `cm^2`."""
    text = re.sub(r"[\\{}$.,()]", " ", strip_marks(text).lower())
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
    name = " ".join(tokens).replace(" / ", "/").replace("/ ", "/")
    return _SPEED_NAMES.get(name, name)


def _singular(name: str) -> str:
    if name in UNITS:
        return _FIRST_NAME[UNITS[name]]
    return name[:-1] if len(name) > 3 and name.endswith("s") and not name.endswith("ss") else name


def unit_scale(unit: str) -> tuple[str, Fraction] | None:
    """Return (dimension, factor) of a known unit, a power or a quotient of units; else None."""
    above, slash, below = _SPEEDS.get(unit, unit).partition("/")
    if slash:
        top, bottom = unit_scale(above), unit_scale(below)
        return (f"{top[0]}/{bottom[0]}", top[1] / bottom[1]) if top and bottom else None
    name, _, exponent = unit.partition("^")
    if name not in UNITS or (exponent and not exponent.isdigit()):
        return None
    dimension, factor = UNITS[name]
    n = int(exponent or 1)
    return f"{dimension}^{n}", Fraction(factor) ** n


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
        if counted != one and unit_scale(counted) is None:
            return Fraction(1)
    a, b = unit_scale(source), unit_scale(target)
    if a and b:
        return a[1] / b[1] if a[0] == b[0] else None
    if a or b:
        return None
    left, right = set(source.split()), set(target.split())
    return Fraction(1) if left <= right or right <= left else None


def add_units(text: str) -> tuple[str, str] | None:
    """Return (`2*60+30`, `min`) for `2 hours 30 minutes`; None unless two such units add up."""
    text = _HOURS_AND_MINUTES.sub(r"\1 hours \2 min", strip_marks(text).strip())
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
