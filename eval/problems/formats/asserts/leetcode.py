"""LeetCodeDataset: `class Solution`, a prompt with imports and node classes, `check(candidate)`."""

from __future__ import annotations

from typing import Any

from gradebox.eval.problems.formats.row_format import Judge, Row, RowFormat, text_with
from gradebox.eval.problems.formats.values import CHECK, assert_test, text

TIME_LIMIT_S, MEMORY_MB = 10.0, 1024.0  # the original: 3 s of wall time for all tests


def _ids(row: Row) -> dict[str, Any]:
    number = row.get("question_id")
    return {
        "id": row.get("task_id"),
        "aliases": [] if number is None else [number],
        "difficulty": str(row.get("difficulty") or "").lower(),
        "platform": "leetcode",
        "contest_date": str(row.get("estimated_date") or "")[:10],
    }


def _convert(row: Row, _judge: Judge) -> dict[str, Any]:
    entry, prompt = text(row, "entry_point", needed=True), text(row, "prompt")
    tags = row.get("tags")
    return {
        "test_kind": "assert",
        "entry_point": entry,
        "prompt": prompt,
        "time_limit": TIME_LIMIT_S,
        "memory_limit": MEMORY_MB,
        "tags": tags if isinstance(tags, list) else [],
        "official_tests": assert_test(text(row, "test"), entry, [], prompt),
        "gold_solutions": [{"code": text(row, "completion"), "expect": "passed"}],
    }


LEETCODE = RowFormat(
    name="leetcode",
    needs=(frozenset({"task_id", "entry_point", "completion", "test"}),),
    content={
        "test": CHECK,
        "entry_point": text_with(r"^[ \t]*Solution\(\)\.", "is not a method of Solution()"),
    },
    names=("task_id", "question_id", "difficulty", "estimated_date"),
    uses=("entry_point", "prompt", "completion", "test", "tags"),
    ids=_ids,
    convert=_convert,
)
