"""Convert one row of a dataset to a `Problem`, without reading files.

A wrong value that decides verdicts (limits, input mode, checker, tests) makes the row unusable.
A wrong value that only describes the problem (rating, tags, title) is dropped.

    null, blank, absent time_limit 2 s, memory_limit 256 MB, input_mode stdio
    numbers             may be text; a MB of memory is 2**20 bytes
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, get_args

import msgspec

from gradebox.eval.common.errors import RowError, shown
from gradebox.eval.problems.problem import Problem, TestKind, TimeRule
from gradebox.eval.problems.row.tests import (
    TESTS_COLUMN,
    as_text,
    converted,
    items_of,
    plain_name,
    subtasks_of,
    test_infos,
    whole_number,
)
from gradebox.sandbox.errors import UnknownLanguage
from gradebox.sandbox.languages import find

DEFAULT_TIME_LIMIT_S = 2.0
DEFAULT_MEMORY_LIMIT_MB = 256.0
MAX_ID = 200
MAX_GOLD_SOLUTIONS = 10_000

NAME_COLUMNS = ("id", "aliases", "contest_id", "index")
# What records say of a row of another data set than Codeforces'.
ORIGIN_COLUMNS = (
    *("dataset_format", "judge", "difficulty", "platform", "contest_date", "errata", "base_tests"),
)
# Columns that decide verdicts → their types, or the words that they may be, the first by default.
_DECIDING: Mapping[str, Any] = {
    "test_kind": get_args(TestKind),
    "time_limit": Annotated[float, msgspec.Meta(gt=0, le=3600)],  # seconds
    "memory_limit": Annotated[float, msgspec.Meta(gt=0, le=1 << 20)],  # MB
    "input_mode": ("stdio", "file"),
    "generated_checker": str,
    "checker": str,
    "testlib_checker": str,
    "judge_program": dict[str, Any],
    "interaction_format": str,
    "interactor": str,
    "entry_point": Annotated[str, msgspec.Meta(max_length=MAX_ID)],  # a part of expressions
    "prompt": str,
    "prelude": str,
    "tests_language": str,
    "joined_tests": str,
    "graders": tuple[tuple[str, str], ...],
    "passes": Annotated[int, msgspec.Meta(ge=1, le=100)],
    "include_files": dict[str, dict[str, str]],
}
_LABELS = {
    "time_limit": f"time_limit (seconds; {DEFAULT_TIME_LIMIT_S:g} without it)",
    "memory_limit": f"memory_limit (MB; {DEFAULT_MEMORY_LIMIT_MB:g} without it)",
}
# Columns that only some kinds of tests have; elsewhere they may be anything.
_OF_KINDS = {
    "prompt": ("call", "assert", "graded"),
    **dict.fromkeys(("tests_language", "joined_tests"), ("assert",)),
}
USED_COLUMNS = (
    *NAME_COLUMNS,
    *("contest_start_year", "title", "rating", "tags", "official_tests_complete"),
    *_DECIDING,
    *("gold_solutions", "stop_tokens", "subtasks", "input_file", "output_file", "time_rule"),
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
    name, given = problem_id(row), _deciding(row)
    judge_program, graders = given.get("judge_program"), given.get("graders", ())
    kind: TestKind = given.get("test_kind", "stdin")
    if kind == "call" and "entry_point" not in given:
        raise RowError("test_kind is call, and entry_point is missing: name the function")
    managed = any(path.endswith("manager.cpp") for path, _ in graders)
    complete = row.get("official_tests_complete")
    language = given.get("tests_language", "")
    return Problem(
        id=name,
        time_limit_s=given.get("time_limit", DEFAULT_TIME_LIMIT_S),
        memory_limit_bytes=int(given.get("memory_limit", DEFAULT_MEMORY_LIMIT_MB) * (1 << 20)),
        input_mode=given.get("input_mode", "stdio"),
        input_file=_file(row, "input_file", Problem.input_file),
        output_file=_file(row, "output_file", Problem.output_file),
        checker=given.get("generated_checker"),
        checker_name=given.get("checker", "value" if kind == "call" else None),
        testlib_checker=given.get("testlib_checker"),
        judge_program=judge_program,
        interactive=bool(
            "interaction_format" in given
            or "interactor" in given
            or (kind == "assert" and not language)
            or managed
            or (judge_program or {}).get("role") == "interactor"
        ),
        interactor=given.get("interactor"),
        aliases=alias_ids(row),
        title=as_text(row.get("title")),
        contest_id=as_text(row.get("contest_id")) or name.partition("/")[0],
        contest_year=whole_number(row.get("contest_start_year")),
        rating=whole_number(row.get("rating")),
        tags=items_of(row.get("tags"), str),
        official_tests_complete=complete if isinstance(complete, bool) else None,
        gold_solutions=_gold_solutions(row),
        test_kind=kind,
        entry_point=given.get("entry_point", ""),
        prompt=given.get("prompt", ""),
        prelude=given.get("prelude", ""),
        language=language,
        joined_tests=given.get("joined_tests", "") if language else "",
        stop_tokens=items_of(row.get("stop_tokens"), str) if language else (),
        graders=graders if kind == "graded" else (),
        subtasks=subtasks_of(row),
        test_info=test_infos(row.get(TESTS_COLUMN)),
        passes=given.get("passes", 1),
        include_files=_include_files(given.get("include_files", {})),
        time_rule=rule if isinstance(rule := row.get("time_rule"), TimeRule) else None,
        origin=_origin(row, kind),
    )


def _deciding(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns that decide verdicts, without those that say nothing. Raises RowError."""
    found: dict[str, Any] = {}
    for column, kind in _DECIDING.items():
        value = row.get(column)
        if found.get("test_kind", "stdin") not in _OF_KINDS.get(column, get_args(TestKind)):
            continue
        if value is None or (isinstance(value, str) and not value.strip()):
            continue
        if not isinstance(kind, tuple):
            found[column] = converted(_LABELS.get(column, column), value, kind)
        elif value in kind:
            found[column] = value
        else:
            raise RowError(f"{column} is {shown(value)}: it must be {' or '.join(kind)}")
    return found


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


def _sent_files(problem: Problem) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for language, name, text in problem.include_files:
        found.setdefault(language, {})[name] = text
    return found


def _file(row: Mapping[str, Any], column: str, default: str) -> str:
    value = row.get(column)
    return default if value is None else value and plain_name(column, value)


def _include_files(given: Mapping[str, Mapping[str, str]]) -> tuple[tuple[str, str, str], ...]:
    """Return (language, name, text) of the files that belong to every solution in a language."""
    for language in given:
        if language != "default":
            try:
                find(language)
            except UnknownLanguage as error:
                raise RowError(f"include_files: {error}") from None
    return tuple(
        (language, plain_name("include_files", name), converted("include_files", text, str))
        for language, files in given.items()
        for name, text in files.items()
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
