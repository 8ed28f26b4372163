"""The programs that run in boxes: a solution with what calls it, and the tests that ask for calls.

    main.py of a solution           main.py of the tests
      1 its __future__ imports        codec, peer, tester_side
        streams put aside; imports
      2 the solution itself
      … codec, call_side; or codec, peer, call_side, solution_side

A solution is part of the file, so that it is compiled once and reports its own errors; its line N
is line N + 1 of the file. Its module is not `__main__`: what it guards by that name does not run.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from textwrap import indent
from typing import Literal

from gradebox.checkers.values.imports import needed
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
    "answers": ("codec", "peer", "call_side", "solution_side"),
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
    text = _side("codec", "peer", "tests_text", "tester_side") + "\nrun_tests()\n"
    return _program(text, "python")


def joined_program(code: str, prelude: Sequence[str] = (), *, language: str = "python") -> Program:
    """Return a solution with what runs tests in its process (joined_side.py).

    The harness is in a namespace of its own, with built-ins of its own.
    """
    text = _side("codec", "tests_text", "joined_side") + "\nrun_all()\n"
    spaces = f"{{'__name__': 'gradebox', 'SOLUTION': {_after(needed(prelude, code), code)!r}, "
    spaces += "'__builtins__': dict(vars(__import__('builtins')))}"
    return _program(f"exec(compile({text!r}, '<gradebox>', 'exec'), {spaces})\n", language)
