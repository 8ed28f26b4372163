"""math-verify behind a guard: the second opinion for what our reader does not know.

It is used for integrals, sums, limits and other LaTeX beyond `checkers.math.latex`. Only its
LaTeX path is taken. Its plain-expression path hands text to SymPy's `parse_expr`, which runs
Python; `disarm` replaces that function, and the evaluator under it, everywhere they are
reachable in this process, so that no text is ever run, whatever path a version takes.

Places that reach `parse_expr`, `sympify` of text or `eval` (math-verify 0.9,
latex2sympy2_extended 1.11, sympy 1.14):
    math_verify.parser.parse_expr               plain expressions (not asked for here)
    latex2sympy2_extended.latex2sympy2          `variable_values` given as text (never given)
    sympy.core.sympify.sympify(str)             → sympy.parsing.sympy_parser.parse_expr
    sympy.simplify.simplify.nsimplify           sympify of mpmath's text for a number (\\gcd)
    sympy.Number(str)                           sympify; latex2sympy2 hands it every number's text
    sympy.parsing.sympy_parser.eval_expr        `eval` itself
`disarm` leaves a reader of plain numerals in its place, which is all that the LaTeX path
needs, and refuses everything else. The ANTLR grammar builds trees and evaluates nothing.
"""

# mypy: disable-error-code="import-untyped"
from __future__ import annotations

import logging
import re
from typing import Any, NoReturn

from checkers.math.clean import TEXT_CLOSE, TEXT_OPEN, clean

_LATEX = re.compile(r"\\[A-Za-z]|[\d^_=+]")
_WORD = re.compile(r"(?<![A-Za-z\\])[A-Za-z]{4,}")
_SAFE = re.compile(r"[A-Za-z0-9\s\\{}()\[\]|^_=+\-*/.,:;!'<>&%]*")
LONGEST = 2000


class TextRefused(ValueError):
    """Something tried to run text as Python."""


_NUMERAL = re.compile(
    r"\s*[-+]?(?:\d{1,4000}|\d{0,400}\.\d{1,400}|\d{1,400}\.)(?:[eE][-+]?\d{1,3})?\s*"
)


def _numeral(text: Any, *args: Any, **kwargs: Any) -> Any:
    """A plain number from its text, in place of `parse_expr`; TextRefused for all else."""
    import sympy

    if not isinstance(text, str) or not _NUMERAL.fullmatch(text):
        raise TextRefused("text is never run as Python")
    if text.strip().lstrip("+-").isdigit():
        return sympy.Integer(int(text))
    return sympy.Float(text.strip())


def _refuse(*args: Any, **kwargs: Any) -> NoReturn:
    raise TextRefused("text is never run as Python")


_SAMPLES = (
    (r"\sum_{n=1}^{10} n", "55"),
    (r"\prod_{n=1}^{3} n", "6"),
    (r"\int_0^1 x dx", r"\frac{1}{2}"),
    (r"\lim_{x\to 0}\frac{\sin x}{x}", "1"),
    (r"\{1,2\}", "1,2"),
)


def warm() -> None:
    """Loads what SymPy and math-verify load late: some modules read constants of their own with
    `sympify` while they are imported, which `disarm` would forbid. Sees no answer."""
    import sympy

    for name in ("math_verify", "latex2sympy2_extended"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    x = sympy.Symbol("x", real=True)
    for expr in (sympy.sin(x) ** 2 + sympy.cos(x) ** 2, sympy.sqrt(x) / x):
        sympy.simplify(expr)
    for relation in (2 * x > 6, sympy.Abs(x) >= 2, x**2 - x < 2, sympy.sin(x) > 2):
        relation.as_set()
    sympy.solve(x**2 - 2, x)
    sympy.nsimplify(sympy.Float("0.5"))
    for gold, answer in _SAMPLES:
        if not same(gold, answer):
            raise RuntimeError(f"math-verify says that {gold!r} is not {answer!r}")


def disarm() -> None:
    """Makes running text impossible in this process, through SymPy or through math-verify."""
    import sympy
    import sympy.core.sympify
    import sympy.parsing
    from sympy.parsing import sympy_parser

    for module in (sympy_parser, sympy.parsing, sympy):
        setattr(module, "parse_expr", _numeral)  # noqa: B010
    for name in ("eval_expr", "stringify_expr"):
        setattr(sympy_parser, name, _refuse)
    import latex2sympy2_extended.latex2sympy2 as converter
    import math_verify.parser as parser

    for module in (converter, parser):
        module.parse_expr = _numeral
    parser.parse_expr_cached = _refuse


def same(gold: str, answer: str) -> bool:
    """math-verify's verdict on two LaTeX answers, False when it cannot read one of them.

    Call `disarm` first. Limits of time are the caller's: math-verify's own are off, because
    they need the main thread.
    """
    from math_verify import LatexExtractionConfig, parse, verify

    texts = [_as_latex(t) for t in (gold, answer)]
    if not all(texts):
        return False
    config = [LatexExtractionConfig()]
    parsed = [
        parse(
            f"${t}$",
            extraction_config=config,
            fallback_mode="no_fallback",
            parsing_timeout=0,
        )
        for t in texts
    ]
    if not all(parsed):
        return False
    return bool(verify(parsed[0], parsed[1], timeout_seconds=0))


def _as_latex(text: str) -> str:
    text = clean(text).replace(TEXT_OPEN, r"\text{").replace(TEXT_CLOSE, "}")
    if (
        len(text) > LONGEST
        or _WORD.search(text)
        or not _LATEX.search(text)
        or not _SAFE.fullmatch(text)
    ):
        return ""
    return text.replace("$", "")
