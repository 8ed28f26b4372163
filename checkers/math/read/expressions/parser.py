"""Parse a normalised expression into SymPy, without `eval`.

    atom := number | letter | function | \\frac | \\sqrt | ( expression ) | |expression|

grammar.py has the operators and SymPy functions. The only text that SymPy receives
is a symbol's name. Numbers are exact: 0.5 is 1/2. Sums, integrals and limits are not calculated.
"""

from __future__ import annotations

import re
from functools import lru_cache

import sympy
from sympy import Expr, Integer

from gradebox.checkers.math.read.expressions import grammar
from gradebox.checkers.math.read.tables import FUNCTIONS, GREEK, MAX_CHARS, word_list
from gradebox.checkers.math.read.values import ParseError

_MATRIX = re.compile(
    r"\\begin\s*\{(?P<kind>[pbvBV]?matrix|smallmatrix|array)\}\s*(?:\{[lcr| ]+\})?"
    r"(?P<body>.*?)\\end\s*\{(?P=kind)\}",
    re.S,
)
_SYMBOLS = (frozenset(GREEK.values()) - {"pi", "Pi"}) | {"vartheta", "Upsilon", "ell", "hbar"}
_SYMBOL_NAMES = frozenset(n for n in _SYMBOLS if len(n) > 3)  # as SymPy prints them
_PREFIXES = sorted(FUNCTIONS, key=len, reverse=True)
_ACCENTS = frozenset(word_list("vec bar hat tilde overline widehat overrightarrow dot"))
_INVERSE = {n: "a" + n for n in word_list("sin cos tan cot sec csc sinh cosh tanh")}


class Parser(grammar.Grammar):
    """Parse the tokens of one expression."""

    def __init__(self, tokens: list[grammar.Token], matrices: list[sympy.Matrix]):
        super().__init__(tokens)
        self.matrices = matrices

    def atom(self) -> Expr:
        """Read one number, name, command or bracket."""
        t = self.take()
        if t.kind == "number":
            return self.mixed(self.number_in_base(t), t)
        if t.kind == "name":
            return self.name(t.text)
        if t.kind == "command":
            return self.command(t.text)
        if t.text in ("(", "[", "{"):
            self.at -= 1
            return self.group(t.text)
        if t.text == "|":
            self.bars += 1
            value = self.expression()
            self.expect("|")
            self.bars -= 1
            return _absolute(value)
        raise ParseError(f"unexpected {t.text!r}")

    # -- names and commands -----------------------------------------------------
    def name(self, text: str) -> Expr:
        if text in FUNCTIONS:
            return self.function(text)
        if text == "pi":
            return sympy.pi
        if text in ("oo", "infty", "infinity", "inf"):
            return sympy.oo
        for function in _PREFIXES:
            if text.startswith(function):  # sinx
                self.push_back("name", text[len(function) :])
                return self.function(function)
        if text in _SYMBOL_NAMES:
            return self.command(text)
        if len(text) > 3:
            raise ParseError(f"{text!r} is a word")
        if len(text) > 1:
            self.push_back("name", text[1:])
            return grammar.constant(text[0])
        return self.letter(text)

    def command(self, text: str) -> Expr:
        if text in _READERS:
            result: Expr = getattr(self, f"read_{text}")()
            return result
        if text == "pi":
            return sympy.pi
        if text in _ACCENTS:
            return self.accented(text)
        if text == "infty":
            return sympy.oo
        if text in grammar.UNARY or text in FUNCTIONS:
            return self.function(text)
        if text in _SYMBOLS:
            name = "\\" + text + self.primes()
            return self.subscripted(name) if self.is_op("_") else sympy.Symbol(name)
        if text == "{":
            value = self.expression()
            self.expect("}")
            return value
        raise ParseError(f"unknown command \\{text}")

    def read_frac(self) -> Expr:
        top = self.digit_or_group()
        return grammar.divide(top, self.digit_or_group())

    def read_binom(self) -> Expr:
        top, low = self.digit_or_group(), self.digit_or_group()
        small = all(v.is_Integer and abs(v) <= 2000 for v in (top, low))
        return sympy.binomial(top, low, evaluate=bool(small or not top.is_number))

    def read_sqrt(self) -> Expr:
        degree = self.group("[") if self.is_op("[") else Integer(2)
        t = self.peek()
        if t is not None and t.kind == "number" and t.spaced:  # \sqrt 12
            return grammar.root(grammar.number(self.take().text), degree)
        return grammar.root(self.digit_or_group(), degree)

    def read_lfloor(self) -> Expr:
        value = self.expression()
        self.expect("rfloor")
        return sympy.floor(value)

    def read_lceil(self) -> Expr:
        value = self.expression()
        self.expect("rceil")
        return sympy.ceiling(value)

    def read_matrix(self) -> Expr:
        return self.matrices[int(self.take().text)]

    # -- functions --------------------------------------------------------------
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
                if self.is_op("-"):
                    self.take()
                    exponent = -self.script()
                else:
                    exponent = self.digit_or_group()
        if exponent == -1 and name in _INVERSE:
            name, exponent = _INVERSE[name], None
        value = grammar.apply(name, self.argument(name), base)
        return value if exponent is None else grammar.power(value, exponent)

    def argument(self, name: str) -> Expr:
        """Read a function's argument: brackets, or a product up to the next function or sign."""
        if self.is_op("(", "{", "[", "|"):
            return self.atom()  # a power after it is that of the function: \\sin(x)^2
        value = self.power()
        while self.starts_atom() and not self.next_is_function():
            wave = name in ("sin", "cos", "tan") and value.is_Integer  # \sin 3(x+1)
            if self.is_op("|", "[") or (self.is_op("(") and not wave):
                break
            value = self.juxtaposed(value)
        after = self.peek(1)
        if value.is_number and self.is_op("/") and after is not None and after.kind == "number":
            self.take()  # \arctan 1/2, but (\sin x)/2
            value = grammar.divide(value, self.power())
        return value

    def next_is_function(self) -> bool:
        t = self.peek()
        if t is None or t.kind == "number":
            return False
        return any(t.text.startswith(f) for f in FUNCTIONS if f != "sqrt")

    # -- letters: x_1, v^2_0, f(2), P(B|A), \vec{v} -----------------------------
    def letter(self, text: str) -> Expr:
        """Read one letter with its primes and its index."""
        text += self.primes()
        if value := self.value_of_function(text):
            return value
        if self.is_op("_"):
            return self.subscripted(text)
        t = self.peek()
        if text in "CcKk" and t and t.kind == "number" and not t.spaced and len(t.text) == 1:
            self.take()  # the constant C1
            return sympy.Symbol(f"{'c' if text == 'C' else text}_{t.text}")
        return grammar.constant(text)

    def value_of_function(self, text: str) -> Expr | None:
        """Read `f(-2)`, `V(3)`, `x(0)` and `P(B|A)` as a symbol: the brackets are no factor."""
        texts = [t.text for t in self.tokens[self.at : self.at + 12]]
        if texts[:1] != ["("] or ")" not in texts:
            return None
        inner = texts[1 : texts.index(")")]
        digits = inner[1:] if inner and inner[0] in "+-" else inner
        named = text[0] in "fgh" or text[0].isupper() or inner == ["0"]
        number_only = len(digits) == 1 and digits[0].replace(".", "").isdigit()
        if not ((number_only and named) or (text == "P" and "|" in inner)):
            return None
        self.at += len(inner) + 2
        return sympy.Symbol(f"{text}({''.join(inner)})")

    def subscripted(self, text: str) -> Expr:
        """Read the index of a letter. C_1 is read as c_1: both name a constant of integration."""
        self.expect("_")
        text, index = "c" if text == "C" else text, self.argument_text()
        return sympy.Symbol(f"{text}{self.primes()}_{index}")

    def argument_text(self) -> str:
        """Return what is in the braces that follow, or one character, as text."""
        start, depth = self.at, 0
        if not self.is_op("{"):
            t = self.take()
            self.at -= 1
            return self.take().text if t.kind == "command" else self.take_first(t)
        while self.at == start or depth:
            t = self.take()
            depth += t.kind == "op" and {"{": 1, "}": -1}.get(t.text, 0)
        return "".join(t.text for t in self.tokens[start : self.at] if t.text not in "{}")

    def primes(self) -> str:
        start = self.at
        while self.is_op("'"):
            self.take()
        return "'" * (self.at - start)

    def accented(self, accent: str) -> Expr:
        """Read `\\vec{v}` or `\\overline{AB}` as a symbol named after what it covers."""
        inner = self.argument_text()
        if accent == "vec" and re.fullmatch("[A-Z]{2}", inner):
            return sympy.Symbol(inner[1]) - sympy.Symbol(inner[0])
        name = inner if accent == "vec" else f"{accent}({inner})"
        return self.subscripted(name) if self.is_op("_") else sympy.Symbol(name)


