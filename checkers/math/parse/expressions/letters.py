"""The grammar of letters: `x_1`, `v^2_0`, `f(2)`, `P(B|A)`, `\\vec{v}`, `\\overrightarrow{AB}`."""

from __future__ import annotations

import re

import sympy
from sympy import Expr

from gradebox.checkers.math.parse.expressions.calculus import CalculusGrammar
from gradebox.checkers.math.parse.expressions.operators import constant


class LetterGrammar(CalculusGrammar):
    """Read letters with their indices, primes, accents and arguments as symbols."""

    def letter(self, text: str) -> Expr:
        """Read one letter with its primes and its index."""
        text += self.primes()
        self.index_before_power()
        if text == "P" and (given := self.conditional()):
            return given
        if value := self.value_of_function(text):
            return value
        if self.is_op("_"):
            return self.subscripted(text)
        if index := self.glued_index(text):
            return index
        return constant(text)

    def glued_index(self, letter: str) -> Expr | None:
        """Read the constant `C1` as `C_1`; of another letter it is not clear what the digit is."""
        t, after = self.peek(), self.peek(1)
        if t is None or t.kind != "number" or t.spaced or not t.text.isdigit() or len(t.text) > 2:
            return None
        if letter not in "CcKkAB" or (after is not None and after.text in ("^", "!")):
            return None
        if letter != "C" and after is not None and after.text == "/":
            return None
        self.take()
        return sympy.Symbol(f"{'c' if letter == 'C' else letter}_{t.text}")

    def value_of_function(self, text: str) -> Expr | None:
        """Read `f(-2)`, `V(3)` and `x(0)` as a symbol: the number is an argument, not a factor."""
        ahead = [self.peek(i) for i in range(4)]
        signed = ahead[1] is not None and ahead[1].text in "+-"
        number_at = 2 if signed else 1
        inner, end = ahead[number_at], ahead[number_at + 1]
        opens = ahead[0] is not None and ahead[0].text == "(" and ahead[0].kind == "op"
        if not opens or inner is None or inner.kind != "number" or end is None or end.text != ")":
            return None
        if not (text[0] in "fgh" or text[0].isupper() or inner.text == "0"):
            return None
        start, self.at = self.at, self.at + number_at + 2
        return sympy.Symbol(text + self.text_since(start))

    def subscripted(self, text: str) -> Expr:
        """Read the index of a letter. C_1 is read as c_1: both name a constant of integration."""
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
            if t.kind in ("number", "name"):
                self.at -= 1
                index = self.take_first(t)
                return sympy.Symbol(f"{text}{self.primes()}_{index}")
        index = self.text_since(start)
        return sympy.Symbol(f"{text}{self.primes()}_{index}")

    def primes(self) -> str:
        start = self.at
        while self.is_op("'"):
            self.take()
        return "'" * (self.at - start)

    def index_before_power(self) -> None:
        """Move the index of `v^2_0` before its power: `v_0^2`."""
        if not self.is_op("^"):
            return
        index = self.after_script(self.at)
        if index < len(self.tokens) and self.tokens[index].text == "_":
            end = self.after_script(index)
            tokens = self.tokens
            tokens[self.at : end] = tokens[index:end] + tokens[self.at : index]

    def conditional(self) -> Expr | None:
        """Read what follows the P of `P(B|A)` as a symbol; None without a bar in the brackets."""
        texts = [t.text for t in self.tokens[self.at : self.at + 12]]
        if texts[:1] != ["("] or ")" not in texts or "|" not in texts[: texts.index(")")]:
            return None
        end = self.at + texts.index(")") + 1
        name, self.at = "P" + "".join(texts[: texts.index(")") + 1]), end
        return sympy.Symbol(name)

    def after_script(self, sign: int) -> int:
        """Return where the tokens go on after a `^` or `_` and what it raises or lowers."""
        depth, at = 0, sign + 1
        while at < len(self.tokens):
            token = self.tokens[at]
            depth += (token.text == "{" and token.kind == "op") - (token.text == "}")
            at += 1
            if depth <= 0 and token.text != "-":
                break
        return at

    def accented(self, accent: str) -> Expr:
        """Read `\\vec{v}` or `\\overline{AB}` as a symbol named after what it covers."""
        start = self.at
        if self.is_op("{"):
            while self.take().text != "}":
                pass
        else:
            self.take()
        inner = self.text_since(start)
        if accent == "vec" and re.fullmatch("[A-Z]{2}", inner):
            return sympy.Symbol(inner[1]) - sympy.Symbol(inner[0])
        name = inner if accent == "vec" else f"{accent}({inner})"
        return self.subscripted(name) if self.is_op("_") else sympy.Symbol(name)
