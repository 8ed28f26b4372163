"""Rows of CodeContests+, HumanEval+, MBPP+."""

import math
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gradebox
from gradebox.checkers.check import CheckerError
from gradebox.checkers.opening import open_checker
from gradebox.eval.common.errors import InputError
from gradebox.eval.problems import open_problems
from gradebox.eval.problems.formats import Recognised
from gradebox.eval.problems.formats.asserts import without_numpy
from gradebox.eval.problems.in_memory import parse_problem
from gradebox.eval.solutions.reader import read_rows
from testing.rows import rows
from tests.eval.problems.dataset_rows import HUMANEVAL, MBPP
from tests.sandbox.backends import needs_box

CHECKER = '#include "testlib.h"\nint main() { return answer(); }\n'
# enough of testlib for this checker: the first word of the output is a divisor of the answer
TESTLIB = """\
#include <fstream>
int answer() {
    long found = 0, wanted = 0;
    std::ifstream("output.txt") >> found;
    std::ifstream("answer.txt") >> wanted;
    return found > 0 && wanted % found == 0 ? 0 : 1;
}
"""


def plus(**changes: Any) -> dict[str, Any]:
    row = {
        "source": "Codeforces",
        "id": "847_J",
        "title": "Divisor",
        "description": "d",
        "time_limit": 1500,
        "memory_limit": 64,
        "validator": "v",
        "generator": "g",
        "checker": CHECKER,
        "generator_cmd": "./g",
        "correct_submissions": [
            {"code": "print(1)", "language": "py3"},
            {"code": "x", "language": "pascal"},
        ],
        "incorrect_submissions": [{"code": "int main(){}", "language": "cpp"}],
        "test_cases": [{"input": "12\n", "output": "12\n"}],
        "true_positive_rate": 1.0,
        "true_negative_rate": 1.0,
    }
    return {**row, **changes}


def test_a_row_of_code_contests_plus():
    assert Recognised([plus()]).one(None, "x").name == "code-contests-plus"
    problem = parse_problem(plus())
    assert (problem.id, problem.aliases) == ("847_J", ("847/J",))
    assert (problem.time_limit_s, problem.memory_limit_bytes) == (1.5, 64 << 20)
    assert (problem.testlib_checker, problem.checker_name) == (CHECKER, None)
    assert problem.tests == ((b"12\n", b"12\n"),)
    assert [g["language"] for g in problem.gold_solutions] == ["python", "c++17"]
    assert parse_problem(plus(checker="")).checker_name is None
    assert parse_problem(plus(checker=""), "reference").checker_name == "tokens-reference"
    without = {name: value for name, value in plus().items() if name != "test_cases"}
    with pytest.raises(InputError, match=r"code-contests-plus \(test_cases is missing\)"):
        parse_problem(without)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"time_limit": "1 s"}, "time_limit is '1 s': Expected `int`"),
        ({"checker": 5}, "checker is 5: it must be text"),
        ({"test_cases": [{"input": "1"}]}, "output"),
        ({"test_cases": "{"}, "test_cases is not JSON"),
    ],
)
def test_bad_rows_of_code_contests_plus_say_why(changes, why):
    with pytest.raises(InputError, match=why):
        parse_problem(plus(**changes))


def test_a_folder_of_parquet_files_is_read_by_row_groups(tmp_path):
    for number in range(2):
        rows = [plus(id=f"{number}{i}_A") for i in range(4)]
        table = pa.Table.from_pylist(rows)
        pq.write_table(table, tmp_path / f"part-{number}.parquet", row_group_size=2)
    problems = open_problems(str(tmp_path))
    assert len(problems.ids()) == 8
    assert [t.input for t in problems.official_tests("13_A")] == [b"12\n"]
    rows = problems._sources[1]
    assert list(rows._groups) == [1]


def test_the_checker_needs_testlib(tmp_path):
    with pytest.raises(CheckerError, match=r"needs testlib\.h: give its path, --testlib FILE"):
        open_checker(None, source=None, name=None, testlib_source=CHECKER)
    with pytest.raises(CheckerError, match="can't be read"):
        open_checker(
            None, source=None, name=None, testlib_source=CHECKER, testlib=str(tmp_path / "x.h")
        )


@pytest.mark.slow  # it compiles a checker
def test_the_checker_of_the_row_decides(tmp_path):
    needs_box()
    header = tmp_path / "testlib.h"
    header.write_text(TESTLIB)
    programs = ["print(4)", "print(5)", "import os; os._exit(0)"]
    records = gradebox.grade(
        [{"code": code} for code in programs], plus(), sandbox="local", testlib=str(header)
    )
    assert [r["status"] for r in records] == ["passed", "failed", "failed"]
    assert records[0]["details"][0]["reason"] == "passed_by_checker"


