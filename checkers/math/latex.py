"""LaTeX → SymPy by recursive descent, without `eval`: the only text SymPy gets is a symbol's name.

    atom := number | symbol | function | \\frac | \\sqrt | ( sum ) | |sum| | matrix

The rest of the grammar is in checkers.math.grammar, operators in checkers.math.operators.
Numbers are exact: 0.5 is 1/2. `ParseError` says that the text is not an expression.
"""

# mypy: disable-error-code="import-untyped"
from __future__ import annotations

import re

import sympy
from sympy import Expr, Integer

from checkers.math.grammar import Grammar
from checkers.math.operators import (
    MANY,
    ONE,
    absolute,
    apply,
    divide,
    power,
    symbol,
)
from checkers.math.tables import FUNCTIONS, word_list
from checkers.math.tokens import ParseError, Token, number, tokenize

_ENVIRONMENT = re.compile(
    r"\\begin\s*\{(?P<kind>[pbvBV]?matrix|smallmatrix|array)\}\s*(?:\{[lcr| ]+\})?"
    r"(?P<body>.*?)\\end\s*\{(?P=kind)\}",
    re.S,
)
GREEK = frozenset(
    word_list(
        "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa "
        "lambda mu nu xi rho sigma tau upsilon phi varphi chi psi omega Gamma Delta Theta "
        "Lambda Xi Sigma Upsilon Phi Psi Omega ell hbar"
    )
)
_GLUED = sorted(FUNCTIONS | {"frac", "pi", "infty", "theta", "sqrt"}, key=len, reverse=True)


_ACCENTS = frozenset(["vec", "bar", "hat", "tilde", "overline", "widehat", "overrightarrow", "dot"])
_INVERSE = {n: "a" + n for n in word_list("sin cos tan cot sec csc sinh cosh tanh")}


class Parser(Grammar):
    """One pass over the tokens of one expression: atoms, names and commands."""

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

    def based(self, token: Token) -> Expr:
        """A number, with `_8` read in base 8; `3.5e-7` is scientific notation."""
        token = self.with_letters(token)
        if self.is_op("_"):
            self.take()
            base = self.script()
            if not (base.is_Integer and 2 <= base <= 36) or not token.text.isalnum():
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

    def with_letters(self, token: Token) -> Token:
        """`2A` of `2A_{16}`: capital letters are digits in a base over 10."""
        ahead, text = 0, token.text
        while (t := self.peek(ahead)) and t.kind in ("number", "name") and not t.spaced:
            ahead, text = ahead + 1, text + t.text
        sign, base = self.peek(ahead), self.peek(ahead + 1)
        if base and base.text == "{":
            base = self.peek(ahead + 2)
        if not (ahead and sign and sign.text == "_" and base and base.text.isdigit()):
            return token
        if not (len(base.text) == 2 and re.fullmatch(r"[\dA-Z]{1,1000}", text)):
            return token
        if any(int(digit, 36) >= int(base.text) for digit in text):
            return token
        self.at += ahead
        return Token("number", text, token.spaced)

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
            return self.letter(text[0], alone=False)
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
        """A letter with its index; a constant of integration may be C_1 or c_1."""
        self.expect("_")
        text = "c" if text == "C" else text
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
        if text in ONE or text in MANY or text in FUNCTIONS:
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
        return divide(top, self.digit_or_group())

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
        if name in MANY:
            return self.many(name)
        argument = self.argument()
        value = apply(name, argument, base)
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
        value: Expr = MANY[name](*values)
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
            value = divide(value, self.power())
        return value

    def simple_divisor(self) -> bool:
        t = self.peek(1)
        return t is not None and (t.kind == "number" or t.text in GREEK)

    def next_is_function(self) -> bool:
        t = self.peek()
        if t is None or t.kind == "number":
            return False
        return any(t.text.startswith(f) for f in FUNCTIONS if f != "sqrt")


_READERS = frozenset(n[5:] for n in vars(Parser) if n.startswith("read_"))


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
