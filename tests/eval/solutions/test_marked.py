"""Assert tests in other languages: right answers pass, wrong ones and cheats do not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import gradebox
from gradebox.eval.problems.formats import find_format
from gradebox.eval.problems.in_memory import parse_problem
from gradebox.eval.solutions.marked.java import checked
from gradebox.eval.solutions.marked.parts import closing, split_at_commas, without_function
from gradebox.eval.solutions.program import key_text, program_of
from gradebox.sandbox.errors import BadRequest
from tests.eval.solutions.marked_rows import CHEATED, CHEATS, RIGHT, ROWS, WRONG
from tests.sandbox.backends import open_backend

LANGUAGES = {"cpp": "c++17", "java": "java", "js": "javascript", "rs": "rust", "go": "go"}


@pytest.fixture(scope="module")
def grader() -> Iterator[gradebox.Grader]:
    with open_backend("box"):  # skips where no box works
        pass
    with gradebox.Grader(sandbox="local") as made:
        yield made


def graded(
    grader: gradebox.Grader, code: str, *programs: str, rows: Any = ROWS
) -> list[dict[str, Any]]:
    records = grader.grade([{"completion": text} for text in programs], rows[code])
    if any("not found on this machine" in record["error"] for record in records):
        pytest.skip(f"{LANGUAGES[code]} is not installed")
    return records


@pytest.mark.slow(6)  # compilers
@pytest.mark.parametrize("code", ROWS)
def test_right_answers_pass_and_wrong_ones_do_not(grader, code):
    whole = f"It is so:\n```{code}\n{RIGHT[code]['whole']}```\n"
    shown = f"{whole}Use it:\n```{code}\n// twice\n```\n"
    records = graded(grader, code, RIGHT[code]["body"], whole, shown, WRONG[code], "x")
    assert [r["status"] for r in records] == ["passed"] * 3 + ["failed"] * 2, [
        (r["error"], r["compile"].get("log"), [c["stderr"] for c in r["details"]]) for r in records
    ]
    assert {r["language"] for r in records} == {LANGUAGES[code]}
    assert records[0]["origin"]["test_kind"] == "marked"


@pytest.mark.slow(8)
@pytest.mark.parametrize("code", ROWS)
def test_no_cheat_passes(grader, code):
    records = graded(grader, code, *CHEATS[code].values(), rows=CHEATED)
    passed = [
        name for name, r in zip(CHEATS[code], records, strict=True) if r["status"] != "failed"
    ]
    assert passed == []
    ran = [r for r in records if r["verdict"] != "CE"]
    assert len(ran) >= len(records) // 3, [r["compile"]["log"] for r in records]


@pytest.mark.slow
def test_output_of_the_program_is_kept_without_the_mark(grader):
    (record,) = graded(grader, "js", RIGHT["js"]["whole"])
    (case,) = record["details"]
    assert (case["output"], case["verdict"], case["expected"]) == ("x\nx\n", "AC", "")
    (early,) = graded(grader, "js", "  process.exit(0);\n}")
    assert early["details"][0]["error"] == "the program ended before its last test"


@pytest.mark.parametrize("code", ROWS)
def test_a_row_becomes_a_problem_with_its_tests(code):
    assert find_format(ROWS[code], None, "x").name == "multipl-e"
    problem = parse_problem(ROWS[code])
    assert (problem.id, problem.language) == (f"{code}/HumanEval_900_twice", LANGUAGES[code])
    assert "HumanEval_900_twice" in problem.aliases
    assert len(problem.tests) == 1
    assert parse_problem({**ROWS[code], "tests": "}"}).tests == ()


def test_the_tests_decide_on_the_key_and_on_the_language():
    problem = parse_problem(ROWS["cpp"])
    other = parse_problem({**ROWS["cpp"], "tests": ROWS["cpp"]["tests"].replace("3", "4")})
    assert key_text("x", problem) != key_text("x", other)
    with pytest.raises(BadRequest, match="written in c\\+\\+17, the solution in python"):
        program_of("x", "python", problem)
    assert program_of("x", "c++20", problem).language == "c++20"


@pytest.mark.parametrize("tests", ["}\nint x;", "} assert(true);"])
def test_tests_of_an_unknown_form_are_an_error(tests):
    problem = parse_problem({**ROWS["cpp"], "tests": tests + "assert"})
    with pytest.raises(BadRequest):
        program_of("x", "c++17", problem)


def test_texts_of_tests():
    assert closing('f("(", (1)) + 2', 1) == 10
    assert split_at_commas("std::map<int, long> a, int b") == ["std::map<int, long> a", " int b"]
    assert checked("assert(f((1)).equals((2)));assert(g() == (3));") == (
        "gradeboxCheck(gradeboxSame(f((1)), (2)));gradeboxCheck(g() == (3));"
    )


def test_a_function_is_cut_out_whole():
    code = "fn f<'a>() {}\nfn main() {\n let x = '{'; // }\n \"}\";\n}\nfn g() {}\n"
    head = r"^fn\s+main\s*\("
    assert without_function(code, head) == "fn f<'a>() {}\n\n\n\n\nfn g() {}\n"
    assert without_function("fn main() { {", head) == "fn main() { {"
