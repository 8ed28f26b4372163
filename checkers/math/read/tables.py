"""Load the tables of characters, commands, functions and words; the marks around words."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

MAX_CHARS = 20_000  # longer answers are compared as text only
# normalise() puts `\text{...}` between these two marks, so that `\text{m}` stays a unit and
# `m` a variable.
TEXT_OPEN, TEXT_CLOSE = "\ue000", "\ue001"
# regular expression of a letter with an optional index: `x`, `x_1`, `x_{12}`
LETTER = r"[A-Za-z](?:_\{?\w+\}?)?"
LEADING_ARTICLES = ("there is ", "there are ", "the ", "a ", "an ")


def strip_marks(text: str, replacement: str = " ") -> str:
    """Return `text` with each TEXT_OPEN and TEXT_CLOSE replaced."""
    return text.replace(TEXT_OPEN, replacement).replace(TEXT_CLOSE, replacement)


def word_list(text: str) -> list[str]:
    """Return the words of a table row."""
    return text.split()


def _sections(name: str) -> dict[str, list[str]]:
    """Return the lines of each `[section]` of a table file."""
    found: dict[str, list[str]] = {}
    for line in (Path(__file__).parent / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("[") and line.endswith("]"):
            found[line[1:-1]] = []
        elif line and not line.startswith("#"):
            found[next(reversed(found))].append(line)
    return found


def _spellings(lines: list[str]) -> dict[str, str]:
    """Return {written: spelling}; a command keeps a space behind it, a word on both sides."""
    found = {}
    for line in lines:
        spelling, _, written = line.partition(" = ")
        if spelling == "remove":
            spelling = ""
        elif spelling.startswith("U+"):
            spelling = chr(int(spelling[2:], 16))
        elif spelling.isalpha() and len(spelling) > 1:
            spelling = f" {spelling} "
        for name in written.split():
            found[chr(int(name[2:], 16)) if name.startswith("U+") else name] = spelling
    return found


def _rows(lines: list[str]) -> dict[str, str]:
    """Return {written: the first spelling of its row}."""
    rows = [[word.strip() for word in line.split(",")] for line in lines]
    return {word: row[0] for row in rows for word in row}


_symbols, _words = _sections("symbols.txt"), _sections("words.txt")
_ENDS_IN_NAME = re.compile(r"\\[A-Za-z\\]+(?:\[\d\])?")
UNICODE: dict[str, str] = {  # character → LaTeX
    c: f"{s} " if _ENDS_IN_NAME.fullmatch(s) else s
    for c, s in _spellings(_symbols["characters"]).items()
}
GREEK = {c: n.strip() for c, n in _spellings(_symbols["Greek letters"]).items()}  # "α" → "alpha"
COMMANDS: dict[str, str] = _spellings(_symbols["commands"])  # name → what replaces the command
FUNCTIONS = frozenset(" ".join(_symbols["functions"]).split())
SYNONYMS: dict[str, str] = _rows(_words["synonyms"])
CHINESE_UNITS: dict[str, str] = _rows(_words["Chinese units"])
CHINESE_WORDS: dict[str, str] = _rows(_words["Chinese words"])
WORDS: dict[str, str] = _rows(_words["words"])  # of answers in words
VULGAR_FRACTIONS: dict[str, list[str]] = {  # "½" → ["1", "2"]
    c: unicodedata.normalize("NFKC", c).split("⁄") for c in "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑⅒"
}
SUPERSCRIPT = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿˣ", "0123456789+-()nx", strict=True))
SUBSCRIPT = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋₍₎ₙₓ", "0123456789+-()nx", strict=True))
