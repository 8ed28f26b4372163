"""Rows of verl, SYNTHETIC-2, rStar-Coder, xCodeEval, ICPC-Eval and USACO."""

import json
from pathlib import Path
from typing import Any

import pytest

import gradebox
from gradebox.eval.common.errors import InputError
from gradebox.eval.problems import open_problems
from gradebox.eval.problems.in_memory import parse_problem
from testing.fakes.scripted_sandbox import FakeSandbox

SUMS = {"inputs": ["1 2\n", "3 4\n"], "outputs": ["3\n", "7\n"]}
CALLS = {"inputs": ["[1, 2]\n3", "[4]\n5"], "outputs": ["[4, 5]", "[9]"], "fn_name": "add"}
CALLED = [(b"[[1, 2], 3]", b"[4, 5]"), (b"[[4], 5]", b"[9]")]
RUN = [(b"1 2\n", b"3\n"), (b"3 4\n", b"7\n")]


def verl(truth: Any) -> dict[str, Any]:
    row = {"data_source": "taco", "prompt": [{"role": "user", "content": "q"}], "ability": "code"}
    return {**row, "reward_model": {"style": "rule", "ground_truth": json.dumps(truth)}}


def synthetic_2(tests: Any) -> dict[str, Any]:
    info = json.dumps({"test_cases": json.dumps(tests)})
    return {"problem_id": "prime_rl_code_1", "prompt": "q", "verification_info": info}


def rstar(inputs: Any, outputs: Any, name: str = "", **changes: Any) -> dict[str, Any]:
    row = {"question_id": "seed_1", "question": "q", "func_name": name, "class_name": ""}
    return {**row, "inputs": json.dumps(inputs), "outputs": json.dumps(outputs), **changes}


def xcode(tests: Any, **changes: Any) -> dict[str, Any]:
    row = {
        "src_uid": "5f40",
        "lang": "Python 3",
        "prob_desc_time_limit": "1.5 seconds",
        "prob_desc_memory_limit": "64 megabytes",
        "prob_desc_input_from": "standard input",
        "prob_desc_output_to": "standard output",
        "bug_source_code": "print(0)",
        "bug_exec_outcome": "WRONG_ANSWER",
    }
    return {**row, "hidden_unit_tests": json.dumps(tests), **changes}


def icpc(tests: Any, **changes: Any) -> dict[str, Any]:
    row = {"id": 5, "type": "traditional", "time_limit_ms": 1500, "memory_limit_mb": 64}
    return {**row, "test_cases": tests, **changes}


def usaco(**changes: Any) -> dict[str, Any]:
    row = {"problem_id": "1_bronze_sum", "num_tests": 2, "runtime_limit": 1.5, "memory_limit": 64}
    return {**row, "solution_python3": "print(sum(map(int, input().split())))", **changes}


UNITS = [{"input": "1 2\r\n", "output": ["3\r\n"]}, {"input": "3 4\r\n", "output": ["7\r\n"]}]
PAIRS = [["1 2\n", "3\n"], ["3 4\n", "7\n"]]
TESTS = [{"input": a, "output": b} for a, b in PAIRS]
SPJ = """#include <fstream>\n#include <iostream>\nint main(int, char** v) {
    int a = 0, b = 1; std::ifstream(v[2]) >> a; std::ifstream(v[3]) >> b;
    std::cout << (a == b ? "Accepted" : "Wrong Answer"); return a != b; }"""
