"""Data sets of contest problems: APPS, TACO, CodeContests, CodeContests+.

| format             | tests                                                             |
|--------------------|-------------------------------------------------------------------|
| apps, taco         | `input_output`: JSON of inputs, outputs and, for calls, fn_name   |
| code-contests      | three kinds of stdin tests, the problem's limits, known solutions |
| code-contests-plus | stdin tests, and for each problem a checker in C++ with testlib   |
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any

import msgspec

from gradebox.eval.common.errors import RowError, shown
from gradebox.eval.problems.formats.pairs import (
    APPS_JUDGING,
    MEMORY_MB,
    Judging,
    Tests,
    columns,
    decoded,
    read_tests,
)
from gradebox.eval.problems.formats.row_format import (
    Content,
    Judge,
    Row,
    RowFormat,
    day,
    fields,
    lower,
    of,
    text,
    text_with,
)
from gradebox.eval.problems.row.tests import converted

APPS_S = 4.0  # the originals: wall time a test; APPS ends all tests after 11 s
CODE_CONTESTS_S = 10.0  # the original's, for every problem; of CodeContests+ without a limit
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_INPUT_OUTPUT = {"input_output": text_with(r'"(?:inputs|outputs|fn_name)"', "has no inputs")}
_TESTS = ("public_tests", "private_tests", "generated_tests")
_LANGUAGES = {2: "c++17", 3: "python", 4: "java"}  # 0 is unknown, 1 Python 2
_PLUS_LANGUAGES = {
    **dict.fromkeys(("py3", "python3"), "python"),
    **dict.fromkeys(("cpp", "c++"), "c++17"),
    "java": "java",
}
_PLATFORMS = {
    1: "codechef",
    2: "codeforces",
    3: "hackerearth",
    4: "codejam",
    6: "atcoder",
    7: "aizu",
}
KNOWN = 2  # solutions of each language and verdict that --self-check grades; rows have hundreds
_FILES = {("", ""): "stdio", ("input.txt", "output.txt"): "file"}
_TOKENS = Judging("tokens-reference", "value-reference", prelude="")
_CODEFORCES = re.compile(r"\d+_[A-Z]\w?(?=\. )")


def _apps(row: Row, judge: Judge) -> dict[str, Any]:
    tests = columns(read_tests(row.get("input_output"), "input_output"), judge, APPS_JUDGING)
    return {**tests, "time_limit": APPS_S}


def _taco(row: Row, judge: Judge) -> dict[str, Any]:
    tests = columns(read_tests(row.get("input_output"), "input_output"), judge, APPS_JUDGING)
    name = row.get("name")
    time_s, memory_mb = (largest(row.get(field)) for field in ("time_limit", "memory_limit"))
    strict = judge == "strict"
    return {
        **tests,
        "title": name if isinstance(name, str) else "",
        "tags": _listed(row.get("tags")),
        "time_limit": (strict and time_s) or APPS_S,
        "memory_limit": (strict and memory_mb) or MEMORY_MB,
    }


def largest(value: Any) -> float:
    """Return the largest number in a text such as "1.0 - 2.0 seconds", 0 without one."""
    return max(map(float, _NUMBER.findall(str(value or "")[:100])), default=0.0)


def _listed(value: Any) -> list[str]:
    """Return the texts of a list in Python's notation, [] for anything else."""
    found = decoded(value)
    return [tag for tag in found if isinstance(tag, str)] if isinstance(found, list) else []


def _slashed(name: Any) -> list[str | None]:
    """Return the other name of a problem of CodeContests+: 1000/A for 1000_A."""
    found = isinstance(name, str) and name.count("_") == 1
    return [name.replace("_", "/") if found else None]


def _short(name: Any) -> list[str]:
    """Return the ids in the name of a problem of CodeContests, such as `1000_A. Title`."""
    found = _CODEFORCES.match(name) if isinstance(name, str) else None
    return [found[0], found[0].replace("_", "/")] if found else []


