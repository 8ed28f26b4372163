"""Read integrals and limits that have a closed form.

integral := "\\int" ["_" group "^" group] terms "d" letter    `\\int_0^1 x\\,dx`
limit    := "\\lim" "_{" letter "\\to" sum ["^" ("+" | "-")] "}" product

An integral without bounds gets a constant C. What SymPy leaves open is not an expression here.
"""

from __future__ import annotations

import re

import sympy
from sympy import Expr

from gradebox.checkers.math.parse.expressions.series import SeriesGrammar
from gradebox.checkers.math.parse.expressions.tokens import ParseError, Token

_DIFFERENTIAL = re.compile(r"(.*?)d([a-z])")
_CONSTANT = sympy.Symbol("C")


class CalculusGrammar(SeriesGrammar):
    """Integrals and limits; the subclass has the atoms."""

    def read_int(self) -> Expr:
        low, high = self.bounds()
        integrand, x = self.integrand()
        if low is None or high is None:
            found = sympy.integrate(integrand, x) + _CONSTANT
        else:
            found = sympy.integrate(integrand, (x, low, high))
        return _closed(found, sympy.Integral)

    def bounds(self) -> tuple[Expr | None, Expr | None]:
        """Read `_a^b` or `^b_a`; (None, None) without bounds."""
        found: dict[str, Expr] = {}
        while self.is_op("_", "^"):
            sign = self.take().text
            if self.is_op("-"):
                raise ParseError("a bound without braces")
            found[sign] = self.script()
        if len(found) == 1:
            raise ParseError("an integral with one bound")
        return found.get("_"), found.get("^")

    def integrand(self) -> tuple[Expr, Expr]:
        """Read up to `dx`; return (integrand, x). In `\\frac{dx}{x}` 1 takes the place of dx."""
        inner = 0  # integrals within this one
        for i in range(self.at, len(self.tokens)):
            token = self.tokens[i]
            inner += token.kind == "command" and token.text == "int"
            m = _DIFFERENTIAL.fullmatch(token.text) if token.kind == "name" else None
            after = self.tokens[i + 1].text if i + 1 < len(self.tokens) else ""
            if m is None and token.text == "d" and re.fullmatch("[a-z]", after):  # \mathrm{d}x
                self.tokens[i : i + 2] = [Token("name", f"d{after}", token.spaced)]
                return self.integrand()
            if m is None:
                continue
            if inner:
                inner -= 1
                continue
            x = sympy.Symbol(m[2])
            if self.tokens[i - 1].text == "{" and after == "}" and not m[1]:
                self.tokens[i] = Token("number", "1", False)
                return self.product(), x
            terms = self.tokens[self.at : i] + ([Token("name", m[1], False)] if m[1] else [])
            self.at = i + 1
            return self.part(terms or [Token("number", "1", False)]), x
        raise ParseError("an integral without a differential")

    def part(self, tokens: list[Token]) -> Expr:
        """Read a part of the tokens as an expression of its own."""
        raise NotImplementedError

    def read_lim(self) -> Expr:
        self.expect("_")
        self.expect("{")
        letter = self.sum()
        if not isinstance(letter, sympy.Symbol) or not self.is_command("to"):
            raise ParseError("a limit over something that is not a letter")
        self.take()
        point = self.atom() if not self.is_op("-") else self.signed_power()
        side = "+-"
        if self.is_op("^"):
            self.take()
            braced = self.is_op("{")
            side = self.tokens[self.at + braced].text
            self.at += 1 + 2 * braced
        self.expect("}")
        if side not in ("+", "-", "+-"):
            raise ParseError("a limit from an unknown side")
        if point.is_infinite:
            side = "+"
        body = self.product()
        if letter not in body.free_symbols:  # a_n
            raise ParseError("a limit of something that does not depend on its letter")
        return _closed(sympy.limit(body, letter, point, side), sympy.Limit)


def _closed(value: Expr, kind: type[Expr]) -> Expr:
    if value.has(kind, sympy.nan, sympy.AccumBounds, sympy.Piecewise):
        raise ParseError(f"{kind.__name__.lower()} without a closed form")
    return value
