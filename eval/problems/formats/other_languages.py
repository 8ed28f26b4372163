"""Tests in the language of the row: MultiPL-E, HumanEval-X, and HumanEvalPack, made from that one.

Those of MultiPL-E are made from HumanEval's and MBPP's. Those of the others are written by hand: in
Python they are `check(candidate)`; in other languages they are graded where they are calls compared
with literals, which is true of 9 in 10 rows (`solutions/calling`). Others compute what they expect,
or draw their inputs: their rows are reported.
"""

from __future__ import annotations

import re
from typing import Any

from gradebox.eval.common.errors import RowError, shown
from gradebox.eval.problems.formats.asserts import ERRATA, HUMANEVAL_S
from gradebox.eval.problems.formats.row_format import (
    Content,
    Judge,
    Row,
    RowFormat,
    assert_test,
    asserted,
    fields,
    of,
    text,
    text_with,
    texts,
)
from gradebox.eval.solutions.calling import Parts, expected_results, judge_name

TIME_LIMIT_S, MEMORY_MB = 15.0, 1024.0  # the original: 15 s of wall time, no memory
LANGUAGES = {
    "cpp": "c++17",
    "java": "java",
    "js": "javascript",
    "rs": "rust",
    "go": "go",
    "go_test.go": "go",
}
_ASSERTS = re.compile(r"\bassert|\.Error|\.Fatal")
_WORD = re.compile(r"(?<!\w)\w+(?=\s*\Z)")
LONGEST, MOST_BRACKETS = 200, 100  # characters of a name; in the last line of a prompt


def _id(name: Any, language: Any) -> str | None:
    return f"{str(language).removesuffix('_test.go')}/{name}" if name else None


def _platform(language: Any) -> str:
    return LANGUAGES.get(language, "") if isinstance(language, str) else ""


def entry_of(prompt: str) -> str:
    """Return the name of the function whose first line a prompt ends in. Raises RowError."""
    before = prompt.rstrip().rpartition("\n")[2].split("(", MOST_BRACKETS)[:-1]
    entry = next(filter(None, (_WORD.search(part.rstrip()[-LONGEST:]) for part in before)), None)
    if entry is None:
        raise RowError("prompt does not end in the first line of a function")
    return entry[0]


def called_problem(parts: Parts) -> dict[str, Any]:
    """Return the columns of a row whose tests are in another language than Python."""
    return {
        "title": parts.entry,
        "test_kind": "assert",
        "tests_language": parts.language,
        "entry_point": parts.entry,
        "prompt": parts.prompt,
        "joined_tests": parts.tests,
        "stop_tokens": list(parts.stop),
        "time_limit": TIME_LIMIT_S,
        "memory_limit": MEMORY_MB,
        "checker": judge_name(parts.language),
        "official_tests": [{"input": "", "output": expected_results(parts)}],
    }


def _multipl_e(row: Row, _judge: Judge) -> dict[str, Any]:
    language, prompt, tests = text(row, "language"), text(row, "prompt"), text(row, "tests")
    if language not in LANGUAGES:
        raise RowError(f"tests in {shown(language)} are not run: only {', '.join(LANGUAGES)}")
    stop = tuple(texts(row, "stop_tokens"))
    columns = called_problem(Parts(LANGUAGES[language], prompt, entry_of(prompt), tests, stop))
    return columns if _ASSERTS.search(tests) else {**columns, "official_tests": []}


MULTIPL_E = RowFormat(
    name="multipl-e",
    needs=fields("name language prompt tests stop_tokens"),
    content={"tests": Content()},
    ids={
        "id": of("name", "language", read=_id),
        "aliases": of("name", read=lambda name: [name]),
        "platform": of("language", read=_platform),
    },
    convert=_multipl_e,
)
# ---- HumanEval-X, HumanEvalPack ----

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


def _humaneval_x(row: Row, _judge: Judge) -> dict[str, Any]:
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
    convert=_humaneval_x,
)
FORMATS = (MULTIPL_E, HUMANEVAL_X)
