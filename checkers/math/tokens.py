"""Tokens of a cleaned expression, and exact numbers from their text."""

# mypy: disable-error-code="import-untyped"
from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from sympy import Rational

TOKENS = 4000  # of one expression
DIGITS = 4000  # of one number

_TOKEN = re.compile(
    r"\s+|(?P<number>\d[\d]*(?:,\d{3})+(?![\d])(?:\.\d+)?|\d+\.\d*|\.\d+|\d+)"
    r"|\\(?P<command>[A-Za-z]+|[{}|])|(?P<name>[A-Za-z]+)|(?P<op>[-+*/^_!'%=|()\[\]{},:&])",
)


class ParseError(ValueError):
    """The text is no expression this reader knows."""


@dataclass(frozen=True)
class Token:
    kind: str
    text: str
    spaced: bool  # white space before it


def tokenize(text: str) -> list[Token]:
    """Tokens of a cleaned text; ParseError for a character that has no place in one."""
    out: list[Token] = []
    at, spaced = 0, False
    while at < len(text):
        m = _TOKEN.match(text, at)
        if m is None:
            raise ParseError(f"unexpected {text[at]!r}")
        if m.lastgroup is None:
            spaced = True
        else:
            out.append(Token(m.lastgroup, m[m.lastgroup], spaced))
            spaced = False
        at = m.end()
        if len(out) > TOKENS:
            raise ParseError(f"more than {TOKENS} tokens")
    return out


def number(text: str) -> Rational:
    """Exact value of a decimal literal, thousands separators allowed."""
    plain = text.replace(",", "")
    if len(plain) > DIGITS:
        raise ParseError(f"a number of more than {DIGITS} digits")
    value = Fraction("0" + plain if plain.startswith(".") else plain.rstrip("."))
    return Rational(value.numerator, value.denominator)


class Cursor:
    """A place in a list of tokens."""

    def __init__(self, tokens: list[Token]):
        self.tokens = tokens
        self.at = 0

    def peek(self, ahead: int = 0) -> Token | None:
        i = self.at + ahead
        return self.tokens[i] if i < len(self.tokens) else None

    def is_op(self, *texts: str) -> bool:
        t = self.peek()
        return t is not None and t.kind == "op" and t.text in texts

    def is_command(self, *texts: str) -> bool:
        t = self.peek()
        return t is not None and t.kind == "command" and t.text in texts

    def take(self) -> Token:
        t = self.peek()
        if t is None:
            raise ParseError("the expression ends too early")
        self.at += 1
        return t

    def expect(self, text: str) -> None:
        t = self.take()
        if t.text != text:
            raise ParseError(f"expected {text!r}, found {t.text!r}")
