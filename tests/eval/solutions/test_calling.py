"""Assert tests in other languages: right answers pass, wrong ones and cheats do not."""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

import gradebox
from gradebox.eval.problems.formats import Recognised
from gradebox.eval.problems.in_memory import parse_problem
from gradebox.eval.solutions.calling import calling_program, calls_of, defined_in, expected_results
from gradebox.eval.solutions.calling.calls import Call, read_calls
from gradebox.eval.solutions.program import key_text, parts_of, program_of
from gradebox.sandbox.errors import BadRequest
from testing.submissions.hostile.tests_cheats import cheats
from tests.eval.solutions.calling_results import RESULTS
from tests.eval.solutions.calling_rows import CHEATED, RIGHT, ROWS, WRONG
from tests.sandbox.backends import needs_box
from tests.sandbox.test_source_tokens import UNITS
from tests.sandbox.test_source_tokens import calls_of as work_of

LANGUAGES = {"cpp": "c++17", "java": "java", "js": "javascript", "rs": "rust", "go": "go"}


@pytest.fixture(scope="module")
def grader() -> Iterator[gradebox.Grader]:
    needs_box()
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
    whole = f"It is so:\n```{code}\n{RIGHT[code]['whole']}```\nUse it:\n```{code}\n// twice\n```\n"
    records = graded(grader, code, RIGHT[code]["body"], whole, WRONG[code], "x")
    assert [r["status"] for r in records] == ["passed"] * 2 + ["failed"] * 2, [
        (r["error"], r["compile"].get("log"), [c["stderr"] for c in r["details"]]) for r in records
    ]
    assert {r["language"] for r in records} == {LANGUAGES[code]}
    assert (records[0]["origin"]["test_kind"], records[2]["verdict"]) == ("assert", "WA")
    assert records[2]["details"][0]["error"].startswith("call 1: expected ")


@pytest.mark.slow(4)
@pytest.mark.parametrize("name", RESULTS)
def test_results_of_every_type_are_compared(grader, name):
    prompt, tests, programs = RESULTS[name]
    code = name.split()[0]
    row = {**ROWS[code], "prompt": prompt, "tests": tests}
    records = graded(grader, code, *programs, rows={code: row})
    assert [r["verdict"] for r in records] == [*["AC"] * (len(programs) - 1), "WA"], [
        (r["error"], r["compile"].get("log"), [c["error"] for c in r["details"]]) for r in records
    ]


@pytest.mark.slow(5)
@pytest.mark.parametrize("code", ROWS)
def test_nothing_in_the_process_of_the_program_helps_it(grader, code):
    every = bool(os.environ.get("GRADEBOX_ALL_CHEATS"))
    tried = cheats(code, every=every)
    records = graded(grader, code, *tried.values(), rows=CHEATED)
    passed = [name for name, r in zip(tried, records, strict=True) if r["status"] != "failed"]
    assert passed == []


@pytest.mark.slow
def test_output_of_the_program_is_kept_with_its_results(grader):
    (record,) = graded(grader, "js", RIGHT["js"]["whole"])
    (case,) = record["details"]
    assert (case["output"].split("\n")[:2], case["verdict"]) == (["x", "x"], "AC")
    assert case["expected"] == "[2, 4]\n[3]\n"
    (early,) = graded(grader, "js", "  process.exit(0);\n}")
    assert early["details"][0]["error"] == "the program ended before its last call"


@pytest.mark.slow
@pytest.mark.parametrize("tests", ["[missing]", "[3] /* three */", "twice([1], 3)"])
def test_tests_whose_calls_cannot_be_read_are_unclear(grader, tests):
    rows = {"js": {**ROWS["js"], "tests": ROWS["js"]["tests"].replace("[3])", f"{tests})")}}
    records = graded(grader, "js", RIGHT["js"]["whole"], "  process.exit(0);\n}", rows=rows)
    assert {(r["verdict"], r["details"][0]["reason"]) for r in records} == {
        ("CU", "checker_unclear")
    }


@pytest.mark.parametrize("code", ROWS)
def test_a_row_becomes_a_problem_with_its_tests(code):
    assert Recognised([ROWS[code]]).one(None, "x").name == "multipl-e"
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


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ('f((1), "a)") == (true)', Call('(1), "a)"', True, "(true)")),
        ("f() == std::nullopt", Call("", None, "std::nullopt")),
        ("f(1) == 1 && f(2) == 2", None),
        ("f(1) == 1, 2", None),
        ("f(1) != 1", None),
        ("f(1) == ", None),
        ("f(1) == 1 + 1", None),
        ("f(1) == one", None),
        ("g(1) == 1", None),
    ],
)
def test_only_calls_of_the_known_form_are_read(call, found):
    call = call.replace("f(", "candidate(")
    tests = f"int main() {{\n auto candidate = f;\n assert({call});\n}}\n"
    assert read_calls(tests, "f", "c++") == (() if found is None else (found,))
    assert read_calls(tests + "int x;", "f", "c++") == ()


def test_what_the_tests_expect_is_not_in_the_program():
    for code, row in ROWS.items():
        problem = parse_problem({**row, "tests": row["tests"].replace("3})", "71930})")})
        parts = parts_of(problem)
        assert [json.loads(line) for line in expected_results(parts).splitlines()] == [
            call.expected for call in calls_of(parts)
        ]
        (test,) = problem.tests
        assert test == (b"", expected_results(parts).encode()), code
        sources = program_of(RIGHT[code]["body"], LANGUAGES[code], problem).files.values()
        assert not any(b"71930" in source or b"2, 4" in source for source in sources), code


def scans() -> Iterator[Callable[[str], Any]]:
    for code, row in ROWS.items():
        parts, whole = parts_of(parse_problem(row)), RIGHT[code]["whole"]
        yield lambda text, parts=parts: defined_in(text, parts)
        yield lambda text, parts=parts, whole=whole: _built(f"{text}\n{whole}", parts)
        yield lambda text, parts=parts: _built("x", replace(parts, tests=text + parts.tests))


def _built(code: str, parts: Any) -> None:
    try:
        calling_program(code, parts.language, parts)
    except BadRequest:
        return


@pytest.mark.slow(4)
def test_the_work_of_building_is_linear():
    for scan in scans():
        for unit in UNITS[::5]:
            short, long = (work_of(scan, unit * (size // len(unit))) for size in (1 << 7, 1 << 11))
            assert long <= 17 * short + 1000, repr(unit)
