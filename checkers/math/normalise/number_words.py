"""Read numbers written in words: "forty-two", "two thirds", "four and a half", "1.5 million"."""

from __future__ import annotations

import re

from gradebox.checkers.math.normalise.tables import strip_marks, word_list

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
