"""MBPP, full and sanitized: assert statements that call functions of the solution by name.

MBPP+ has a second test, a text with many inputs.
"""

from __future__ import annotations

import re
from typing import Any

from gradebox.eval.problems.formats.asserts import evalplus
from gradebox.eval.problems.formats.row_format import Judge, Row, RowFormat
from gradebox.eval.problems.formats.values import assert_test, text, texts

TIME_LIMIT_S, MEMORY_MB = 3.0, 1024.0
_DEFINED = re.compile(r"^(?:def|class)[ \t]+(\w+)", re.MULTILINE)
_WORD = re.compile(r"\w+")


def _ids(row: Row) -> dict[str, Any]:
    number = row.get("task_id")
    return {"id": number, "aliases": [f"Mbpp/{number}"]}


def _convert(row: Row, _judge: Judge) -> dict[str, Any]:
    code, tests = text(row, "code").replace("\r\n", "\n"), texts(row, "test_list")
    setup = [*texts(row, "test_imports"), text(row, "test_setup_code").replace("\r\n", "\n")]
    test = "\n".join([*filter(None, setup), *tests]) + "\n"
    plus = evalplus.without_numpy(text(row, "test"))
    words = set(_WORD.findall(test + plus))
    names = [name for name in dict.fromkeys(_DEFINED.findall(code)) if name in words]
    base = assert_test(test, "", names, "") if tests else []
    return {
        "title": (row.get("text") or row.get("prompt") or ""),
        "test_kind": "assert",
        "time_limit": evalplus.TIME_LIMIT_S if plus else TIME_LIMIT_S,
        "memory_limit": evalplus.MEMORY_MB if plus else MEMORY_MB,
        "official_tests": [
            *base,
            *assert_test(plus, "", names, ""),
        ],
        "base_tests": str(len(base)) if plus and base else "",
        "gold_solutions": [{"code": code, "expect": "passed"}],
    }


MBPP = RowFormat(
    name="mbpp",
    needs=(frozenset({"task_id", "code", "test_list"}),),
    names=("task_id",),
    uses=("text", "prompt", "code", "test_list", "test_imports", "test_setup_code", "test"),
    ids=_ids,
    convert=_convert,
)
