"""Mark the units that LaTeX sets upright, so that they are not read as variables.

`5~\\mathrm{N}`, `\\mathrm{~lb}-\\mathrm{sec}/\\mathrm{ft}`, `\\mathrm{m\\,s^{-1}}`
"""

from __future__ import annotations

import re

from gradebox.checkers.math.normalise.tables import TEXT_CLOSE, TEXT_OPEN

_UNIT_LETTER = re.compile(  # `5~\mathrm{N}`; a variable has no space before it
    r"((?<=[\d}])\s?(?:~|\\[ ,;:]|\\(?:quad|thinspace)(?![A-Za-z]))\s?|(?<=[\d})])\s(?=\S+$))"
    r"\\mathrm\s?\{\s?([A-DF-HJ-WZacf-hj-wz])\s?\}"
)
_UNIT_CHAIN = re.compile(  # `\mathrm{~lb}-\mathrm{sec} / \mathrm{ft}`
    r"\\mathrm\s?\{[^{}]{0,20}\}(?:\^\{?-?\d\}?)?"
    r"(?:\s?(?:[-/]|\\cdot)?\s?\\mathrm\s?\{[^{}]{0,20}\}(?:\^\{?-?\d\}?)?)*"
)
_UPRIGHT = re.compile(r"\\mathrm\s?\{\s?([^{}]*)\}")
_UNIT_FUNCTION = re.compile(  # `\mathrm{sec}`, `\mathrm{min}` without an argument
    r"([\d}/)]|\\pi)(\s*(?:~|\\[ ,;])?\s*)\\(?:mathrm|text|operatorname)\s*\{\s*(sec|min)\s*\}"
    r"(?!\s*[\w\\({^])"
)
_UNIT_FONT = re.compile(  # `\mathrm{m\,s^{-1}}`
    r"\\(?:mathrm|text)\s?\{((?:[A-Za-z/.\s~]|\\[ ,;]|\\cdot(?![A-Za-z])|\^\{?-?\d\}?){0,60}"
    r"\^(?:[^{}]|\{-?\d\}){0,60})\}"
)
_UNIT_POWER = r"(?:\^\s*\{?(\d)\}?)?"
_UNIT_FRACTION = re.compile(  # `\frac{\text{m}}{\text{s}^2}`
    rf"\\[dt]?frac\s*\{{\s*{TEXT_OPEN}([^{TEXT_CLOSE}]*){TEXT_CLOSE}\s*{_UNIT_POWER}\s*\}}"
    rf"\s*\{{\s*{TEXT_OPEN}([^{TEXT_CLOSE}]*){TEXT_CLOSE}\s*{_UNIT_POWER}\s*\}}"
)


def mark_units(text: str) -> str:
    """Return a text with `\\text{…}` around upright units."""
    text = _UNIT_LETTER.sub(r"\1\\text{\2}", _UNIT_CHAIN.sub(_marked_chain, text))
    text = _UNIT_FUNCTION.sub(r"\1\2\\text{\3ond}", text).replace("{minond}", "{minute}")
    return _UNIT_FONT.sub(_unit_to_text, text)


def mark_unit_fraction(text: str) -> str:
    """Return `m/s` between the marks of words for a fraction of two such units."""
    return _UNIT_FRACTION.sub(_unit_fraction, text)


def _marked_chain(m: re.Match[str]) -> str:
    """Return `\\text{lb-sec/ft}` for upright names after `~` or joined to several."""
    names = _UPRIGHT.findall(m[0])
    marked = names[0].startswith("~") or (len(names) > 1 and len(names[0]) > 1)
    plain = _UPRIGHT.sub(r" \1", m[0]).replace(r"\cdot", " ")
    plain = re.sub(r"[{}]|(?<=[-/])\s+|\s+(?=[-/])", "", plain.replace("~", " "))
    if not marked or len(re.findall("[A-Za-z]", plain)) < 2:
        return m[0]
    return f"{TEXT_OPEN}{' '.join(plain.split())}{TEXT_CLOSE}"


def _unit_to_text(m: re.Match[str]) -> str:
    inner = re.sub(r"\\[ ,;]|\\cdot|~", " ", m[1])
    return rf"\text{{{re.sub(r'[{}]', '', inner)}}}"


def _unit_fraction(m: re.Match[str]) -> str:
    above, below = (
        name.strip() + (f"^{power}" if power else "")
        for name, power in ((m[1], m[2]), (m[3], m[4]))
    )
    return f"{TEXT_OPEN}{above}/{below}{TEXT_CLOSE}"
