"""LiveCodeBench: stdin tests, and calls of one function or method of `Solution`.

public_test_cases   JSON: [{"input", "output", "testtype"}, …]
private_test_cases  the same JSON, or packed: base64(zlib(pickle(that JSON as text)))
metadata            JSON: {"func_name": …} when functions are called, else {}
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from gradebox.eval.common.errors import RowError, shown
from gradebox.eval.problems.formats.packed import unpacked
from gradebox.eval.problems.formats.row_format import (
    Content,
    Judge,
    Row,
    RowFormat,
    arguments,
    check_count,
    day,
    of,
    parsed,
    text,
)

TIME_LIMIT_S, MEMORY_MB = 6.0, 1024.0  # the original: 6 s of wall time a test, no memory limit
MOST_BYTES = 512 << 20
PLAIN = (
    *("string", "re", "datetime", "collections", "heapq", "bisect", "copy", "math", "random"),
    *("statistics", "itertools", "functools", "operator", "io", "sys", "json"),
)
# What the original puts before every solution.
PRELUDE = [
    *(f"from {name} import *" for name in (*PLAIN, "builtins", "typing")),
    f"import {','.join(PLAIN)}",
    "sys.setrecursionlimit(50000)",
]
# Problems that the project itself lists as misjudged, by id, or title for LeetCode's.
ERRATA = {
    **dict.fromkeys(
        (
            "abc311_c",
            "abc326_d",
            "abc327_b",
            "abc333_e",
            "abc343_a",
            "abc343_e",
            "abc362_c",
            "arc185_c",
            "find-words-containing-character",
            "find-the-peaks",
            "generate-binary-strings-without-adjacent-zeros",
        ),
        "several right answers",
    ),
    **dict.fromkeys(("abc337_e", "abc355_e"), "interactive"),
    **dict.fromkeys(
        ("abc350_c", "arc189_a", "apply-operations-to-make-string-empty", "most-frequent-ids"),
        "wrong tests",
    ),
}


def _tests(row: Row, field: str) -> list[Any]:
    given = row.get(field)
    if isinstance(given, str):
        given = given.strip()
        if not given:
            return []
        if field.startswith("private") and given[0] not in "[{":
            given = unpacked(given, field, MOST_BYTES)
        else:
            given = parsed(given, field)
    if given is None:
        return []
    if not isinstance(given, list) or not all(isinstance(test, dict) for test in given):
        raise RowError(f"{field} is {shown(given)}: it must be a list of tests")
    check_count(given, field)
    return given


def _call(test: Row, number: int) -> dict[str, Any]:
    given, expected = test.get("input"), test.get("output")
    if not isinstance(given, str) or not isinstance(expected, str):
        raise RowError(f"test {number} has an input or output that is not text")
    value = parsed(expected, f"test {number}: output")
    return {"input": json.dumps(arguments(given, number)), "output": json.dumps(value)}


def _converted(tests: list[Any], function: str) -> Iterator[dict[str, Any]]:
    for number, test in enumerate(tests):
        kind = test.get("testtype")
        if kind is not None and (kind == "functional") != bool(function):
            raise RowError(
                f"test {number} is of type {shown(kind)}, but metadata has "
                f"{'the function ' + shown(function) if function else 'no func_name'}"
            )
        if function:
            yield _call(test, number)
        else:
            yield {"input": test.get("input"), "output": test.get("output")}


def _slug(title: str) -> str:
    return "-".join(title.lower().split())


def _convert(row: Row, judge: Judge) -> dict[str, Any]:
    metadata = row.get("metadata") or {}
    if isinstance(metadata, str):
        metadata = parsed(metadata, "metadata")
    if not isinstance(metadata, dict):
        raise RowError(f"metadata is {shown(metadata)}: it must be an object")
    function = metadata.get("func_name") or ""
    if not isinstance(function, str) or not (function.isidentifier() or function == ""):
        raise RowError(f"func_name is {shown(function)}: it must be a name")
    tests = [*_tests(row, "public_test_cases"), *_tests(row, "private_test_cases")]
    reference = judge == "reference"
    judges = ("value", "value-reference") if function else (None, "lines-reference")
    return {
        "title": text(row, "question_title"),
        "contest_id": text(row, "contest_id"),
        "contest_start_year": day(row.get("contest_date"))[:4],
        "tags": [],
        "test_kind": "call" if function else "stdin",
        "entry_point": f"Solution().{function} or {function}" if function else "",
        "prelude": "\n".join(PRELUDE) if function or reference else "",
        "checker": judges[reference],
        "errata": ERRATA.get(str(row.get("question_id")))
        or ERRATA.get(_slug(text(row, "question_title"))),
        "time_limit": TIME_LIMIT_S,
        "memory_limit": MEMORY_MB,
        "official_tests": list(_converted(tests, function)),
    }


LIVECODEBENCH = RowFormat(
    name="livecodebench",
    needs=(frozenset({"question_id", "public_test_cases", "private_test_cases"}),),
    content=dict.fromkeys(("public_test_cases", "private_test_cases"), Content()),
    ids={
        "id": of("question_id"),
        "difficulty": of("difficulty"),
        "platform": of("platform"),
        "contest_date": of("contest_date", read=day),
    },
    uses=(
        *("question_title", "contest_id", "metadata"),
        *("public_test_cases", "private_test_cases"),
    ),
    convert=_convert,
)
