"""Load the tables of characters, commands, functions and words; read words.

`forty-two` → 42   `two thirds` → `\\frac{2}{3}`   `12平方厘米` → `12 square cm`
`2根号3` → `2\\sqrt{3}`   `①③` → `(1), (3)`
"""

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


def sections(module: str, name: str) -> dict[str, list[str]]:
    """Return the lines of each `[section]` of a table file beside a module."""
    found: dict[str, list[str]] = {}
    for line in Path(module).with_name(name).read_text(encoding="utf-8").splitlines():
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


_symbols, _words = sections(__file__, "symbols.txt"), sections(__file__, "words.txt")
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


def plain_words(text: str) -> str:
    """Return the lower-case words of a text answer, without punctuation, synonyms unified."""
    text = re.sub(r"[\\\"“”`*]", "", strip_marks(text).lower())
    text = re.sub(r"\s+", " ", text).strip(" .,;:!?()[]'")
    for article in LEADING_ARTICLES:
        if text.startswith(article) and len(text) > len(article) + 1:
            text = text[len(article) :]
    return SYNONYMS.get(text, text)


# ---- words ----

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
NUMBER_WORDS: dict[str, int] = {
    **{word: i for i, word in enumerate(word_list(_SMALL))},
    **{word: 10 * i for i, word in enumerate(word_list(_TENS), start=2)},
}
SCALE_WORDS: dict[str, int] = {
    "hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12,
    "dozen": 12,
}  # fmt: skip
FRACTION_WORDS: dict[str, int] = {
    "half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7,
    "eighth": 8, "ninth": 9, "tenth": 10, "halve": 2,
}  # fmt: skip


def read_number_words(text: str) -> str | None:
    """Return the LaTeX of a number in words, `42` or `\\frac{2}{3}`; None for other text."""
    tokens = re.findall(r"[a-z]+", text.lower())
    if not tokens or re.search(r"[^A-Za-z\s,.-]", strip_marks(text, "")):
        return None
    sign = ""
    if tokens[0] == "a" and tokens[-1] in SCALE_WORDS:
        tokens = tokens[1:]
    if tokens[:2] == ["half", "a"] and tokens[2:] in ([word] for word in SCALE_WORDS):
        return str(SCALE_WORDS[tokens[2]] // 2)
    if tokens[0] in ("minus", "negative"):
        sign, tokens = "-", tokens[1:]
    *before, last = tokens or [""]
    if (low := FRACTION_WORDS.get(last.removesuffix("s"))) is None:
        value = _cardinal(tokens)
        return None if value is None else f"{sign}{value}"
    whole = 0
    if "and" in before:  # two and three quarters
        at = len(before) - 1 - before[::-1].index("and")
        if (value := _cardinal(before[:at])) is None:
            return None
        whole, before = value, before[at + 1 :]
    one = before == ["a"] or (last == "half" and not before)  # "third" alone is ordinal
    top = 1 if one else _cardinal(before)
    return None if top is None else rf"{sign}\frac{{{whole * low + top}}}{{{low}}}"


def _cardinal(tokens: list[str]) -> int | None:
    total, current, started, previous = 0, 0, False, ""
    for token in tokens:
        if token in NUMBER_WORDS:
            current += NUMBER_WORDS[token]
        elif token == "hundred":
            current = max(current, 1) * 100
        elif token in SCALE_WORDS:
            total += max(current, 1) * SCALE_WORDS[token]
            current = 0
        elif token == "and" and previous in SCALE_WORDS:  # one hundred and eight
            continue
        else:
            return None
        started, previous = True, token
    return total + current if started else None


_CHINESE = re.compile("[\u4e00-\u9fff]")
_POWERS = {"平方": "square ", "立方": "cubic ", "": ""}
_UNIT_NAMES = "|".join(sorted((n for n in CHINESE_UNITS if not n.isascii()), key=len, reverse=True))
_UNIT = re.compile(rf"(?<=[\d}})$π])\s*\$?\s*(平方|立方)?({_UNIT_NAMES})(?:每({_UNIT_NAMES}))?")
_COUNTER = re.compile("(?<=[\\d}$])\\s*[个种人名位只本张件支块条次组题道辆棵朵页岁双对套倍]$")
_ROOT = re.compile(r"(三次)?根号下?\s*(\d+|[a-z]|\\?[a-z]+(?![a-z])|(?=[({（]))")

_CIRCLED = re.compile("[①-⑳](?:[\\s,、，和及与;；]*[①-⑳])*")  # numbered statements


def translate(text: str) -> str:
    """Return an answer with its Chinese words in English; what is not in the tables stays."""
    if text.isascii():
        return text
    if _CIRCLED.fullmatch(text.strip(" $.。")):
        return ", ".join(f"({unicodedata.numeric(c):.0f})" for c in text if "①" <= c <= "⑳")
    if _CHINESE.search(text) is None:
        return text
    plain = text.strip(" 。.，$")
    plain = re.sub(r"^\\text\{(.*)\}$", r"\1", plain)
    for word in (plain, plain + "条件"):
        if word in CHINESE_WORDS:
            return CHINESE_WORDS[word]
    text = re.sub(r"\\text\{\s*([^{}]*[\u4e00-\u9fff][^{}]*)\}", r"\1", text)
    text = _ROOT.sub(_root, text)
    return _COUNTER.sub(f" {TEXT_OPEN}piece{TEXT_CLOSE}", _UNIT.sub(_unit, text))


def _root(m: re.Match[str]) -> str:
    return rf"\sqrt{'[3]' if m[1] else ''}" + (f"{{{m[2]}}}" if m[2] else "")


def _unit(m: re.Match[str]) -> str:
    per = f" per {CHINESE_UNITS[m[3]]}" if m[3] else ""
    return f" {TEXT_OPEN}{_POWERS[m[1] or '']}{CHINESE_UNITS[m[2]]}{per}{TEXT_CLOSE}"
