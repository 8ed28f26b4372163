"""MBPP, full and sanitized: assert statements that call functions of the solution by name.

MBPP+ has a second test, a text with many inputs. AceCode has the statements alone.
"""

from __future__ import annotations

import re
from typing import Any

from gradebox.eval.problems.formats.asserts import evalplus
from gradebox.eval.problems.formats.asserts.statements import tested_built_in
from gradebox.eval.problems.formats.row_format import Judge, Row, RowFormat
from gradebox.eval.problems.formats.values import ASSERTS, assert_test, text, texts

TIME_LIMIT_S, MEMORY_MB = 3.0, 1024.0
ACECODE_S = 10.0  # for about 16 statements together
_DEFINED = re.compile(r"^(?:def|class)[ \t]+(\w+)", re.MULTILINE)
_WORD = re.compile(r"\w+")


def _ids(row: Row) -> dict[str, Any]:
    number = row.get("task_id")
    return {"id": number, "aliases": [f"Mbpp/{number}"]}


def _convert(row: Row, judge: Judge) -> dict[str, Any]:
    code, tests = text(row, "code").replace("\r\n", "\n"), texts(row, "test_list")
    setup = [*texts(row, "test_imports"), text(row, "test_setup_code").replace("\r\n", "\n")]
    test = "\n".join([*filter(None, setup), *tests]) + "\n"
    plus = evalplus.without_numpy(text(row, "test"), judge)
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
    content={"test_list": ASSERTS},
    names=("task_id",),
    uses=("text", "prompt", "code", "test_list", "test_imports", "test_setup_code", "test"),
    ids=_ids,
    convert=_convert,
)


def _acecode(row: Row, _judge: Judge) -> dict[str, Any]:
    tests = texts(row, "test_cases")
    names = tested_built_in(None, tests[0]) if tests else []
    return {
        "test_kind": "assert",
        "time_limit": ACECODE_S,
        "memory_limit": MEMORY_MB,
        "official_tests": assert_test("\n".join(tests) + "\n", "", names, ""),
    }


ACECODE = RowFormat(
    name="acecode",
    needs=(frozenset({"id", "question", "test_cases"}),),
    content={"test_cases": ASSERTS},
    names=("id", "source"),
    uses=("test_cases",),
    ids=lambda row: {"id": row.get("id"), "platform": str(row.get("source") or "")[:100]},
    convert=_acecode,
)
