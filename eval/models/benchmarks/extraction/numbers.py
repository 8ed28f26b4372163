r"""Parse numbers as models and datasets write them: "1,234.5", "3.2 \times 10^5", "12.5 m/s"."""

from __future__ import annotations

import math
import re

_POWER = re.compile(
    r"^\s*\$?\s*(?:\\times\s*)?10\s*\^\s*(?:\{\s*([-+]?\d{1,3})\s*\}|([-+]?\d{1,3}))"
)
_SCIENTIFIC = re.compile(
    r"^\s*([-+]?(?:\d+\.?\d*|\.\d+))\s*(?:\\times|\\cdot|[×·*x])\s*10\s*\^\s*"
    r"(?:\{\s*([-+]?\d{1,3})\s*\}|([-+]?\d{1,3}))\s*$"
)
_MARKUP = re.compile(r"\\(?:mathrm|text|rm|left|right|,|;|!)(?![a-zA-Z])|[${}~]|\\ ")

# No float is longer. The pattern takes quadratic time: 1 s for 5,000 digits.
_MAX_NUMBER_CHARS = 400


def split_power_of_ten(unit: str) -> tuple[str, int]:
    r"""Split "$10^{-3}$ m" into the unit and the exponent, which is 0 without a power of ten."""
    match = _POWER.match(unit[:_MAX_NUMBER_CHARS])
    if match is None:
        return unit.strip(), 0
    rest = unit[match.end() :].strip()
    if rest.startswith("$"):
        rest = rest[1:].strip()
    elif rest.endswith("$") and rest.count("$") == 1 and rest != "$":
        rest = f"${rest}"
    return rest.strip(), int(match[1] or match[2])


def parse_number(text: str) -> float | None:
    r"""Return a number with or without thousands separators, as 3.2e5 or as 3.2 \times 10^5.

    Return None when the text is not one finite number.
    """
    bare = _MARKUP.sub(" ", text.replace("{,}", "").replace("10^{", "10^").strip())
    bare = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", bare).strip().rstrip(".%").strip()
    if len(bare) >= _MAX_NUMBER_CHARS:
        return None
    scientific = _SCIENTIFIC.match(bare)
    try:
        if scientific:
            bare = f"{scientific[1]}e{scientific[2] or scientific[3]}"
        value = float(bare) if "_" not in bare else math.nan
        return value if math.isfinite(value) else None
    except (ValueError, OverflowError):
        return None


def parse_leading_number(text: str) -> float | None:
    """Return the number at the start of a text, whose rest is taken as its unit; else None."""
    whole = parse_number(text)
    if whole is not None:
        return whole
    match = re.match(
        r"\s*\$?\s*([-+]?(?:\d+(?:,\d{3})*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,3})?"
        r"(?:\s*(?:\\times|\\cdot|[×·*])\s*10\s*\^\s*(?:\{\s*[-+]?\d{1,3}\s*\}|[-+]?\d{1,3}))?)",
        text.lstrip()[:_MAX_NUMBER_CHARS],
    )
    return parse_number(match[1]) if match else None
