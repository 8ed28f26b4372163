"""Which imports of a prelude a program can notice: the others are left out.

    ["from typing import *", "from math import *", "import sys,json"], "def f(x: List): …"
        ──▶ ["from typing import *"]

LiveCodeBench puts 36 imports before each program. They take longer than most of its tests, and a
program uses few of their names. A statement stays when the program's text has one of the names that
it binds, wherever: in code, comments or strings. All stay when the program may look names up by
itself (`eval`, `globals`, …), and when it is longer than the longest that Codeforces takes.
"""

from __future__ import annotations

import importlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

# Modules whose star imports are known: all are of the standard library, and importing them does
# nothing else.
_KNOWN = frozenset(
    (
        *("string", "re", "datetime", "collections", "heapq", "bisect", "copy", "math", "random"),
        *("statistics", "itertools", "functools", "operator", "io", "sys", "json", "builtins"),
        "typing",
    )
)
# Public names that newer Pythons than the grader's have in these modules.
_NEWER = {
    "collections": (),
    "copy": ("replace",),
    "datetime": ("UTC",),
    "functools": ("Placeholder",),
    "heapq": ("heapify_max", "heappop_max", "heappush_max", "heappushpop_max", "heapreplace_max"),
    "itertools": ("batched", "pairwise"),
    "math": ("cbrt", "exp2", "fma", "sumprod"),
    "operator": ("call", "is_none", "is_not_none"),
    "random": ("binomialvariate", "randbytes"),
    "re": ("NOFLAG", "PatternError"),
    "statistics": ("correlation", "covariance", "fmean", "kde", "kde_random", "linear_regression"),
}
MOST_READ = 1 << 16  # characters: 5 ms of CPU time
LONGEST = 60  # characters of a name that a prelude binds
_WORD = re.compile(r"[^\W\d]\w*")
_FIRST_WORD = re.compile(r"(?<![.\w])[^\W\d]\w*")
_LOOKS_UP = frozenset(
    (
        *("eval", "exec", "globals", "locals", "vars", "dir", "modules", "_getframe", "inspect"),
        *("__dict__", "__builtins__", "__globals__", "__import__", "__main__", "f_globals", "gc"),
        *("importlib", "settrace", "setprofile", "pickle", "marshal", "hasattr"),
    )
)
_STAR = re.compile(r"from (\w+) import \*")
_NAMED = re.compile(r"from (\w+) import (\w+(?:,\w+)*)")
_PLAIN = re.compile(r"import (\w+(?:,\w+)*)")


@lru_cache(32)
def _star_names(module: str) -> frozenset[str]:
    """Return the names that `from module import *` binds, in this Python and in newer ones."""
    found = importlib.import_module(module)
    own = getattr(found, "__all__", None) or [name for name in vars(found) if name[0] != "_"]
    if module == "builtins":  # needed only to undo what a star import before it has hidden
        others: Iterable[str] = set().union(*(_star_names(m) for m in _KNOWN - {"builtins"}))
        return frozenset(own).intersection(others)
    return frozenset((*own, *_NEWER.get(module, ())))


def needed(prelude: Sequence[str], code: str) -> list[str]:
    """Return the statements of a prelude that a program can notice, in their order."""
    others = [line for line in prelude if not line.startswith(("from ", "import "))]
    words = _words(code[:MOST_READ]).union(*(_FIRST_WORD.findall(line) for line in others))
    if len(code) > MOST_READ or not words.isdisjoint(_LOOKS_UP):
        return list(prelude)
    kept = [_kept(line, words) for line in prelude]
    return [line for line in kept if line]


def _words(code: str) -> set[str]:
    """Return the words of a text, spelled as Python takes them for names (NFKC).

    One letter may become 18: a long word is no name of a prelude, in whatever spelling.
    """
    words = set(_WORD.findall(code))
    if code.isascii():
        return words
    return {w if w.isascii() else unicodedata.normalize("NFKC", w[:LONGEST]) for w in words}


def _kept(line: str, words: set[str]) -> str:
    if star := _STAR.fullmatch(line):
        unused = star[1] in _KNOWN and _star_names(star[1]).isdisjoint(words)
        return "" if unused else line
    if named := _NAMED.fullmatch(line):
        names = [name for name in named[2].split(",") if name in words]
        return f"from {named[1]} import {','.join(names)}" if names else ""
    if plain := _PLAIN.fullmatch(line):
        names = [name for name in plain[1].split(",") if name in words]
        return f"import {','.join(names)}" if names else ""
    return line
