"""MultiPL-E: HumanEval and MBPP in other languages; tests in the language of the row."""

from __future__ import annotations

import re
from typing import Any

from gradebox.eval.common.errors import RowError, shown
from gradebox.eval.problems.formats.row_format import (
    Content,
    Judge,
    Row,
    RowFormat,
    of,
    text,
    texts,
)
from gradebox.eval.solutions.calling import Parts, expected_results, judge_name

TIME_LIMIT_S, MEMORY_MB = 15.0, 1024.0  # the original: 15 s of wall time, no memory
LANGUAGES = {
    "cpp": "c++17",
    "java": "java",
    "js": "javascript",
    "rs": "rust",
    "go": "go",
    "go_test.go": "go",
}
_ASSERTS = re.compile(r"\bassert|\.Error|\.Fatal")
_WORD = re.compile(r"(?<!\w)\w+(?=\s*\Z)")
LONGEST, MOST_BRACKETS = 200, 100  # characters of a name; in the last line of a prompt


def _id(name: Any, language: Any) -> str | None:
    return f"{str(language).removesuffix('_test.go')}/{name}" if name else None


def _platform(language: Any) -> str:
    return LANGUAGES.get(language, "") if isinstance(language, str) else ""


def _convert(row: Row, _judge: Judge) -> dict[str, Any]:
    language, prompt, tests = text(row, "language"), text(row, "prompt"), text(row, "tests")
    if language not in LANGUAGES:
        raise RowError(f"tests in {shown(language)} are not run: only {', '.join(LANGUAGES)}")
    before = prompt.rstrip().rpartition("\n")[2].split("(", MOST_BRACKETS)[:-1]
    entry = next(filter(None, (_WORD.search(part.rstrip()[-LONGEST:]) for part in before)), None)
    if entry is None:
        raise RowError("prompt does not end in the first line of a function")
    parts = Parts(LANGUAGES[language], prompt, entry[0], tests)
    return {
        "title": entry[0],
        "test_kind": "assert",
        "tests_language": LANGUAGES[language],
        "entry_point": entry[0],
        "prompt": prompt,
        "joined_tests": tests,
        "stop_tokens": texts(row, "stop_tokens"),
        "time_limit": TIME_LIMIT_S,
        "memory_limit": MEMORY_MB,
        "checker": judge_name(LANGUAGES[language]),
        "official_tests": [{"input": "", "output": expected_results(parts)}]
        if _ASSERTS.search(tests)
        else [],
    }


MULTIPL_E = RowFormat(
    name="multipl-e",
    needs=(frozenset({"name", "language", "prompt", "tests", "stop_tokens"}),),
    content={"tests": Content()},
    ids={
        "id": of("name", "language", read=_id),
        "aliases": of("name", read=lambda name: [name]),
        "platform": of("language", read=_platform),
    },
    uses=("prompt", "tests", "stop_tokens"),
    convert=_convert,
)
