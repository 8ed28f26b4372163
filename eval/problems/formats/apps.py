"""APPS and TACO: `input_output` is JSON of inputs, outputs and, for calls, fn_name."""

from __future__ import annotations

import ast
import re
from typing import Any

from gradebox.eval.problems.formats.pairs import (
    APPS_JUDGING,
    MEMORY_MB,
    columns,
    read_tests,
)
from gradebox.eval.problems.formats.row_format import Judge, Row, RowFormat, text_with

TIME_LIMIT_S = 4.0  # the originals: wall time a test; APPS ends all tests after 11 s
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_MOST_TAGS = 10_000
_CONTENT = {"input_output": text_with(r'"(?:inputs|outputs|fn_name)"', "has no inputs")}


def _apps_ids(row: Row) -> dict[str, Any]:
    return {"id": row.get("problem_id"), "difficulty": _lower(row, "difficulty")}


def _lower(row: Row, field: str) -> str:
    return str(row.get(field) or "").lower()[:100]


def _apps(row: Row, judge: Judge) -> dict[str, Any]:
    tests = columns(read_tests(row.get("input_output"), "input_output"), judge, APPS_JUDGING)
    return {**tests, "time_limit": TIME_LIMIT_S}


def _taco_ids(row: Row) -> dict[str, Any]:
    return {
        "id": row.get("id"),
        "difficulty": _lower(row, "difficulty"),
        "platform": _lower(row, "source"),
        "contest_date": str(row.get("date") or "")[:10],
    }


def _taco(row: Row, judge: Judge) -> dict[str, Any]:
    tests = columns(read_tests(row.get("input_output"), "input_output"), judge, APPS_JUDGING)
    name = row.get("name")
    time_s, memory_mb = (_largest(row.get(field)) for field in ("time_limit", "memory_limit"))
    strict = judge == "strict"
    return {
        **tests,
        "title": name if isinstance(name, str) else "",
        "tags": _listed(row.get("tags")),
        "time_limit": (strict and time_s) or TIME_LIMIT_S,
        "memory_limit": (strict and memory_mb) or MEMORY_MB,
    }


def _largest(value: Any) -> float:
    """Return the largest number in a text such as "1.0 - 2.0 seconds", 0 without one."""
    return max(map(float, _NUMBER.findall(str(value or "")[:100])), default=0.0)


def _listed(value: Any) -> list[str]:
    """Return a list that is written in Python's notation, [] for anything else."""
    try:
        found = ast.literal_eval(value) if isinstance(value, str) and len(value) < _MOST_TAGS else 0
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        found = 0
    return [tag for tag in found if isinstance(tag, str)] if isinstance(found, list) else []


APPS = RowFormat(
    name="apps",
    needs=(frozenset({"problem_id", "question", "input_output"}),),
    content=_CONTENT,
    names=("problem_id", "difficulty"),
    uses=("input_output",),
    ids=_apps_ids,
    convert=_apps,
)
TACO = RowFormat(
    name="taco",
    needs=(
        frozenset({"question", "input_output", "skill_types"}),
        frozenset({"id", "question", "input_output", "skill_types"}),
    ),
    content=_CONTENT,
    names=("id", "difficulty", "source", "date"),
    uses=("input_output", "name", "tags", "time_limit", "memory_limit"),
    ids=_taco_ids,
    convert=_taco,
    numbered=True,
)
