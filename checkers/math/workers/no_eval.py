"""Keep SymPy from running text as Python, in the workers.

`sympify` of a text and `Number` of a text reach `sympy.parsing.sympy_parser.parse_expr`, which
calls `eval`; so does `nsimplify`, for what mpmath wrote. `disable_eval` replaces these functions by
one that reads plain numerals, which is all that the comparison needs, and refuses everything else.
"""

from __future__ import annotations

import re
from typing import Any, NoReturn

_NUMERAL = re.compile(
    r"\s*[-+]?(?:\d{1,4000}|\d{0,400}\.\d{1,400}|\d{1,400}\.)(?:[eE][-+]?\d{1,3})?\s*"
)


def disable_eval() -> None:
    """Replace SymPy's functions that run text. Some of its modules use them while being imported:
    import what is needed, or preload, before this call.
    """
    import sympy
    import sympy.parsing.sympy_parser as sympy_parser

    for module in (sympy_parser, sympy.parsing, sympy):
        setattr(module, "parse_expr", _read_numeral)  # noqa: B010
    for name in ("eval_expr", "stringify_expr"):
        setattr(sympy_parser, name, _refuse)


def _read_numeral(text: Any, *args: Any, **kwargs: Any) -> Any:
    """Return a plain number, in place of `parse_expr`; raise ValueError for any other text."""
    import sympy

    if not isinstance(text, str) or not _NUMERAL.fullmatch(text):
        raise ValueError("text is never run as Python")
    if text.strip().lstrip("+-").isdigit():
        return sympy.Integer(int(text))
    return sympy.Float(text.strip())


def _refuse(*args: Any, **kwargs: Any) -> NoReturn:
    raise ValueError("text is never run as Python")
