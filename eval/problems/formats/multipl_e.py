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
    fields,
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


def entry_of(prompt: str) -> str:
    """Return the name of the function whose first line a prompt ends in. Raises RowError."""
    before = prompt.rstrip().rpartition("\n")[2].split("(", MOST_BRACKETS)[:-1]
    entry = next(filter(None, (_WORD.search(part.rstrip()[-LONGEST:]) for part in before)), None)
    if entry is None:
        raise RowError("prompt does not end in the first line of a function")
    return entry[0]


def called_problem(parts: Parts) -> dict[str, Any]:
    """Return the columns of a row whose tests are in another language than Python."""
    return {
        "title": parts.entry,
        "test_kind": "assert",
        "tests_language": parts.language,
        "entry_point": parts.entry,
        "prompt": parts.prompt,
        "joined_tests": parts.tests,
        "stop_tokens": list(parts.stop),
        "time_limit": TIME_LIMIT_S,
        "memory_limit": MEMORY_MB,
        "checker": judge_name(parts.language),
        "official_tests": [{"input": "", "output": expected_results(parts)}],
    }


def _convert(row: Row, _judge: Judge) -> dict[str, Any]:
    language, prompt, tests = text(row, "language"), text(row, "prompt"), text(row, "tests")
    if language not in LANGUAGES:
        raise RowError(f"tests in {shown(language)} are not run: only {', '.join(LANGUAGES)}")
    stop = tuple(texts(row, "stop_tokens"))
    columns = called_problem(Parts(LANGUAGES[language], prompt, entry_of(prompt), tests, stop))
    return columns if _ASSERTS.search(tests) else {**columns, "official_tests": []}


MULTIPL_E = RowFormat(
    name="multipl-e",
    needs=fields("name language prompt tests stop_tokens"),
    content={"tests": Content()},
    ids={
        "id": of("name", "language", read=_id),
        "aliases": of("name", read=lambda name: [name]),
        "platform": of("language", read=_platform),
    },
    uses=("prompt", "tests", "stop_tokens"),
    convert=_convert,
)
FORMATS = (MULTIPL_E,)
