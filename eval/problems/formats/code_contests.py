"""CodeContests: three kinds of stdin tests, the problem's limits, known solutions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gradebox.eval.common.errors import shown
from gradebox.eval.problems.formats.pairs import MEMORY_MB, Judging, Tests, columns, read_tests
from gradebox.eval.problems.formats.row_format import Content, Judge, Row, RowFormat
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
        "title": row.get("name"),
        "rating": rating or None,
        "tags": tags if isinstance(tags, list) else [],
        "input_mode": _FILES[files],
        "time_limit": (strict and _seconds(row.get("time_limit"))) or TIME_LIMIT_S,
        "memory_limit": memory / (1 << 20) if memory else MEMORY_MB,
        "gold_solutions": [
            *known(_pairs(row.get("solutions")), LANGUAGES, "passed"),
            *known(_pairs(row.get("incorrect_solutions")), LANGUAGES, "failed"),
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


def _pairs(given: Any) -> Iterable[tuple[Any, Any]]:
    """Return (language, code) of each solution."""
    if not isinstance(given, dict):
        return ()
    lists = [given.get(name) for name in ("language", "solution")]
    return zip(*lists, strict=False) if all(isinstance(one, list) for one in lists) else ()


def known(
    pairs: Iterable[tuple[Any, Any]], languages: Mapping[Any, str], expect: str
) -> Iterator[dict[str, str]]:
    """Yield the first solutions of each language that can be run.

    pairs      (language, code) as the data set has them
    languages  its names of languages → ours
    """
    counts: Counter[str] = Counter()
    for name, code in pairs:
        language = languages.get(name) if isinstance(name, (int, str)) else None
        if language and isinstance(code, str) and counts[language] < KNOWN:
            counts[language] += 1
            yield {"code": code, "language": language, "expect": expect}


CODE_CONTESTS = RowFormat(
    name="code-contests",
    needs=(frozenset({"name", *TESTS}),),
    content=dict.fromkeys(TESTS, Content()),
    names=("name", "source"),
    uses=(
        *TESTS,
        *("time_limit", "memory_limit_bytes", "input_file", "output_file"),
        *("cf_rating", "cf_tags", "solutions", "incorrect_solutions"),
    ),
    ids=_ids,
    convert=_convert,
)