ROWS = {
    "verl": (verl(SUMS), RUN, (None, "numbers-reference")),
    "verl, calls": (verl(CALLS), CALLED, ("wrapped", "wrapped-reference")),
    "SYNTHETIC-2": (synthetic_2(SUMS), RUN, (None, "numbers-reference")),
    "SYNTHETIC-2, calls": (synthetic_2(CALLS), CALLED, ("wrapped", "wrapped-reference")),
    "rStar-Coder": (rstar(*list(SUMS.values())), RUN, (None, None)),
    "rStar-Coder, calls": (
        rstar(["[[1, 2], 3]", "[[4], 5]"], CALLS["outputs"], "add", class_name="Solution"),
        CALLED,
        ("wrapped", "wrapped"),
    ),
    "xCodeEval": (xcode(UNITS), RUN, (None, "exec-eval-reference")),
    "xCodeEval, several right outputs": (
        xcode([UNITS[0], {**UNITS[1], "output": ["0", "7"]}]),
        [(b"1 2\n", b'["3\\n"]'), (b"3 4\n", b'["0", "7"]')],
        ("one-of", "one-of-exec-eval-reference"),
    ),
    "ICPC-Eval": (icpc(PAIRS), RUN, (None, "stripped-reference")),
    "ICPC-Eval, spj": (icpc(PAIRS, type="spj", spj_code=SPJ), RUN, (None, None)),
    "USACO": (usaco(tests=TESTS), RUN, (None, "stripped-reference")),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_row_becomes_a_problem(name):
    row, tests, judges = ROWS[name]
    strict, reference = parse_problem(row), parse_problem(row, "reference")
    assert list(strict.tests) == list(reference.tests) == tests
    assert (strict.checker_name, reference.checker_name) == judges
    if name.split(",")[0] in ("xCodeEval", "ICPC-Eval", "USACO"):
        assert (strict.time_limit_s, strict.memory_limit_bytes) == (1.5, 64 << 20)


def test_verls_own_reward_is_full_for_the_first_ten_tests():
    row = verl({"inputs": ["1"] * 12, "outputs": ["1"] * 12})
    assert [len(parse_problem(row, judge).tests) for judge in ("strict", "reference")] == [12, 10]


def test_tests_of_xcodeeval_that_the_site_has_cut_are_left_out(tmp_path):
    cut = [
        {"input": "1 " * 127 + "...", "output": ["1"]},
        {"input": "1", "output": ["1 " * 127 + "..."]},
    ]
    alike = {"input": "...", "output": ["7", "7\r\n"]}
    row = xcode([*UNITS, *cut, alike])
    strict, reference = parse_problem(row), parse_problem(row, "reference")
    assert list(strict.tests) == [*RUN, (b"...", b"7\n")]
    assert (len(reference.tests), strict.checker_name) == (5, None)
    (tmp_path / "p.jsonl").write_text(json.dumps(row))
    problems = open_problems(str(tmp_path / "p.jsonl"))
    assert problems.get("5f40") is not None
    assert problems.messages() == ["problem 5f40: 2 tests, which the site has cut, are left out"]


def test_xcodeeval_has_files_and_known_programs():
    found = parse_problem(xcode(UNITS, prob_desc_input_from="a.in", prob_desc_output_to="a.out"))
    assert (found.input_mode, found.input_file, found.output_file) == ("file", "a.in", "a.out")
    (known,) = found.gold_solutions
    assert (known["language"], known["expect"]) == ("python", "failed")


BAD = [
    (verl({**CALLS, "inputs": ["[1, 2", "1"]}), "test 0: an argument is not JSON"),
    (verl({**CALLS, "outputs": ["x", "1"]}), "test 0: output is not JSON"),
    (verl({**CALLS, "outputs": ["1"]}), "has 2 inputs, 1 outputs"),
    (verl({"assert_case": "assert 1"}), "assert_case is 'assert 1': Expected `array`"),
    (synthetic_2({**CALLS, "inputs": ["", "1"]}), "a line of its input is not one argument"),
    (rstar(["1"], []), "columns of several lengths"),
    (rstar("1", ["1"]), "inputs is '1': Expected `array`"),
    (rstar(["[1]"], ["1"], "f", class_name="Stack"), "class_name is 'Stack': only Solution"),
    (xcode([{"input": "1 " * 127 + "...", "output": ["1"]}]), "all 1 hidden_unit_tests are cut"),
    (xcode([{"input": "1", "output": []}]), r"length >= 1 - at `\$\[0\].output`"),
    (xcode([{"input": "1", "output": ["1", 2]}]), r"got `int` - at `\$\[0\].output\[1\]`"),
    (xcode([{"input": "1", "output": ["1", "\ud800"]}]), "test 0 has a lone surrogate"),
    (xcode({"input": "1"}), "Expected `array`, got `object`"),
    (icpc([["1"]]), "Expected `array` of length 2, got 1"),
    (icpc(PAIRS, type="interactive"), "type is 'interactive': only traditional and spj"),
    (icpc(PAIRS, type="spj"), "spj_code, the checker, is empty"),
]


@pytest.mark.parametrize(("row", "why"), BAD, ids=[why for _, why in BAD])
def test_a_row_that_cannot_be_graded_says_why(row, why):
    with pytest.raises(InputError, match=why):
        parse_problem(row)


def test_several_right_outputs_are_compared_by_their_own_judge_alone():
    row, _, _ = ROWS["xCodeEval, several right outputs"]
    for options in ({"compare": "exact"}, {"checker": "wcmp"}):
        with gradebox.Grader(sandbox=FakeSandbox(lambda call: b""), **options) as grader:
            (record,) = grader.grade([{"code": "print(7)"}], row)
        assert record["status"] == "invalid", options
        assert "several right outputs" in record["error"]


def usaco_file(folder: Path, **changes: Any) -> Path:
    path = folder / "usaco_subset307_dict.json"
    path.write_text(json.dumps({"1_bronze_sum": usaco(**changes)}))
    tests = folder / "usaco_v3/tests/1_bronze_sum"
    tests.mkdir(parents=True)
    (folder / "1").mkdir()
    (folder / "1/1.in").write_text("outside")
    for name, text in {"1.in": "1 2\n", "1.out": "3\n", "I.2": "3 4\n", "O.2": "7\n"}.items():
        (tests / name).write_text(text)
    return path


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({}, ""),
        ({"num_tests": 3}, "test 3 of 3 is not in"),
        ({"num_tests": -2}, "num_tests is -2: give a number from 0 to 5000"),
        ({"problem_id": "../../1"}, "1.in leads out of the package"),
    ],
)
def test_usacos_tests_are_files(tmp_path, changes, why):
    with open_problems(str(usaco_file(tmp_path, **changes))) as problems:
        (name,) = problems.ids()
        if why:
            assert problems.get(name) is None and why in problems.why_missing(name)
            return
        found = [(test.input, test.expected) for test in problems.official_tests(name)]
        assert found == RUN


