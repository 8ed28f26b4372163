"""Turn completions and dataset columns into batches that a grader can grade.

    completions[i] + columns[…][i] ─▶ RewardCall(solutions, problems): one for problems that are
                                      given, one for those that the grader knows

Of several different problems with one id, which a dataset may have, all but the first get another
one. Trainers keep their ground truth in several forms:

| ground truth                              | problem                                         |
|-------------------------------------------|-------------------------------------------------|
| a row of a data set, or its JSON          | that row                                        |
| [{"input", "output"}, …], or its JSON     | a run for each                                  |
| {"inputs", "outputs"}                     | a run for each                                  |
| {"inputs", "outputs", "fn_name"}          | a call for each, judged as LiveCodeBench does   |
| {"assert_case": [statement, …]}           | statements about the program, in another box    |
| any other text                            | the id of a problem in the grader's data set    |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gradebox.eval.common.errors import InputError, RowError, shown
from gradebox.eval.problems.formats import (
    FIRST_ROWS,
    OWN,
    Judge,
    Reading,
    Recognised,
    RowFormat,
    recognising,
)
from gradebox.eval.problems.formats.livecodebench import LIVE_JUDGING, TIME_LIMIT_S
from gradebox.eval.problems.formats.pairs import columns, read_tests
from gradebox.eval.problems.formats.training import statements
from gradebox.eval.problems.row import USED_COLUMNS
from gradebox.eval.problems.row.tests import TESTS_COLUMN
from gradebox.sandbox.common.json_text import load_json

PROBLEM_COLUMNS = (*USED_COLUMNS, TESTS_COLUMN)


@dataclass(frozen=True)
class RewardCall:
    """Solutions to grade in one call.

    indices   the completion of each solution
    problems  rows by id; empty when the grader knows the problems
    """

    indices: list[int]
    solutions: list[dict[str, Any]]
    problems: dict[str, dict[str, Any]]


def batches_of(
    completions: Sequence[Any],
    language: str | Sequence[str] | None,
    columns: Mapping[str, Any],
    *,
    by_id: bool = True,
) -> list[RewardCall]:
    """Return the batches of some completions, at most two.

    language  one for all completions, or a list with one for each; None: the tag of the
              completion's code fence
    by_id     whether the grader may know a problem whose `official_tests` are null; if not, the
              problem has no tests

    Raises InputError for a column of another length, and for a completion without a problem.
    """
    rows = _problem_rows(len(completions), columns)
    languages = _one_each("language", language, len(completions))
    given, known = RewardCall([], [], {}), RewardCall([], [], {})
    for i, (completion, row) in enumerate(zip(completions, rows, strict=True)):
        if not by_id and TESTS_COLUMN in row and row[TESTS_COLUMN] is None:
            row = {**row, TESTS_COLUMN: []}
        batch = known if row.get(TESTS_COLUMN) is None else given
        name = _id_of(row) if batch is known else _named(row, given.problems)
        if not name:
            raise InputError(
                "a completion has no problem: give the column official_tests, or id for a problem "
                "of the grader's dataset"
            )
        answer = completion if isinstance(completion, (str, list, dict)) else str(completion)
        solution = {"problem_id": name, "completion": answer, "sample_id": i}
        if languages[i]:
            solution["language"] = languages[i]
        batch.indices.append(i)
        batch.solutions.append(solution)
    return [batch for batch in (given, known) if batch.solutions]


def language_of(columns: Mapping[str, Any]) -> Any:
    """Return the column `language`; None where it is the language of the rows' tests."""
    found = recognising([given_columns(columns, 0)])
    about_tests = found is not None and "language" in found.names
    return None if about_tests else columns.get("language")


def given_columns(columns: Mapping[str, Any], at: int | None = None) -> dict[str, Any]:
    """Return the columns that are not None; with `at`, only their values for that completion."""
    given = {name: plain(value) for name, value in columns.items() if value is not None}
    if at is None:
        return given
    lists = {name: v for name, v in given.items() if isinstance(v, (list, tuple)) and len(v) > at}
    return {**given, **{name: value[at] for name, value in lists.items()}}


def plain(value: Any) -> Any:
    """Return an array as a list, and any other value unchanged."""
    return value.tolist() if hasattr(value, "tolist") else value


def _named(row: Mapping[str, Any], problems: dict[str, dict[str, Any]]) -> str:
    """Add a problem to the others unless it is there; return its id among them."""
    wanted, number = _id_of(row) or "row", 0
    while True:
        name = f"{wanted}#{number}" if number else wanted
        named = {**row, "id": name}
        other = problems.setdefault(name, named)
        if other is named or (other.keys() == named.keys() and _equal(other, named)):
            return name
        number += 1


