"""What packages of judges need: groups, arguments of tests, passes, several files."""

from typing import Any

import pytest

import gradebox
from gradebox.eval.grading.known.verification import package_case
from gradebox.eval.grading.solution_run import subtask_points
from gradebox.eval.problems.row import make_problem
from testing.fakes.records import case

TWO = [{"input": "1\n", "output": "1\n"}, {"input": "2\n", "output": "2\n"}]
ECHO = "print(input())"


def group(name: str, points: float, tests: list[int], **more: Any) -> dict[str, Any]:
    return {"name": name, "points": points, "tests": tests, **more}


TWO_GROUPS = group("a", 10, [0]), group("b", 30, [1])
# the groups, the scores of three tests of 10, 30 and 60 points → the points of each outermost group
GROUPS = [
    ([group("a", 40, [0, 1])], [1, 0.5, 0], [20.0]),
    ([group("a", 40, [0, 1], rule="all")], [1, 0.5, 0], [0.0]),
    ([group("a", 40, [0, 1], rule="all")], [1, 1, 0], [40.0]),
    ([group("a", 100, [0, 1, 2], rule="sum")], [1, 0.5, 0], [25.0]),
    ([group("a", 30, [0, 1, 2], rule="avg")], [1, 0.5, 0], [15.0]),
    ([group("a", 30, [0, 1, 2], rule="max")], [0, 0.5, 0], [15.0]),
    ([group("a", 10, [0]), group("b", 90, [1], needs=["a"])], [0.9, 1, 1], [9.0, 0.0]),
    ([group("a", 10, [0]), group("b", 90, [1], needs=["a"])], [1, 1, 1], [10.0, 90.0]),
    ([group("sample", 0, []), group("b", 90, [1], needs=["sample"])], [0, 1, 1], [0.0, 90.0]),
    ([*TWO_GROUPS, group("all", 40, [], rule="sum", groups=["a", "b"])],
     [1, 0.5, 0], [25.0]),
    ([group("a", 1, [0], digits=0)], [0.4, 0, 0], [0.0]),
]  # fmt: skip


@pytest.mark.parametrize(("groups", "scores", "points"), GROUPS)
def test_points_of_groups(groups, scores, points):
    tests = [{"input": "", "output": "", "points": p} for p in (10, 30, 60)]
    problem = make_problem({"id": "a", "official_tests": tests, "subtasks": groups})
    cases = [case(test_case_i=i, score=float(score)) for i, score in enumerate(scores)]
    assert [found.points for found in subtask_points(problem, cases)] == points


def validator(code: str, **more: Any) -> dict[str, Any]:
    start = "import sys\nfrom pathlib import Path\nplace = Path(sys.argv[3])\n"
    judge = {"protocol": "kattis", "language": "python", "files": {"main.py": start + code}}
    return {"judge_program": {**judge, **more}}


# Doubles what it is given; the validator keeps count in a file of its own.
COUNTS = """
seen = place / "seen"
count = int(seen.read_text()) if seen.exists() else 0
if int(input()) != 2 * int(open(sys.argv[1]).read()):
    print("not twice as much", file=sys.stderr)
    sys.exit(43)
seen.write_text(str(count + 1))
(place / "judgemessage.txt").open("a").write(f"pass {count + 1};")
if count < 2:
    (place / "nextpass.in").write_text(str(count + 5))
sys.exit(42)
"""
DOUBLE = "print(2 * int(input()))"
REJECTS = "(place / 'nextpass.in').write_text('1')\nsys.exit(43)"
TALKS = """
first = open(sys.argv[1]).read().strip()
print(first, flush=True)
seen = place / "seen"
if input() != first: sys.exit(43)
if not seen.exists():
    seen.write_text("x")
    (place / "nextpass.in").write_text("77")
sys.exit(42)
"""
TOLERANT = {"checker": "kattis"}
SAYS = "(place / 'judgemessage.txt').write_text(' '.join(sys.argv[4:]))\nsys.exit(43)"
SCORES = "(place / 'score.txt').write_text(input())\nsys.exit(42)"
COUNT_FILES = "import os\nprint(os.listdir() == ['in.dat'])\nprint(open('in.dat').read())"