def _code_contests(row: Row, judge: Judge) -> dict[str, Any]:
    pairs = [pair for field in _TESTS for pair in read_tests(row.get(field), field).pairs]
    files = (text(row, "input_file"), text(row, "output_file"))
    if files not in _FILES:
        raise RowError(f"the program reads and writes {shown(files)}: only stdin, or input.txt")
    rating, tags = row.get("cf_rating"), row.get("cf_tags")
    memory, strict = _whole(row, "memory_limit_bytes"), judge == "strict"
    return {
        **columns(Tests(tuple(pairs)), judge, _TOKENS),
        "title": row.get("name"),
        "rating": rating or None,
        "tags": tags if isinstance(tags, list) else [],
        "input_mode": _FILES[files],
        "time_limit": (strict and _seconds(row.get("time_limit"))) or CODE_CONTESTS_S,
        "memory_limit": memory / (1 << 20) if memory else MEMORY_MB,
        "gold_solutions": [
            *_known(_of_lists(row.get("solutions")), _LANGUAGES, "passed"),
            *_known(_of_lists(row.get("incorrect_solutions")), _LANGUAGES, "failed"),
        ],
    }


class _Duration(msgspec.Struct):
    seconds: float | None = None
    nanos: float | None = None


def _seconds(limit: Any) -> float:
    """Return the CPU seconds of a struct {seconds, nanos}, 0 for none."""
    found = converted("time_limit", {} if limit is None else limit, _Duration)
    return float(found.seconds or 0) + float(found.nanos or 0) / 1e9


def _of_lists(given: Any) -> Iterable[tuple[Any, Any]]:
    """Return (language, code) of each solution."""
    if not isinstance(given, dict):
        return ()
    lists = [given.get(name) for name in ("language", "solution")]
    return zip(*lists, strict=False) if all(isinstance(one, list) for one in lists) else ()


def _known(
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


def _code_contests_plus(row: Row, judge: Judge) -> dict[str, Any]:
    tests = read_tests(row.get("test_cases"), "test_cases")
    found, checker = columns(tests, judge, _TOKENS), text(row, "checker")
    return {
        **found,
        "checker": None if checker else found["checker"],
        "title": row.get("title"),
        "time_limit": _whole(row, "time_limit") / 1000 or CODE_CONTESTS_S,
        "memory_limit": _whole(row, "memory_limit") or MEMORY_MB,
        "testlib_checker": checker,
        "gold_solutions": [
            *_known(_of_submissions(row.get("correct_submissions")), _PLUS_LANGUAGES, "passed"),
            *_known(_of_submissions(row.get("incorrect_submissions")), _PLUS_LANGUAGES, "failed"),
        ],
    }


def _whole(row: Row, field: str) -> int:
    value = row.get(field)
    kind = Annotated[int, msgspec.Meta(ge=0)]
    found: int = converted(field, 0 if value is None else value, kind)
    return found


def _of_submissions(given: Any) -> list[tuple[Any, Any]]:
    """Return (language, code) of each submission."""
    items = given if isinstance(given, list) else []
    return [(item.get("language"), item.get("code")) for item in items if isinstance(item, dict)]


APPS = RowFormat(
    name="apps",
    needs=fields("problem_id question input_output"),
    content=_INPUT_OUTPUT,
    ids={"id": of("problem_id"), "difficulty": of("difficulty", read=lower)},
    convert=_apps,
)
TACO = RowFormat(
    name="taco",
    needs=fields("question input_output skill_types", "id question input_output skill_types"),
    content=_INPUT_OUTPUT,
    ids={
        "id": of("id"),
        "difficulty": of("difficulty", read=lower),
        "platform": of("source", read=lower),
        "contest_date": of("date", read=day),
    },
    uses=("name", "tags", "time_limit", "memory_limit"),
    convert=_taco,
    numbered=True,
)
CODE_CONTESTS = RowFormat(
    name="code-contests",
    needs=(frozenset({"name", *_TESTS}),),
    content=dict.fromkeys(_TESTS, Content()),
    ids={
        "id": of("name"),
        "aliases": of("name", read=_short),
        "platform": of("source", read=lambda n: _PLATFORMS.get(n, "") if type(n) is int else ""),
    },
    uses=(
        *("time_limit", "memory_limit_bytes", "input_file", "output_file"),
        *("cf_rating", "cf_tags", "solutions", "incorrect_solutions"),
    ),
    convert=_code_contests,
)
CODE_CONTESTS_PLUS = RowFormat(
    name="code-contests-plus",
    needs=fields("id checker test_cases correct_submissions", "id checker generator validator"),
    content={"test_cases": Content()},  # the subset `default` has none: 1x to 5x have
    ids={
        "id": of("id"),
        "aliases": of("id", read=_slashed),
        "platform": of("source", read=lower),
    },
    uses=("title", "time_limit", "memory_limit", "correct_submissions", "incorrect_submissions"),
    convert=_code_contests_plus,
)
FORMATS = (APPS, TACO, CODE_CONTESTS, CODE_CONTESTS_PLUS)
