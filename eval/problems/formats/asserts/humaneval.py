"""HumanEval and HumanEval+: a prompt that ends in a docstring, and `check(candidate)`."""

from __future__ import annotations

from typing import Any

from gradebox.eval.problems.formats.asserts import evalplus
from gradebox.eval.problems.formats.row_format import Judge, Row, RowFormat
from gradebox.eval.problems.formats.values import CHECK, assert_test, text

TIME_LIMIT_S, MEMORY_MB = 3.0, 1024.0  # the original: 3 s of wall time for all tests, no memory

# The prompts of these contradict their tests.
ERRATA = dict.fromkeys(("HumanEval/47", "HumanEval/116"), "prompt contradicts tests")


def _ids(row: Row) -> dict[str, Any]:
    return {"id": row.get("task_id")}


def _convert(row: Row, judge: Judge) -> dict[str, Any]:
    entry, prompt = text(row, "entry_point", needed=True), text(row, "prompt")
    test = text(row, "test")
    plus = evalplus.is_plus(test)
    return {
        "title": entry,
        "test_kind": "assert",
        "entry_point": entry,
        "prompt": prompt,
        "time_limit": evalplus.TIME_LIMIT_S if plus else TIME_LIMIT_S,
        "memory_limit": evalplus.MEMORY_MB if plus else MEMORY_MB,
        "official_tests": assert_test(evalplus.without_numpy(test, judge), entry, [], prompt),
        "errata": ERRATA.get(str(row.get("task_id"))),
        "gold_solutions": [{"code": text(row, "canonical_solution"), "expect": "passed"}],
    }


HUMANEVAL = RowFormat(
    name="humaneval",
    needs=(frozenset({"task_id", "entry_point", "canonical_solution", "test"}),),
    content={"test": CHECK},
    never=frozenset({"suffix"}),  # HumanEval-Infilling: text behind the completion
    names=("task_id",),
    uses=("prompt", "entry_point", "canonical_solution", "test"),
    ids=_ids,
    convert=_convert,
)
