"""Data of the reader: characters, units, number words, words that mean the same."""

from __future__ import annotations


def word_list(text: str) -> list[str]:
    """The words of a text, in order."""
    return text.split()


# one character → LaTeX; applied before anything else is looked at
UNICODE: dict[str, str] = {
    "×": r"\times ", "⨯": r"\times ", "✕": r"\times ", "⋅": r"\cdot ", "·": r"\cdot ",
    "∙": r"\cdot ", "•": r"\cdot ", "∗": "*", "÷": "/", "⁄": "/", "∕": "/",
    "−": "-", "–": "-", "—": "-", "‐": "-", "‑": "-", "－": "-", "﹣": "-",
    "≤": r"\le ", "⩽": r"\le ", "≦": r"\le ", "≥": r"\ge ", "⩾": r"\ge ", "≧": r"\ge ",
    "≠": r"\ne ", "≈": r"\approx ", "≅": r"\approx ", "∞": r"\infty ", "∪": r"\cup ",
    "∩": r"\cap ", "∈": r"\in ", "∅": r"\emptyset ", "⌀": r"\emptyset ", "±": r"\pm ",
    "∓": r"\mp ", "°": r"\degree ", "º": r"\degree ", "˚": r"\degree ", "√": r"\sqrt ",
    "∛": r"\sqrt[3] ", "∜": r"\sqrt[4] ", "⟨": r"\langle ", "⟩": r"\rangle ",
    "〈": r"\langle ", "〉": r"\rangle ", "⌊": r"\lfloor ", "⌋": r"\rfloor ",
    "⌈": r"\lceil ", "⌉": r"\rceil ", "∣": "|", "′": "'", "’": "'", "‘": "'",
    "“": '"', "”": '"', "ℝ": r"\mathbb{R}", "ℤ": r"\mathbb{Z}", "ℕ": r"\mathbb{N}",
    "ℚ": r"\mathbb{Q}", "ℂ": r"\mathbb{C}", "∖": r"\setminus ", "∧": r"\land ",
    "∨": r"\lor ", "→": r"\to ", "…": r"\ldots ", "∑": r"\sum ", "∫": r"\int ",
    "∏": r"\prod ", "∂": r"\partial ", "∠": r"\angle ", "⊥": r"\perp ", "‰": r"\permil ",
    "∴": r"\therefore ", "⇒": r"\Rightarrow ",
    "\u00a0": " ", "\u2009": " ", "\u202f": " ", "\u200b": "", "\ufeff": "", "\u2061": "",
    "\u2062": "", "：": ":", "，": ",", "、": ",", "。": ".", "；": ";", "（": "(",
    "）": ")", "＝": "=", "％": "%", "＋": "+", "＜": "<", "＞": ">",
    "或": " or ", "和": " and ",
}  # fmt: skip
GREEK: dict[str, str] = dict(
    zip(
        "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩϕϵ",
        word_list(
            "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho "
            "sigma tau upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi "
            "Omega varphi varepsilon"
        ),
        strict=True,
    )
)
VULGAR: dict[str, tuple[int, int]] = {
    "½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅕": (1, 5),
    "⅖": (2, 5), "⅗": (3, 5), "⅘": (4, 5), "⅙": (1, 6), "⅚": (5, 6), "⅐": (1, 7),
    "⅛": (1, 8), "⅜": (3, 8), "⅝": (5, 8), "⅞": (7, 8), "⅑": (1, 9), "⅒": (1, 10),
}  # fmt: skip
SUPERSCRIPT = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿˣ", "0123456789+-()nx", strict=True))
SUBSCRIPT = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋₍₎ₙₓ", "0123456789+-()nx", strict=True))

CURRENCY: dict[str, str] = {
    "＄": "dollar", "€": "euro", "£": "pound_money", "¥": "yen", "₹": "rupee", "₽": "ruble",
    "₩": "won", "¢": "cent",
}  # fmt: skip

# names → (dimension, factor to the dimension's base); the same dimension converts
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
    ("rad rads radian radians", "rad", 1),
    ("dozen dozens", "dozen", 1),
    ("acre acres", "acre", 1),
)
UNITS: dict[str, tuple[str, str]] = {
    name: (dimension, str(factor))
    for names, dimension, factor in _UNIT_ROWS
    for name in names.split()
}
# a unit that says nothing: compatible with every other
NEUTRAL_UNITS = frozenset(["unit", "units", "u"])
SQUARE_WORDS = frozenset(["square", "sq", "squared"])
CUBIC_WORDS = frozenset(["cubic", "cu", "cubed"])

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
NUMBER_WORDS: dict[str, int] = {
    **{word: i for i, word in enumerate(_SMALL.split())},
    **{word: 10 * i for i, word in enumerate(_TENS.split(), start=2)},
}
SCALE_WORDS: dict[str, int] = {
    "hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12,
}  # fmt: skip
FRACTION_WORDS: dict[str, int] = {
    "half": 2, "halves": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fourth": 4,
    "fourths": 4, "fifth": 5, "fifths": 5, "sixth": 6, "sixths": 6, "seventh": 7, "sevenths": 7,
    "eighth": 8, "eighths": 8, "ninth": 9, "ninths": 9, "tenth": 10, "tenths": 10,
}  # fmt: skip

# groups of texts with one meaning; the first stands for all
_SAME_MEANING: tuple[tuple[str, ...], ...] = (
    ("true", "yes"),
    ("false", "no"),
    ("undefined", "not defined", "is undefined", "indeterminate"),
    ("dne", "does not exist", "doesn't exist", "do not exist", "nonexistent", "non-existent"),
    (
        "no solution", "no solutions", "no real solution", "no real solutions", "emptyset",
        "empty set", "the empty set", "null set", "varnothing", "none exist", "no such number",
        "{}",
    ),
    ("infinity", "infinite", "infinitely many", "inf", "unbounded",
     "infinitely many solutions"),
    ("all real numbers", "all reals", "all real x", "any real number", "mathbb{r}",
     "every real number", "all of r", "the real numbers", "reals"),
)  # fmt: skip
MEANING: dict[str, str] = {word: row[0] for row in _SAME_MEANING for word in row}

FUNCTIONS = frozenset(
    word_list(
        "sin cos tan cot sec csc arcsin arccos arctan arccot arcsec arccsc sinh cosh tanh "
        "coth asin acos atan log ln lg exp sqrt max min gcd lcm det abs floor ceil "
        "arcsinh arccosh arctanh"
    )
)
LEADING_ARTICLES = ("there is ", "there are ", "the ", "a ", "an ")
