"""Rows of Codeforces' own submissions as solutions with a known verdict."""

from __future__ import annotations

import json

import pytest

from gradebox.eval.grading.known.grade import expectations
from gradebox.eval.solutions.reader import read_rows, read_solutions
from gradebox.eval.solutions.submissions import language_of
from gradebox.sandbox.languages import find

ROW = {
    "submission_id": "77",
    "source": "int main() {}",
    "contestId": 1000,
    "problem_index": "A",
    "problem_id": "1000/A",
    "programmingLanguage": "GNU C++17 (64)",
    "verdict": "WRONG_ANSWER",
    "passedTestCount": 3.0,
}


@pytest.mark.parametrize(
    ("site", "ours"),
    [
        ("GNU C++", "c++17"),
        ("GNU C++0x", "c++11"),
        ("GNU C++11", "c++11"),
        ("GNU C++14", "c++14"),
        ("GNU C++17", "c++17"),
        ("GNU C++17 (64)", "c++17"),
        ("C++17 (GCC 7-32)", "c++17"),
        ("GNU C++17 Diagnostics", "c++17"),
        ("Clang++17 Diagnostics", "c++17"),
        ("MS C++", "c++17"),
        ("MS C++ 2017", "c++17"),
        ("C++20 (GCC 13-64)", "c++20"),
        ("GNU C++20 (64)", "c++20"),
        ("C++23 (GCC 14-64, msys2)", "c++23"),
        ("GNU C", "c"),
        ("GNU C11", "c"),
        ("PyPy 3-64", "pypy3"),
        ("Python 3", "python"),
        ("Python 3 + libs", "python"),
        ("Java 21", "java"),
        ("Kotlin 1.9", "kotlin"),
        ("Rust 2021", "rust"),
        ("Go", "go"),
        ("Node.js", "javascript"),
        ("JavaScript", "javascript"),
        (".NET Core C#", "c#"),
        ("C# 10", "c#"),
        ("Ruby 3", "ruby"),
    ],
)
def test_the_sites_names_are_known(site, ours):
    assert language_of(site) == ours == find(ours).name


def test_other_languages_are_named_in_the_error():
    (solution,) = read_rows([{**ROW, "programmingLanguage": "PyPy 2"}])
    assert "PyPy 2" in solution.error


def test_a_submission_is_a_solution(tmp_path):
    path = tmp_path / "s.jsonl"
    verdicts = ("WRONG_ANSWER", "OK", "SKIPPED", None)
    rows = [{**ROW, "submission_id": i, "verdict": v} for i, v in enumerate(verdicts)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    first, *_ = read_solutions([path])
    assert (first.problem_id, first.solution_id, first.language) == ("1000/A", "0", "c++17")
    assert first.error is None
    assert expectations(path) == {1: "failed", 2: "passed"}
