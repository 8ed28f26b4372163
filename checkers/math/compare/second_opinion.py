"""The second opinion of math-verify on LaTeX that parse/latex.py does not know.

It decides integrals, sums and limits. Only math-verify's LaTeX path is used: its path for
plain expressions passes text to SymPy's `parse_expr`, which runs Python. `disable_eval` replaces
that function and the evaluator under it wherever this process can reach them, so that no text
is ever run, whichever path a version takes.

Places that reach `parse_expr`, `sympify` of text or `eval` (math-verify 0.9,
latex2sympy2_extended 1.11, sympy 1.14):
    math_verify.parser.parse_expr               plain expressions (not used here)
    latex2sympy2_extended.latex2sympy2          `variable_values` given as text (never given)
    sympy.core.sympify.sympify(str)             → sympy.parsing.sympy_parser.parse_expr
    sympy.simplify.simplify.nsimplify           sympify of mpmath's text for a number (\\gcd)
    sympy.Number(str)                           sympify; latex2sympy2 passes every number's text
    sympy.parsing.sympy_parser.eval_expr        `eval` itself
The replacement reads plain numerals, which is all that the LaTeX path needs, and refuses
everything else. The ANTLR grammar builds trees and evaluates nothing.
"""

from __future__ import annotations

import logging
import re
from typing import Any, NoReturn

from gradebox.checkers.math.normalise.rewrite import normalise
from gradebox.checkers.math.normalise.tables import TEXT_CLOSE, TEXT_OPEN

MAX_CHARS = 2000
_LATEX = re.compile(r"\\[A-Za-z]|[\d^_=+]")
_WORD = re.compile(r"(?<![A-Za-z\\])[A-Za-z]{4,}")
_SAFE = re.compile(r"[A-Za-z0-9\s\\{}()\[\]|^_=+\-*/.,:;!'<>&%]*")
_NUMERAL = re.compile(
    r"\s*[-+]?(?:\d{1,4000}|\d{0,400}\.\d{1,400}|\d{1,400}\.)(?:[eE][-+]?\d{1,3})?\s*"
)
_PRELOADED_PAIRS = (
    (r"\sum_{n=1}^{10} n", "55"),
    (r"\prod_{n=1}^{3} n", "6"),
    (r"\int_0^1 x dx", r"\frac{1}{2}"),
    (r"\lim_{x\to 0}\frac{\sin x}{x}", "1"),
    (r"\{1,2\}", "1,2"),
)


class TextRefused(ValueError):
    """A library tried to run text as Python."""


def _read_numeral(text: Any, *args: Any, **kwargs: Any) -> Any:
    """Return a plain number, in place of `parse_expr`; raise TextRefused for any other text."""
    import sympy

    if not isinstance(text, str) or not _NUMERAL.fullmatch(text):
        raise TextRefused("text is never run as Python")
    if text.strip().lstrip("+-").isdigit():
        return sympy.Integer(int(text))
    return sympy.Float(text.strip())


def _refuse(*args: Any, **kwargs: Any) -> NoReturn:
    raise TextRefused("text is never run as Python")


def preload() -> None:
    """Load what SymPy and math-verify load late. Call it before `disable_eval`.

    Some of their modules call `sympify` on constants of their own while they are imported.
    """
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
    for gold, answer in _PRELOADED_PAIRS:
        if not equal(gold, answer):
            raise RuntimeError(f"math-verify finds {gold!r} and {answer!r} different")


def disable_eval() -> None:
    """Make it impossible for SymPy and math-verify to run text in this process."""
    import sympy
    import sympy.core.sympify
    import sympy.parsing
    from sympy.parsing import sympy_parser

    for module in (sympy_parser, sympy.parsing, sympy):
        setattr(module, "parse_expr", _read_numeral)  # noqa: B010
    for name in ("eval_expr", "stringify_expr"):
        setattr(sympy_parser, name, _refuse)
    import latex2sympy2_extended.latex2sympy2 as converter
    import math_verify.parser as parser

    for module in (converter, parser):
        module.parse_expr = _read_numeral
    parser.parse_expr_cached = _refuse


def equal(gold: str, answer: str) -> bool:
    """Return math-verify's verdict on two LaTeX answers; False when it cannot read one.

    Call `disable_eval` first. The caller limits the time: math-verify's own limits need the
    main thread and are off.
    """
    from math_verify import LatexExtractionConfig, parse, verify

    texts = [_as_latex(t) for t in (gold, answer)]
    if not all(texts):
        return False
    config = [LatexExtractionConfig()]
    parsed = [
        parse(f"${t}$", extraction_config=config, fallback_mode="no_fallback", parsing_timeout=0)
        for t in texts
    ]
    return all(parsed) and bool(verify(parsed[0], parsed[1], timeout_seconds=0))


def _as_latex(text: str) -> str:
    """Return an answer as LaTeX for math-verify; "" when it should not see the text."""
    text = normalise(text).replace(TEXT_OPEN, r"\text{").replace(TEXT_CLOSE, "}")
    usable = (
        len(text) <= MAX_CHARS
        and not _WORD.search(text)
        and _LATEX.search(text)
        and _SAFE.fullmatch(text)
    )
    return text.replace("$", "") if usable else ""
