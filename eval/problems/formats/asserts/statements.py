"""Assert statements about functions of a program, as problems of our own.

The statements run in a box of their own, where each name that is not a built-in is a function of
the program. A program must not replace `len` there, but its own function may be called `sum`.
"""

from __future__ import annotations

import builtins
import json
import re
from collections.abc import Sequence
from typing import Any

MEMORY_MB = 1024.0
_CALLED = re.compile(r"(?<![.\w])([A-Za-z_]\w*)\s*\(")
_FIRST = re.compile(r"\s*assert\s+(?:not\s+)?([A-Za-z_]\w*)\s*\(")
_BUILT_IN = frozenset(dir(builtins))


def tested_built_in(code: str | None, test: str) -> list[str]:
    """Return the built-in name that a program's tested function has, if it has one.

    That is the name called first in a test that calls built-in names only, when the program, if
    it is known, defines it.
    """
    first = _FIRST.match(test)
    if first is None or not _BUILT_IN.issuperset(_CALLED.findall(test)):
        return []
    if code is None:
        return [first[1]]
    defined = re.search(rf"^def[ \t]+{first[1]}[ \t]*\(", code, re.MULTILINE)
    return [first[1]] if defined else []


def assert_problem(
    name: str, code: str, tests: Sequence[str], time_s: float, *, apart: bool
) -> dict[str, Any]:
    """Return the problem of some statements about a program.

    apart  each statement is a test of its own, with the whole time
    """
    names = tested_built_in(code, tests[0]) if tests else []
    spec = json.dumps({"entry": "", "names": names, "prompt": ""})
    texts = tests if apart or not tests else ["\n".join(tests) + "\n"]
    return {
        "id": name,
        "test_kind": "assert",
        "time_limit": time_s,
        "memory_limit": MEMORY_MB,
        "official_tests": [{"input": text, "output": spec} for text in texts],
    }
