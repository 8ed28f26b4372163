"""Convert one row of a dataset to a `Problem`, without reading files.

A wrong value that decides verdicts (limits, input mode, checker, tests) makes the row unusable.
A wrong value that only describes the problem (rating, tags, title) is dropped.

    null or absent      time_limit 2 s, memory_limit 256 MB, input_mode stdio
    numbers             may be text; a MB of memory is 2**20 bytes
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any, get_args

from gradebox.eval.common.errors import RowError, shown
from gradebox.eval.problems.problem import Problem, Subtask, TestKind

DEFAULT_TIME_LIMIT_S = 2.0
DEFAULT_MEMORY_LIMIT_MB = 256.0
MAX_TIME_LIMIT_S = 3600.0
MAX_MEMORY_LIMIT_MB = 1 << 20
MAX_ID = 200
MAX_GOLD_SOLUTIONS = 10_000

TESTS_COLUMN = "official_tests"
NAME_COLUMNS = ("id", "aliases", "contest_id", "index")
# What records say of a row of another data set than Codeforces'.
ORIGIN_COLUMNS = (
    *("dataset_format", "judge", "difficulty", "platform", "contest_date", "errata", "base_tests"),
)
USED_COLUMNS = (
    *NAME_COLUMNS,
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
    "testlib_checker",
    "judge_program",
    "interaction_format",
    "interactor",
    "gold_solutions",
    "test_kind",
    "entry_point",
    "prompt",
    "prelude",
    *("tests_language", "joined_tests", "stop_tokens", "graders", "subtasks"),
    *ORIGIN_COLUMNS,
)


def problem_id(row: Mapping[str, Any]) -> str:
    """Return `id` or `contest_id`/`index`; raise RowError when the row has neither."""
    name = _id_text("id", row.get("id"))
    if name:
        return name
    contest = _id_text("contest_id", row.get("contest_id"))
    index = _id_text("index", row.get("index"))
    if contest and index:
        return f"{contest}/{index}"
    raise RowError("the row has neither id nor contest_id and index")


def alias_ids(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the other ids of a row, without values that can't be ids."""
    value = row.get("aliases")
    names = [_as_text(alias) for alias in value] if isinstance(value, (list, tuple)) else []
    return tuple(dict.fromkeys(name for name in names if name and len(name) <= MAX_ID))


def make_problem(row: Mapping[str, Any]) -> Problem:
    """Return the Problem of a row; raise RowError for the column that makes it unusable."""
    name = problem_id(row)
    interactor, judge_program = _text(row, "interactor"), row.get("judge_program")
    if not isinstance(judge_program, (Mapping, type(None))):
        raise RowError(f"judge_program is {shown(judge_program)}: it must be an object")
    managed = any(path.endswith("manager.cpp") for path, _ in _graders(row))
    memory_mb = _limit(row, "memory_limit", DEFAULT_MEMORY_LIMIT_MB, MAX_MEMORY_LIMIT_MB, "MB")
    complete = row.get("official_tests_complete")
    kind = _test_kind(row)
    language = (_text(row, "tests_language") or "") if kind == "assert" else ""
    checker = _text(row, "checker") or ("value" if kind == "call" else None)
    return Problem(
        id=name,
        time_limit_s=_limit(row, "time_limit", DEFAULT_TIME_LIMIT_S, MAX_TIME_LIMIT_S, "seconds"),
        memory_limit_bytes=int(memory_mb * (1 << 20)),
        input_mode=_one_of(row, "input_mode", ("stdio", "file")),
        checker=_text(row, "generated_checker"),
        checker_name=checker,
        testlib_checker=_text(row, "testlib_checker"),
        judge_program=judge_program,
        interactive=bool(
            _text(row, "interaction_format")
            or interactor
            or (kind == "assert" and not language)
            or managed
        ),
        interactor=interactor,
        aliases=alias_ids(row),
        title=_as_text(row.get("title")),
        contest_id=_as_text(row.get("contest_id")) or name.partition("/")[0],
        contest_year=_whole_number(row.get("contest_start_year")),
        rating=_whole_number(row.get("rating")),
        tags=_items(row.get("tags"), str),
        official_tests_complete=complete if isinstance(complete, bool) else None,
        gold_solutions=_gold_solutions(row),
        test_kind=kind,
        entry_point=_entry_point(row),
        prompt=(_text(row, "prompt") or "") if kind != "stdin" else "",
        prelude=_text(row, "prelude") or "",
        language=language,
        joined_tests=_text(row, "joined_tests") or "" if language else "",
        stop_tokens=_items(row.get("stop_tokens"), str) if language else (),
        graders=_graders(row) if kind == "graded" else (),
        subtasks=_subtasks(row) if kind == "graded" else (),
        origin=_origin(row, kind),
    )


