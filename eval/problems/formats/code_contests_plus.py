"""CodeContests+: stdin tests, and for each problem a checker in C++ with testlib."""

from __future__ import annotations

from typing import Any

from gradebox.eval.common.errors import shown
from gradebox.eval.problems.formats.code_contests import known
from gradebox.eval.problems.formats.pairs import MEMORY_MB, Judging, columns, read_tests
from gradebox.eval.problems.formats.row_format import Content, Judge, Row, RowFormat
from gradebox.eval.problems.formats.values import text
from gradebox.eval.problems.row import RowError

TIME_LIMIT_MS = 10_000  # of a row without a limit
LANGUAGES = {"py3": "python", "python3": "python", "cpp": "c++17", "c++": "c++17", "java": "java"}
_JUDGING = Judging("tokens-reference", "value-reference", prelude="")


def _ids(row: Row) -> dict[str, Any]:
    name = row.get("id")
    slashed = name.replace("_", "/") if isinstance(name, str) and name.count("_") == 1 else None
    return {
        "id": name,
        "aliases": [slashed],
        "platform": str(row.get("source") or "").lower(),
    }


def _convert(row: Row, judge: Judge) -> dict[str, Any]:
    tests = read_tests(row.get("test_cases"), "test_cases")
    found, checker = columns(tests, judge, _JUDGING), text(row, "checker")
    return {
        **found,
        "checker": None if checker else found["checker"],
        "title": row.get("title"),
        "time_limit": (_whole(row, "time_limit") or TIME_LIMIT_MS) / 1000,
        "memory_limit": _whole(row, "memory_limit") or MEMORY_MB,
        "testlib_checker": checker,
        "gold_solutions": [
            *known(_pairs(row.get("correct_submissions")), LANGUAGES, "passed"),
            *known(_pairs(row.get("incorrect_submissions")), LANGUAGES, "failed"),
        ],
    }


def _whole(row: Row, field: str) -> int:
    value = row.get(field)
    if value is None:
        return 0
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise RowError(f"{field} is {shown(value)}: it must be a whole number")
    return value


def _pairs(given: Any) -> list[tuple[Any, Any]]:
    """Return (language, code) of each submission."""
    items = given if isinstance(given, list) else []
    return [(item.get("language"), item.get("code")) for item in items if isinstance(item, dict)]


CODE_CONTESTS_PLUS = RowFormat(
    name="code-contests-plus",
    needs=(
        frozenset({"id", "checker", "test_cases", "correct_submissions"}),
        frozenset({"id", "checker", "generator", "validator"}),
    ),
    content={"test_cases": Content()},  # the subset `default` has none: 1x to 5x have
    names=("id", "source"),
    uses=(
        *("title", "test_cases", "time_limit", "memory_limit", "checker"),
        *("correct_submissions", "incorrect_submissions"),
    ),
    ids=_ids,
    convert=_convert,
)
