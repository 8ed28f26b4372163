"""Parse LaTeX into SymPy by recursive descent, without `eval`.

    atom := number | symbol | function | \\frac | \\sqrt | ( sum ) | |sum| | matrix

grammar.py has the rest of the grammar, operators.py the SymPy functions. The only text that
SymPy receives is a symbol's name. Numbers are exact: 0.5 is 1/2.
"""

from __future__ import annotations

import re
from functools import lru_cache

import sympy
from sympy import Expr, Integer

from gradebox.checkers.math.normalise.rewrite import MAX_CHARS
from gradebox.checkers.math.normalise.tables import FUNCTIONS, GREEK, word_list
from gradebox.checkers.math.parse.expressions.letters import LetterGrammar
from gradebox.checkers.math.parse.expressions.operators import (
    UNARY,
    VARIADIC,
    absolute,
    apply,
    constant,
    divide,
    power,
    root,
)
from gradebox.checkers.math.parse.expressions.series import MORE_TERMS, rename_index, with_dots
from gradebox.checkers.math.parse.expressions.tokens import ParseError, Token, number, tokenize

_MATRIX = re.compile(
    r"\\begin\s*\{(?P<kind>[pbvBV]?matrix|smallmatrix|array)\}\s*(?:\{[lcr| ]+\})?"
    r"(?P<body>.*?)\\end\s*\{(?P=kind)\}",
    re.S,
)
_MORE_IN_BRACKETS = re.compile(r"[-+]\s*\\ldots\s*[)\]}]")  # `x(1 - x + \\ldots)`
_SYMBOLS = (frozenset(GREEK.values()) - {"pi", "Pi"}) | {"vartheta", "Upsilon", "ell", "hbar"}
_SYMBOL_NAMES = frozenset(n for n in _SYMBOLS if len(n) > 3)  # as SymPy prints them
_MIXED_CASE = re.compile(
    r"(?=.*[a-z])[A-Za-z][A-Za-z]*[A-Z][A-Za-z]*(?<!^.)"
)  # `GMmr` is a product
_PREFIXES = sorted(FUNCTIONS | {"frac", "pi", "infty", "theta"}, key=len, reverse=True)
_CAPITAL_FUNCTIONS = {"zeta": sympy.zeta, "Gamma": sympy.gamma}
_ACCENTS = frozenset(["vec", "bar", "hat", "tilde", "overline", "widehat", "overrightarrow", "dot"])
_TRIGONOMETRIC = frozenset(word_list("sin cos tan cot sec csc"))
_INVERSE = {n: "a" + n for n in word_list("sin cos tan cot sec csc sinh cosh tanh")}


