"""Read sums and products over an index, `\\sum_{k=1}^{n} k^2`, and with dots, `1+2+\\ldots+n`.

script := "_{" index "}" ["^" group]       before or after the upper bound
index  := letter "=" sum | letter "\\ge" sum | sum "\\le" letter "\\le" sum

The body is the product that follows. The index gets a name of its own, the same one in every
answer: the sums of i and of k are one expression. Sums of few terms are written out.

Of terms with dots, the first of these rules holds that fits them all:

    last term in n   the n-th term is the last one, counted from 1 or from 0
    arithmetic       1+3+…+99
    geometric        1+1/2+1/4+…, also without a last term
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

import sympy
from sympy import Expr, Integer

from gradebox.checkers.math.normalise.tables import FUNCTIONS
from gradebox.checkers.math.parse.expressions.grammar import Grammar
from gradebox.checkers.math.parse.expressions.tokens import ParseError
from gradebox.checkers.math.parse.split import split_top

MAX_TERMS = 200  # of a sum that is written out
MAX_NESTED = 3
_INDEX_NAMES = "jklmpqrst"  # for the index i or e, which are numbers elsewhere
_NUMBER_AS_INDEX = re.compile(r"\\(?:sum|prod)\s*(?:\^[^_]{1,40})?_\s*\{\s*([ie])\s*(?:=|\\[gl]e)")

_NAME = re.compile(r"\\?[A-Za-z]+")


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


class SeriesGrammar(Grammar):
    """Sums and products; the subclass has the atoms."""

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
        body = self.product()
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
                sides.append(self.sum())
                while not self.is_op("}"):
                    signs.append(self.take().text)
                    sides.append(self.sum())
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


MORE_TERMS = sympy.Symbol(r"\ldots")  # of a series of which no rule shows the rest
_DOTS = re.compile(r"\\ldots")
_SIGNS = (re.compile(r"\+"), re.compile(r"\\cdot(?![A-Za-z])|\\times(?![A-Za-z])|\*"))
MAX_FACTORS = 500


def with_dots(text: str, parse: Callable[[str], Expr]) -> Expr:
    """Return the value of a text with dots; raise ParseError when its terms show no rule."""
    parts, dots = split_top(text, _DOTS)
    if len(dots) != 1:
        raise ParseError("dots that no rule explains")
    head, last = parts
    kind = 0 if re.search(r"\+\s*$" if last.strip() else r"[-+]\s*$", head) else 1
    head = head.rstrip(" +-")
    sign = _SIGNS[kind]
    terms = [parse(t) for t in split_top(sign.sub(lambda m: m[0], head), sign)[0] if t]
    last = re.sub(rf"^\s*(?:{sign.pattern})\s*", "", last)
    end = parse(last) if last.strip() else None
    few = len(terms) < 2 or (end is None and (kind == 1 or len(terms) < 3))
    found = None if few else _from_last_term(terms, end, kind) or _progression(terms, end, kind)
    if found is None and end is None and kind == 0:
        shown = sympy.Add(*terms)
        if len(sympy.Add.make_args(shown)) > 1 and shown.free_symbols:
            return shown + MORE_TERMS
    if found is None:
        raise ParseError("dots after fewer than two terms" if few else "dots that no rule explains")
    return found


def _from_last_term(terms: list[Expr], end: Expr | None, kind: int) -> Expr | None:
    letters = end.free_symbols - set().union(*(t.free_symbols for t in terms)) if end else set()
    if end is None or len(letters) != 1:
        return None
    (n,) = letters
    for start in (1, 0):
        if all(sympy.expand(end.subs(n, start + i) - t) == 0 for i, t in enumerate(terms)):
            index = sympy.Symbol("index 1", integer=True)
            series = sympy.Product if kind else sympy.Sum
            return write_out(series(end.subs(n, index), (index, Integer(start), n)))
    return None


def _progression(terms: list[Expr], end: Expr | None, kind: int) -> Expr | None:
    step = sympy.expand(terms[1] - terms[0])
    if end is not None and all(sympy.expand(b - a - step) == 0 for a, b in pairwise(terms)):
        count = sympy.expand((end - terms[0]) / step) + 1 if step != 0 else sympy.S.NaN
        if count.is_number and not (count.is_Integer and count > 0):
            return None
        if kind == 0:
            return count * (terms[0] + end) / 2
        if count.is_Integer and count <= MAX_FACTORS:
            return sympy.Mul(*(terms[0] + i * step for i in range(int(count))))
        return None
    ratio = sympy.simplify(terms[1] / terms[0]) if terms[0] != 0 else sympy.S.NaN
    if kind or ratio == 1 or any(sympy.simplify(b - a * ratio) != 0 for a, b in pairwise(terms)):
        return None
    if end is None:  # of a power series, where it converges
        small = abs(ratio) < 1 if ratio.is_number else True
        return terms[0] / (1 - ratio) if small else None
    if not ratio.is_Rational:
        return None
    return (end * ratio - terms[0]) / (ratio - 1) if end.is_number else None
