r"""Powers of ten that stand with a unit or a number: "$10^{-3}$ m", "3.2 \times 10^5"."""

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

# Longer ones are no float; the pattern takes the square of their length, 1 s for 5,000 digits.
_LONGEST_NUMBER = 400


def power_of_ten(unit: str) -> tuple[str, int]:
    r"""The unit without its leading power of ten, and the exponent of that power (0: none)."""
    match = _POWER.match(unit)
    if match is None:
        return unit.strip(), 0
    rest = unit[match.end() :].strip()
    if rest.startswith("$"):
        rest = rest[1:].strip()
    elif rest.endswith("$") and rest.count("$") == 1 and rest != "$":
        rest = f"${rest}"
    return rest.strip(), int(match[1] or match[2])


def number(text: str) -> float | None:
    r"""A number written plainly, with thousands separators, as 3.2e5 or 3.2 \times 10^5."""
    bare = _MARKUP.sub(" ", text.replace("{,}", "").replace("10^{", "10^").strip())
    bare = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", bare).strip().rstrip(".%").strip()
    if len(bare) >= _LONGEST_NUMBER:
        return None
    scientific = _SCIENTIFIC.match(bare)
    try:
        if scientific:
            bare = f"{scientific[1]}e{scientific[2] or scientific[3]}"
        value = float(bare) if "_" not in bare else math.nan
        return value if math.isfinite(value) else None
    except (ValueError, OverflowError):
        return None


def leading_number(text: str) -> float | None:
    """The number a text begins with, what follows being taken for its unit."""
    whole = number(text)
    if whole is not None:
        return whole
    match = re.match(
        r"\s*\$?\s*([-+]?(?:\d+(?:,\d{3})*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,3})?"
        r"(?:\s*(?:\\times|\\cdot|[×·*])\s*10\s*\^\s*(?:\{\s*[-+]?\d{1,3}\s*\}|[-+]?\d{1,3}))?)",
        text,
    )
    return number(match[1]) if match else None
