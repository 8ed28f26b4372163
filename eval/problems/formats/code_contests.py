"""CodeContests: three kinds of stdin tests, the problem's limits, known solutions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from gradebox.eval.common.errors import shown
from gradebox.eval.problems.formats.pairs import MEMORY_MB, Judging, Tests, columns, read_tests
from gradebox.eval.problems.formats.row_format import Judge, Row, RowFormat
from gradebox.eval.problems.formats.values import text
from gradebox.eval.problems.row import RowError

TIME_LIMIT_S = 10.0  # the original's, for every problem
TESTS = ("public_tests", "private_tests", "generated_tests")
LANGUAGES = {2: "c++17", 3: "python", 4: "java"}  # 0 is unknown, 1 Python 2
PLATFORMS = {
    1: "codechef",
    2: "codeforces",
    3: "hackerearth",
    4: "codejam",
    6: "atcoder",
    7: "aizu",
}
KNOWN = 2  # solutions of each language and verdict that --self-check grades; rows have hundreds
_FILES = {("", ""): "stdio", ("input.txt", "output.txt"): "file"}
_JUDGING = Judging("tokens-reference", "value-reference", prelude="")
_CODEFORCES = re.compile(r"\d+_[A-Z]\w?(?=\. )")


def _ids(row: Row) -> dict[str, Any]:
    name, source = row.get("name"), row.get("source")
    short = _CODEFORCES.match(name) if isinstance(name, str) else None
    return {
        "id": name,
        "aliases": [short[0], short[0].replace("_", "/")] if short else [],
        "platform": PLATFORMS.get(source, "") if isinstance(source, int) else "",
    }


def _convert(row: Row, judge: Judge) -> dict[str, Any]:
    pairs = [pair for field in TESTS for pair in read_tests(row.get(field), field).pairs]
    files = (text(row, "input_file"), text(row, "output_file"))
    if files not in _FILES:
        raise RowError(f"the program reads and writes {shown(files)}: only stdin, or input.txt")
    rating, tags = row.get("cf_rating"), row.get("cf_tags")
    memory, strict = row.get("memory_limit_bytes"), judge == "strict"
    if memory is not None and not isinstance(memory, int):
        raise RowError(f"memory_limit_bytes is {shown(memory)}: it must be a whole number")
    return {
        **columns(Tests(tuple(pairs)), judge, _JUDGING),
        **_ids(row),
        "title": row.get("name"),
        "rating": rating or None,
        "tags": tags if isinstance(tags, list) else [],
        "input_mode": _FILES[files],
        "time_limit": (strict and _seconds(row.get("time_limit"))) or TIME_LIMIT_S,
        "memory_limit": memory / (1 << 20) if memory else MEMORY_MB,
        "gold_solutions": [
            *_known(row.get("solutions"), "passed"),
            *_known(row.get("incorrect_solutions"), "failed"),
        ],
    }


def _seconds(limit: Any) -> float:
    """Return the CPU seconds of a struct {seconds, nanos}, 0 for none."""
    if limit is None:
        return 0.0
    parts = [limit.get(name) or 0 for name in ("seconds", "nanos")] if type(limit) is dict else []
    if not parts or not all(isinstance(part, (int, float)) for part in parts):
        raise RowError(f"time_limit is {shown(limit)}: it must have seconds and nanos")
    return float(parts[0]) + float(parts[1]) / 1e9


def _known(given: Any, expect: str) -> Iterator[dict[str, str]]:
    """Yield the first solutions of each language that can be run."""
    if not isinstance(given, dict):
        return
    languages, texts = given.get("language"), given.get("solution")
    if not isinstance(languages, list) or not isinstance(texts, list):
        return
    counts = dict.fromkeys(LANGUAGES, 0)
    for number, code in zip(languages, texts, strict=False):
        if number in counts and counts[number] < KNOWN and isinstance(code, str):
            counts[number] += 1
            yield {"code": code, "language": LANGUAGES[number], "expect": expect}


CODE_CONTESTS = RowFormat(
    name="code-contests",
    needs=(frozenset({"name", *TESTS}),),
    names=("name", "source"),
    uses=(
        *TESTS,
        *("time_limit", "memory_limit_bytes", "input_file", "output_file"),
        *("cf_rating", "cf_tags", "solutions", "incorrect_solutions"),
    ),
    ids=_ids,
    convert=_convert,
)