def _id_of(row: Mapping[str, Any]) -> str:
    contest, index = row.get("contest_id"), row.get("index")
    return str(row.get("id") or (f"{contest}/{index}" if contest and index else ""))


def _equal(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return all(one.get(k) is v or bool(plain(one.get(k)) == plain(v)) for k, v in other.items())


def _problem_rows(count: int, columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return, for each completion, the columns that describe a problem, in our own names."""
    given = frozenset(name for name in columns if columns[name] is not None)
    rows = (given_columns(columns, i) for i in range(min(count, FIRST_ROWS)))
    other = [row for row in Recognised(rows).formats if row is not OWN]
    if len(other) == 1:
        reading = Reading(other[0])
        values = {name: _one_each(name, columns[name], count) for name in given & {*reading.fields}}
        return [_own_columns(reading, {n: v[i] for n, v in values.items()}) for i in range(count)]
    ids = columns.get("id")
    columns = {**columns, "id": columns.get("problem_id") if ids is None else ids}
    used = {
        name: _one_each(name, columns[name], count)
        for name in PROBLEM_COLUMNS
        if columns.get(name) is not None
    }
    return [{name: values[i] for name, values in used.items()} for i in range(count)]


def _own_columns(reading: Reading, row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of another data set in our own columns; the tests of an unusable one say why."""
    try:
        return reading.columns(row)
    except RowError as error:
        return {**reading.ids(row), TESTS_COLUMN: f"unusable: {error}"}


def _one_each(name: str, value: Any, count: int) -> Sequence[Any]:
    """Return a column's value for each completion; a single value applies to all."""
    value = plain(value)
    if value is None or isinstance(value, (str, int, float)):
        return [value] * count
    if not isinstance(value, (list, tuple)) or len(value) != count:
        raise InputError(
            f"the column {name} is {shown(value)}; give a list of {count}, one for each completion"
        )
    return value


def columns_of(
    truths: Sequence[Any], infos: Sequence[Mapping[str, Any] | None]
) -> dict[str, list[Any]]:
    """Return ground truths as columns, with None where a problem lacks one.

    infos  further columns of each (`time_limit`, `language`, …), which the ground truth replaces

    Raises InputError.
    """
    rows = [{**(info or {}), **problem_of(t)} for t, info in zip(truths, infos, strict=True)]
    names = ("language", "problem_id", *PROBLEM_COLUMNS)
    return {name: [row.get(name) for row in rows] for name in names if any(name in r for r in rows)}


def problem_of(truth: Any) -> dict[str, Any]:
    """Return the columns of a ground truth. Raises InputError."""
    truth = plain(truth)
    if isinstance(truth, str):
        text = truth.strip()
        if not text.startswith(("{", "[")):
            return {"id": text}
        try:
            truth = load_json(text)
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"the ground truth {shown(text)} is not JSON ({error}); give a problem, its tests "
                "or its id"
            ) from None
    if isinstance(truth, list):
        return {TESTS_COLUMN: truth}
    if not isinstance(truth, Mapping):
        raise InputError(f"the ground truth is {shown(truth)}; give a problem, its tests or its id")
    if plain(truth.get("assert_case")):
        try:
            return {**truth, **statements(plain(truth["assert_case"]))}
        except RowError as error:
            raise InputError(str(error)) from None
    if "inputs" in truth and "outputs" in truth:
        inputs, outputs = plain(truth["inputs"]), plain(truth["outputs"])
        if truth.get("fn_name"):
            return {**_calls(inputs, outputs, truth["fn_name"]), **_own(truth)}
        return {**truth, TESTS_COLUMN: {"input": inputs, "output": outputs}}
    found = recognising([given_columns(truth)])
    if found is not None and found is not OWN:
        return _converted(found, truth, Reading(found).judge)
    return dict(truth)


def _own(truth: Mapping[str, Any]) -> dict[str, Any]:
    return {name: truth[name] for name in PROBLEM_COLUMNS if truth.get(name) is not None}


def _calls(inputs: Any, outputs: Any, function: Any) -> dict[str, Any]:
    """Return the problem of calls; an argument is a line of JSON, or an item of a list."""
    given = {"inputs": inputs, "outputs": outputs, "fn_name": function}
    try:
        tests = read_tests({n: plain(v) for n, v in given.items()}, "it", lines=True)
        found = columns(tests, "reference", LIVE_JUDGING)
    except RowError as error:
        raise InputError(f"the ground truth is unusable: {error}") from None
    origin = {"dataset_format": "livecodebench", "judge": "reference"}
    return {**found, "time_limit": TIME_LIMIT_S, **origin}


def _converted(row_format: RowFormat, row: Mapping[str, Any], judge: Judge) -> dict[str, Any]:
    try:
        return Reading(row_format, judge).columns(row)
    except RowError as error:
        raise InputError(f"the ground truth is unusable: {error}") from None