_READERS = frozenset(n.removeprefix("read_") for n in dir(Parser) if n.startswith("read_"))


def _absolute(value: Expr) -> Expr:
    """Return an absolute value, or the determinant of a matrix."""
    if isinstance(value, sympy.MatrixBase):
        return value.det()
    return sympy.Abs(value)


def _cells(body: str) -> list[list[str]]:
    """Return the rows of a matrix; `\\\\frac` ends a row and begins `\\frac`."""
    body = body.replace("\\\\\\\\", "\\\\").replace("\\hline", "")
    rows = re.split(r"\\\\(?:\[[^\]]*\])?|\\cr(?![A-Za-z])", body)
    return [
        [
            re.sub(r"^(frac|sqrt|pi|theta|sin|cos|binom)(?=[\s{(\[]|$)", r"\\\1", cell.strip())
            for cell in row.split("&")
        ]
        for row in rows
        if row.strip()
    ]


@lru_cache(maxsize=2048)
def parse_expression(text: str) -> Expr:
    """Return the SymPy expression or matrix of a normalised text; raise ParseError otherwise."""
    if len(text) > MAX_CHARS:
        raise ParseError(f"an expression of more than {MAX_CHARS} characters")
    matrices: list[sympy.Matrix] = []

    def read_matrix(m: re.Match[str]) -> str:
        table = _cells(m["body"])
        if not table or len({len(r) for r in table}) != 1:
            raise ParseError("a matrix with rows of different length")
        matrix = sympy.Matrix([[parse_expression(c) for c in row] for row in table])
        matrices.append(matrix.det() if m["kind"] == "vmatrix" and len(table) <= 6 else matrix)
        return rf" \matrix {len(matrices) - 1} "

    if "\\begin" in text:
        text = _MATRIX.sub(read_matrix, text)
    try:
        return Parser(grammar.tokenize(text), matrices).whole()
    except (TypeError, AttributeError, ValueError, ZeroDivisionError, RecursionError) as e:
        if isinstance(e, ParseError):
            raise
        raise ParseError(f"{type(e).__name__}: {e}") from None
