"""The programs that run in boxes: a solution with what calls it, and the tests that ask for calls.

    main.py of a solution           main.py of the tests
      1 its __future__ imports        codec, peer, tester_side
        streams put aside; imports
      2 the solution itself
      … codec, call_side; or codec, call_side, peer

A solution is part of the file, so that it is compiled once and reports its own errors; its line N
is line N + 1 of the file. Its module is not `__main__`: what it guards by that name does not run.

The imports of a prelude that a program cannot notice are left out:

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
from pathlib import Path
from textwrap import indent
from typing import Literal

from gradebox.sandbox.model import Program

Way = Literal["call", "answers"]

_FOLDER = Path(__file__).parent
_OURS = re.compile(r"^from gradebox\S* import (?:\([^)]*\)|.*)\n", re.MULTILINE)
_IMPORTS = re.compile(r"^import (\S+)", re.MULTILINE)
_FUTURE = re.compile(r"from[ \t]+__future__[ \t]+import[ \t]+([\w, \t]+)(?:;[ \t]*)?(?:#.*)?")
MOST_FUTURES, LONGEST_FUTURE = 100, 1000  # lines that are moved, and their characters
# Assignments to plain names: the solution's own imports are found behind them and done before a
# run (python_compile.py).
_PUT_ASIDE = (
    "_gradebox_before=dict(globals())",
    "_gradebox_streams=[_gradebox_os.dup2(0,62),_gradebox_os.dup2(1,63),_gradebox_os.dup2(2,1),"
    '_gradebox_os.dup2(_gradebox_os.open("/dev/null",0),0)]',
    '__name__="solution"',
    '_gradebox_module=_gradebox_sys.modules.setdefault("solution",_gradebox_sys.modules["__main__"])',
)
# what runs behind a solution
_SIDES: dict[Way, tuple[str, ...]] = {
    "call": ("codec", "call_side"),
    "answers": ("codec", "call_side", "peer"),
}


@lru_cache(8)
def _side(*names: str) -> str:
    """Return modules of this folder as one text, without their imports of each other."""
    return "\n".join(_OURS.sub("", (_FOLDER / f"{name}.py").read_text("utf-8")) for name in names)


@lru_cache(8)
def _body(way: Way) -> str:
    return indent(_side(*_SIDES[way]), " ") + f"\n {way}(globals(), ENTRY)\n"


@lru_cache(8)
def _imports(way: Way) -> str:
    """Return the imports of the harness, under names that no solution uses."""
    names = dict.fromkeys(("os", "sys", *_IMPORTS.findall(_side(*_SIDES[way]))))
    return ",".join(f"{name} as _gradebox_{name}" for name in names)


def solution_program(
    code: str,
    entry: str,
    way: Way,
    prelude: Sequence[str] = (),
    *,
    language: str = "python",
) -> Program:
    """Return a solution as a program that calls its entry point.

    entry     `f`, `Solution().f`, the first that exists of `A or B`; "" for none
    prelude   statements that are executed before the solution, where it can notice them
    language  a name of Python's family
    """
    first = [f"import {_imports(way)}", *needed(prelude, code), *_PUT_ASIDE]
    harness = f"def _gradebox_harness(ENTRY={entry!r}):\n{_body(way)}\n_gradebox_harness()\n"
    return _program(f"{_after(first, code)}\n\n{harness}", language)


def with_prelude(code: str, prelude: Sequence[str], language: str = "python") -> Program:
    """Return a whole program behind some statements, which are on its first line."""
    return _program(_after(needed(prelude, code), code), language)


def _after(first: list[str], code: str) -> str:
    """Return code behind statements on one line, and these behind its `__future__` imports."""
    features, code = _without_futures(code)
    if features:
        first = [f"from __future__ import {','.join(features)}", *first]
    return f"{';'.join(first)}\n{code}"


def _without_futures(code: str) -> tuple[list[str], str]:
    """Return what a program imports from `__future__`, and the program with these lines empty."""
    features: list[str] = []
    kept, at = [], 0
    for _ in range(MOST_FUTURES):
        found = code.find("__future__", at)
        if found < 0:
            break
        start = code.rfind("\n", at, found) + 1 or at
        end = code.find("\n", found)
        end = len(code) if end < 0 else end
        line = code[start:end] if end - start <= LONGEST_FUTURE else ""
        statement = _FUTURE.fullmatch(line)
        if statement:
            features += filter(None, (name.strip() for name in statement[1].split(",")))
        kept.append(code[at:start] if statement else code[at:end])
        at = end
    return features, "".join((*kept, code[at:]))


def _program(text: str, language: str) -> Program:
    return Program(language, {"main.py": text.encode("utf-8", "surrogatepass")})


def tester_program() -> Program:
    """Return the program that runs the text of tests (tester_side.py)."""
    return _program(_side("codec", "peer", "tester_side") + "\nrun_tests()\n", "python")


def reference_program() -> Program:
    """Return the program that asks a known solution what tests expect (`write_results`)."""
    return _program(_side("codec", "tester_side") + "\nwrite_results()\n", "python")


def joined_program(code: str, prelude: Sequence[str] = (), *, language: str = "python") -> Program:
    """Return a solution with what runs tests in its process (joined_side.py).

    The harness is in a namespace of its own, with built-ins of its own.
    """
    text = _side("codec", "tester_side", "joined_side", "unittest_side") + "\nrun_all()\n"
    texts = f"HARNESS, SOLUTION = {text!r}, {_after(needed(prelude, code), code)!r}\n"
    spaces = "{'__name__': 'gradebox', 'SOLUTION': globals().pop('SOLUTION'), "
    spaces += "'__builtins__': dict(vars(__import__('builtins')))}"
    # A line of its own, and short: each traceback shows it, Python 3.13 with a line of carets.
    run = f"exec(compile(globals().pop('HARNESS'), '<gradebox>', 'exec'), {spaces})\n"
    return _program(texts + run, language)


# ---- which imports of a prelude a program can notice ----

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
