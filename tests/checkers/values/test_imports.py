"""Imports of a prelude: those that a program can notice stay."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import pytest

from gradebox.checkers.values.programs import needed
from gradebox.eval.problems.formats.livecodebench import PRELUDE
from gradebox.eval.problems.formats.pairs import APPS_PRELUDE

PRELUDES = {"livecodebench": PRELUDE, "apps": APPS_PRELUDE.splitlines()}


def outcome(prelude: list[str], code: str) -> str:
    names: dict[str, Any] = {"__name__": "solution"}
    out = io.StringIO()
    limit = __import__("sys").getrecursionlimit()
    try:
        exec("\n".join(prelude), names)
        with contextlib.redirect_stdout(out):
            exec(code, names)
    except Exception as error:  # noqa: BLE001 - whatever it raises
        return f"{out.getvalue()}{type(error).__name__}: {error}"
    finally:
        __import__("sys").setrecursionlimit(limit)
    return out.getvalue()


PROGRAMS = [
    "print(1)",
    "def f(x: List[int]) -> Optional[int]: pass\nprint(f.__annotations__)",
    "print(deque([1]), Counter('aab'), defaultdict(list))",
    "print(gcd(4, 6), pow(2, 3), abs(-1), floor(1.5), inf, pi, e)",
    "print(pow(2, -1, 7))",  # the built-in one, not that of math
    "print(open, compile, sum, min, max, round, print)",
    "print(datetime)",  # the module, not the class
    "print(copy.copy([1]), heapq.heapify, math.inf, random.Random)",
    "print(heappush, bisect_left, accumulate, permutations, reduce, lru_cache, cache)",
    "print(sys.getrecursionlimit())",
    "print(itemgetter(1)([1, 2]), add(1, 2), mul)",
    "print(StringIO, dumps([1]), loads('1'), ascii_lowercase, mean([1, 2]))",
    "print(sorted(n for n in globals() if n[0] != '_')[:20])",
    "print(eval('Counter')('a'))",
    "print(getattr(__import__('builtins'), 'len'))",
    "print(nothing_here)",
    "print(date(2020, 1, 1), timedelta(1), time)",
    "print(re.findall('a', 'aa'), sub('a', 'b', 'aa'), string.digits)",
    "class Counter: pass\nprint(Counter)",
    "ｐrint = 1\nprint(ｄeque)",
    "print(stdin is sys.stdin, maxsize)",
    "print(Union, Any, Dict, Tuple, Set, Deque)",
    "print(choice, randint, shuffle, sqrt, ceil, log2, comb, isqrt)",
]


@pytest.mark.parametrize("name", PRELUDES)
@pytest.mark.parametrize("code", PROGRAMS)
def test_a_program_does_the_same_with_the_imports_that_stay(name: str, code: str) -> None:
    prelude = PRELUDES[name]
    left = needed(prelude, code)
    assert outcome(left, code) == outcome(prelude, code)


def test_what_a_program_does_not_name_is_left_out() -> None:
    assert needed(PRELUDE, "def f(a: List[int]): return deque(a)\n") == [
        "from collections import *",
        "from typing import *",
        "import sys",
        "sys.setrecursionlimit(50000)",
    ]


def test_names_are_found_in_strings_too() -> None:
    assert "from typing import *" in needed(PRELUDE, "def f(a: 'List[int]'): return a\n")


def test_other_statements_stay() -> None:
    lines = ["import numpy as np", "x = 1", "from os import path", "from numpy import *"]
    assert needed(lines, "pass") == ["import numpy as np", "x = 1", "from numpy import *"]
