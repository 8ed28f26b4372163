"""Read measurements that say more than one quantity: sizes, and one quantity in two units.

sizes          `12 in. x 18 in.`, *17 m by 31 m*, `3 \\times 4`   [`12 in`, `18 in`]
in_two_units   *3.6 minutes (216 s)*, `1/4 (25%)`                [`3.6 minutes`, `216 s`]
"""

from __future__ import annotations

import re
from fractions import Fraction

from gradebox.checkers.math.normalise.tables import strip_marks
from gradebox.checkers.math.parse.units import unit_name, unit_scale

MAX_CHARS = 100
MAX_ROUNDING = Fraction(1, 100)  # relative difference of one quantity in two units
_BY = re.compile(
    r" ?(?:(?<![A-Za-z])by(?![A-Za-z])|\\times(?![A-Za-z])|(?<=[\w.}]) x (?=[\d\\])) ?"
)
_MEASURE = re.compile(
    r"(?P<number>\d[\d,]*(?:\.\d+)?(?: ?/ ?\d+)?|\.\d+|\d* ?\\(?:frac|sqrt)[\d{} ]+?)"
    r"(?: ?(?P<unit>%|[A-Za-z][A-Za-z ./^{}\d-]*))?"
)
_SHARES = {"": ((), Fraction(1)), "%": ((), Fraction(1, 100))}
_TWICE = re.compile(
    r"(?P<one>[^()=]+?)(?: ?\((?:or )?(?P<inner>[^()=]+)\)|,? or (?P<other>[^()=]+))"
)


def _measures(parts: list[str]) -> list[tuple[str, str]]:
    """Return (number, unit) of each part; [] when one is something else."""
    found = [_MEASURE.fullmatch(part.strip(" .").replace("\\%", "%")) for part in parts]
    if not all(found):
        return []
    return [(m["number"], unit_name(m["unit"] or "") or (m["unit"] or "")) for m in found if m]


def sizes(text: str) -> list[str]:
    """Return the lengths of a size of two or three dimensions; [] for another text."""
    parts = _BY.split(" ".join(strip_marks(text).split())) if len(text) <= MAX_CHARS else []
    found = _measures(parts) if 2 <= len(parts) <= 3 else []
    units = {unit for _, unit in found} - {""}
    if len(units) > 1 or any(unit_scale(unit) is None for unit in units):
        return []
    return [" ".join([number, *units]) for number, _ in found]


def in_two_units(text: str) -> list[str]:
    """Return both spellings of a quantity that is given in two known units; else the text alone."""
    plain = " ".join(strip_marks(text).split()) if len(text) <= MAX_CHARS else ""
    m = _TWICE.fullmatch(plain)
    parts = [m["one"], m["inner"] or m["other"]] if m else []
    measures = _measures(parts)
    values = [v for measure in measures if (v := _in_base_units(*measure))]
    if m is None or len(values) < 2 or measures[0][1] == measures[1][1]:
        return [text]
    (first, kind), (second, other) = values
    allowed = MAX_ROUNDING * second if m["inner"] else 0
    return parts if kind == other and abs(first - second) <= allowed else [text]


def _in_base_units(number: str, unit: str) -> tuple[Fraction, object] | None:
    """Return (value, dimensions) of a number, a percentage or a known unit; None for others."""
    scale = _SHARES.get(unit) or unit_scale(unit)
    try:
        value = Fraction(number.replace(",", "").replace(" ", ""))
    except (ValueError, ZeroDivisionError):  # a root, 1/0
        return None
    return (value * scale[1], scale[0]) if scale else None