class Parser(LetterGrammar):
    """Parse the tokens of one expression: the atoms here, what joins them in the bases."""

    def __init__(self, tokens: list[Token], matrices: list[sympy.Matrix]):
        super().__init__(tokens)
        self.matrices = matrices

    def atom(self) -> Expr:
        t = self.take()
        if t.kind == "number":
            return self.mixed(self.based(t), t)
        if t.kind == "name":
            return self.name(t.text)
        if t.kind == "command":
            return self.command(t.text)
        if t.text in ("(", "[", "{"):
            self.at -= 1
            return self.group(t.text)
        if t.text == "|":
            self.bars += 1
            value = self.sum()
            self.expect("|")
            self.bars -= 1
            return absolute(value)
        raise ParseError(f"unexpected {t.text!r}")

    def part(self, tokens: list[Token]) -> Expr:
        return Parser(tokens, self.matrices).whole()

    # -- numbers ----------------------------------------------------------------
    def based(self, token: Token) -> Expr:
        """Read a number, `52_8` in base 8, or scientific notation `3.5e-7`."""
        token = self.with_letter_digits(token)
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

    def with_letter_digits(self, token: Token) -> Token:
        """Return `2A` of `2A_{16}` as one token: in bases over 10, capitals are digits."""
        ahead, text = 0, token.text
        while (t := self.peek(ahead)) and t.kind in ("number", "name") and not t.spaced:
            ahead, text = ahead + 1, text + t.text
        sign, base = self.peek(ahead), self.peek(ahead + 1)
        if base and base.text == "{":
            base = self.peek(ahead + 2)
        if not (ahead and sign and sign.text == "_" and base and base.text.isdigit()):
            return token
        text = text.upper()
        if not (len(base.text) == 2 and re.fullmatch(r"[\dA-Z]{1,1000}", text)):
            return token
        if any(int(digit, 36) >= int(base.text) for digit in text):
            return token
        self.at += ahead
        return Token("number", text, token.spaced)

    # -- names and commands -----------------------------------------------------
    def name(self, text: str) -> Expr:
        if text in FUNCTIONS:
            return self.function(text)
        if text == "pi":
            return sympy.pi
        if text in ("oo", "infty", "infinity", "inf"):
            return sympy.oo
        for function in _PREFIXES:
            if function in FUNCTIONS and text.startswith(function):  # sinx
                self.push_back("name", text[len(function) :])
                return self.function(function)
        if text in _SYMBOL_NAMES:
            return self.command(text)
        if head := self.before_function(text):
            self.push_back("name", text[len(head) :])
            return self.name(head)
        if len(text) > 3 and not _MIXED_CASE.fullmatch(text):
            raise ParseError(f"{text!r} is a word")
        if len(text) > 1:
            self.push_back("name", text[1:])
            return constant(text[0])
        return self.letter(text)

    def before_function(self, text: str) -> str:
        """Return `x` of `xsqrt(2)` and `pi` of `pilog(2)`; "" for another name."""
        if not self.is_op("(", "{"):
            return ""
        heads = (text.removesuffix(f) for f in FUNCTIONS if text.endswith(f))
        return next((h for h in heads if len(h) == 1 or h == "pi"), "")

    def command(self, text: str) -> Expr:
        if text in _READERS:
            result: Expr = getattr(self, f"read_{text}")()
            return result
        if text == "pi":
            return sympy.pi
        if text == "ldots":
            return MORE_TERMS
        if text in _ACCENTS:
            return self.accented(text)
        if text == "infty":
            return sympy.oo
        if text in UNARY or text in VARIADIC or text in FUNCTIONS:
            return self.function(text)
        if text in _CAPITAL_FUNCTIONS and self.is_op("("):
            return _CAPITAL_FUNCTIONS[text](self.group("("))
        if text in _SYMBOLS:
            name = "\\" + text + self.primes()
            return self.subscripted(name) if self.is_op("_") else sympy.Symbol(name)
        if text == "{":
            value = self.sum()
            self.expect("}")
            return value
        for prefix in _PREFIXES:
            if text.startswith(prefix):  # \pir
                self.push_back("name", text[len(prefix) :])
                return self.command(prefix)
        raise ParseError(f"unknown command \\{text}")

    def read_frac(self) -> Expr:
        if variable := self.derivative():
            return sympy.diff(self.product(), variable)
        top = self.digit_or_group()
        return divide(top, self.digit_or_group())

    def derivative(self) -> Expr | None:
        """Take `{d}{dx}` and return x; None for another fraction."""
        ahead = "".join(t.text for t in self.tokens[self.at : self.at + 6])
        m = re.fullmatch(r"\{d\}\{d([a-z])\}", ahead)
        if m is None:
            return None
        self.at += 6
        return sympy.Symbol(m[1])

    def read_binom(self) -> Expr:
        top, low = self.digit_or_group(), self.digit_or_group()
        small = all(v.is_Integer and abs(v) <= 2000 for v in (top, low))
        return sympy.binomial(top, low, evaluate=bool(small or not top.is_number))

    def read_sqrt(self) -> Expr:
        degree = self.group("[") if self.is_op("[") else Integer(2)
        t = self.peek()
        if t is not None and t.kind == "number" and t.spaced:  # \sqrt 12
            return root(number(self.take().text), degree)
        return root(self.digit_or_group(), degree)

    def read_lfloor(self) -> Expr:
        value = self.sum()
        self.expect("rfloor")
        return sympy.floor(value)

    def read_lceil(self) -> Expr:
        value = self.sum()
        self.expect("rceil")
        return sympy.ceiling(value)

    def read_matrix(self) -> Expr:
        return self.matrices[int(self.take().text)]

    def read_det(self) -> Expr:
        if not self.starts_atom():
            return sympy.Symbol("\\det")  # a name, as in `0 < \\det < 1`
        value = self.postfixes(self.atom())
        if not isinstance(value, sympy.MatrixBase) or value.rows > 8:
            raise ParseError("\\det of something that is not a small matrix")
        return value.det()

    # -- functions ----------------------------------------------------------------
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
        if name in VARIADIC:
            return self.variadic(name)
        value = apply(name, self.argument(name), base)
        return value if exponent is None else power(value, exponent)

    def variadic(self, name: str) -> Expr:
        if self.take().text not in ("(", "{"):
            raise ParseError(f"\\{name} without brackets")
        values = [self.sum()]
        while self.is_op(","):
            self.take()
            values.append(self.sum())
        self.take()
        value: Expr = VARIADIC[name](*values)
        return value

    def argument(self, name: str) -> Expr:
        """Read a function's argument: brackets, or a product up to the next function or sign."""
        if self.is_op("(", "{", "[", "|"):
            return self.atom()  # a power after it is that of the function: \\sin(x)^2
        first = self.peek()
        value = self.power()
        if (
            first is not None
            and first.kind == "number"
            and value.is_Integer
            and self.is_op("(")
            and name in _TRIGONOMETRIC
        ):
            return self.juxtaposed(value)  # \\sin 2(x-1)
        while self.starts_atom() and not self.next_is_function():
            if self.is_op("(", "|", "["):
                break
            value = self.juxtaposed(value)
        while self.is_op("/") and self.simple_divisor() and not self.long_divisors:
            self.take()
            value = divide(value, self.power())
        return value

    def simple_divisor(self) -> bool:
        t = self.peek(1)
        return t is not None and (t.kind == "number" or t.text in _SYMBOLS)

    def next_is_function(self) -> bool:
        t = self.peek()
        if t is None or t.kind == "number":
            return False
        return any(t.text.startswith(f) for f in FUNCTIONS if f != "sqrt")


_READERS = frozenset(n.removeprefix("read_") for n in dir(Parser) if n.startswith("read_"))


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
def parse_expression(text: str, long_divisors: bool = False) -> Expr:
    """Return the SymPy expression or matrix of a normalised text; raise ParseError otherwise.

    `long_divisors` reads `1/2x` as 1/(2x) instead of (1/2)x, and `\\sin x/2` as (\\sin x)/2.
    """
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
    if "\\sum" in text or "\\prod" in text:
        text = rename_index(text)
    if "\\ldots" in text and not _MORE_IN_BRACKETS.search(text):
        return with_dots(text, parse_expression)
    try:
        parser = Parser(tokenize(text), matrices)
        parser.long_divisors = long_divisors
        return parser.whole()
    except (TypeError, AttributeError, ValueError, ZeroDivisionError, RecursionError) as e:
        if isinstance(e, ParseError):
            raise
        raise ParseError(f"{type(e).__name__}: {e}") from None
