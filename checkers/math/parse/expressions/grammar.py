"""The grammar of sums, products and powers; the subclass in latex.py reads the atoms.

sum     := product (("+"|"-") product)*
product := power (["*"|"/"] power)*        juxtaposition multiplies
power   := postfix ["^" group]
postfix := atom ("!" | degree | "%")*
"""

from __future__ import annotations

import sympy
from sympy import Expr

from gradebox.checkers.math.normalise.tables import word_list
from gradebox.checkers.math.parse.expressions.operators import (
    constant,
    divide,
    factorial,
    matrix_power,
    power,
)
from gradebox.checkers.math.parse.expressions.tokens import Cursor, ParseError, Token, number

MAX_DEPTH = 60  # of nested brackets and fractions
_CLOSER = {"(": ")", "[": "]", "{": "}"}
_NO_ATOM = frozenset(  # commands that do not start a factor
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
        self.long_divisors = False  # read 1/2x as 1/(2x) instead of (1/2)x
        self.bars = 0  # open absolute values

    def atom(self) -> Expr:
        """Read one number, name, command or bracket."""
        raise NotImplementedError

    def whole(self) -> Expr:
        value = self.sum()
        if self.peek() is not None:
            raise ParseError(f"unexpected {self.tokens[self.at].text!r}")
        return value

    def sum(self) -> Expr:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ParseError(f"nested deeper than {MAX_DEPTH}")
        terms = [self.signed_product()]
        while self.is_op("+", "-"):
            terms.append(self.signed_product())
        self.depth -= 1
        total = terms[0]
        if any(isinstance(t, sympy.MatrixBase) for t in terms):
            for term in terms[1:]:
                total = total + term
            return total
        return sympy.Add(*terms) if len(terms) > 1 else total

    def signed_product(self) -> Expr:
        minus = False
        while self.is_op("+", "-"):
            minus ^= self.take().text == "-"
        term = self.product()
        return -term if minus else term

    def product(self) -> Expr:
        value = self.signed_power()
        while True:
            if self.is_op("*") or self.is_command("times", "cdot", "ast"):
                self.take()
                value = value * self.signed_power()
            elif self.is_op("/"):
                self.take()
                value = divide(value, self.divisor())
            elif self.starts_atom():
                value = self.juxtaposed(value)
            else:
                return value

    def divisor(self) -> Expr:
        """Read what follows a slash: one factor, or with `long_divisors` all that are joined."""
        value = self.signed_power()
        while self.long_divisors and self.starts_atom():
            value = self.juxtaposed(value)
        return value

    def signed_power(self) -> Expr:
        if self.is_op("-"):
            self.take()
            return -self.signed_power()
        if self.is_op("+"):
            self.take()
        return self.power()

    def juxtaposed(self, left: Expr) -> Expr:
        """Read a factor without a sign: `n2^{n-1}`, `2^3 3^2`, but not `n2` or `2 3`."""
        t, before = self.peek(), self.tokens[self.at - 1]
        if t is not None and t.kind == "number" and before.text not in ("!", ")"):
            after = self.peek(1)
            is_power = after is not None and after.text == "^"
            in_exponent = self.at >= 2 and self.tokens[self.at - 2].text == "^"
            if not is_power or (before.kind == "number" and not in_exponent):
                raise ParseError("a number directly after another factor")
        return left * self.power()

    def mixed(self, whole: Expr, token: Token) -> Expr:
        """Add the proper fraction that follows a whole number: `2\\frac{3}{4}`, `2 3/4`."""
        start, count = self.at, len(self.tokens)
        if not token.text.replace(",", "").isdigit() or not whole.is_Integer:
            return whole
        if self.is_command("frac"):
            part = self.atom()
            if part.is_Rational and 0 < part < 1:
                return whole + part
            if len(self.tokens) != count:  # a token was split: the text cannot be read again
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
        if t.kind == "op":
            return t.text in "({[" or (t.text == "|" and self.bars == 0)
        return t.kind in ("number", "name") or t.text not in _NO_ATOM

    def power(self) -> Expr:
        base = self.postfixes(self.atom())
        if self.is_op("^"):
            self.take()
            exponent = self.exponent()
            if isinstance(base, sympy.MatrixBase):
                return matrix_power(base, exponent)
            base = self.postfixes(power(base, exponent))
        return base

    def exponent(self) -> Expr:
        if self.is_op("-"):
            self.take()
            return -self.exponent()
        t = self.peek()
        if t is not None and t.kind == "number" and not t.spaced:
            value = number(self.take().text)
        else:
            value = self.script()
        if self.is_op("^"):  # a tower: 2^3^4
            self.take()
            return power(value, self.exponent())
        return value

    def script(self) -> Expr:
        """Read what follows ^, _ or a command: a group or one atom."""
        t = self.peek()
        if self.is_op("{", "(") and t is not None:
            return self.group(t.text)
        if t is not None and t.kind == "name":
            return constant(self.take_first(t))
        return self.atom()

    def digit_or_group(self) -> Expr:
        """Read an argument of \\frac or \\binom: `\\frac12` takes one digit."""
        t = self.peek()
        if t is not None and t.kind == "number":
            return number(self.take_first(t))
        return self.script()

    def postfixes(self, value: Expr) -> Expr:
        while True:
            if self.is_op("!"):
                self.take()
                if self.is_op("!"):
                    self.take()
                    value = sympy.factorial2(value)
                else:
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
