"""One row of a dataset → a Problem: pure, and unmoved by rows of wrong types.

A value that decides verdicts (limits, input mode, checker, tests) and is wrong makes
the row unusable; one that only describes (rating, tags, title) is dropped.

    null, 0 or absent   time_limit → 2 s, memory_limit → 256 MB, input_mode → stdio
    numbers             may be text; memory in MB of 2**20 bytes
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from typing import Any, Literal

from eval.input_error import shown
from eval.model import Problem

DEFAULT_TIME_LIMIT_S = 2.0
DEFAULT_MEMORY_LIMIT_MB = 256.0
MAX_TIME_LIMIT_S = 3600.0
MAX_MEMORY_LIMIT_MB = 1 << 20
MAX_ID = 200
MAX_EXTRA = 200

TESTS_COLUMN = "official_tests"
NAME_COLUMNS = ("id", "aliases", "contest_id", "index")
USED_COLUMNS = (
    *NAME_COLUMNS,
    "contest_start",
    "contest_start_year",
    "title",
    "rating",
    "tags",
    "time_limit",
    "memory_limit",
    "input_mode",
    "official_tests_complete",
    "generated_checker",
    "checker",
    "interaction_format",
    "interactor",
    "gold_solutions",
)
# Long texts and second copies of tests, which nothing here needs.
LARGE_COLUMNS = frozenset(
    ["description", "input_format", "output_format", "note", "examples", "editorial", "prompt"]
)


class RowError(ValueError):
    """Why a row is no usable problem: the column, its value, what is needed."""


def problem_id(row: Mapping[str, Any]) -> str:
    """The id of a row: `id`, else `contest_id`/`index`; RowError when it has neither."""
    name = _id_text("id", row.get("id"))
    if name:
        return name
    contest = _id_text("contest_id", row.get("contest_id"))
    index = _id_text("index", row.get("index"))
    if contest and index:
        return f"{contest}/{index}"
    raise RowError("no id, nor contest_id and index")


def alias_ids(row: Mapping[str, Any]) -> tuple[str, ...]:
    """The other ids of a row; what is no id is left out."""
    value = row.get("aliases")
    names = [_lenient_text(alias) for alias in value] if isinstance(value, (list, tuple)) else []
    return tuple(dict.fromkeys(name for name in names if name and len(name) <= MAX_ID))


def make_problem(row: Mapping[str, Any], num_official: int) -> Problem:
    """The Problem of a row; RowError names the column that makes it unusable."""
    interactor = _text(row, "interactor")
    contest = _lenient_text(row.get("contest_id"))
    name = problem_id(row)
    return Problem(
        id=name,
        time_limit_s=_limit(row, "time_limit", DEFAULT_TIME_LIMIT_S, MAX_TIME_LIMIT_S, "seconds"),
        memory_limit_bytes=int(
            _limit(row, "memory_limit", DEFAULT_MEMORY_LIMIT_MB, MAX_MEMORY_LIMIT_MB, "MB")
            * (1 << 20)
        ),
        input_mode=_input_mode(row),
        checker=_text(row, "generated_checker"),
        checker_name=_text(row, "checker"),
        interactive=is_interactive(row),
        interactor=interactor,
        aliases=alias_ids(row),
        title=_lenient_text(row.get("title")),
        contest_id=contest or name.partition("/")[0],
        contest_year=_year(row),
        rating=_whole(row.get("rating")),
        tags=_tags(row.get("tags")),
        official_tests_complete=_flag(row.get("official_tests_complete")),
        num_official=num_official,
        gold_solutions=_gold(row.get("gold_solutions")),
        extra=_extra(row),
    )


def is_interactive(row: Mapping[str, Any]) -> bool:
    """Whether the problem talks with an interactor."""
    return bool(_text(row, "interaction_format") or _text(row, "interactor"))


def official_pairs(value: object, first: int = 0) -> Iterator[tuple[str, str | None]]:
    """(input, expected output or None) of the `official_tests` of a JSON row.

    Either a list of {input, output}, or {input: […], output: […]}. A missing input is
    an empty one. RowError names the test that is neither; tests are
    counted from `first`.
    """
    if value is None:
        return
    if isinstance(value, dict):
        inputs, outputs = value.get("input"), value.get("output")
        if not isinstance(inputs, list) or not isinstance(outputs, list):
            raise RowError("official_tests has no lists input and output")
        if len(inputs) != len(outputs):
            raise RowError(f"official_tests has {len(inputs)} inputs, {len(outputs)} outputs")
        value = [{"input": i, "output": o} for i, o in zip(inputs, outputs, strict=True)]
    if not isinstance(value, list):
        raise RowError(f"official_tests is {shown(value)}: a list of tests is needed")
    for number, test in enumerate(value, first):
        if not isinstance(test, dict):
            raise RowError(f"official test {number} is {shown(test)}: input, output are needed")
        given, expected = test.get("input"), test.get("output")
        given = "" if given is None else given
        if not isinstance(given, str) or not isinstance(expected, (str, type(None))):
            raise RowError(f"official test {number} has an input or output that is no text")
        yield given, expected


def _id_text(column: str, value: object) -> str:
    text = _lenient_text(value)
    if value is not None and not text and value != "":
        raise RowError(f"{column} is {shown(value)}: text or a whole number is needed")
    if len(text) > MAX_ID or not text.isprintable():
        raise RowError(f"{column} is {shown(text)}: at most {MAX_ID} printable characters")
    return text


def _lenient_text(value: object) -> str:
    """Text, or a whole number as text; "" for anything else."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if abs(value) < 1 << 63 else ""
    return value.strip() if isinstance(value, str) else ""


