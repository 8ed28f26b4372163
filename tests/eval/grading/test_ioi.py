"""IOI: graders, checkers, managers, subtasks; made rows with the columns of open-r1/ioi."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gradebox.eval.common.errors import InputError
from gradebox.eval.problems import open_problems
from gradebox.eval.problems.in_memory import parse_problem
from gradebox.eval.problems.problem import Problem
from gradebox.eval.results.metrics import _Counts
from gradebox.eval.solutions.graded import graded_program
from gradebox.sandbox.errors import BadRequest

GRADER = """\
#include "largest.h"
#include <cstdio>
int main() {
    int n; scanf("%d", &n);
    std::vector<int> a(n);
    for (int &x : a) scanf("%d", &x);
    printf("%d\\n", largest(a));
}
"""
HEADER = "#include <vector>\nint largest(std::vector<int> a);\n"
CHECKER = """\
#include <cstdio>
#include <cstdlib>
int main(int, char **v) {
    int wanted = 0, found = -1;
    FILE *a = fopen(v[2], "r"), *o = fopen(v[3], "r");
    if (fscanf(a, "%d", &wanted) != 1) return 1;
    if (fscanf(o, "%d", &found) != 1) found = -1;
    printf("%s\\n", found == wanted ? "1.0" : abs(found - wanted) <= 2 ? "0.456" : "0.0");
    fprintf(stderr, "translate:words\\n");
}
"""
STUB = """\
#include <cstdio>
int guess(int question(int));
static FILE *in, *out;
static int ask(int x) {
    fprintf(out, "? %d\\n", x); fflush(out);
    int answer = 0; if (fscanf(in, "%d", &answer) != 1) return 0;
    return answer;
}
int main(int argc, char **argv) {
    in = fopen(argv[1], "r"); out = fopen(argv[2], "w");
    fprintf(out, "! %d\\n", guess(ask)); fflush(out);
}
"""
MANAGER = """\
#include <cstdio>
int main(int argc, char **argv) {
    int secret, asked = 0; scanf("%d", &secret);
    FILE *in = fopen(argv[1], "r"), *out = fopen(argv[2], "w");
    char what; int x;
    while (fscanf(in, " %c %d", &what, &x) == 2) {
        if (what == '!') {
            printf("%s\\n", x != secret ? "0" : asked <= 10 ? "1" : "0.5");
            fprintf(stderr, "asked %d\\n", asked);
            return 0;
        }
        asked++;
        fprintf(out, "%d\\n", secret < x ? -1 : secret > x); fflush(out);
    }
    printf("0\\n"); fprintf(stderr, "no answer\\n");
}
"""


def subtask(name: str, score: float, tests: list[str], **changes: Any) -> dict[str, Any]:
    row = {
        "year": 2024,
        "day": 1,
        "name": "Largest",
        "id": "largest",
        "problem": "statement",
        "time_limit": 1.0,
        "memory_limit": 256 << 20,
        "task_type": "Batch",
        "subtask": name,
        "score": score,
        "score_precision": 2,
        "test_names": tests,
        "starting_code": "",
        "grader_files": [
            ["graders/grader.cpp", GRADER],
            ["graders/largest.h", HEADER],
            ["checker/checker.cpp", CHECKER],
        ],
    }
    return {**row, **changes}


def test(name: str, given: str, expected: str, problem: str = "largest") -> dict[str, Any]:
    row = {"year": 2024, "problem_id": problem, "test_name": name}
    return {**row, "test_input": given, "test_output": expected}


test.__test__ = False  # type: ignore[attr-defined]
ROWS = [
    subtask("00-sample", 0, ["s"]),
    subtask("01-short", 30, ["s", "a"]),
    subtask("02-all", 70, ["s", "a", "b"]),
]
TESTS = [test("s", "1\n5\n", "5\n"), test("a", "2\n1 2\n", "2\n"), test("b", "3\n9 2 7\n", "9\n")]
TALK = [
    ["graders/stub.cpp", STUB],
    ["graders/manager.cpp", MANAGER],
    ["graders/grader_config.json", '{"num_processes": 1}'],
]
GUESS = subtask("01", 100, ["x", "y"], id="guess", task_type="Communication", grader_files=TALK)
GUESSED = [test("x", "700\n", "", "guess"), test("y", "3\n", "", "guess")]

LARGEST = '#include "largest.h"\n#include <algorithm>\nint largest(std::vector<int> a) '
BEST = LARGEST + "{ return *std::max_element(a.begin(), a.end()); }\n"
LAST = LARGEST + "{ return a.back(); }\n"
FIRST = LARGEST + "{ return a[0]; }\n"
HALF = "int guess(int ask(int)) { int low = 0, high = 1000; while (low < high) { int x = "
HALVING = (
    HALF + "(low + high) / 2, a = ask(x); if (!a) return x; a < 0 ? high = x : low = x + 1; }\n"
)
HALVING += "return low; }\n"
COUNTING = "int guess(int ask(int)) { for (int i = 0;; i++) if (!ask(i)) return i; }\n"


def write(folder: Path, rows: list[Any] | None = None, tests: list[Any] | None = None) -> str:
    folder.mkdir(exist_ok=True)
    for name, items in (("train", ROWS if rows is None else rows), ("tests", tests or TESTS)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in items))
    return str(folder)


def test_rows_of_subtasks_and_of_tests_become_one_problem(tmp_path):
    problems = open_problems(write(tmp_path / "d", [*ROWS, GUESS], [*TESTS, *GUESSED]))
    assert problems.ids() == ["2024/largest", "2024/guess"]
    assert problems.resolve("largest") == "2024/largest"
    problem = problems.get("largest")
    assert (problem.test_kind, problem.memory_limit_bytes) == ("graded", 256 << 20)
    assert [(s.name, s.points, s.tests) for s in problem.subtasks] == [
        ("00-sample", 0.0, (0,)),
        ("01-short", 30.0, (0, 1)),
        ("02-all", 70.0, (0, 1, 2)),
    ]
    assert [t.input for t in problems.official_tests("largest")] == [
        row["test_input"].encode() for row in TESTS
    ]


def test_parquet_files_in_folders_are_read(tmp_path):
    for name, rows in (("ioi", ROWS), ("ioi-test-cases", TESTS)):
        (tmp_path / name).mkdir()
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / name / "x.parquet", row_group_size=2)
    problems = open_problems(str(tmp_path))
    assert [t.expected for t in problems.official_tests("2024/largest")] == [b"5\n", b"2\n", b"9\n"]
    assert len(problems.get("largest").graders) == 3


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([subtask("1", 5, ["nowhere"])], "1 tests are not in the folder, such as 'nowhere'"),
        ([subtask("1", 5, "x")], "test_names is 'x'"),
        ([subtask("1", -5, ["s"])], "points from 0 on"),
        ([subtask("1", 5, ["s"], grader_files=[["a"]])], "grader_files is"),
        ([{**GUESS, "grader_files": [["graders/grader_config.json", '{"num_processes": 2}']]}],
         "several processes"),
    ],
)  # fmt: skip
def test_a_bad_row_makes_its_problem_unusable(tmp_path, rows, why):
    problems = open_problems(write(tmp_path / "d", [*rows, {**ROWS[0], "id": "fine"}],
                                   [*TESTS, *GUESSED, test("s", "", "", "fine")]))  # fmt: skip
    name = problems.ids()[0]
    assert problems.get(name) is None
    assert why in problems.why_missing(name)
    assert problems.get("2024/fine") is not None


def test_other_files_in_the_folder_are_ignored(tmp_path):
    folder = Path(write(tmp_path / "d"))
    (folder / "broken.jsonl").write_text("{")
    (folder / "empty.jsonl").write_text("")
    (folder / "gone.jsonl").symlink_to("nowhere")
    (folder / "x.parquet").write_text("no parquet")
    assert open_problems(str(folder)).ids() == ["2024/largest"]


def test_a_row_alone_says_what_is_needed():
    with pytest.raises(InputError, match="give a folder with the rows and with those of ioi-test"):
        parse_problem(ROWS[0])


def test_points_are_those_of_the_best_solution_of_each_subtask():
    counts = _Counts()
    for points in ((30.0, 0.0), (0.0, 35.0)):
        of = (30.0, 70.0)
        subtasks = [{"name": str(i), "points": p, "of": of[i]} for i, p in enumerate(points)]
        counts._add_points({"problem_id": "p", "subtasks": subtasks})
    assert counts.graded_points() == {
        "points": 65.0, "of": 100.0, "problems": {"p": {"points": 65.0, "of": 100.0}}
    }  # fmt: skip


@pytest.mark.parametrize("text", ["main(int a, char*b", "main(int a, char*b[]", "main("])
def test_reading_a_stub_is_linear(text):
    stub = text + " " * 1_000_000  # took an hour
    problem = Problem("1/A", graders=(("graders/stub.cpp", stub), ("graders/manager.cpp", "")))
    assert graded_program("", "c++17", problem).files["stub.cpp"].endswith(b" ")


def test_only_programs_in_cpp_can_be_linked(tmp_path):
    problem = open_problems(write(tmp_path / "d")).get("largest")
    with pytest.raises(BadRequest, match=r"are in C\+\+, the solution is python"):
        graded_program("x", "python", problem)


def own_row(tmp_path: Path, name: str) -> dict[str, Any]:
    problems = open_problems(write(tmp_path / "d", [*ROWS, GUESS], [*TESTS, *GUESSED]))
    location = problems._find(name)
    return {k: v for k, v in location.source.row(location.row).items() if k != "dataset_format"}


def points(record: dict[str, Any]) -> list[float]:
    return [subtask["points"] for subtask in record["subtasks"]]


@pytest.mark.slow  # it compiles programs and a checker
def test_a_checker_gives_points(tmp_path, grader):
    exits = f'#include <unistd.h>\n#include <cstdio>\n{LARGEST}{{ puts("9"); _exit(0); }}\n'
    programs = [BEST, LAST, FIRST, exits, "int x;"]
    records = grader.grade([{"code": code} for code in programs], own_row(tmp_path, "largest"))
    assert [points(r) for r in records[:3]] == [[0, 30, 70], [0, 30, 32.2], [0, 13.8, 32.2]]
    assert [r["status"] for r in records] == ["passed", "failed", "failed", "failed", "failed"]
    assert records[4]["verdict"] == "CE"
    assert points(records[4]) == [0, 0, 0]
    assert records[1]["details"][2]["score"] == 0.456


@pytest.mark.slow  # it compiles programs and a manager
def test_a_manager_gives_points(tmp_path, grader):
    row = own_row(tmp_path, "guess")
    silent = "#include <cstdlib>\nint guess(int ask(int)) { exit(0); }\n"
    liar = "#include <unistd.h>\nint guess(int ask(int)) {\n"
    liar += '    for (int i = 0; i < 9; i++) write(1, "1\\n", 2);\n    _exit(0);\n}\n'
    programs = [HALVING, COUNTING, silent, liar, "int guess(int ask(int)) { return 3; }\n"]
    records = grader.grade([{"code": code} for code in programs], row)
    assert [points(r) for r in records] == [[100], [50], [0], [0], [0]], records[0]["details"]
    assert [r["status"] for r in records] == ["passed", *["failed"] * 4]