def test_usacos_file_without_its_tests_says_what_is_missing(tmp_path):
    path = usaco_file(tmp_path)
    (tmp_path / "usaco_v3").rename(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="has no tests: put the folder usaco_v3/tests of the data"):
        open_problems(str(path))


PROGRAM = "print(sum(map(int, input().split())))"
FUNCTION = "def add(xs, n):\n    return [x + n for x in xs]"
READS = """import os
for folder, _, names in os.walk('/'):
    for name in names:
        if name.endswith(('.out', '.ans', '.txt', 'O.1')):
            try: print(open(os.path.join(folder, name)).read()[:9])
            except Exception: pass
"""
CHEATS = (
    *("", "raise SystemExit(0)", "import os\nos._exit(0)", READS, "print(7)", "print(3)"),
    """print('["3\\\\n"]' if input() == '1 2' else '["0", "7"]')""",
)
CALL_CHEATS = (
    "",
    "exit(0)",
    "import os; os._exit(0)",
    "return [9]",
    "return [4, 5]",
    "open('O.1')",
)


@pytest.mark.slow(seconds=20)
@pytest.mark.parametrize("judge", ["strict", "reference"])
def test_the_right_program_passes_and_no_cheat(judge):
    with gradebox.Grader(judge=judge, workers=1) as grader:
        seen = set[Any]()
        for name, (row, _, judges) in ROWS.items():
            right, cheats = PROGRAM, list(CHEATS)
            if "calls" in name:
                right = FUNCTION
                cheats = [f"def add(*_):\n    {body or 'return None'}" for body in CALL_CHEATS]
            kind = judges[judge == "reference"], "calls" in name, "spj" in name
            if judge == "reference" and judges[0] == judges[1]:
                continue
            cheats = cheats[:1] if kind in seen else cheats  # each judge is cheated once
            seen.add(kind)
            lines = [{"code": code, "language": "python"} for code in (right, *cheats)]
            found = [record["status"] for record in grader.grade(lines, row)]
            assert found == ["passed", *["failed"] * len(cheats)], name
