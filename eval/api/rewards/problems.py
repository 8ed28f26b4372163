"""Problems in the forms in which trainers keep their ground truth.

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

import json
from collections.abc import Mapping, Sequence
from typing import Any

from gradebox.eval.api.rewards.columns import PROBLEM_COLUMNS, given_columns, plain
from gradebox.eval.common.errors import InputError, shown
from gradebox.eval.problems.formats import (
    FORMATS,
    OWN,
    Judge,
    Reading,
    RowFormat,
    recognising,
)
from gradebox.eval.problems.row import NAME_COLUMNS, TESTS_COLUMN, RowError

ASSERT_TIME_S, ASSERT_MEMORY_MB = 3.0, 1024.0
_ASSERT = json.dumps({"entry": "", "names": [], "prompt": ""})


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
            truth = json.loads(text)
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
        return {**truth, **_asserts(plain(truth["assert_case"]))}
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


def _asserts(statements: Any) -> dict[str, Any]:
    return {
        "test_kind": "assert",
        "time_limit": ASSERT_TIME_S,
        "memory_limit": ASSERT_MEMORY_MB,
        TESTS_COLUMN: [{"input": text, "output": _ASSERT} for text in statements],
    }


def _calls(inputs: Any, outputs: Any, function: Any) -> dict[str, Any]:
    """Return the problem of calls; an argument is a line of JSON, or an item of a list."""
    if not isinstance(inputs, list) or not isinstance(outputs, list):
        raise InputError("the ground truth has a fn_name, and no lists inputs and outputs")
    if len(inputs) != len(outputs):
        raise InputError(f"the ground truth has {len(inputs)} inputs, {len(outputs)} outputs")
    tests = [
        {"input": _lines(given), "output": _json(expected)}
        for given, expected in zip(inputs, outputs, strict=True)
    ]
    row = {
        "question_id": "calls",
        "public_test_cases": tests,
        "private_test_cases": None,
        "metadata": {"func_name": function},
    }
    found = _converted(FORMATS["livecodebench"], row, "reference")
    return {name: value for name, value in found.items() if name not in NAME_COLUMNS}


def _converted(row_format: RowFormat, row: Mapping[str, Any], judge: Judge) -> dict[str, Any]:
    try:
        return Reading(row_format, judge).columns(row)
    except RowError as error:
        raise InputError(f"the ground truth is unusable: {error}") from None


def _lines(given: Any) -> str:
    if isinstance(given, str):
        return given
    return "\n".join(map(_json, plain(given))) if isinstance(given, list) else _json(given)


def _json(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(plain(value))
