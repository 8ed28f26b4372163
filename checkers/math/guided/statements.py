"""Read the equations that a response states: `so $x = 6/3 = 2$ and $y = 5$`.

statement := name "=" … "=" value        Statement(name "x", value "2", start, end in the text)
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gradebox.checkers.math.extract.pieces import pieces, unit_after
from gradebox.checkers.math.read.normalise import normalise
from gradebox.checkers.math.read.split import COMMA, split_top
from gradebox.checkers.math.read.tables import strip_marks

_EQUALS = re.compile(r"(?<![<>!:])=|≈|\\approx(?![A-Za-z])")
_LETTER = re.compile(r"\\?[A-Za-zα-ω](?:[\u0304\u0302])?(?:_\{?\w+\}?)?|\\(?:bar|hat|vec)\{[a-z]\}")
_FREE = re.compile(r"(?<![A-Za-z\\])[A-Za-df-hj-zα-ορ-ω](?![A-Za-z])")
_CONSTANT = re.compile(r"\d|\\(?:pi|infty)|[π∞]|(?<![A-Za-z])[ei](?![A-Za-z])")
_IN_BRACKETS = re.compile(r"(?<=[\w$})°%.²³]) \((?!\s*-?\d[^()]*,)[^()]*(?:\([^()]*\)[^()]*)*\)")


@dataclass(frozen=True)
class Statement:
    """A formula of a text: its sides before the last one, and its last side with a unit."""

    names: tuple[str, ...]
    value: str
    start: int
    end: int

    @property
    def letter(self) -> str:
        """The single letter that it gives a constant value; "" for any other formula."""
        known = self.names and _LETTER.fullmatch(self.names[0]) and is_constant(self.value)
        return self.names[0] if known else ""


def statements(text: str) -> list[Statement]:
    """Return the formulas and numbers of a text in order; those of a list in math are apart."""
    found: list[Statement] = []
    for start, end, contents in pieces(text):
        unit = unit_after(text[end:])
        for part in split_top(contents.strip(" .。"), COMMA)[0]:
            sides = [side.strip() for side in _EQUALS.split(part)]
            if not sides[-1]:
                continue
            value = f"{sides[-1]} {unit}".strip()
            if len(sides) == 1 and found and found[-1].start == start and found[-1].names:
                before = found.pop()  # `x = 1, -2`
                found.append(Statement(before.names, f"{before.value}, {value}", start, end))
            else:
                found.append(Statement(tuple(map(plain, sides[:-1])), value, start, end))
    return found


def is_constant(value: str) -> bool:
    """Return whether a value has no unknown."""
    shown = strip_marks(normalise(value))
    return bool(_CONSTANT.search(value)) and not _FREE.search(re.sub(r"\\[A-Za-z]+", " ", shown))


def plain(name: str) -> str:
    """Return one spelling of a name: `\\cos\\pi` for `\\cos(\\pi)`."""
    return re.sub(r"[\s(){}]|\\left|\\right", "", strip_marks(normalise(name)))


def without_brackets(text: str) -> str:
    """Return `30 mph` for `30 mph (120/30 = 4 h)`; points and functions keep their brackets."""
    return _IN_BRACKETS.sub("", text)
