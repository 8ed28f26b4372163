"""Tokens of a normalised expression, and exact numbers from their text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from sympy import Rational

MAX_TOKENS = 4000  # of one expression
MAX_DIGITS = 4000  # of one number

_TOKEN = re.compile(
    r"\s+|(?P<number>\d[\d]*(?:,\d{3})+(?![\d])(?:\.\d+)?|\d+\.\d*|\.\d+|\d+)"
    r"|\\(?P<command>[A-Za-z]+|[{}|])|(?P<name>[A-Za-z]+)|(?P<op>[-+*/^_!'%=|()\[\]{},:&])",
)


class ParseError(ValueError):
    """The text is not an expression that the parser can read."""


@dataclass(frozen=True)
class Token:
    kind: str  # number, command, name or op
    text: str
    spaced: bool  # white space before it


def tokenize(text: str) -> list[Token]:
    """Return the tokens of a normalised text; raise ParseError for an unknown character."""
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
        if len(out) > MAX_TOKENS:
            raise ParseError(f"more than {MAX_TOKENS} tokens")
    return out


def number(text: str) -> Rational:
    """Return the exact value of a decimal literal, with or without thousands separators."""
    plain = text.replace(",", "")
    if len(plain) > MAX_DIGITS:
        raise ParseError(f"a number of more than {MAX_DIGITS} digits")
    value = Fraction("0" + plain if plain.startswith(".") else plain.rstrip("."))
    return Rational(value.numerator, value.denominator)


class Cursor:
    """A position in a list of tokens."""

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

    def take_first(self, token: Token) -> str:
        """Take `token`, the current one, and leave all but its first character to be read."""
        self.at += 1
        if len(token.text) > 1:
            self.push_back(token.kind, token.text[1:])
        return token.text[0]

    def push_back(self, kind: str, text: str) -> None:
        """Insert a token to be read next."""
        self.tokens.insert(self.at, Token(kind, text, False))

    def expect(self, text: str) -> None:
        t = self.take()
        if t.text != text:
            raise ParseError(f"expected {text!r}, found {t.text!r}")

    def text_since(self, start: int) -> str:
        """Return the tokens from `start` to here as text, without braces."""
        return "".join(t.text for t in self.tokens[start : self.at] if t.text not in "{}")
