"""LiveCodeBench: stdin tests, and calls of one function or method of `Solution`.

public_test_cases   JSON: [{"input", "output", "testtype"}, …]
private_test_cases  the same JSON, or packed: base64(zlib(pickle(that JSON as text)))
metadata            JSON: {"func_name": …} when functions are called, else {}
"""

from __future__ import annotations

from typing import Any

from gradebox.eval.problems.formats.packed import unpacked
from gradebox.eval.problems.formats.pairs import Judging, columns, loaded, read_tests
from gradebox.eval.problems.formats.row_format import (
    Content,
    Judge,
    Row,
    RowFormat,
    day,
    fields,
    of,
    parsed,
    text,
)
from gradebox.eval.problems.row.tests import converted

TIME_LIMIT_S = 6.0  # the original: 6 s of wall time a test
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
LIVE_JUDGING = Judging("lines-reference", "value-reference", "\n".join(PRELUDE), "value")
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
        packed = field.startswith("private") and given[0] not in "[{"
        given = unpacked(given, field, MOST_BYTES) if packed else parsed(given, field)
    found: list[Any] = converted(field, [] if given is None else given, list[dict[str, Any]])
    return found


def _slug(title: str) -> str:
    return "-".join(title.lower().split())


def _convert(row: Row, judge: Judge) -> dict[str, Any]:
    metadata = converted("metadata", loaded(row.get("metadata"), "metadata") or {}, dict[str, Any])
    function = metadata.get("func_name")
    private = _tests(row, "private_test_cases")
    tests = [*_tests(row, "public_test_cases"), *private]
    kind = "functional" if function else "stdin"
    named = [{"testtype": kind, **test, "fn_name": function, "metadata": None} for test in tests]
    title = text(row, "question_title")
    return {
        **columns(read_tests(named, "test_cases"), judge, LIVE_JUDGING),
        "title": title,
        "contest_id": text(row, "contest_id"),
        "contest_start_year": day(row.get("contest_date"))[:4],
        "tags": [],
        "errata": ERRATA.get(str(row.get("question_id"))) or ERRATA.get(_slug(title)),
        "time_limit": TIME_LIMIT_S,
        "doubt": "" if private else "private_test_cases is empty: only the public tests run",
    }


LIVECODEBENCH = RowFormat(
    name="livecodebench",
    needs=fields("question_id public_test_cases private_test_cases"),
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
FORMATS = (LIVECODEBENCH,)
