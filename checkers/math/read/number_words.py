"""Read numbers in words, "forty-two", "two thirds", and translate Chinese by words.txt.

`12平方厘米` → `12 square cm`      `第二象限` → `second quadrant`      `十二` → `12`
`2根号3` → `2\\sqrt{3}`            `①③` → `(1), (3)`
"""

from __future__ import annotations

import re
import unicodedata

from gradebox.checkers.math.read.tables import (
    CHINESE_UNITS,
    CHINESE_WORDS,
    TEXT_CLOSE,
    TEXT_OPEN,
    strip_marks,
    word_list,
)

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
NUMBER_WORDS: dict[str, int] = {
    **{word: i for i, word in enumerate(word_list(_SMALL))},
    **{word: 10 * i for i, word in enumerate(word_list(_TENS), start=2)},
    "googol": 10**100,
}
SCALE_WORDS: dict[str, int] = {
    "hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12,
}  # fmt: skip
FRACTION_WORDS: dict[str, int] = {
    "half": 2, "halves": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fourth": 4,
    "fourths": 4, "fifth": 5, "fifths": 5, "sixth": 6, "sixths": 6, "seventh": 7, "sevenths": 7,
    "eighth": 8, "eighths": 8, "ninth": 9, "ninths": 9, "tenth": 10, "tenths": 10,
}  # fmt: skip


def read_number_words(text: str) -> str | None:
    """Return the LaTeX of a number in words, `42` or `\\frac{2}{3}`; None for other text."""
    tokens = re.findall(r"[a-z]+", text.lower())
    if not tokens or re.search(r"[^A-Za-z\s,.-]", strip_marks(text, "")):
        return None
    sign = ""
    if tokens == ["half", "a", "dozen"]:
        return "6"
    if tokens[0] == "a" and tokens[-1] in ("dozen", "googol", *SCALE_WORDS):
        tokens = tokens[1:]
    if tokens[0] in ("minus", "negative"):
        sign, tokens = "-", tokens[1:]
    whole = 0
    if "and" in tokens and tokens[-1] in FRACTION_WORDS:
        at = len(tokens) - 1 - tokens[::-1].index("and")
        before = _cardinal(tokens[:at])
        if before is None:
            return None
        whole, tokens = before, tokens[at + 1 :]
    if tokens and tokens[-1] in FRACTION_WORDS:
        fraction = _fraction(tokens)
        if fraction is None:
            return None
        top, low = fraction
        return rf"{sign}\frac{{{whole * low + top}}}{{{low}}}"
    value = _cardinal(tokens)
    return None if value is None else f"{sign}{value}"


def _fraction(tokens: list[str]) -> tuple[int, int] | None:
    """Return (numerator, denominator) of "two thirds" or "a third"; "third" alone is ordinal."""
    low = FRACTION_WORDS[tokens[-1]]
    if tokens in (["half"], ["a", tokens[-1]], ["one", tokens[-1]]):
        return 1, low
    top = _cardinal(tokens[:-1])
    return None if top is None else (top, low)


def _cardinal(tokens: list[str]) -> int | None:
    total, current, started, previous = 0, 0, False, ""
    for token in tokens:
        if token in NUMBER_WORDS:
            current += NUMBER_WORDS[token]
        elif token in ("hundred", "dozen"):
            current = max(current, 1) * (100 if token == "hundred" else 12)
        elif token in SCALE_WORDS:
            total += max(current, 1) * SCALE_WORDS[token]
            current = 0
        elif token == "and" and previous in SCALE_WORDS:  # one hundred and eight
            continue
        else:
            return None
        started, previous = True, token
    return total + current if started else None


_WEEKDAY = re.compile("(?:星期|周|礼拜)([一二三四五六日天])")
_WEEKDAYS = dict(
    zip(
        "一二三四五六日天",
        word_list("Monday Tuesday Wednesday Thursday Friday Saturday Sunday Sunday"),
        strict=True,
    )
)
_DIGITS = {**{c: i for i, c in enumerate("零一二三四五六七八九")}, "两": 2, "〇": 0}
_SCALES = {"十": 10, "百": 100, "千": 1000}
_CHINESE = re.compile("[\u4e00-\u9fff]")
_NUMBER = re.compile("负?[零一二三四五六七八九两〇十百千]{1,9}")
_POWERS = {"平方": "square ", "立方": "cubic ", "": ""}
_UNIT_NAMES = "|".join(sorted((n for n in CHINESE_UNITS if not n.isascii()), key=len, reverse=True))
_UNIT = re.compile(rf"(?<=[\d}})$π])\s*\$?\s*(平方|立方)?({_UNIT_NAMES})(?:每({_UNIT_NAMES}))?")
_COUNTER = re.compile("(?<=[\\d}$])\\s*[个种人名位只本张件支块条次组题道辆棵朵页岁双对套倍]$")
_PARTICLES = re.compile(
    r"^(?:它|这|该(?:函数|数列|命题))?(?:是|为)(?:一个)?|(?<=分)而|而(?=不)|(?:三角形|函数)?[的]$|^.{1,12}[:：]"
)
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
    plain = _PARTICLES.sub("", plain) if len(plain) > 1 and plain not in CHINESE_WORDS else plain
    for word in (plain, plain + "条件"):
        if word in CHINESE_WORDS:
            return CHINESE_WORDS[word]
    if day := _WEEKDAY.fullmatch(plain):
        return _WEEKDAYS[day[1]]
    if _NUMBER.fullmatch(plain):
        return str(_number(plain))
    text = re.sub(r"\\text\{\s*([^{}]*[\u4e00-\u9fff][^{}]*)\}", r"\1", text)
    text = _ROOT.sub(_root, text)
    return _COUNTER.sub("", _UNIT.sub(_unit, text))


def _root(m: re.Match[str]) -> str:
    return rf"\sqrt{'[3]' if m[1] else ''}" + (f"{{{m[2]}}}" if m[2] else "")


def _unit(m: re.Match[str]) -> str:
    per = f" per {CHINESE_UNITS[m[3]]}" if m[3] else ""
    return f" {TEXT_OPEN}{_POWERS[m[1] or '']}{CHINESE_UNITS[m[2]]}{per}{TEXT_CLOSE}"


def _number(text: str) -> int:
    """Return 24 for 二十四."""
    total, digit = 0, 0
    for c in text.lstrip("负"):
        if c in _SCALES:
            total += (digit or 1) * _SCALES[c]
            digit = 0
        else:
            digit = digit * 10 + _DIGITS[c]
    return (total + digit) * (-1 if text.startswith("负") else 1)
