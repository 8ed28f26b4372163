"""The factors between units, against a table of their own: a unit ten times too small is found."""

import re
from collections import Counter
from fractions import Fraction

from gradebox.checkers.math import grade
from gradebox.checkers.math.read.units import UNITS, conversion_factor, unit_name

POWERS = {"tera": 12, "giga": 9, "mega": 6, "kilo": 3, "deci": -1, "centi": -2, "milli": -3}
POWERS |= {"micro": -6, "nano": -9, "pico": -12, "femto": -15}
CONVERSIONS = """
1 in = 2.54 cm, 1 ft = 12 in, 1 yd = 3 ft, 1 mi = 1760 yd, 1 m = 1e10 angstroms
1 au = 149597870.7 km, 1 ly = 9460730472580.8 km
1 ha = 10000 m^2, 640 acres = 1 mi^2, 1 l = 1000 cm^3
1 gal = 4 quarts, 1 quart = 2 pints, 1 pint = 2 cups
1 ton = 1000 kg, 1 lb = 453.59237 g, 1 lb = 16 oz
1 week = 7 days, 1 day = 24 h, 1 h = 60 min, 1 min = 60 s
1 year = 12 months, 1 myr = 1000000 years, 1 gyr = 1000 myr
1 mph = 1 mi/h, 1 kph = 1 km/h, 1 m hz = 1 m/s, 60 rpm = 1 rev/s
1 n = 1 kg m/s^2, 100000 dyn = 1 n, 1 j = 1 n m, 10000000 erg = 1 j, 1 cal = 4.184 j
1 w = 1 j/s, 1 kwh = 1 kw h, 1 v = 1 w/amp, 1 ohm = 1 v/amp, 1 c = 1 amp s, 1 f = 1 c/v
1 wb = 1 v s, 1 t = 1 wb/m^2, 1 pa = 1 n/m^2, 1 bar = 100000 pa, 1 atm = 101325 pa
1 psi = 6894.757293168 pa, 1 torr = 133.322368 pa
1 arcmin = 60 arcsec, 1 byte = 8 bits
1 dollar = 100 cents, 1 usd = 1 dollar, 1 cad = 1 dollar, 1 aud = 1 dollar, 1 nzd = 1 dollar
1 hkd = 1 dollar, 1 sgd = 1 dollar, 1 twd = 1 dollar, 1 yuan = 10 jiao, 1 jiao = 10 fen
"""


def conversions() -> list[tuple[Fraction, str, Fraction, str]]:
    """Return (number, unit, number, unit) of every equation, those of prefixes included."""
    sides = [
        side.strip().partition(" ")
        for line in CONVERSIONS.strip().splitlines()
        for equation in line.split(", ")
        for side in equation.split(" = ")
    ]
    found = [
        (Fraction(a), one, Fraction(b), other)
        for (a, _, one), (b, _, other) in zip(sides[::2], sides[1::2], strict=True)
    ]
    for name in UNITS:
        for prefix, power in POWERS.items():
            plain = name.removeprefix(prefix)
            if plain != name and len(plain) > 2 and plain in UNITS:
                found.append((Fraction(1), name, Fraction(10) ** power, plain))
    return found


def test_every_factor_is_that_of_the_table():
    wrong = [
        (one, other)
        for a, one, b, other in conversions()
        if conversion_factor(unit_name(one), unit_name(other)) != b / a
    ]
    assert wrong == []


def test_the_table_has_every_unit_that_converts_into_another():
    words = {w for _, one, _, other in conversions() for w in re.split("[ /]", f"{one} {other}")}
    listed = {UNITS.get(unit_name(word.partition("^")[0])) for word in words}
    missing = [name for name, scale in UNITS.items() if scale not in listed]
    dimensions = Counter(dimension for dimension, _ in set(UNITS.values()))
    assert [name for name in missing if dimensions[UNITS[name][0]] > 1] == []
    assert [name for name in missing if " " in UNITS[name][0]] == []


def test_answers_in_other_units_are_converted():
    pairs = (("1 mi", "1760 yd", "176 yd"), ("2 lb", "32 oz", "3.2 oz"), ("3 kJ", "3000 J", "30 J"))
    for gold, equal, other in pairs:
        assert grade(gold, equal).equal and not grade(gold, other).equal
