"""Put the words of `\\text{…}` between marks and take fonts off; mark units that are set upright.

`\\text{cm}` → marked cm      `\\mathbf x` → x      `5~\\mathrm{N}`, `\\mathrm{m\\,s^{-1}}` → marked
"""

from __future__ import annotations

import re

from gradebox.checkers.math.read.tables import (
    COMMANDS,
    FUNCTIONS,
    TEXT_CLOSE,
    TEXT_OPEN,
    strip_marks,
)

MAX_NESTED = 8  # fonts
_TEXT_COMMANDS = (
    "text|textbf|textit|textrm|textsf|texttt|textnormal|textup|mbox|hbox|emph|textsc|underline"
)
_FONT_COMMANDS = "mathrm|mathbf|mathit|mathsf|mathtt|boldsymbol|bm|mathcal|mathscr|mathfrak|pmb"
TEXT = re.compile(rf"\\(?:{_TEXT_COMMANDS})\s*\{{([^{{}}]*)\}}")
_FONT = re.compile(rf"\\(?:{_FONT_COMMANDS}|operatorname\*?)\s*\{{([^{{}}]*)\}}")
_FONT_LETTER = re.compile(rf"\\(?:{_FONT_COMMANDS})\s+([A-Za-z0-9])")
_FONT_COMMAND = re.compile(rf"\\(?:{_FONT_COMMANDS}|{_TEXT_COMMANDS})(?=\s*\{{)")  # around braces
_UNIT_LETTER = re.compile(  # `5~\mathrm{N}`; a variable has no space before it
    r"((?<=[\d}])\s?(?:~|\\[ ,;:]|\\(?:quad|thinspace)(?![A-Za-z]))\s?|(?<=[\d})])\s(?=\S+$))"
    r"\\mathrm\s?\{\s?([A-DF-HJ-WZacf-hj-wz])\s?\}"
)
_UNIT_CHAIN = re.compile(  # `\mathrm{~lb}-\mathrm{sec} / \mathrm{ft}`
    r"\\mathrm\s?\{[^{}]{0,20}\}(?:\^\{?-?\d\}?)?"
    r"(?:\s?(?:[-/]|\\cdot)?\s?\\mathrm\s?\{[^{}]{0,20}\}(?:\^\{?-?\d\}?)?)*"
)
_UPRIGHT = re.compile(r"\\mathrm\s?\{\s?([^{}]*)\}")
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
    return _UNIT_FONT.sub(_unit_to_text, text)


def _marked_chain(m: re.Match[str]) -> str:
    """Return `lb-sec/ft` between marks for upright names after `~` or joined to several."""
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


def mark_unit_fraction(text: str) -> str:
    """Return `m/s` between the marks of words for a fraction of two such units."""

    def joined(m: re.Match[str]) -> str:
        above, below = (
            name.strip() + (f"^{power}" if power else "")
            for name, power in ((m[1], m[2]), (m[3], m[4]))
        )
        return f"{TEXT_OPEN}{above}/{below}{TEXT_CLOSE}"

    return _UNIT_FRACTION.sub(joined, text)


def unwrap_text(text: str) -> str:
    """Put the words of `\\text{…}` between the marks and remove fonts, nested ones too."""
    for _ in range(MAX_NESTED):
        before = text
        text = TEXT.sub(_mark_text, _FONT.sub(_unwrap_font, text))
        if text == before:
            break
    return _FONT_COMMAND.sub("", _FONT_LETTER.sub(r" \1", text))


def _unwrap_font(match: re.Match[str]) -> str:
    inner = match[1].strip()
    if inner in FUNCTIONS or COMMANDS.get(inner, "")[1:] in FUNCTIONS:
        return f"\\{inner} "
    if len(inner) > 1 and inner.isalpha():
        return f"{TEXT_OPEN}{inner}{TEXT_CLOSE}"
    return f" {match[1]} "


def _mark_text(match: re.Match[str]) -> str:
    inner = strip_marks(match[1], "")
    bare = inner.strip(" ,.;")
    if inner.strip() in FUNCTIONS - {"min", "max", "sec"}:
        return f"\\{inner.strip()} "
    if re.fullmatch(r"[-\d.,\s]*\\degree|\((?:i{1,3}|iv|v)\)", bare):
        return f" {bare} "
    if not re.search(r"[A-Za-z]{2}|^[A-Za-z](?:\^-?\d)?(?: [A-Za-z](?:\^-?\d)?)*$", bare):
        return f" {bare} "  # \text{240}, \text{-2}, \text{(B)}: not words
    if counted := re.fullmatch(r"(-?[\d.,/]*\d)\s+([^\d]+)", bare):
        return f" {counted[1]} {TEXT_OPEN}{counted[2]}{TEXT_CLOSE}"
    if joined := re.fullmatch(r"(.*\w)\s+(and|or)", bare):
        return f"{TEXT_OPEN}{joined[1]}{TEXT_CLOSE} {joined[2]} "
    if bare.lower() in ("and", "or", "to"):
        return f" {bare.lower()} "
    return f"{TEXT_OPEN}{inner}{TEXT_CLOSE}"
