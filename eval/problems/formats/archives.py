"""Archives of contests that have a way of judging of their own: xCodeEval, ICPC-Eval, USACO.

| format    | tests                                                                            |
|-----------|----------------------------------------------------------------------------------|
| xcodeeval | `hidden_unit_tests`, JSON: [{"input", "output": [the right ones]}, …]            |
| icpc-eval | `test_cases`: [[input, output], …]; `spj_code` is the checker of problems `spj`  |
| usaco     | files, which `eval/problems/several_files.py` finds by the row's `num_tests`     |
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any

import msgspec

from gradebox.eval.common.errors import RowError, shown
from gradebox.eval.problems.formats.contests import largest
from gradebox.eval.problems.formats.pairs import Judging, Tests, columns, loaded
from gradebox.eval.problems.formats.row_format import (
    Content,
    Judge,
    Row,
    RowFormat,
    check_count,
    fields,
    label,
    lower,
    of,
    text,
)
from gradebox.eval.problems.row.tests import converted
from gradebox.eval.solutions.submissions import EXPECT, language_of

SHOWN = 250  # characters of a test
_EXEC_EVAL = Judging("exec-eval-reference", "", prelude="")
_STRIPPED = Judging("stripped-reference", "", prelude="")
_STANDARD = {"standard input": "", "standard output": "", "": ""}
_CODES = tuple((f"{prefix}source_code", f"{prefix}exec_outcome") for prefix in ("", "fix_", "bug_"))


class _HiddenTest(msgspec.Struct):
    input: str
    output: str | Annotated[list[str], msgspec.Meta(min_length=1)]  # the right ones


def _xcodeeval(row: Row, judge: Judge) -> dict[str, Any]:
    pairs: list[tuple[str, list[str]]] = []
    field = "hidden_unit_tests"
    given = converted(field, loaded(row.get(field), field) or [], list[_HiddenTest])
    check_count(given, field)
    for test in given:
        right = [test.output] if isinstance(test.output, str) else test.output
        outputs = list({_lf(output).strip(): _lf(output) for output in right}.values())
        if judge == "reference" or not any(map(_is_cut, (test.input, *outputs))):
            pairs.append((_lf(test.input), outputs))
    cut = len(given) - len(pairs)
    if cut and not pairs:
        raise RowError(f"all {cut} hidden_unit_tests are cut by the site that they are from")
    several = any(len(right) > 1 for _, right in pairs)
    tests = [
        (given, json.dumps(right, ensure_ascii=False) if several else right[0])
        for given, right in pairs
    ]
    found = columns(Tests(tuple(tests)), judge, _EXEC_EVAL)
    if several:
        found["checker"] = "one-of" if judge == "strict" else f"one-of-{_EXEC_EVAL.output}"
    names = [text(row, f"prob_desc_{name}") for name in ("input_from", "output_to")]
    files = [_STANDARD.get(name, name) for name in names]
    return {
        **found,
        "doubt": f"{cut} tests, which the site has cut, are left out" if cut else "",
        "time_limit": largest(row.get("prob_desc_time_limit")) or None,
        "memory_limit": largest(row.get("prob_desc_memory_limit")) or None,
        "gold_solutions": list(_known(row)),
        **(
            {"input_mode": "file", "input_file": files[0], "output_file": files[1]}
            if any(files)
            else {}
        ),
    }


def _is_cut(text: str) -> bool:
    """Return whether a text is the beginning of a test, as Codeforces shows long ones."""
    return len(text) > SHOWN and text.rstrip().endswith("...")


def _lf(text: str) -> str:
    """Return a text with the line ends that ExecEval gives to programs."""
    return text.replace("\r\n", "\n")


def _known(row: Row) -> Iterator[dict[str, Any]]:
    """Yield the programs of a row whose outcome is known."""
    for field, outcome in _CODES:
        code, expect = row.get(field), EXPECT.get(str(row.get(outcome)))
        if isinstance(code, str) and code and expect:
            language = language_of(str(row.get("lang") or ""))
            yield {"code": code, "language": language, "expect": expect}


def _icpc(row: Row, judge: Judge) -> dict[str, Any]:
    given = loaded(row.get("test_cases"), "test_cases") or []
    pairs = converted("test_cases", given, list[tuple[str, str]])
    check_count(pairs, "test_cases")
    kind, checker = row.get("type") or "traditional", text(row, "spj_code")
    if kind not in ("traditional", "spj"):
        raise RowError(f"type is {shown(kind)}: only traditional and spj are graded")
    if kind == "spj" and not checker:
        raise RowError("type is spj, and spj_code, the checker, is empty")
    found = columns(Tests(tuple(pairs)), judge, _STRIPPED)
    if kind == "spj":
        program = {"language": "c++23", "files": {"main.cpp": checker}, "name": "spj_code"}
        found |= {
            "checker": None,
            "judge_program": {"role": "checker", "protocol": "words", **program},
        }
    milliseconds = converted("time_limit_ms", row.get("time_limit_ms"), float | None)
    return {
        **found,
        "title": row.get("title"),
        "tags": row.get("tags"),
        "time_limit": (1000.0 if milliseconds is None else milliseconds) / 1000,
        "memory_limit": row.get("memory_limit_mb"),
    }


def _usaco(row: Row, judge: Judge) -> dict[str, Any]:
    solution = row.get("solution_python3")
    known = [{"completion": solution, "language": "python", "expect": "passed"}]
    return {
        **columns(Tests(), judge, _STRIPPED),
        "title": row.get("name"),
        "official_tests": row.get("tests"),
        "time_limit": row.get("runtime_limit"),
        "memory_limit": row.get("memory_limit"),
        "gold_solutions": known if isinstance(solution, str) and solution.strip() else [],
    }


XCODEEVAL = RowFormat(
    name="xcodeeval",
    needs=fields("src_uid hidden_unit_tests prob_desc_time_limit"),
    content={"hidden_unit_tests": Content()},
    ids={"id": of("src_uid"), "difficulty": of("difficulty", read=label)},
    uses=(
        *("prob_desc_memory_limit", "prob_desc_input_from", "prob_desc_output_to", "lang"),
        *(name for pair in _CODES for name in pair),
    ),
    convert=_xcodeeval,
)
ICPC_EVAL = RowFormat(
    name="icpc-eval",
    needs=fields("id type test_cases time_limit_ms"),
    content={"test_cases": Content()},
    ids={"id": of("id"), "platform": of("source", read=label)},
    uses=("spj_code", "memory_limit_mb", "title", "tags"),
    convert=_icpc,
)
# Its rows are of one file, which UsacoRows reads: no row alone has tests.
USACO = RowFormat(
    name="usaco",
    needs=fields("problem_id num_tests runtime_limit tests"),
    content={"tests": Content()},
    ids={"id": of("problem_id"), "difficulty": of("problem_level", read=lower)},
    uses=("name", "memory_limit", "solution_python3"),
    convert=_usaco,
)
FORMATS = (XCODEEVAL, ICPC_EVAL, USACO)