# the row, the solution → verdict, reason, message, passes, points of the first test
CASES: dict[str, tuple[dict[str, Any], dict[str, Any], tuple[Any, ...]]] = {
    "passes": (
        {"passes": 3, **validator(COUNTS)},
        {"code": DOUBLE},
        ("AC", "passed_by_checker", "", 3),
    ),
    "a pass too many": (
        {"passes": 2, **validator(COUNTS)},
        {"code": DOUBLE},
        ("CU", "checker_unclear", "the validator asks for pass 3, but passes is 2", 2),
    ),
    "wrong in the second pass": (
        {"passes": 3, **validator(COUNTS)},
        {"code": "n = int(input())\nprint(2 * n + n // 5)"},
        ("WA", "failed_checker", "pass 1;", 2),
    ),
    "crashed in the second pass": (
        {"passes": 3, **validator(COUNTS)},
        {"code": "n = int(input())\nprint(2 // (n < 5) * n)"},
        ("RE", "runtime_error", "ZeroDivisionError", 2),
    ),
    "a next input beside a rejection": (
        {"passes": 3, **validator(REJECTS)},
        {"code": ECHO},
        ("CU", "checker_unclear", "left nextpass.in beside a rejection", 1),
    ),
    "passes of an interactor": (
        {"passes": 2, **validator(TALKS, role="interactor")},
        {"code": ECHO},
        ("AC", "passed_by_checker", "", 2),
    ),
    "arguments of a built-in": (
        {**TOLERANT, "official_tests": [{**TWO[0], "args": ["float_tolerance", "0.1"]}]},
        {"code": "print(1.05)"},
        ("AC", "passed_by_checker", "", None),
    ),
    "arguments of a validator": (
        {
            **validator(SAYS, extra_args=["a"]),
            "official_tests": [{**TWO[0], "args": ["b", "c d"], "name": "secret/1"}],
        },
        {"code": ECHO},
        ("WA", "failed_checker", "a b c d", None),
    ),
    "a validator is asked about the expected output": (
        validator("sys.exit(43)"),
        {"code": ECHO},
        ("WA", "failed_checker", "no reason was given", None),
    ),
    "partial points": (
        {
            **validator(SCORES, protocol="kattis-scoring"),
            "official_tests": [{"input": "8", "output": "", "points": 20}],
            "subtasks": [group("all", 20, [0], rule="sum")],
        },
        {"code": ECHO},
        ("WA", "partial_points", "", None, 8.0),
    ),
    "files with names of their own": (
        {
            "input_mode": "file",
            "input_file": "in.dat",
            "output_file": "",
            "official_tests": [{"input": "9", "output": "True 9"}],
        },
        {"code": COUNT_FILES},
        ("AC", "passed_by_exact_match", "", None),
    ),
    "several files in Python": (
        {},
        {"files": {"a.py": "import b\nprint(b.x)", "b.py": "x = input()"}},
        ("AC", "passed_by_exact_match", "", None),
    ),
    "a main file of the problem": (
        {"include_files": {"python3": {"main.py": "import mine\nprint(mine.f(input()))"}}},
        {"files": {"mine.py": "def f(x): return x"}},
        ("AC", "passed_by_exact_match", "", None),
    ),
    "a library of the problem": (
        {
            "include_files": {
                "cpp": {"f.h": "int f(int);", "f.cpp": "int f(int x) { return x; }"},
                "python": {"f.h": "#error"},
            }
        },
        {
            "language": "c++20",
            "code": '#include "f.h"\n#include <cstdio>\n'
            'int main() { int x; scanf("%d", &x); printf("%d\\n", f(x)); }',
        },
        ("AC", "passed_by_exact_match", "", None),
    ),
}


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize("name", CASES)
def test_a_case_of_a_package(name):
    row, solution, expected = CASES[name]
    problem = {"id": "p", "official_tests": TWO[:1], **row}
    with gradebox.Grader(problems=[problem]) as grader:
        (record,) = grader.grade([{"problem_id": "p", **solution}])
    found = record["details"][0]
    verdict, reason, message, passes, *points = expected
    assert (found["verdict"], found["reason"]) == (verdict, reason), found
    assert message in found["error"]
    assert (found.get("passes"), [found["points"]] if "points" in found else []) == (passes, points)
    if points:
        assert (found["groups"], record["points"], record["points_of"]) == (["all"], 8.0, 20.0)


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"passes": 2, "checker": "wcmp"}, "passes is 2, but only a validator"),
        ({"checker": "wcmp", "official_tests": [{**TWO[0], "args": ["fast"]}]}, "args of a test"),
    ],
)
def test_what_a_judge_cannot_do_makes_a_problem_unusable(row, why):
    problem = {"id": "p", "official_tests": TWO[:1], **row}
    with gradebox.Grader(problems=[problem]) as grader:
        (record,) = grader.grade([{"problem_id": "p", "code": ECHO}])
    assert record["status"] == "invalid"
    assert why in record["error"]


@pytest.mark.slow(seconds=1)
def test_the_key_of_a_record_has_the_files_and_the_groups():
    rows: list[dict[str, Any]] = [
        {},
        {"include_files": {"default": {"a.txt": "1"}}},
        {"subtasks": [group("a", 1, [0])]},
        {"official_tests": [{**TWO[0], "args": ["case_sensitive"]}]},
    ]
    keys = set()
    for row in rows:
        problem = {"id": "p", "checker": "kattis", "official_tests": TWO[:1], **row}
        with gradebox.Grader(problems=[problem]) as grader:
            for more in ({}, {"files": {"b.py": ""}}):
                (record,) = grader.grade([{"problem_id": "p", "code": ECHO, **more}])
                keys.add(record["key"])
    assert len(keys) == 2 * len(rows)


@pytest.mark.parametrize(
    ("verdict", "transcript", "found"),
    [("WA", None, "TLE"), ("WA", "solution: 1", "WA"), ("AC", "solution: 1", "TLE")],
)
def test_a_rejection_by_an_interactor_comes_before_the_time_used_after_it(
    verdict, transcript, found
):
    case = {"case_type": "official", "test_case_i": 0, "reason": "", "error": "", "cpu_s": 1.2}
    assert (
        package_case({**case, "verdict": verdict, "transcript": transcript}, 1.0).verdict == found
    )


def test_a_case_that_slept_took_all_the_time_that_it_had() -> None:
    case = {"case_type": "official", "test_case_i": 0, "reason": "", "error": "", "cpu_s": 0.01}
    assert package_case({**case, "verdict": "TLE"}, 1.0, ran_s=2.0).seconds == 2.5
