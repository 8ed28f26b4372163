"""Rewrite notations in an answer into those that the reader knows: the tables of rewrites.txt.

Fonts are taken off, and words and upright units put between marks:
`\\text{cm}`, `5~\\mathrm{N}`, `\\mathrm{m\\,s^{-1}}`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from gradebox.checkers.math.read.tables import (
    COMMANDS,
    FUNCTIONS,
    NUMBER_WORDS,
    TEXT_CLOSE,
    TEXT_OPEN,
    read_number_words,
    sections,
    strip_marks,
)

Replacement = str | Callable[[re.Match[str]], str]
Rewrites = tuple[tuple[re.Pattern[str], Replacement], ...]


def _binomial(m: re.Match[str]) -> str:
    """Return `\\binom{10}{3}` for the n and k of a match; `C_3^{10}` has them the other way."""
    n, k = (g for g in m.groups() if g)
    if n.isdigit() and not (k.isdigit() and int(n) >= int(k)):
        n, k = k, n
    return rf"\binom{{{n}}}{{{k}}}"


def _share(m: re.Match[str]) -> str:
    """Return `\\frac{1}{3}` for `1 out of 3`."""
    top, low = (t if t.isdigit() else read_number_words(t) for t in m.groups())
    return rf"\frac{{{top}}}{{{low}}}" if top and low else m[0]


def _in_base(m: re.Match[str]) -> str:
    name = m[2].lower()
    base = str({**NUMBER_WORDS, **_BASES}.get(name, name))
    return str(int(m[1], 16)) if base == "16" else f"{m[1]}_{{{base}}}"


def _matrix(rows: str) -> str:
    return rf"\begin{{pmatrix}}{rows.replace(',', '&')}\end{{pmatrix}}"


_BASES = {"binary": 2, "ternary": 3, "octal": 8, "hexadecimal": 16, "hex": 16}
_SIGNED = {
    "positive": r"(0,\infty)", "negative": r"(-\infty,0)", "nonnegative": r"[0,\infty)",
    ">": r"(0,\infty)", "+": r"(0,\infty)", "<": r"(-\infty,0)", "-": r"(-\infty,0)",
    r"\ge": r"[0,\infty)", r"\le": r"(-\infty,0]",
    "nonpositive": r"(-\infty,0]", "nonzero": r"\mathbb{R}\setminus\{0\}",
}  # fmt: skip
_CALCULATED: dict[str, Callable[[re.Match[str]], str]] = {  # the functions of rewrites.txt
    "binomial": _binomial,
    "share": _share,
    "in base": _in_base,
    "hexadecimal": lambda m: str(int(m[1], 16)),
    "scaled": lambda m: m[1] + _matrix(m[2]),
    "literal": lambda m: str(int(m[0], 0)),
    "minutes": lambda m: rf"({m[1]}+\frac{{{m[2]}}}{{60}}+\frac{{{m[3] or 0}}}{{3600}})\degree",
    "parts": lambda m: f"({'; '.join(part for part in m.groups() if part)})",
    "decimal comma": lambda m: f"{m[1].replace('.', '')}.{m[2]}",
    "function": lambda m: f"{m[1] or 'f'}({m[2]})={m[3]}",
    "signed": lambda m: _SIGNED[(m[1] or m[2]).lower().replace("non-", "non")],
    "except": lambda m: rf"\mathbb{{R}}\setminus\{{{m[1].replace(' and ', ', ')}\}}",
    "union": lambda m: re.sub(r"(?<=[)\]}]),\s*", r" \\cup ", m[1]),
    "solutions": lambda m: (
        m[0].strip("[{}]").replace("'", "").replace("}, {", "; ").replace(":", "=")
    ),
    "matrix": lambda m: _matrix(re.sub(r"\]\s*,\s*\[", r"\\\\", m[1]).strip("[] ")),
}
_IN_TABLE = {  # what rewrites.txt writes for what
    "‹": TEXT_OPEN, "›": TEXT_CLOSE, "␣": " ", "<count>": r"\{?\s*(\d{1,4}|[a-z])\s*\}?",
    "<number>": r"([^(),]{1,200})",
}  # fmt: skip


def _load() -> dict[str, Rewrites]:
    """Return the tables of rewrites.txt by their names."""
    found: dict[str, Rewrites] = {}
    for name, lines in sections(__file__, "rewrites.txt").items():
        rows: list[tuple[re.Pattern[str], Replacement]] = []
        for line in lines:
            for written, text in _IN_TABLE.items():
                line = line.replace(written, text)
            pattern, _, new = line.partition("  =>")
            new = new.removeprefix("  ")
            replacement = _CALCULATED[new[1:]] if new.startswith("@") else new
            rows.append((re.compile(pattern, re.I if name == "whole" else 0), replacement))
        found[name] = tuple(rows)
    return found


REWRITES = _load()
_OUTWARD = re.compile(r"([\[\]])([^\[\]]{1,60})([\[\]])")


def rewritten(text: str, table: str) -> str:
    """Return a text with what a table of rewrites.txt replaces wherever it stands."""
    for pattern, replacement in REWRITES[table]:
        text = pattern.sub(replacement, text)
    return text


def expand_notation(text: str) -> str:
    """Return a normalised answer with the notations of this module rewritten."""
    if text[:1] == "]" or text[-1:] == "[":
        text = _OUTWARD.sub(_facing_inward, text)
    text = rewritten(text, "anywhere")
    plain = " ".join(strip_marks(text).split())
    for pattern, replacement in REWRITES["whole"]:
        if m := pattern.fullmatch(plain):
            new = m.expand(replacement) if isinstance(replacement, str) else replacement(m)
            if new != plain:
                return new
    return text


def _facing_inward(m: re.Match[str]) -> str:
    """Return `(1,2)` for `]1,2[`: a bracket that faces outward excludes its end."""
    return f"{'(' if m[1] == ']' else '['}{m[2]}{')' if m[3] == '[' else ']'}"


# ---- fonts ----

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
_UNIT_FRACTION = re.compile(  # `\frac{\text{m}}{\text{s}^2}`
    rf"\\[dt]?frac\s*\{{\s*{TEXT_OPEN}([^{TEXT_CLOSE}]*){TEXT_CLOSE}\s*\}}"
    rf"\s*\{{\s*{TEXT_OPEN}([^{TEXT_CLOSE}]*){TEXT_CLOSE}\s*(\^\s*\{{?\d\}}?)?\s*\}}"
)


def mark_units(text: str) -> str:
    """Return a text with `\\text{…}` around upright units."""
    text = _UNIT_LETTER.sub(r"\1\\text{\2}", _UNIT_CHAIN.sub(_marked_chain, text))
    return _UNIT_FONT.sub(lambda m: rf"\text{{{_plain_unit(m[1])}}}", text)


def _plain_unit(text: str) -> str:
    return re.sub(r"[{}]", "", re.sub(r"\\[ ,;]|\\cdot|~", " ", text))


def _marked_chain(m: re.Match[str]) -> str:
    """Return `lb-sec/ft` between marks for upright names after `~` or joined to several."""
    names = _UPRIGHT.findall(m[0])
    marked = names[0].startswith("~") or (len(names) > 1 and len(names[0]) > 1)
    plain = _UPRIGHT.sub(r" \1", m[0]).replace(r"\cdot", " ")
    plain = re.sub(r"[{}]|(?<=[-/])\s+|\s+(?=[-/])", "", plain.replace("~", " "))
    if not marked or len(re.findall("[A-Za-z]", plain)) < 2:
        return m[0]
    return f"{TEXT_OPEN}{' '.join(plain.split())}{TEXT_CLOSE}"


def unwrap_text(text: str) -> str:
    """Put the words of `\\text{…}` between the marks and remove fonts, nested ones too."""
    for _ in range(MAX_NESTED):
        before = text
        text = TEXT.sub(_mark_text, _FONT.sub(_unwrap_font, text))
        if text == before:
            break
    text = _UNIT_FRACTION.sub(rf"{TEXT_OPEN}\1/\2\3{TEXT_CLOSE}", text)
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
