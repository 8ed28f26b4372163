"""Rows of Codeforces' own submissions as solutions with a known verdict."""

import pytest

from gradebox.eval.solutions.reader import read_rows
from gradebox.eval.solutions.submissions import language_of
from gradebox.sandbox.languages import find
from testing.rows import rows

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
    rows(__file__, "languages"),
)
def test_the_sites_names_are_known(site, ours):
    assert language_of(site) == ours == find(ours).name


def test_other_languages_are_named_in_the_error():
    (solution,) = read_rows([{**ROW, "programmingLanguage": "PyPy 2"}])
    assert "PyPy 2" in solution.error


def test_a_submission_is_a_solution():
    verdicts = ("WRONG_ANSWER", "OK", "SKIPPED", None)
    found = list(
        read_rows({**ROW, "submission_id": i, "verdict": v} for i, v in enumerate(verdicts))
    )
    first = found[0]
    assert (first.problem_id, first.solution_id, first.language) == ("1000/A", "0", "c++17")
    assert first.error is None
    assert [one.expect for one in found] == ["failed", "passed", "", ""]


def test_a_row_of_xcodeeval_is_a_solution():
    row = {
        "code_uid": "3a1d",
        "src_uid": "5f40",
        "lang": "GNU C++17",
        "source_code": "int main(){}",
    }
    (found,) = read_rows([{**row, "exec_outcome": "PASSED", "difficulty": 1900.0}])
    assert (found.problem_id, found.solution_id, found.language) == ("5f40", "3a1d", "c++17")
    assert found.known == {"site_verdict": "PASSED", "site_language": "GNU C++17"}
