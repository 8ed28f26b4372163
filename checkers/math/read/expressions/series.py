"""Read sums and products, `\\sum_{k=1}^{n} k^2`, integrals and limits.

script := "_{" index "}" ["^" group]       before or after the upper bound
index  := letter "=" sum | letter "\\ge" sum | sum "\\le" letter "\\le" sum

The body is the product that follows. The index gets a name of its own, the same one in every
answer: the sums of i and of k are one expression. Sums of few terms are written out.

integral := "\\int" ["_" group "^" group] terms "d" letter
limit    := "\\lim" "_{" letter "\\to" expression ["^" ("+" | "-")] "}" product

An integral without bounds gets a constant C. What SymPy leaves open is not an expression here.
"""

from __future__ import annotations

import re

import sympy
from sympy import Expr, Integer

from gradebox.checkers.math.read.expressions.grammar import PRODUCT, Grammar, Token
from gradebox.checkers.math.read.tables import FUNCTIONS
from gradebox.checkers.math.read.values import ParseError

MAX_TERMS = 200  # of a sum that is written out
MAX_NESTED = 3
_INDEX_NAMES = "jklmpqrst"  # for the index i or e, which are numbers elsewhere
_NUMBER_AS_INDEX = re.compile(r"\\(?:sum|prod)\s*(?:\^[^_]{1,40})?_\s*\{\s*([ie])\s*(?:=|\\[gl]e)")

_NAME = re.compile(r"\\?[A-Za-z]+")
_DIFFERENTIAL = re.compile(r"(.*?)d([a-z])")
_CONSTANT = sympy.Symbol("C")


def rename_index(text: str) -> str:
    """Return an expression with another letter for i or e where it is an index."""
    for m in _NUMBER_AS_INDEX.finditer(text):
        free = next((c for c in _INDEX_NAMES if c not in re.sub(r"\\[A-Za-z]+", "", text)), "")
        if free:
            text = _NAME.sub(lambda name: _renamed(name[0], m[1], free), text)  # noqa: B023
    return text


def _renamed(name: str, old: str, new: str) -> str:
    is_product = not name.startswith("\\") and not any(f in name for f in FUNCTIONS)
    return name.replace(old, new) if is_product else name


class SeriesReader(Grammar):
    """Sums, products, integrals and limits; the subclass has the atoms."""

    indices = 0  # open sums and products

    def read_sum(self) -> Expr:
        return self.series(sympy.Sum)

    def read_prod(self) -> Expr:
        return self.series(sympy.Product)

    def series(self, kind: type[Expr]) -> Expr:
        if self.indices >= MAX_NESTED:
            raise ParseError(f"more than {MAX_NESTED} nested sums")
        self.indices += 1
        letter, low, high = self.index_range()
        body = self.expression(PRODUCT)
        if any("_" in s.name and letter.name in s.name for s in body.free_symbols):
            raise ParseError("terms that depend on the index in an unknown way")
        index = sympy.Symbol(f"index {self.indices}", integer=True)
        self.indices -= 1
        return write_out(kind(body.subs(letter, index), (index, low, high)))

    def index_range(self) -> tuple[Expr, Expr, Expr]:
        """Read (letter, lower bound, upper bound) from what is below and above the sign."""
        sides: list[Expr] = []
        signs: list[str] = []
        high: Expr | None = None
        for _ in range(2):
            if self.is_op("_") and not sides:
                self.take()
                self.expect("{")
                sides.append(self.expression())
                while not self.is_op("}"):
                    signs.append(self.take().text)
                    sides.append(self.expression())
                self.take()
            elif self.is_op("^") and high is None:
                self.take()
                high = self.script()
        if signs in (["="], ["ge"]):
            (letter, low), top = sides, sympy.oo if high is None else high
        elif signs == ["le", "le"] and high is None:
            low, letter, top = sides
        else:
            raise ParseError("a sum without a range for its index")
        if not isinstance(letter, sympy.Symbol):
            raise ParseError("a sum over something that is not a letter")
        return letter, low, top

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
                return self.expression(PRODUCT), x
            terms = self.tokens[self.at : i] + ([Token("name", m[1], False)] if m[1] else [])
            self.at = i + 1
            return self.part(terms or [Token("number", "1", False)]), x
        raise ParseError("an integral without a differential")

    def read_lim(self) -> Expr:
        self.expect("_")
        self.expect("{")
        letter = self.expression()
        if not isinstance(letter, sympy.Symbol) or not self.is_command("to"):
            raise ParseError("a limit over something that is not a letter")
        self.take()
        point = self.atom() if not self.is_op("-") else self.operand()
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
        body = self.expression(PRODUCT)
        if letter not in body.free_symbols:  # a_n
            raise ParseError("a limit of something that does not depend on its letter")
        return _closed(sympy.limit(body, letter, point, side), sympy.Limit)


def _closed(value: Expr, kind: type[Expr]) -> Expr:
    if value.has(kind, sympy.nan, sympy.AccumBounds, sympy.Piecewise):
        raise ParseError(f"{kind.__name__.lower()} without a closed form")
    return value


def parts(series: Expr) -> tuple[Expr, Expr, Expr, Expr]:
    """Return (term, index, lower bound, upper bound) of a sum; of nested ones, the outermost."""
    *inner, (index, low, high) = series.limits
    return series.func(series.function, *inner) if inner else series.function, index, low, high


def write_out(series: Expr) -> Expr:
    """Return a sum or product of at most MAX_TERMS terms term by term; a longer one as it is."""
    term, index, low, high = parts(series)
    if not (low.is_Integer and high.is_Integer) or high - low >= MAX_TERMS:
        return series
    terms = [term.subs(index, Integer(k)) for k in range(int(low), int(high) + 1)]
    return sympy.Add(*terms) if isinstance(series, sympy.Sum) else sympy.Mul(*terms)
