"""HumanEval-X, and HumanEvalPack, which was made from it: a row is in one of six languages.

The tests are written by hand. Those of Python are `check(candidate)`; those of other languages are
graded where they are calls compared with literals, which is true of 9 in 10 rows
(`solutions/calling`). Others compute what they expect, or draw their inputs: their rows are
reported.
"""

from __future__ import annotations

import re
from typing import Any

from gradebox.eval.common.errors import RowError, shown
from gradebox.eval.problems.formats.asserts import ERRATA, HUMANEVAL_S, MEMORY_MB
from gradebox.eval.problems.formats.multipl_e import called_problem, entry_of
from gradebox.eval.problems.formats.row_format import (
    Content,
    Judge,
    Row,
    RowFormat,
    assert_test,
    asserted,
    of,
    text,
    text_with,
)
from gradebox.eval.solutions.calling import Parts

_LANGUAGES = {
    "CPP": "c++17",
    "Go": "go",
    "Java": "java",
    "JavaScript": "javascript",
    "Python": "python",
    "Rust": "rust",
}
# What the originals put before a program, without numpy.
_PRELUDE = "\n".join((
    "import math,re,sys,copy,datetime,itertools,collections,heapq,statistics,functools,hashlib",
    *("from typing import *", "from collections import *"),
))  # fmt: skip
_INCLUDED = "cstdlib climits cmath cstdio cstring string vector map set algorithm iostream"
_BEFORE = {"c++17": "".join(f"#include<{name}>\n" for name in _INCLUDED.split())}
_FIRST = re.compile(r"^def[ \t]+(\w{1,100})[ \t]*\(", re.MULTILINE)
_NAMED = re.compile(r"(?:const|let|var)[ \t]+(\w{1,100})[ \t]*=")
_CRATES = re.compile(r"^use (?:rand|regex|md5)\b[^\n;]{0,200};", re.MULTILINE)


def _language(name: Any) -> str:
    return _LANGUAGES.get(str(name).partition("/")[0], "")


def _python(row: Row, prompt: str, tests: str) -> dict[str, Any]:
    found = _FIRST.findall(text(row, "declaration") or prompt)
    entry = text(row, "entry_point") or (found[-1] if found else "")
    if not entry:
        raise RowError("neither prompt nor declaration has the first line of a function")
    return asserted(
        assert_test(tests, entry, [], prompt),
        *(HUMANEVAL_S, MEMORY_MB, text(row, "canonical_solution")),
        title=entry,
        entry_point=entry,
        prompt=prompt,
        prelude=_PRELUDE,
    )


def _convert(row: Row, _judge: Judge) -> dict[str, Any]:
    name = text(row, "task_id", needed=True)
    language, prompt, tests = _language(name), text(row, "prompt"), text(row, "test")
    if not language:
        raise RowError(f"task_id is {shown(name)}: it must begin with {', '.join(_LANGUAGES)}")
    errata = ERRATA.get(f"HumanEval/{name.rpartition('/')[2]}")
    if language == "python":
        return {**_python(row, prompt, tests), "errata": errata}
    if not prompt.rstrip().endswith("{"):  # the comment alone, in HumanEval-X' Rust
        prompt = text(row, "declaration")
    prompt = _BEFORE.get(language, "") + _CRATES.sub("", prompt)
    named = _NAMED.match(prompt.rstrip().rpartition("\n")[2])
    entry = text(row, "entry_point") or (named[1] if named else entry_of(prompt))
    parts = Parts(language, prompt, entry, tests)
    columns = called_problem(parts)
    if tests.strip() and not columns["official_tests"][0]["output"]:
        raise RowError(
            f"test is not only calls of {parts.entry} that are compared with literals: not graded"
        )
    gold = {"code": text(row, "canonical_solution"), "language": language, "expect": "passed"}
    return {**columns, "gold_solutions": [gold], "errata": errata}


_ID = text_with(rf"^(?:{'|'.join(_LANGUAGES)})/", "does not begin with a language")
_FIELDS = frozenset(("task_id", "prompt", "declaration", "canonical_solution", "test"))
HUMANEVAL_X = RowFormat(
    name="humaneval-x",
    needs=(_FIELDS, _FIELDS | {"entry_point"}),
    content={"test": Content(), "task_id": _ID},
    ids={"id": of("task_id"), "platform": of("task_id", read=_language)},
    uses=("entry_point", "prompt", "declaration", "canonical_solution", "test"),
    convert=_convert,
)
FORMATS = (HUMANEVAL_X,)
