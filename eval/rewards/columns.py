"""Completions and dataset columns → what a grader takes.

    completions[i] + columns[…][i] ─▶ Part(solutions, problems), as few as can be

Two different problems of one id (a dataset may have them) go into different parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval.input_error import InputError, shown
from eval.problems.row import TESTS_COLUMN, USED_COLUMNS

PROBLEM_COLUMNS = (*USED_COLUMNS, TESTS_COLUMN)


@dataclass(frozen=True)
class Part:
    """Completions to be graded in one call: no two different problems of one id.

    places  where each of `solutions` stands among the completions
    """

    places: list[int]
    solutions: list[dict[str, Any]]
    problems: dict[str, dict[str, Any]]


def parts_of(
    completions: Sequence[Any],
    language: str | Sequence[str] | None,
    columns: Mapping[str, Any],
    *,
    by_id: bool = True,
) -> list[Part]:
    """by_id: the grader may know a problem whose tests are null; if not, it has no tests."""
    rows = _problem_rows(len(completions), columns)
    languages = _spread("language", language, len(completions))
    parts: list[Part] = []
    for i, (completion, row) in enumerate(zip(completions, rows, strict=True)):
        if not by_id and TESTS_COLUMN in row:
            row = {**row, TESTS_COLUMN: [] if row[TESTS_COLUMN] is None else row[TESTS_COLUMN]}
        given = row.get(TESTS_COLUMN) is not None
        name, part = _placed(parts, row) if given else _named(parts, row)
        part.places.append(i)
        answer = completion if isinstance(completion, (str, list, dict)) else str(completion)
        solution = {"problem_id": name, "completion": answer, "sample_id": i}
        part.solutions.append({**solution, "language": languages[i]} if languages[i] else solution)
    return parts


def _placed(parts: list[Part], row: dict[str, Any]) -> tuple[str, Part]:
    """The name of a problem with tests, and the first part where no other one has it."""
    name = str(row.get("id") or _split_id(row) or "")
    if not name:
        known = [p for part in parts for p in part.problems.values()]
        same = next((p["id"] for p in known if p.keys() == {*row, "id"} and _equal(p, row)), None)
        name = same or f"row-{len(known)}"
        row = {**row, "id": name}
    for part in parts:
        other = part.problems.setdefault(name, row)
        if other is row or _equal(other, row):
            return name, part
    parts.append(Part([], [], {name: row}))
    return name, parts[-1]


def _equal(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return all(one.get(k) is v or bool(plain(one.get(k)) == plain(v)) for k, v in other.items())


def plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value


def _named(parts: list[Part], row: Mapping[str, Any]) -> tuple[str, Part]:
    """The id of a problem that the grader knows by itself."""
    name = str(row.get("id") or _split_id(row) or "")
    if not name:
        raise InputError("no problem: give the columns official_tests, or id of the dataset")
    part = next((p for p in parts if not p.problems), None)
    if part is None:
        part = Part([], [], {})
        parts.append(part)
    return name, part


def _split_id(row: Mapping[str, Any]) -> str:
    contest, index = row.get("contest_id"), row.get("index")
    return f"{contest}/{index}" if contest and index else ""


def _problem_rows(count: int, columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each completion's columns, as far as they belong to a problem."""
    ids = columns.get("id")
    given = {**columns, "id": columns.get("problem_id") if ids is None else ids}
    kept = {
        name: _spread(name, given[name], count)
        for name in PROBLEM_COLUMNS
        if given.get(name) is not None
    }
    return [{name: values[i] for name, values in kept.items()} for i in range(count)]


def _spread(name: str, value: Any, count: int) -> Sequence[Any]:
    """A column's value for each completion: a list of them, or one for all."""
    value = plain(value)
    if value is None or isinstance(value, (str, int, float)):
        return [value] * count
    if not isinstance(value, (list, tuple)) or len(value) != count:
        raise InputError(
            f"column {name} is {shown(value)}: a list of {count} is needed, one a completion"
        )
    return value
