"""Whether a regular expression is linear by construction: what of it may be tried again.

    a+b           on "aaaa…": from each a to the end, then no b: quadratic      ─▶ ["a+"]
    a+(?:b|)      behind the first unbounded repetition nothing can fail        ─▶ []
    a{1,200}b     a failure costs a bounded number of steps                     ─▶ []

A repetition without a bound may only be followed by what may be empty. Then a match that has begun
one cannot fail, nothing is given back, and no later match begins within it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from re import _constants as sre  # type: ignore[attr-defined] # no public name has the tree
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

MOST = 10_000  # of a repetition with a bound


def tried_again(pattern: re.Pattern[Any]) -> list[str]:
    """Return the repetitions of a pattern that a failure behind them undoes; [] is linear."""
    flags = pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags
    return list(_undone(parser.parse(pattern.pattern, flags), True))


def _undone(tree: Any, safe: bool) -> Iterable[str]:
    """Yield the unsafe repetitions; `safe`: nothing behind this tree can fail."""
    items = list(tree)
    for at, (op, argument) in enumerate(items):
        rest_is_safe = safe and _may_be_empty(parser.SubPattern(tree.state, items[at + 1 :]))
        if op in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            _, most, body = argument
            if most > MOST and not rest_is_safe:
                yield repr(list(body))[:100]
            yield from _undone(body, rest_is_safe)
        elif op is sre.SUBPATTERN:
            yield from _undone(argument[3], rest_is_safe)
        elif op is sre.BRANCH:
            for branch in argument[1]:
                yield from _undone(branch, rest_is_safe)
        elif op in (sre.ASSERT, sre.ASSERT_NOT):
            yield from _undone(argument[1], False)


def _may_be_empty(tree: Any) -> bool:
    conditions = (sre.AT, sre.ASSERT, sre.ASSERT_NOT, sre.GROUPREF)
    return tree.getwidth()[0] == 0 and all(op not in conditions for op, _ in tree)
