# mypy: disable-error-code="import-untyped"
"""Sums, products, powers and what stands behind an atom; the atoms are a subclass's.

sum  := product (("+"|"-") product)*
product := power (["*"|"/"] power)*        juxtaposition multiplies
power := postfix ["^" group]
postfix := atom ("!" | degree | "%")*
"""

from __future__ import annotations

import sympy
from sympy import Expr

from checkers.math.operators import constant, divide, factorial, matrix_power, power
from checkers.math.tables import word_list
from checkers.math.tokens import Cursor, ParseError, Token, number

DEPTH = 60  # brackets and fractions nested
_CLOSER = {"(": ")", "[": "]", "{": "}"}
_NO_ATOM = frozenset(
    word_list(
        "times cdot ast pm mp le ge ne in cup cap setminus to rfloor rceil rangle approx } | "
        "degree permil ldots perp angle notin subset"
    )
)


class Grammar(Cursor):
    """Arithmetic over atoms."""

    def __init__(self, tokens: list[Token]):
        super().__init__(tokens)
        self.depth = 0
        self.bars = 0

    def atom(self) -> Expr:
        """One number, name, command or bracket."""
        raise ParseError("no atoms here")

    def whole(self) -> Expr:
        value = self.sum()
        if self.peek() is not None:
            raise ParseError(f"unexpected {self.tokens[self.at].text!r}")
        return value

    def sum(self) -> Expr:
        self.depth += 1
        if self.depth > DEPTH:
            raise ParseError(f"nested deeper than {DEPTH}")
        sign = 1
        while self.is_op("+", "-"):
            sign *= -1 if self.take().text == "-" else 1
        first = self.product()
        terms = [first if sign == 1 else -first]
        while self.is_op("+", "-"):
            minus = False
            while self.is_op("+", "-"):
                minus ^= self.take().text == "-"
            term = self.product()
            terms.append(-term if minus else term)
        self.depth -= 1
        total = terms[0]
        if any(isinstance(t, sympy.MatrixBase) for t in terms):
            for term in terms[1:]:
                total = total + term
            return total
        return sympy.Add(*terms) if len(terms) > 1 else total

    def product(self) -> Expr:
        value = self.signed_power()
        while True:
            if self.is_op("*") or self.is_command("times", "cdot", "ast"):
                self.take()
                value = value * self.signed_power()
            elif self.is_op("/"):
                self.take()
                value = divide(value, self.signed_power())
            elif self.starts_atom():
                value = self.juxtaposed(value)
            else:
                return value

    def signed_power(self) -> Expr:
        if self.is_op("-"):
            self.take()
            return -self.signed_power()
        if self.is_op("+"):
            self.take()
        return self.power()

    def juxtaposed(self, left: Expr) -> Expr:
        """Side by side is a product, but not for two numbers."""
        t = self.peek()
        closed = self.tokens[self.at - 1].text in ("!", ")")
        if t is not None and t.kind == "number" and not closed:
            raise ParseError("a number right after a factor")
        return left * self.power()

    def mixed(self, whole: Expr, token: Token) -> Expr:
        """`2\\frac{3}{4}` and `2 3/4`: a whole number and a proper fraction add up."""
        start, count = self.at, len(self.tokens)
        if not token.text.replace(",", "").isdigit() or not whole.is_Integer:
            return whole
        if self.is_command("frac"):
            part = self.atom()
            if part.is_Rational and 0 < part < 1:
                return whole + part
            if len(self.tokens) != count:
                return whole * part
            self.at = start
            return whole
        top, slash, low = self.peek(), self.peek(1), self.peek(2)
        if top and slash and low and top.kind == low.kind == "number" and slash.text == "/":
            part = number(top.text) / number(low.text)
            if top.spaced and 0 < part < 1:
                self.at += 3
                return whole + part
        return whole

    def starts_atom(self) -> bool:
        t = self.peek()
        if t is None:
            return False
        if t.kind in ("number", "name"):
            return True
        if t.kind == "op":
            return t.text in "({[" or (t.text == "|" and self.bars == 0)
        return t.text not in (
            word_list(
                "times cdot ast pm mp le ge ne in cup cap setminus to rfloor rceil rangle approx "
                "} | degree permil ldots perp angle notin subset"
            )
        )

    def power(self) -> Expr:
        base = self.postfix()
        if self.is_op("^"):
            self.take()
            exponent = self.exponent()
            if isinstance(base, sympy.MatrixBase):
                return matrix_power(base, exponent)
            base = power(base, exponent)
            base = self.postfixes(base)
        return base

    def exponent(self) -> Expr:
        if self.is_op("-"):
            self.take()
            return -self.exponent()
        t = self.peek()
        if t is not None and t.kind == "number" and not t.spaced and "{" not in t.text:
            self.take()
            value = number(t.text)
            return self.tower(value)
        return self.tower(self.script())

    def tower(self, value: Expr) -> Expr:
        if self.is_op("^"):
            self.take()
            return power(value, self.exponent())
        return value

    def script(self) -> Expr:
        """What follows ^ or _ or a command: a group or one atom."""
        if self.is_op("{"):
            return self.group("{")
        if self.is_op("("):
            return self.group("(")
        t = self.peek()
        if t is not None and t.kind == "name":
            self.take()
            if len(t.text) > 1:
                self.tokens.insert(self.at, Token("name", t.text[1:], False))
            return constant(t.text[0])
        return self.atom()

    def digit_or_group(self) -> Expr:
        """An argument of \\frac or \\binom: `\\frac12` takes one digit."""
        t = self.peek()
        if t is not None and t.kind == "number":
            self.take()
            if len(t.text) > 1:
                self.tokens.insert(self.at, Token("number", t.text[1:], False))
            return number(t.text[0])
        return self.script()

    def postfix(self) -> Expr:
        return self.postfixes(self.atom())

    def postfixes(self, value: Expr) -> Expr:
        while True:
            if self.is_op("!"):
                self.take()
                value = factorial(value)
            elif self.is_command("degree"):
                self.take()
                value = value * sympy.pi / 180
            elif self.is_op("%"):
                self.take()
                value = value / 100
            else:
                return value

    def group(self, opener: str) -> Expr:
        self.expect(opener)
        bars, self.bars = self.bars, 0
        value = self.sum()
        self.bars = bars
        self.expect(_CLOSER[opener])
        return value