PLUS_TEST = """\
import numpy as np

def is_floats(x) -> bool:
    if isinstance(x, float):
        return True
    if isinstance(x, (list, tuple)):
        return all(isinstance(i, float) for i in x)
    if isinstance(x, np.ndarray):
        return x.dtype == np.float64 or x.dtype == np.float32
    return False

def assertion(out, exp, atol):
    if atol == 0 and is_floats(exp):
        atol = 1e-6
    if out != exp and atol != 0:
        assert np.allclose(out, exp, rtol=1e-07, atol=atol)
    else:
        assert out == exp, f"out: {out}, exp: {exp}"
"""
LISTS = """\
    inputs = [[[1, 2]], [[0.1, 0.2]]]
    results = [[2, 4], [0.2, 0.4]]
    for i, (inp, exp) in enumerate(zip(inputs, results)):
        assertion(%s(*inp), exp, 0)
"""


def test_rows_with_lists_of_inputs_have_other_limits_and_need_no_numpy():
    row = {**HUMANEVAL, "test": f"{PLUS_TEST}\ndef check(candidate):\n{LISTS % 'candidate'}"}
    problem = parse_problem(row)
    assert (problem.time_limit_s, problem.memory_limit_bytes) == (60.0, 4096 << 20)
    assert b"import numpy" not in problem.tests[0][0]
    assert "import numpy" in without_numpy(PLUS_TEST + "np.median([1])", "strict")


@pytest.mark.parametrize(
    ("found", "wanted", "strict", "reference"),
    rows(__file__, "numbers_of_a"),
)
def test_numbers_of_a_plus_row_are_close(found, wanted, strict, reference):
    """numpy makes shapes equal before it compares: strict compares the shapes, too."""
    for judge, close in (("strict", strict), ("reference", reference)):
        namespace: dict[str, Any] = {}
        exec(without_numpy(PLUS_TEST, judge), namespace)
        try:
            namespace["assertion"](found, wanted, 0.001)
            held = True
        except (AssertionError, ValueError):
            held = False
        assert held == close, judge
    assert namespace["np"].allclose([math.nan], [math.nan], equal_nan=True)


@pytest.mark.slow(seconds=3)
def test_an_empty_list_is_no_float_and_a_missing_module_is_no_wrong_answer():
    lists = LISTS.replace("[[1, 2]], [[0.1, 0.2]]", "[0.1], [0.2]").replace(
        "[2, 4], [0.2, 0.4]", ".2, .4"
    )
    check = f"\ndef check(candidate):\n{lists % 'candidate'}"
    codes = [{"code": "def double(x): return 2 * x"}, {"code": "def double(x): return []"}]
    with gradebox.Grader(sandbox="local") as grader:
        known = {**HUMANEVAL, "canonical_solution": "    return 2 * xs\n"}
        plain = grader.grade(codes, {**known, "test": PLUS_TEST + check})
        (lacking,) = grader.grade(codes[:1], {**HUMANEVAL, "test": f"import nowhere{check}"})
    assert [record["verdict"] for record in plain] == ["AC", "WA"]
    assert lacking["verdict"] == "CU"
    assert "the tests import nowhere" in lacking["details"][0]["error"]


@pytest.mark.slow  # two boxes a test
def test_humaneval_plus_and_mbpp_plus():
    needs_box()
    human = {**HUMANEVAL, "test": f"{PLUS_TEST}\ndef check(candidate):\n{LISTS % 'candidate'}"}
    calls = "inputs = [[1, 2], [3, 0.5]]\nresults = [3, 3.5]\n"
    calls += "for inp, exp in zip(inputs, results):\n    assertion(sum(*inp), exp, 0)\n"
    code = {**MBPP, "test_imports": ["import math"], "test": PLUS_TEST + calls}
    base_only = MBPP["code"].replace("return a + b", "return a + b if a != 3 or b == 1 else 0")
    with gradebox.Grader(sandbox="local") as grader:
        right, wrong = grader.grade(
            [{"code": "    return [2 * x for x in xs]"}, {"code": "    return [2, 4]"}], human
        )
        bare = "def sum(a, b): return math.fsum((a, b))\nclass Box: pass\n"
        codes = [{"code": text} for text in (MBPP["code"], bare, base_only)]
        plain, bare_record, base = grader.grade(codes, code)
    assert (right["status"], wrong["status"]) == ("passed", "failed")
    found = [record["status"] for record in (plain, bare_record, base)]
    assert found == ["passed", "passed", "failed"], plain
    assert [case["verdict"] for case in base["details"]] == ["AC", "WA"]


def test_rows_of_codeforces_cots_are_solutions_and_no_problems():
    row = {"id": "1/A", "contest_id": "1", "index": "A", "examples": [{"input": "1"}]}
    row |= {"generation": "<think>x</think>\n```python\nprint(2)\n```", "messages": []}
    (solution,) = read_rows([row])
    assert (solution.problem_id, solution.code) == ("1/A", "print(2)\n")
    assert "give --dataset open-r1/codeforces, and these rows" in Recognised([row]).described()
