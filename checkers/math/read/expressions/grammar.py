"""Tokens of a normalised expression, exact numbers, SymPy functions, precedence of operators.

    expression := operand (infix operand)*       INFIX has the operators and their levels;
                                                 juxtaposition multiplies, like `*`
    operand    := ["+" | "-"]… atom postfix* ["^" exponent]

parser.py has the atoms. Powers beyond MAX_BITS are not read, larger factorials stay unevaluated:
they grow without bound.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import sympy
from sympy import Expr, Integer, Rational

from gradebox.checkers.math.read.tables import word_list
from gradebox.checkers.math.read.values import ParseError

MAX_TOKENS = 4000  # of one expression
MAX_DIGITS = 4000  # of one number
MAX_DEPTH = 60  # of nested brackets and fractions
MAX_BITS = 100_000  # of the largest integer
MAX_EXPONENT = 10**6  # of a number that is no fraction
MAX_ROOT_BITS = 400  # of an integer whose roots are simplified, which factorises it
MAX_FACTORIAL = 2048
SUM, PRODUCT = 1, 2  # levels: a product ends at a sign
INFIX = {"+": SUM, "-": SUM, **dict.fromkeys(("*", "/", ":", "times", "cdot", "ast"), PRODUCT)}
_CLOSER = {"(": ")", "[": "]", "{": "}"}
_NO_ATOM = frozenset(  # commands that do not start a factor
    word_list(
        "times cdot ast pm mp le ge ne in cup cap setminus to rfloor rceil rangle approx } | "
        "degree permil ldots perp angle notin subset"
    )
)
_TOKEN = re.compile(
    r"\s+|(?P<number>\d[\d]*(?:,\d{3})+(?![\d])(?:\.\d+)?|\d+\.\d*|\.\d+|\d+)"
    r"|\\(?P<command>[A-Za-z]+|[{}|])|(?P<name>[A-Za-z]+)|(?P<op>[-+*/^_!'%=|()\[\]{},:&])",
)


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


_TRIG = {
    name: getattr(sympy, name)
    for name in word_list(
        "sin cos tan cot sec csc sinh cosh tanh coth asin acos atan acot asec acsc asinh "
        "acosh atanh"
    )
}
UNARY: dict[str, Callable[[Expr], Expr]] = {
    **_TRIG,
    **{"arc" + n[1:]: f for n, f in _TRIG.items() if n.startswith("a")},
    **{"ar" + n[1:]: f for n, f in _TRIG.items() if n.startswith("a") and n.endswith("h")},
    "cis": lambda angle: sympy.cos(angle) + sympy.I * sympy.sin(angle),
    "ln": sympy.log,
    "exp": sympy.exp,
    "abs": sympy.Abs,
    "floor": sympy.floor,
    "ceil": sympy.ceiling,
    "sign": sympy.sign,
    "sgn": sympy.sign,
    "Re": sympy.re,
    "Im": sympy.im,
}


def power(base: Expr, exponent: Expr) -> Expr:
    """Return base ** exponent; raise ParseError for one that has too many digits to compare."""
    if isinstance(base, sympy.MatrixBase):
        if isinstance(exponent, sympy.Symbol) and exponent.name in ("T", "t"):
            return base.T
        raise ParseError("a power of a matrix")
    if base.is_Rational and exponent.is_Rational:
        size = max(abs(int(base.p)).bit_length(), int(base.q).bit_length())
        if abs(exponent) * size > MAX_BITS:
            raise ParseError(f"a power of more than {MAX_BITS} bits")
        if exponent.q > 1 and size > MAX_ROOT_BITS:
            return sympy.Pow(base, exponent, evaluate=False)
    elif exponent.is_number and not abs(exponent.evalf(5)) < MAX_EXPONENT:  # or nan
        raise ParseError("a power with an exponent of more than 6 digits")
    unevaluated = base.is_number and exponent.is_Integer and abs(exponent) > 2000
    return sympy.Pow(base, exponent, evaluate=not unevaluated)


def root(value: Expr, degree: Expr) -> Expr:
    """Return the real root where there is one: the cube root of -8 is -2, as in school."""
    if not (degree.is_Integer and degree % 2 and degree > 1):
        return power(value, 1 / degree)
    if value.is_number:
        return -power(-value, 1 / degree) if value.is_negative else power(value, 1 / degree)
    return sympy.sign(value) * power(sympy.Abs(value), 1 / degree)


def factorial(value: Expr) -> Expr:
    if value.is_Integer and 0 <= value <= MAX_FACTORIAL:
        return sympy.factorial(value)
    return sympy.factorial(value, evaluate=False)


def constant(letter: str) -> Expr:
    """Return a letter as a symbol; e and i are numbers."""
    return {"e": sympy.E, "i": sympy.I}.get(letter) or sympy.Symbol(letter)


def apply(name: str, argument: Expr, base: Expr | None) -> Expr:
    """Return the function `name` of an argument; `base` is that of a logarithm."""
    if name in ("log", "lg", "ln"):
        if argument == 0:
            raise ParseError("the logarithm of 0")
        if base is None and name == "lg":
            base = Integer(10)
        return sympy.log(argument) if base is None else sympy.log(argument) / sympy.log(base)
    if name not in UNARY:
        raise ParseError(f"unknown function {name}")
    if name == "exp":
        return power(sympy.E, argument)
    return UNARY[name](argument)


def divide(top: Expr, low: Expr) -> Expr:
    if isinstance(low, sympy.MatrixBase):
        raise ParseError("division by a matrix")
    if low == 0:
        raise ParseError("division by zero")
    if isinstance(top, sympy.MatrixBase):
        return top.applyfunc(lambda e: e / low)
    return top / low


class Grammar:
    """A position in a list of tokens; numbers and operators over atoms, which the subclass in
    parser.py reads.
    """

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0
        self.depth = 0
        self.bars = 0  # open absolute values

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

    def atom(self) -> Expr:
        """Read one number, name, command or bracket."""
        raise NotImplementedError

    def whole(self) -> Expr:
        value = self.expression()
        if self.peek() is not None:
            raise ParseError(f"unexpected {self.tokens[self.at].text!r}")
        return value

    def expression(self) -> Expr:
        """Read operands joined by operators."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ParseError(f"nested deeper than {MAX_DEPTH}")
        terms = [self.operand()]
        while True:
            t = self.peek()
            infix = INFIX.get(t.text) if t and t.kind in ("op", "command") else None
            after = self.peek(1)
            if t and t.text == ":" and (after is None or after.spaced):
                raise ParseError("unexpected ':'")
            if infix is None and self.starts_atom():
                terms[-1] = self.juxtaposed(terms[-1])
            elif infix is None:
                break
            elif infix == SUM:
                terms.append(self.operand())
            elif self.take().text in "/:":
                terms[-1] = divide(terms[-1], self.operand())
            else:
                terms[-1] = terms[-1] * self.operand()
        self.depth -= 1
        total = terms[0]
        if any(isinstance(t, sympy.MatrixBase) for t in terms):
            for term in terms[1:]:
                total = total + term
            return total
        return sympy.Add(*terms) if len(terms) > 1 else total

    def operand(self) -> Expr:
        """Read signs and a power."""
        minus = False
        while self.is_op("+", "-"):
            minus ^= self.take().text == "-"
        value = self.power()
        return -value if minus else value

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
            base = self.postfixes(power(base, self.exponent()))
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
        value = self.expression()
        self.bars = bars
        self.expect(_CLOSER[opener])
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

    # -- numbers ----------------------------------------------------------------
    def number_in_base(self, token: Token) -> Expr:
        """Read a number, `52_8` in a base, or scientific notation `3.5e-7`."""
        if self.is_op("_"):
            self.take()
            base = self.script()
            whole, _, part = token.text.partition(".")
            if not (base.is_Integer and 2 <= base <= 36) or not (whole + part).isalnum():
                raise ParseError(f"{token.text!r} in base {base}")
            if len(token.text) > 1000:
                raise ParseError("a based number of more than 1000 digits")
            try:
                return Integer(int(whole + part, int(base))) / base ** len(part)
            except ValueError as e:
                raise ParseError(str(e)) from None
        t, after, last = self.peek(), self.peek(1), self.peek(2)
        if t and t.kind == "name" and t.text in ("e", "E") and not t.spaced and after:
            signed = after.text in "+-" and last is not None and last.kind == "number"
            digits = last if signed else after
            if digits is not None and digits.kind == "number" and digits.text.isdigit():
                if len(digits.text) > 4:
                    raise ParseError("an exponent of more than 4 digits")
                self.at += 3 if signed else 2
                shift = int(digits.text) * (-1 if after.text == "-" else 1)
                return number(token.text) * power(Integer(10), Integer(shift))
        return number(token.text)

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
