"""Rows of open-r1/codeforces-submissions, and of xCodeEval, as lines of a solutions file.

{"submission_id", "problem_id", "programmingLanguage": "GNU C++17", "source", "verdict": "OK"}
{"code_uid", "src_uid", "lang": "GNU C++17", "source_code", "exec_outcome": "PASSED"}
  ──▶ {"problem_id", "solution_id", "language": "c++17", "code", "expect": "passed",
       "known": {"site_verdict": "OK", "site_language": "GNU C++17"}}
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

Row = Mapping[str, Any]

MOST_NAME = 60  # characters
# the fields of the submission's id, its problem, language, program and verdict
SHAPES = (
    ("submission_id", "problem_id", "programmingLanguage", "source", "verdict"),
    ("code_uid", "src_uid", "lang", "source_code", "exec_outcome"),
)
# The first pattern that matches the site's name of a language counts. Other compilers of C++ are
# taken for g++ of the same standard; Python 2 and other languages we lack keep the site's name.
LANGUAGES = tuple(
    (re.compile(pattern), name)
    for pattern, name in (
        (r".*\+\+23.*", "c++23"),
        (r".*\+\+(?:20|2a).*", "c++20"),
        (r".*\+\+(?:17|1z)?(?: \(?64\)?| 2017| \(.*\)| Diagnostics)*", "c++17"),
        (r".*\+\+(?:14|1y).*", "c++14"),
        (r".*\+\+(?:11|0x).*", "c++11"),
        (r"GNU C(?:\d\d)?", "c"),
        (r"PyPy 3.*", "pypy3"),
        (r"Python 3.*", "python"),
        (r"Java \d+.*", "java"),
        (r"Kotlin.*", "kotlin"),
        (r"Rust.*", "rust"),
        (r"Go", "go"),
        (r"JavaScript.*|Node\.js.*", "javascript"),
        (r"Ruby.*", "ruby"),
        (r"(?:Mono |\.NET Core )?C#.*", "c#"),
    )
)
EXPECT = {"OK": "passed", "PASSED": "passed"} | dict.fromkeys(
    (
        *("WRONG_ANSWER", "PRESENTATION_ERROR", "RUNTIME_ERROR", "COMPILATION_ERROR"),
        *("TIME_LIMIT_EXCEEDED", "IDLENESS_LIMIT_EXCEEDED", "MEMORY_LIMIT_EXCEEDED"),
        "CHALLENGED",
    ),
    "failed",
)


def language_of(site_name: str) -> str:
    """Return our name of a language of Codeforces; the same text when we have none."""
    name = site_name.strip()[:MOST_NAME]
    return next((ours for pattern, ours in LANGUAGES if pattern.fullmatch(name)), name)


def as_line(row: Row) -> Row:
    """Return a submission as a line of a solutions file, any other row unchanged."""
    found = next((s for s in SHAPES if row.keys() >= {*s} - {"problem_id"}), None)
    if found is None:
        return row
    name, problem, language, code, verdict = map(row.get, found)
    contest, index = row.get("contestId"), row.get("problem_index")
    return {
        "problem_id": problem,
        "contest_id": contest,
        "index": index,
        "solution_id": name,
        "language": language_of(language) if isinstance(language, str) else language,
        "code": code,
        "expect": EXPECT.get(verdict) if isinstance(verdict, str) else None,
        "known": {
            name: value[:MOST_NAME]
            for name, value in (("site_verdict", verdict), ("site_language", language))
            if isinstance(value, str)
        },
    }
