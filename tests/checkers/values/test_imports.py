"""Imports of a prelude: those that a program can notice stay."""

import contextlib
import io
from typing import Any

import pytest

from gradebox.checkers.values.programs import needed
from gradebox.eval.problems.formats.livecodebench import PRELUDE
from gradebox.eval.problems.formats.pairs import APPS_PRELUDE
from testing.rows import rows

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


PROGRAMS = rows(__file__, "programs")


@pytest.mark.parametrize("name", PRELUDES)
@pytest.mark.parametrize("code", PROGRAMS)
def test_a_program_does_the_same_with_the_imports_that_stay(name, code):
    prelude = PRELUDES[name]
    left = needed(prelude, code)
    assert outcome(left, code) == outcome(prelude, code)


def test_what_a_program_does_not_name_is_left_out():
    assert needed(PRELUDE, "def f(a: List[int]): return deque(a)\n") == [
        "from collections import *",
        "from typing import *",
        "import sys",
        "sys.setrecursionlimit(50000)",
    ]


def test_names_are_found_in_strings_too():
    assert "from typing import *" in needed(PRELUDE, "def f(a: 'List[int]'): return a\n")


def test_other_statements_stay():
    lines = ["import numpy as np", "x = 1", "from os import path", "from numpy import *"]
    assert needed(lines, "pass") == ["import numpy as np", "x = 1", "from numpy import *"]