def row_of(problem: Problem) -> dict[str, Any]:
    """Return a row, without tests, from which `make_problem` makes a problem that is graded alike.

    Its checker programs and what only describes it are left out.
    """
    p = problem
    columns = {
        "id": p.id,
        "time_limit": p.time_limit_s,
        "memory_limit": p.memory_limit_bytes / (1 << 20),
        "input_mode": p.input_mode,
        "checker": p.checker_name,
        "interaction_format": "any" if p.interactive and p.test_kind == "stdin" else None,
        "gold_solutions": p.gold_solutions if p.test_kind == "assert" else None,
        "test_kind": p.test_kind,
        "entry_point": p.entry_point,
        "prompt": p.prompt,
        "prelude": p.prelude,
        "tests_language": p.language,
        "joined_tests": p.joined_tests,
        "stop_tokens": p.stop_tokens,
        "graders": p.graders,
    }
    return {name: value for name, value in columns.items() if value}


def official_tests(value: object) -> Iterator[tuple[bytes, bytes | None]]:
    """Yield (input, expected output or None) of a row's `official_tests`, as UTF-8.

    value  None, a list of {input, output}, {input: […], output: […]}, or JSON text of those; a
           byte that is not UTF-8 is a lone surrogate, as Python's surrogateescape has it

    A missing input is empty. Raises RowError with the number of the test that is wrong.
    """
    if isinstance(value, str):
        value = _parse_tests(value)
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
        raise RowError(f"official_tests is {shown(value)}: it must be a list of tests")
    for number, test in enumerate(value):
        if not isinstance(test, dict):
            raise RowError(
                f"official test {number} is {shown(test)}: it must have input and output"
            )
        given, expected = test.get("input"), test.get("output")
        given = "" if given is None else given
        if not isinstance(given, str) or not isinstance(expected, (str, type(None))):
            raise RowError(f"official test {number} has an input or output that is not text")
        try:
            yield _as_bytes(given), None if expected is None else _as_bytes(expected)
        except UnicodeEncodeError as error:
            raise RowError(
                f"official test {number} has a lone surrogate: it must be UTF-8 text"
            ) from error


def _as_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _parse_tests(text: str) -> object:
    try:
        return json.loads(text) if text.strip() else None
    except (ValueError, RecursionError) as error:
        raise RowError("official_tests is text that is not JSON") from error


def _id_text(column: str, value: object) -> str:
    text = _as_text(value)
    if value is not None and not text and value != "":
        raise RowError(f"{column} is {shown(value)}: it must be text or a whole number")
    if len(text) > MAX_ID or not text.isprintable():
        raise RowError(
            f"{column} is {shown(text)}: it may have at most {MAX_ID} printable characters"
        )
    return text


