"""IOI: a row for each subtask; the tests are rows of a data set of their own.

open-r1/ioi             {year, id, subtask, score, test_names, grader_files, …}     a subtask
open-r1/ioi-test-cases  {year, problem_id, test_name, test_input, test_output}      a test
    ──▶ one problem `2024/hieroglyphs`, whose subtasks share its tests
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from gradebox.eval.common.errors import RowError, shown
from gradebox.eval.problems.formats.row_format import (
    Column,
    Judge,
    Row,
    RowFormat,
    fields,
    of,
    text,
)
from gradebox.eval.problems.row.tests import converted

MOST_DIGITS = 9
_SEVERAL = re.compile(r'"num_processes"\s*:\s*(?:[2-9]|1\d)')


def problem_name(row: Row, field: str = "id") -> str:
    """Return the name of a problem, such as `2024/hieroglyphs`. Raises RowError."""
    year, name = row.get("year"), row.get(field)
    if not isinstance(year, (int, str)) or not isinstance(name, str) or not name.strip():
        raise RowError(f"year is {shown(year)}, {field} is {shown(name)}: both are needed")
    return f"{year}/{name}"


def _part_of(field: str, part: str) -> Column:
    """Return the id of a part of a problem, which a field names."""

    def read(year: Any, name: Any, number: Any) -> str:
        return f"{problem_name({'year': year, field: name}, field)}/{number}"

    return of("year", field, part, read=read)


def _alone(row: Row, _judge: Judge) -> dict[str, Any]:
    raise RowError(
        "a row of IOI has no tests: give a folder with the rows and with those of ioi-test-cases"
    )


def _test(row: Row, _judge: Judge) -> dict[str, Any]:
    return {"id": "", "input": text(row, "test_input"), "output": text(row, "test_output")}


_USED = (
    *("id", "year", "day", "name", "subtask", "score", "score_precision", "test_names"),
    *("time_limit", "memory_limit", "task_type", "grader_files"),
)
IOI = RowFormat(
    name="ioi",
    needs=fields("id subtask test_names grader_files"),
    ids={"id": _part_of("id", "subtask")},
    convert=_alone,
)
# Rows as they are: the problems are made of several.
IOI_ROWS = RowFormat("ioi", IOI.needs, {name: of(name) for name in _USED}, lambda row, _: {})
IOI_TESTS = RowFormat(
    name="ioi-test-cases",
    needs=fields("problem_id test_name test_input test_output"),
    ids={"id": _part_of("problem_id", "test_name")},
    convert=_test,
)


def merged(rows: Sequence[Row], tests: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """Return the rows of one problem as one row in our own columns.

    tests  {input, output} by name; only those that are named are needed

    Raises RowError for tests that are missing, and for programs that nothing here can join.
    """
    first = rows[0]
    numbers: dict[str, int] = {}
    subtasks = []
    for row in rows:
        names = test_names(row)
        subtasks.append(
            {
                "name": str(row.get("subtask")),
                "points": row.get("score"),
                "digits": min(max(int(row.get("score_precision") or 0), 0), MOST_DIGITS),
                "tests": [numbers.setdefault(name, len(numbers)) for name in names],
            }
        )
    missing = [name for name in numbers if name not in tests]
    if missing:
        raise RowError(f"{len(missing)} tests are not in the folder, such as {shown(missing[0])}")
    memory = first.get("memory_limit")
    return {
        **names_of(first),
        "title": first.get("name"),
        "test_kind": "graded",
        "time_limit": first.get("time_limit") or None,
        "memory_limit": memory / (1 << 20) if memory and isinstance(memory, (int, float)) else None,
        "contest_start_year": first.get("year"),
        "graders": _graders(first),
        "subtasks": subtasks,
        "official_tests": [dict(tests[name]) for name in numbers],
    }


def names_of(row: Row) -> dict[str, Any]:
    """Return the id of a row's problem and its other name."""
    return {"id": problem_name(row), "aliases": [row.get("id")], "platform": "ioi"}


def test_names(row: Row) -> list[str]:
    """Return the names of a subtask's tests. Raises RowError."""
    return list(dict.fromkeys(converted("test_names", row.get("test_names"), list[str])))


def _graders(row: Row) -> list[tuple[str, str]]:
    """Return the grader files. Raises RowError for several processes of one solution."""
    given = row.get("grader_files")
    files: list[tuple[str, str]] = converted("grader_files", given, list[tuple[str, str]])
    for path, content in files:
        if path.endswith("grader_config.json") and _SEVERAL.search(content):
            raise RowError("the manager talks with several processes, which is not supported")
    return files


FORMATS = (IOI,)
