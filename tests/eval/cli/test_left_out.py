"""A run names what it leaves out: tests, invalid lines, unusable problems and files."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gradebox.eval.api.grader import Grader
from gradebox.eval.cli.summary import describe_plan, table, warning_lines
from gradebox.eval.common.errors import InputError
from gradebox.eval.problems.in_memory import parse_problem
from tests.eval.cli.test_run import PROBLEMS, RunFolder


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path)


def printed(metrics) -> str:
    """What the command prints at its end, as one line."""
    return " ".join(f"{table(metrics, 'r')} {' '.join(warning_lines(metrics))}".split())


def generated(folder: RunFolder, name: str, *problems: str) -> Path:
    """Write a file with the tests 1 and 2 of each problem; the output is the input."""
    (folder.path / "generated").mkdir(exist_ok=True)
    path = folder.path / "generated" / name
    texts = ["1\n", "2\n"] * len(problems)
    columns = {
        "problem_id": [problem for problem in problems for _ in range(2)],
        "test_case_i": [1, 2] * len(problems),
        "input": texts,
        "output": texts,
    }
    pq.write_table(pa.table(columns), path)
    return path


def run(folder: RunFolder, *solutions):
    return folder.run(
        *solutions, generated_tests_dir=folder.path / "generated", max_generated_tests=-1
    )


def test_generated_tests_are_found_by_problem_whatever_the_name_of_the_file(folder):
    folder.write_problems([{"id": "mine/A", "official_tests": [1]}, *PROBLEMS])
    generated(folder, "test_cases_1.parquet", "1/A")
    generated(folder, "test_cases_mine.parquet", "mine/A")
    _, metrics, records = run(folder, ("mine/A", "wrong_on 2"), ("1/A", "echo"), ("3/C", "echo"))
    assert [(r["status"], r["num_generated"]) for r in records] == [
        ("failed", 2),
        ("passed", 2),
        ("no_tests", 0),
    ]
    assert metrics["generated_tests"] == {
        "tests": 4,
        "problems": 2,
        "problems_without": 1,
        "first_without": ["3/C"],
    }
    assert "generated 4 tests of 2 problems; 1 problems have none: 3/C" in printed(metrics)


def test_files_of_tests_that_match_no_problem_are_named(folder):
    generated(folder, "test_cases_1.parquet", "1/A")
    stranger = generated(folder, "mine.parquet", "mine-A", "mine-B")
    generated(folder, "test_cases_7.parquet", "7/A")  # of a contest that the data set lacks
    other = folder.path / "generated" / "train-0000.parquet"
    pq.write_table(pa.table({"prompt": ["x"]}), other)
    _, metrics, _ = run(folder, ("1/A", "echo"))
    assert metrics["run"]["notes"] == [
        f"not read: {other} has the columns 'prompt': problem_id, input, output and test_case_i or "
        "test_i are needed",
        f"{stranger} has no test of a problem of the data set: its problem_id are "
        "'mine-A', 'mine-B'",
    ]


TEST = [{"input": "1\n", "output": "1\n"}]


@pytest.mark.parametrize("column", ["tests", "cases", "private_tests"])
def test_tests_under_another_name_are_hinted_at(folder, column):
    (folder.path / "problems.jsonl").write_text(json.dumps({"id": "mine/A", column: TEST}))
    hint = f"the column '{column}' is not read: is official_tests meant?"
    with pytest.raises(InputError) as error:
        folder.run(("mine/A", "echo"))
    assert hint in str(error.value)
    with pytest.raises(InputError) as error:
        parse_problem({"id": "mine/A", column: TEST})
    assert hint in str(error.value)


def test_columns_with_a_name_near_one_of_ours_are_noted(folder):
    row = {"id": "mine/A", "official_tests": TEST, "memory_limit_mb": 8, "inputmode": "file"}
    other = {"id": "mine/B", "input_mode": "stdio", "tests": TEST, "examples": TEST, "source": ""}
    text = "".join(f"{json.dumps(r)}\n" for r in (row, other))
    (folder.path / "problems.jsonl").write_text(text)
    _, metrics, records = folder.run(("mine/A", "echo"), ("mine/B", "echo"))
    assert [r["status"] for r in records] == ["passed", "no_tests"]
    where = f"--dataset {folder.path / 'problems.jsonl'}"
    assert metrics["run"]["notes"] == [
        f"{where}: the column 'memory_limit_mb' is not read: is memory_limit meant?",
        f"{where}: the column 'tests' is not read: is official_tests meant?",
    ]


def test_a_testlib_that_is_missing_is_an_error_before_anything_runs(folder):
    (folder.path / "empty").mkdir()
    for name in ("nothere.h", "empty"):
        path = str(folder.path / name)
        missing = rf"--testlib: checker file .*{name}.* can't be read: No such file or directory"
        with pytest.raises(InputError, match=missing):
            folder.run(("1/A", "echo"), testlib=path)
        with pytest.raises(InputError, match=missing):
            describe_plan(folder.options(folder.path / "sols.jsonl", testlib=path))
        with Grader(testlib=path, sandbox=folder.sandbox) as grader:  # noqa: SIM117
            with pytest.raises(InputError, match=missing):
                grader.grade([{"code": "echo"}], {"id": "mine/A", "official_tests": TEST})
        assert folder.sandbox.calls == []


def test_of_invalid_lines_each_reason_is_shown_once(folder):
    lines = [
        *["{not json"] * 3,
        json.dumps({"id": "1/A", "code": "x", "language": "cobol"}),
        *[json.dumps({"code": "x"})] * 6,
        json.dumps({"id": "9/Z", "code": "x"}),
    ]
    status, metrics, records = folder.run(*lines, ("1/A", "echo"))
    assert (status, metrics["statuses"]) == (0, {"invalid": 11, "passed": 1})
    assert [r["line"] for r in records if r["status"] == "invalid" and r["error"]] == [
        *range(1, 12)
    ]
    troubles = metrics["first_troubles"]["invalid"]
    assert [(t["count"], t["lines"]) for t in troubles] == [
        (3, [1, 2, 3]),
        (1, [4]),
        (6, [5, 6, 7, 8, 9]),
        (1, [11]),
    ]
    text = printed(metrics)
    assert "!! 11 solutions are invalid: 3 at lines 1, 2, 3: not JSON (" in text
    assert text.count("not JSON") == text.count("unknown language 'cobol'") == 1
    assert " line 4: unknown language 'cobol'" in text
    assert " 6 at lines 5, 6, 7, 8, 9 …: " in text
    assert " line 11: unknown problem '9/Z'" in text