def _as_text(value: object) -> str:
    """Return text, or a whole number as text; "" for anything else."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if abs(value) < 1 << 63 else ""
    return value.strip() if isinstance(value, str) else ""


def _number(column: str, value: object) -> float | None:
    """Return a finite number, which may be written as text; None for null and ""."""
    if value is None or value == "":
        return None
    if not isinstance(value, bool) and isinstance(value, (int, float, str)):
        try:
            number = float(value)
        except (ValueError, OverflowError):
            number = math.nan
        if math.isfinite(number):
            return number
    raise RowError(f"{column} is {shown(value)}: it must be a number")


def _limit(row: Mapping[str, Any], column: str, default: float, most: float, unit: str) -> float:
    value = _number(column, row.get(column))
    if value is None:
        return default
    if not 0 < value <= most:
        raise RowError(
            f"{column} is {value:g} {unit}: it must be more than 0 and at most {most:g}; "
            f"without it, {default:g} {unit} are allowed"
        )
    return value


def _text(row: Mapping[str, Any], column: str) -> str | None:
    """Return a text that decides verdicts; None when it is missing or blank."""
    value = row.get(column)
    if value is None:
        return None
    if not isinstance(value, str):
        raise RowError(f"{column} is {shown(value)}: it must be text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise RowError(f"{column} has a lone surrogate: it must be UTF-8 text") from None
    return value if value.strip() else None


def _entry_point(row: Mapping[str, Any]) -> str:
    """Return the name of the function that tests call; it becomes a part of expressions."""
    name = _text(row, "entry_point") or ""
    if len(name) > MAX_ID:
        raise RowError(f"entry_point is {shown(name)}: it may have at most {MAX_ID} characters")
    return name


def _one_of(row: Mapping[str, Any], column: str, words: tuple[str, ...]) -> Any:
    """Return a word; the first one when it is missing."""
    value = _text(row, column) or words[0]
    if value not in words:
        choices = " or ".join(words) if len(words) == 2 else f"one of {', '.join(words)}"
        raise RowError(f"{column} is {shown(value)}: it must be {choices}")
    return value


def _test_kind(row: Mapping[str, Any]) -> TestKind:
    kind: TestKind = _one_of(row, "test_kind", get_args(TestKind))
    if kind == "call" and not _text(row, "entry_point"):
        raise RowError("test_kind is call, and entry_point is missing: name the function")
    return kind


def _graders(row: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    files = row.get("graders") or ()
    if not isinstance(files, (list, tuple)):
        raise RowError(f"graders is {shown(files)}: it must be a list of [path, text]")
    found = []
    for file in files:
        pair = tuple(file) if isinstance(file, (list, tuple)) else ()
        if len(pair) != 2 or not all(isinstance(part, str) for part in pair):
            raise RowError(f"graders has {shown(file)}: it must have [path, text]")
        found.append((pair[0], pair[1]))
    return tuple(found)


def _subtasks(row: Mapping[str, Any]) -> tuple[Subtask, ...]:
    """Return the subtasks; raise RowError for tests that do not exist and negative points."""
    given, found = row.get("subtasks") or (), []
    count = len(list(official_tests(row.get(TESTS_COLUMN))))
    for item in given if isinstance(given, (list, tuple)) else (given,):
        tests = item.get("tests") if isinstance(item, Mapping) else None
        if not isinstance(tests, (list, tuple)) or not all(type(i) is int for i in tests):
            raise RowError(f"subtasks has {shown(item)}: it must have a list of tests")
        points = _number("points", item.get("points")) or 0.0
        digits = _whole_number(item.get("digits"))
        if points < 0 or any(not 0 <= i < count for i in tests):
            raise RowError(f"subtasks has {shown(item)}: {count} tests and points from 0 on")
        found.append(Subtask(_as_text(item.get("name")), points, digits or 0, tuple(tests)))
    return tuple(found)


def _origin(row: Mapping[str, Any], kind: TestKind) -> dict[str, str]:
    found = {name: _as_text(row.get(name)) for name in ORIGIN_COLUMNS}
    described = {name: value for name, value in found.items() if value}
    if kind != "stdin" or "dataset_format" in described:
        described["test_kind"] = kind
    return described


def _whole_number(value: object) -> int | None:
    try:
        number = _number("", value)
    except RowError:
        return None
    whole = number is not None and number.is_integer() and abs(number) < 1 << 63
    return int(number) if number is not None and whole else None


def _gold_solutions(row: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    found = _items(row.get("gold_solutions"), dict)
    if len(found) > MAX_GOLD_SOLUTIONS:
        raise RowError(
            f"gold_solutions has {len(found)} programs: a row may have {MAX_GOLD_SOLUTIONS}"
        )
    return found


def _items(value: object, kind: type) -> tuple[Any, ...]:
    """Return the items of a list that have a type; () when the value is not a list."""
    if not isinstance(value, (list, tuple)):
        return ()
    return tuple(item for item in value if isinstance(item, kind))