def _number(column: str, value: object) -> float | None:
    """A finite number, also one written as text; None for null and ""."""
    if value is None or value == "":
        return None
    if not isinstance(value, bool) and isinstance(value, (int, float, str)):
        try:
            number = float(value)
        except (ValueError, OverflowError):
            number = math.nan
        if math.isfinite(number):
            return number
    raise RowError(f"{column} is {shown(value)}: a number is needed")


def _limit(row: Mapping[str, Any], column: str, default: float, most: float, unit: str) -> float:
    value = _number(column, row.get(column)) or default
    if not 0 < value <= most:
        raise RowError(f"{column} is {value:g} {unit}: more than 0, at most {most:g} is needed")
    return value


def _text(row: Mapping[str, Any], column: str) -> str | None:
    """A text that decides something; blank is none."""
    value = row.get(column)
    if value is None:
        return None
    if not isinstance(value, str):
        raise RowError(f"{column} is {shown(value)}: text is needed")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise RowError(f"{column} has a lone surrogate: UTF-8 text is needed") from None
    return value if value.strip() else None


def _input_mode(row: Mapping[str, Any]) -> Literal["stdio", "file"]:
    value = _text(row, "input_mode") or "stdio"
    if value == "stdio":
        return "stdio"
    if value == "file":
        return "file"
    raise RowError(f"input_mode is {shown(value)}: stdio or file is needed")


def _whole(value: object) -> int | None:
    try:
        number = _number("rating", value)
    except RowError:
        return None
    return int(number) if number is not None and number.is_integer() else None


def _year(row: Mapping[str, Any]) -> int | None:
    year = _whole(row.get("contest_start_year"))
    if year is not None:
        return year
    start = _whole(row.get("contest_start"))
    if start is None or not 0 < start < 1 << 34:
        return None
    return datetime.fromtimestamp(start, timezone.utc).year


def _tags(value: object) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)):
        return ()
    return tuple(tag for tag in value if isinstance(tag, str))


def _gold(value: object) -> tuple[Mapping[str, Any], ...]:
    """Known solutions; what is no list of objects is none."""
    if not isinstance(value, (list, tuple)):
        return ()
    return tuple(entry for entry in value if isinstance(entry, dict))


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _extra(row: Mapping[str, Any]) -> dict[str, Any]:
    """Columns nobody asked for, as far as they are small: numbers, flags, short texts."""
    known = {*USED_COLUMNS, TESTS_COLUMN, *LARGE_COLUMNS}
    return {
        key: value
        for key, value in row.items()
        if key not in known
        and isinstance(value, (str, int, float))
        and not (isinstance(value, str) and len(value) > MAX_EXTRA)
    }
