"""Convert one row of a dataset to a `Problem`, without reading files.

A wrong value that decides verdicts (limits, input mode, checker, tests) makes the row unusable.
A wrong value that only describes the problem (rating, tags, title) is dropped.

    null or absent      time_limit 2 s, memory_limit 256 MB, input_mode stdio
    numbers             may be text; a MB of memory is 2**20 bytes
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from gradebox.eval.common.errors import RowError, shown
from gradebox.eval.problems.problem import Problem, TestKind, TimeRule
from gradebox.eval.problems.row.tests import (
    TESTS_COLUMN,
    as_text,
    converted,
    items_of,
    number_of,
    one_of,
    plain_name,
    subtasks_of,
    test_infos,
    text_of,
    whole_number,
)
from gradebox.sandbox.errors import UnknownLanguage
from gradebox.sandbox.languages import find

DEFAULT_TIME_LIMIT_S = 2.0
DEFAULT_MEMORY_LIMIT_MB = 256.0
MAX_TIME_LIMIT_S = 3600.0
MAX_MEMORY_LIMIT_MB = 1 << 20
MAX_ID = 200
MAX_GOLD_SOLUTIONS = 10_000
MAX_PASSES = 100

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
    *("tests_language", "joined_tests", "stop_tokens", "graders", "subtasks", "passes"),
    *("input_file", "output_file", "include_files", "time_rule"),
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
    names = [as_text(alias) for alias in value] if isinstance(value, (list, tuple)) else []
    return tuple(dict.fromkeys(name for name in names if name and len(name) <= MAX_ID))


def make_problem(row: Mapping[str, Any]) -> Problem:
    """Return the Problem of a row; raise RowError for the column that makes it unusable."""
    name = problem_id(row)
    interactor, judge_program = text_of(row, "interactor"), row.get("judge_program")
    if not isinstance(judge_program, (Mapping, type(None))):
        raise RowError(f"judge_program is {shown(judge_program)}: it must be an object")
    graders = converted("graders", row.get("graders") or (), tuple[tuple[str, str], ...])
    managed = any(path.endswith("manager.cpp") for path, _ in graders)
    memory_mb = _limit(row, "memory_limit", DEFAULT_MEMORY_LIMIT_MB, MAX_MEMORY_LIMIT_MB, "MB")
    complete = row.get("official_tests_complete")
    kind = _test_kind(row)
    language = (text_of(row, "tests_language") or "") if kind == "assert" else ""
    checker = text_of(row, "checker") or ("value" if kind == "call" else None)
    return Problem(
        id=name,
        time_limit_s=_limit(row, "time_limit", DEFAULT_TIME_LIMIT_S, MAX_TIME_LIMIT_S, "seconds"),
        memory_limit_bytes=int(memory_mb * (1 << 20)),
        input_mode=one_of(row, "input_mode", ("stdio", "file")),
        input_file=_file(row, "input_file", Problem.input_file),
        output_file=_file(row, "output_file", Problem.output_file),
        checker=text_of(row, "generated_checker"),
        checker_name=checker,
        testlib_checker=text_of(row, "testlib_checker"),
        judge_program=judge_program,
        interactive=bool(
            text_of(row, "interaction_format")
            or interactor
            or (kind == "assert" and not language)
            or managed
            or (judge_program or {}).get("role") == "interactor"
        ),
        interactor=interactor,
        aliases=alias_ids(row),
        title=as_text(row.get("title")),
        contest_id=as_text(row.get("contest_id")) or name.partition("/")[0],
        contest_year=whole_number(row.get("contest_start_year")),
        rating=whole_number(row.get("rating")),
        tags=items_of(row.get("tags"), str),
        official_tests_complete=complete if isinstance(complete, bool) else None,
        gold_solutions=_gold_solutions(row),
        test_kind=kind,
        entry_point=_entry_point(row),
        prompt=(text_of(row, "prompt") or "") if kind != "stdin" else "",
        prelude=text_of(row, "prelude") or "",
        language=language,
        joined_tests=text_of(row, "joined_tests") or "" if language else "",
        stop_tokens=items_of(row.get("stop_tokens"), str) if language else (),
        graders=graders if kind == "graded" else (),
        subtasks=subtasks_of(row),
        test_info=test_infos(row.get(TESTS_COLUMN)),
        passes=_passes(row),
        include_files=_include_files(row),
        time_rule=rule if isinstance(rule := row.get("time_rule"), TimeRule) else None,
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
        "passes": p.passes if p.passes > 1 else None,
        "include_files": _sent_files(p),
    }
    names = {"input_file": p.input_file, "output_file": p.output_file}
    found = {name: value for name, value in columns.items() if value}
    return found | (names if p.input_mode == "file" else {})


def _id_text(column: str, value: object) -> str:
    text = as_text(value)
    if value is not None and not text and value != "":
        raise RowError(f"{column} is {shown(value)}: it must be text or a whole number")
    if len(text) > MAX_ID or not text.isprintable():
        raise RowError(
            f"{column} is {shown(text)}: it may have at most {MAX_ID} printable characters"
        )
    return text


def _limit(row: Mapping[str, Any], column: str, default: float, most: float, unit: str) -> float:
    value = number_of(column, row.get(column))
    if value is None:
        return default
    if not 0 < value <= most:
        raise RowError(
            f"{column} is {value:g} {unit}: it must be more than 0 and at most {most:g}; "
            f"without it, {default:g} {unit} are allowed"
        )
    return value


def _entry_point(row: Mapping[str, Any]) -> str:
    """Return the name of the function that tests call; it becomes a part of expressions."""
    name = text_of(row, "entry_point") or ""
    if len(name) > MAX_ID:
        raise RowError(f"entry_point is {shown(name)}: it may have at most {MAX_ID} characters")
    return name


def _test_kind(row: Mapping[str, Any]) -> TestKind:
    kind: TestKind = one_of(row, "test_kind", get_args(TestKind))
    if kind == "call" and not text_of(row, "entry_point"):
        raise RowError("test_kind is call, and entry_point is missing: name the function")
    return kind


def _sent_files(problem: Problem) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for language, name, text in problem.include_files:
        found.setdefault(language, {})[name] = text
    return found


def _file(row: Mapping[str, Any], column: str, default: str) -> str:
    value = row.get(column)
    return default if value is None else value and plain_name(column, value)


def _passes(row: Mapping[str, Any]) -> int:
    passes = number_of("passes", row.get("passes"))
    if passes is None:
        return 1
    if not (passes.is_integer() and 1 <= passes <= MAX_PASSES):
        raise RowError(f"passes is {passes:g}: it must be a whole number from 1 to {MAX_PASSES}")
    return int(passes)


def _include_files(row: Mapping[str, Any]) -> tuple[tuple[str, str, str], ...]:
    """Return (language, name, text) of the files that belong to every solution in a language."""
    given = converted("include_files", row.get("include_files") or {}, dict[str, dict[str, str]])
    for language in given:
        if language != "default":
            try:
                find(language)
            except UnknownLanguage as error:
                raise RowError(f"include_files: {error}") from None
    return tuple(
        (language, plain_name("include_files", name), text_of(files, name) or "")
        for language, files in given.items()
        for name in files
    )


def _origin(row: Mapping[str, Any], kind: TestKind) -> dict[str, str]:
    found = {name: as_text(row.get(name)) for name in ORIGIN_COLUMNS}
    described = {name: value for name, value in found.items() if value}
    if kind != "stdin" or "dataset_format" in described:
        described["test_kind"] = kind
    return described


def _gold_solutions(row: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    found = items_of(row.get("gold_solutions"), dict)
    if len(found) > MAX_GOLD_SOLUTIONS:
        raise RowError(
            f"gold_solutions has {len(found)} programs: a row may have {MAX_GOLD_SOLUTIONS}"
        )
    return found
