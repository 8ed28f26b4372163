"""LaTeX → SymPy by recursive descent, without `eval`: the only text SymPy gets is a symbol's name.

    tokens:  number · name · \\command · operator · bracket
    sum  := product (("+"|"-") product)*
    product := power (["*"|"/"] power)*        juxtaposition multiplies
    power := postfix ["^" group]
    postfix := atom ("!" | degree | "%" | "'")*
    atom := number | symbol | function | \\frac | \\sqrt | ( sum ) | |sum| | matrix

Numbers are exact: 0.5 is 1/2. What could grow without bound (powers, factorials) stays
unevaluated beyond BITS. `ParseError` says that the text is not an expression.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import sympy
from sympy import Expr, Integer, Rational

from checkers.math.tables import FUNCTIONS

BITS = 20_000  # of the largest integer evaluated while reading
DEPTH = 60  # brackets and fractions nested
TOKENS = 4000

_TOKEN = re.compile(
    r"\s+|(?P<number>\d[\d]*(?:,\d{3})+(?![\d])(?:\.\d+)?|\d+\.\d*|\.\d+|\d+)"
    r"|\\(?P<command>[A-Za-z]+|[{}|])|(?P<name>[A-Za-z]+)|(?P<op>[-+*/^_!'%=|()\[\]{},:&])",
)
_ENVIRONMENT = re.compile(
    r"\\begin\s*\{(?P<kind>[pbvBV]?matrix|smallmatrix|array)\}\s*(?:\{[lcr| ]+\})?(?P<body>.*?)\\end\s*\{(?P=kind)\}",
    re.S,
)
GREEK = frozenset(
    "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi "
    "rho sigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Sigma Upsilon Phi "
    "Psi Omega ell hbar".split()
)
_GLUED = sorted(FUNCTIONS | {"frac", "pi", "infty", "theta", "sqrt", "pm"}, key=len, reverse=True)


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
    if len(plain) > 4000:
        raise ParseError("a number of more than 4000 digits")
    value = Fraction("0" + plain if plain.startswith(".") else plain.rstrip("."))
    return Rational(value.numerator, value.denominator)


_TRIG = {
    name: getattr(sympy, name)
    for name in (
        "sin cos tan cot sec csc sinh cosh tanh coth asin acos atan acot asec acsc "
        "asinh acosh atanh"
    ).split()
}
_FUNCTION: dict[str, Callable[[Expr], Expr]] = {
    **_TRIG,
    **{"arc" + n[1:]: f for n, f in _TRIG.items() if n.startswith("a") and not n.endswith("h")},
    "arcsinh": sympy.asinh,
    "arccosh": sympy.acosh,
    "arctanh": sympy.atanh,
    "ln": sympy.log,
    "exp": sympy.exp,
    "abs": sympy.Abs,
    "floor": sympy.floor,
    "ceil": sympy.ceiling,
    "Re": sympy.re,
    "Im": sympy.im,
}
_MANY = {"max": sympy.Max, "min": sympy.Min, "gcd": sympy.gcd, "lcm": sympy.lcm}
_CLOSER = {"(": ")", "[": "]", "{": "}"}
_ACCENTS = frozenset("vec bar hat tilde overline widehat overrightarrow dot".split())
_INVERSE = {"sin": "asin", "cos": "acos", "tan": "atan", "cot": "acot", "sec": "asec", "csc": "acsc",
            "sinh": "asinh", "cosh": "acosh", "tanh": "atanh"}  # fmt: skip


def power(base: Expr, exponent: Expr) -> Expr:
    """base ** exponent, left unevaluated when the result would be huge."""
    if base.is_Rational and exponent.is_Rational:
        size = max(abs(int(base.p)).bit_length(), int(base.q).bit_length())
        if abs(exponent) * size > BITS:
            return sympy.Pow(base, exponent, evaluate=False)
    elif base.is_number and exponent.is_number and exponent.is_Integer and abs(exponent) > 2000:
        return sympy.Pow(base, exponent, evaluate=False)
    elif exponent.is_number and not exponent.is_Rational and base.is_Rational:
        return sympy.Pow(base, exponent, evaluate=False)
    return sympy.Pow(base, exponent)


def factorial(value: Expr) -> Expr:
    if value.is_Integer and 0 <= value <= 1000:
        return sympy.factorial(value)
    return sympy.factorial(value, evaluate=False)


class Parser:
    """One pass over the tokens of one expression."""

    def __init__(self, tokens: list[Token], matrices: list[sympy.Matrix]):
        self.tokens = tokens
        self.matrices = matrices
        self.at = 0
        self.depth = 0
        self.bars = 0

    # -- tokens ------------------------------------------------------------
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

    # -- grammar -----------------------------------------------------------
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
                value = _divide(value, self.signed_power())
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
        """`2\\frac{1}{2}` and `2 3/4` are mixed numbers, all else is a product."""
        t = self.peek()
        before = self.tokens[self.at - 1]
        if before.kind == "number" and t is not None and left.is_Integer:
            if t.kind == "command" and t.text == "frac":
                part = self.power()
                if part.is_Rational and 0 < part < 1 and "." not in before.text:
                    return left + part if left >= 0 else left - part
                return left * part
            if t.kind == "number":
                slash, low = self.peek(1), self.peek(2)
                if slash and low and slash.text == "/" and low.kind == "number" and t.spaced:
                    part = number(t.text) / number(low.text)
                    if 0 < part < 1:
                        self.at += 3
                        return left + part
                raise ParseError("two numbers side by side")
        elif t is not None and t.kind == "number":
            raise ParseError("a number after a factor")
        return left * self.power()

    def starts_atom(self) -> bool:
        t = self.peek()
        if t is None:
            return False
        if t.kind in ("number", "name"):
            return True
        if t.kind == "op":
            return t.text in "({[" or (t.text == "|" and self.bars == 0)
        return t.text not in (
            "times cdot ast pm mp le ge ne in cup cap setminus to rfloor rceil rangle approx "
            "} | degree permil ldots perp angle notin subset".split()
        )

    def power(self) -> Expr:
        base = self.postfix()
        if self.is_op("^"):
            self.take()
            exponent = self.exponent()
            if isinstance(base, sympy.MatrixBase):
                return _matrix_power(base, exponent)
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
            return symbol(t.text[0])
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

    def atom(self) -> Expr:
        t = self.take()
        if t.kind == "number":
            return self.based(t)
        if t.kind == "name":
            return self.name(t.text)
        if t.kind == "command":
            return self.command(t.text)
        if t.text in _CLOSER:
            self.at -= 1
            return self.group(t.text)
        if t.text == "|":
            self.bars += 1
            value = self.sum()
            self.expect("|")
            self.bars -= 1
            return _absolute(value)
        raise ParseError(f"unexpected {t.text!r}")

    def based(self, token: Token) -> Expr:
        """A number, with `_8` read in base 8; `3.5e-7` is scientific notation."""
        if self.is_op("_"):
            self.take()
            base = self.script()
            if not (base.is_Integer and 2 <= base <= 36) or not token.text.isdigit():
                raise ParseError(f"{token.text!r} in base {base}")
            if len(token.text) > 1000:
                raise ParseError("a based number of more than 1000 digits")
            try:
                return Integer(int(token.text, int(base)))
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

    # -- names and commands --------------------------------------------------
    def name(self, text: str) -> Expr:
        if text in FUNCTIONS:
            return self.function(text)
        if text == "pi":
            return sympy.pi
        if text in ("oo", "infty", "infinity", "inf"):
            return sympy.oo
        for known in _GLUED:
            if text.startswith(known) and len(known) > 1 and known in FUNCTIONS:
                self.tokens.insert(self.at, Token("name", text[len(known) :], False))
                return self.function(known)
        if len(text) > 1:
            rest = text[1:]
            self.tokens.insert(self.at, Token("name", rest, False))
            if len(text) > 3:
                raise ParseError(f"{text!r} is a word")
            first = self.letter(text[0], alone=False)
            return first
        return self.letter(text, alone=True)

    def letter(self, text: str, alone: bool) -> Expr:
        primes = ""
        while alone and self.is_op("'"):
            self.take()
            primes += "'"
        if text == "i" and not primes and not (alone and self.is_op("_")):
            return sympy.I
        if text == "e" and not primes and not (alone and self.is_op("_")):
            return sympy.E
        if alone and self.is_op("_"):
            return self.subscripted(text + primes)
        return symbol(text + primes)

    def subscripted(self, text: str) -> Expr:
        self.expect("_")
        start = self.at
        if self.is_op("{"):
            level = 0
            while True:
                t = self.take()
                level += (t.text == "{" and t.kind == "op") - (t.text == "}" and t.kind == "op")
                if level == 0:
                    break
        else:
            t = self.take()
            if len(t.text) > 1 and t.kind in ("number", "name"):
                self.tokens.insert(self.at, Token(t.kind, t.text[1:], False))
                return symbol(f"{text}_{t.text[0]}")
        inner = "".join(t.text for t in self.tokens[start : self.at] if t.text not in "{}")
        return symbol(f"{text}_{inner}")

    def command(self, text: str) -> Expr:
        reader = getattr(self, f"read_{text}", None) if text in _READERS else None
        if reader is not None:
            result: Expr = reader()
            return result
        if text == "pi":
            return sympy.pi
        if text in _ACCENTS:
            return self.accented(text)
        if text == "infty":
            return sympy.oo
        if text in _FUNCTION or text in _MANY or text in FUNCTIONS:
            return self.function(text)
        if text in GREEK:
            return self.subscripted("\\" + text) if self.is_op("_") else symbol("\\" + text)
        if text == "{":
            value = self.sum()
            self.expect("}")
            return value
        for known in _GLUED:
            if text.startswith(known):
                self.tokens.insert(self.at, Token("name", text[len(known) :], False))
                return self.command(known)
        raise ParseError(f"unknown command \\{text}")

    def read_frac(self) -> Expr:
        top = self.digit_or_group()
        return _divide(top, self.digit_or_group())

    def read_binom(self) -> Expr:
        top, low = self.digit_or_group(), self.digit_or_group()
        small = all(v.is_Integer and abs(v) <= 2000 for v in (top, low))
        return sympy.binomial(top, low, evaluate=bool(small or not top.is_number))

    def read_sqrt(self) -> Expr:
        degree: Expr = Integer(2)
        if self.is_op("["):
            degree = self.group("[")
        return power(self.digit_or_group_sqrt(), 1 / degree)

    def digit_or_group_sqrt(self) -> Expr:
        t = self.peek()
        if t is not None and t.kind == "number" and t.spaced:
            self.take()
            return number(t.text)
        return self.digit_or_group()

    def accented(self, accent: str) -> Expr:
        """`\\vec{v}`, `\\overline{AB}`: a symbol named after what it covers."""
        start = self.at
        if self.is_op("{"):
            while self.take().text != "}":
                pass
        else:
            self.take()
        inner = "".join(t.text for t in self.tokens[start : self.at] if t.text not in "{}")
        name = inner if accent == "vec" else f"{accent}({inner})"
        return self.subscripted(name) if self.is_op("_") else symbol(name)

    def read_lfloor(self) -> Expr:
        value = self.sum()
        self.expect("rfloor")
        return sympy.floor(value)

    def read_lceil(self) -> Expr:
        value = self.sum()
        self.expect("rceil")
        return sympy.ceiling(value)

    def read_matrix(self) -> Expr:
        t = self.take()
        return self.matrices[int(t.text)]

    def read_det(self) -> Expr:
        value = self.postfix()
        if not isinstance(value, sympy.MatrixBase) or value.rows > 8:
            raise ParseError("\\det of something that is no small matrix")
        return value.det()

    def function(self, name: str) -> Expr:
        if name == "sqrt":
            return self.read_sqrt()
        exponent: Expr | None = None
        base: Expr | None = None
        for _ in range(2):
            if self.is_op("_") and base is None:
                self.take()
                base = self.digit_or_group()
            elif self.is_op("^") and exponent is None:
                self.take()
                exponent = -self.script() if self.negative() else self.script_digit()
        if exponent == -1 and name in _INVERSE:
            name, exponent = _INVERSE[name], None
        if name in _MANY:
            return self.many(name)
        argument = self.argument()
        value = _apply(name, argument, base)
        return value if exponent is None else power(value, exponent)

    def negative(self) -> bool:
        if self.is_op("-"):
            self.take()
            return True
        return False

    def script_digit(self) -> Expr:
        return self.digit_or_group()

    def many(self, name: str) -> Expr:
        opener = self.take().text
        if opener not in ("(", "{"):
            raise ParseError(f"\\{name} without brackets")
        values = [self.sum()]
        while self.is_op(","):
            self.take()
            values.append(self.sum())
        self.take()
        value: Expr = _MANY[name](*values)
        return value

    def argument(self) -> Expr:
        """What a function without brackets takes: a product up to the next function or sign."""
        if self.is_op("(", "{", "[", "|"):
            t = self.peek()
            value = self.power()
            if t is not None and t.text != "{":
                return value
            return value
        value = self.power()
        while self.starts_atom() and not self.next_is_function():
            if self.is_op("(", "|", "["):
                break
            value = self.juxtaposed(value)
        while self.is_op("/") and self.simple_divisor():
            self.take()
            value = _divide(value, self.power())
        return value

    def simple_divisor(self) -> bool:
        t = self.peek(1)
        return t is not None and (t.kind == "number" or t.text in GREEK)

    def next_is_function(self) -> bool:
        t = self.peek()
        if t is None or t.kind == "number":
            return False
        return any(t.text.startswith(f) for f in FUNCTIONS if f != "sqrt")


_READERS = frozenset(
    n[5:] for n in vars(Parser) if n.startswith("read_")
)


def symbol(name: str) -> sympy.Symbol:
    return sympy.Symbol(name)


def _apply(name: str, argument: Expr, base: Expr | None) -> Expr:
    if name in ("log", "lg", "ln"):
        if argument == 0:
            raise ParseError("the logarithm of 0")
        if base is None and name == "lg":
            base = Integer(10)
        return sympy.log(argument) if base is None else sympy.log(argument) / sympy.log(base)
    if name not in _FUNCTION:
        raise ParseError(f"unknown function {name}")
    if name == "exp":
        return power(sympy.E, argument)
    return _FUNCTION[name](argument)


def _absolute(value: Expr) -> Expr:
    if isinstance(value, sympy.MatrixBase):
        return value.det()
    return sympy.Abs(value)


def _divide(top: Expr, low: Expr) -> Expr:
    if isinstance(low, sympy.MatrixBase):
        raise ParseError("division by a matrix")
    if low == 0:
        raise ParseError("division by zero")
    if isinstance(top, sympy.MatrixBase):
        return top.applyfunc(lambda e: e / low)
    return top / low


def _matrix_power(base: sympy.MatrixBase, exponent: Expr) -> Expr:
    if isinstance(exponent, sympy.Symbol) and exponent.name in ("T", "t"):
        return base.T
    if exponent.is_Integer and abs(exponent) <= 20 and base.rows == base.cols <= 6:
        return base ** int(exponent)
    raise ParseError("this power of a matrix")


def cells(body: str) -> list[list[str]]:
    """Rows of cell texts of an environment's body; `\\\\frac` is a row's end and a fraction."""
    body = re.sub(r"\\\\\\\\", r"\\\\", body) if body.count("\\\\\\\\") else body
    body = re.sub(r"\\hline", "", body)
    rows = re.split(r"\\\\(?:\[[^\]]*\])?|\\cr(?![A-Za-z])", body)
    table = []
    for row in rows:
        if row.strip():
            table.append([_rejoin(c.strip()) for c in row.split("&")])
    return table


def _rejoin(cell: str) -> str:
    return re.sub(r"^(frac|sqrt|pi|theta|sin|cos|binom)(?=[\s{(\[]|$)", r"\\\1", cell)


def parse(text: str) -> Expr:
    """The SymPy expression or matrix of a cleaned text; ParseError when it is none."""
    if len(text) > 20_000:
        raise ParseError("an expression of more than 20000 characters")
    matrices: list[sympy.Matrix] = []

    def keep(m: re.Match[str]) -> str:
        table = cells(m["body"])
        if not table or len({len(r) for r in table}) != 1:
            raise ParseError("a matrix with rows of different length")
        matrix = sympy.Matrix([[parse(c) for c in row] for row in table])
        matrices.append(matrix.det() if m["kind"] == "vmatrix" and len(table) <= 6 else matrix)
        return rf" \matrix {len(matrices) - 1} "

    if "\\begin" in text:
        text = _ENVIRONMENT.sub(keep, text)
    try:
        return Parser(tokenize(text), matrices).whole()
    except (TypeError, AttributeError, ValueError, ZeroDivisionError, RecursionError) as e:
        if isinstance(e, ParseError):
            raise
        raise ParseError(f"{type(e).__name__}: {e}") from None
