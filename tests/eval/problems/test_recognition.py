"""A format is recognised by its columns and by what its tests contain; anything else is refused."""

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import gradebox
from gradebox.eval.cli.grade import main
from gradebox.eval.common.errors import InputError
from gradebox.eval.problems import open_problems
from gradebox.eval.problems.formats import FORMATS, Recognised
from gradebox.eval.problems.in_memory import parse_problem
from testing.fakes.scripted_sandbox import FakeSandbox
from testing.rows import named_rows
from tests.eval.grading.test_unittest_classes import BIGCODEBENCH, CLASSEVAL
from tests.eval.problems.dataset_rows import (
    ENAMEL,
    EVALPLUS,
    HUMANEVAL,
    LEETCODE,
    MBPP,
    call_row,
    stdin_row,
)
from tests.eval.problems.test_archives import ROWS as ARCHIVES
from tests.eval.problems.test_checked_formats import plus
from tests.eval.problems.test_humaneval_x import ROWS as HUMANEVAL_X
from tests.eval.problems.test_kodcode import ROW as KODCODE
from tests.eval.problems.test_small_sets import CONTEST
from tests.eval.problems.test_stdin_formats import (
    CALLS,
    FUNCTIONAL,
    STDIN,
    TYPED,
    apps,
    contests,
    deepcoder,
    fusion,
    nemo,
    prime,
    taco,
)

OWN = {"id": "1/A", "time_limit": 1, "official_tests": [{"input": "1", "output": "2"}]}
MULTIPL_E = {
    "name": "HumanEval_900_double",
    "language": "js",
    "prompt": "function double(x){\n",
    "tests": "const assert = require('node:assert');\nassert.deepEqual(double(1), 2);\n",
    "stop_tokens": ["\nfunction "],
}
ACECODE = {
    "id": "ace_1",
    "source": "oss",
    "question": "Write add.",
    "test_cases": ["assert add(1, 2) == 3", "assert add(0, 0) == 0"],
}


def verl(truth: Any, **changes: Any) -> dict[str, Any]:
    row = {"data_source": "made", "prompt": [{"role": "user", "content": "q"}], "ability": "code"}
    return {**row, "reward_model": {"style": "rule", "ground_truth": truth}, **changes}


READ = {
    "codeforces": [OWN, {"contest_id": "1", "index": "A", "x": 1}, {"id": "mine/A"}],
    "humaneval": [
        HUMANEVAL,
        {  # HumanEvalPack in Python
            **HUMANEVAL,
            **dict.fromkeys(("declaration", "buggy_solution", "import", "test_setup"), ""),
            "test": "METADATA = {}\ndef check(f):\n    assert f(1) == 2\ncheck(f)",
        },
        {**HUMANEVAL, "language": "python", "description": "d"},  # mxeval
        {**HUMANEVAL, "inputs": [[1]], "parent": "HumanEval/0", "main": None},  # EvoEval
    ],
    "evalplus": [EVALPLUS, {name: EVALPLUS[name] for name in EVALPLUS if name != "test"}],
    "enamel": [ENAMEL],
    "humaneval-x": [*HUMANEVAL_X.values(), {**HUMANEVAL_X["Go"], "entry_point": "twice"}],
    "deepseek-leetcode": [CONTEST],
    "mbpp": [MBPP, {**MBPP, "id": "x"}],
    "acecode": [ACECODE, {"id": "v2", "question": "q", "tests": ["assert add(1, 2) == 3"]}],
    "leetcode": [LEETCODE, {name: LEETCODE[name] for name in LEETCODE if name != "starter_code"}],
    "multipl-e": [MULTIPL_E],
    "livecodebench": [call_row(), stdin_row()],
    "kodcode": [KODCODE],
    "bigcodebench": [BIGCODEBENCH],
    "classeval": [CLASSEVAL],
    "code-contests-plus": [plus()],
    "apps": [apps(STDIN), apps(CALLS)],
    "taco": [taco(STDIN), taco(STDIN, id="t", time_limit=None)],
    "code-contests": [contests()],
    "deepcoder": [deepcoder(STDIN), deepcoder(FUNCTIONAL)],
    "verl": [
        *(verl(json.dumps(STDIN)), verl(json.dumps(TYPED)), verl(FUNCTIONAL)),
        verl(json.dumps({"assert_case": ["assert f(1) == 2"]})),
    ],
    "prime": [prime(TYPED), ARCHIVES["SYNTHETIC-2"][0], ARCHIVES["SYNTHETIC-2, calls"][0]],
    "rstar-coder": [ARCHIVES["rStar-Coder"][0]],
    "xcodeeval": [ARCHIVES["xCodeEval"][0]],
    "icpc-eval": [ARCHIVES["ICPC-Eval"][0]],
    "usaco": [ARCHIVES["USACO"][0]],
    "nemo-gym": [
        {**nemo({"inputs": ["1"], "outputs": ["2"]}), "responses_create_params": {"input": "q"}}
    ],
    "sandboxfusion": [fusion([{"input": {"stdin": "1"}, "output": {"stdout": "3"}}])],
}
# Rows in the columns of data sets that are not read, or that have no tests.
UNREAD: dict[str, tuple[dict[str, Any], str]] = named_rows(__file__, "unread")


NAMES = sorted(READ)
# The columns of further data sets, with a text in each that could be tests.
_FURTHER = named_rows(__file__, "further")
_TEXTS = (
    "def check(candidate):\n    assert candidate(1) == 2\n",
    '{"inputs": ["1"], "outputs": ["2"]}',
    "assert f(1) == 2",
)


def lines(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


@pytest.mark.parametrize("name", READ)
def test_rows_are_recognised_in_every_file_and_in_memory(tmp_path, name):
    for number, row in enumerate(READ[name]):
        assert Recognised([row]).one(None, "x").name == name
        pq.write_table(pa.Table.from_pylist([row]), tmp_path / "p.parquet")
        (tmp_path / "p.json").write_text(json.dumps([row]))
        paths = [lines(tmp_path / f"{number}.jsonl", [row]), "p.parquet", "p.json"]
        if all(isinstance(value, str) for value in row.values()):
            with (tmp_path / "p.csv").open("w", newline="") as file:
                csv.DictWriter(file, row).writeheader()
                csv.DictWriter(file, row).writerow(row)
            paths.append("p.csv")
        for path in paths:
            problems = open_problems(str(tmp_path / path))
            found = problems.get(problems.ids()[0])
            assert found is not None, problems.why_missing(problems.ids()[0])
            assert found.origin.get("dataset_format", "codeforces") == name
        assert parse_problem(row).origin.get("dataset_format", "codeforces") == name


def test_every_format_has_a_row_here():
    several = {"cruxeval-input", "cruxeval-output"}  # of the same rows
    assert set(FORMATS) - set(READ) == {"ioi"} | several


@pytest.mark.parametrize("name", UNREAD)
def test_what_is_not_read_is_refused_in_words(tmp_path, name):
    row, why = UNREAD[name]
    pq.write_table(pa.Table.from_pylist([row] * 3), tmp_path / "p.parquet")
    for path in (lines(tmp_path / "p.jsonl", [row] * 3), str(tmp_path / "p.parquet")):
        with pytest.raises(InputError, match=f"{why}.*--dataset-format") as raised:
            open_problems(path)
        assert "\n" not in str(raised.value)
    with gradebox.Grader(sandbox=FakeSandbox(lambda call: b"")) as grader:
        (record,) = grader.grade([{"code": "x = 1"}], row)
    assert record["status"] == "invalid"


@pytest.mark.parametrize("name", _FURTHER)
def test_further_data_sets_are_refused_whatever_their_tests_look_like(tmp_path, name):
    for value in (*_TEXTS, [_TEXTS[2]], [{"input": "1", "output": "2"}], {"input": ["1"]}):
        row = dict.fromkeys(_FURTHER[name].split(), value)
        with pytest.raises(InputError, match=r"has the columns .*the nearest: .*--dataset-format"):
            open_problems(lines(tmp_path / "p.jsonl", [row]))


@pytest.mark.slow(seconds=1)
@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_a_row_without_some_of_its_columns_is_never_of_another_format(tmp_path, data):
    name = data.draw(st.sampled_from(NAMES))
    row = dict(data.draw(st.sampled_from(READ[name])))
    for field in data.draw(st.lists(st.sampled_from(sorted(row)), max_size=3, unique=True)):
        value = row.pop(field)
        if data.draw(st.booleans()):
            row[f"{field}_{data.draw(st.integers(0, 9))}"] = value
    try:
        problem = parse_problem(row)
    except InputError as error:
        assert "\n" not in str(error)
        return
    assert problem.origin.get("dataset_format", "codeforces") == name or not problem.tests


def test_the_reason_of_an_unusable_row_reaches_whoever_grades_with_it():
    row, _ = UNREAD["unittest"]
    fixture = {**KODCODE, "test_code": "def test_a(capsys):\n    assert f()"}
    with gradebox.Grader(sandbox=FakeSandbox(lambda call: b"")) as grader:
        for made, why in ((row, "does not define check"), (fixture, "has arguments")):
            names: list[dict[str, Any]] = [{}, {"problem_id": "Prefill_1_I"}, {"problem_id": "x"}]
            records = [grader.grade([{**name, "code": "x"}], made)[0] for name in names]
            assert {record["status"] for record in records} == {"invalid"}
            assert all(why in record["error"] for record in records), records


def test_a_stated_format_is_no_licence_for_other_tests(tmp_path):
    row, _ = UNREAD["unittest"]
    problems = open_problems(lines(tmp_path / "p.jsonl", [row]), format_name="humaneval")
    assert problems.get("HumanEval/900") is None
    assert "test does not define check(candidate)" in problems.why_missing("HumanEval/900")


def test_our_own_rows_may_be_stated(tmp_path):
    path = lines(tmp_path / "p.jsonl", [{"id": "mine/A", "statement": "s", "time_limit": 3}])
    with pytest.raises(InputError, match="official_tests missing"):
        open_problems(path)
    assert open_problems(path, format_name="codeforces").get("mine/A").time_limit_s == 3


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize("name", ["MHPP", "unittest", "other columns"])
def test_the_command_ends_with_status_2(tmp_path, name, capsys):
    solutions = lines(tmp_path / "s.jsonl", [{"id": "sample_0", "code": "x"}])
    dataset = lines(tmp_path / "p.jsonl", [UNREAD[name][0]])
    argv = ["--solutions-path", solutions, "--dataset", dataset, "--results-dir"]
    assert main([*argv, str(tmp_path / "r")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"error: {dataset} has the columns '")
    assert "the nearest: " in line


@pytest.mark.slow(seconds=1)
def test_a_run_in_which_nothing_has_a_test_ends_with_status_2(tmp_path, capsys):
    rows = [{**HUMANEVAL, "task_id": f"t/{i}", "test": ""} for i in range(3)]
    dataset = lines(tmp_path / "p.jsonl", rows)
    solutions = lines(tmp_path / "s.jsonl", [{"id": f"t/{i}", "code": "x"} for i in range(3)])
    argv = ["--solutions-path", solutions, "--dataset", dataset, "--results-dir"]
    assert main([*argv, str(tmp_path / "r")]) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith(f"error: no problem of --dataset {dataset} has a test: the data set has")
    assert "'canonical_solution', 'entry_point'" in last
    assert "--dataset-format" in last


@pytest.mark.slow(seconds=2)
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@example(first="mbpp", then="humaneval", before=1)
@example(first="codeforces", then="mbpp", before=120)
@given(
    first=st.sampled_from(NAMES), then=st.sampled_from(NAMES), before=st.sampled_from([1, 3, 120])
)
def test_rows_of_two_formats_are_never_read_as_one(tmp_path, first, then, before):
    rows = [READ[first][0]] * before + [READ[then][0]]
    try:
        problems = open_problems(lines(tmp_path / "p.jsonl", rows))
    except InputError as error:
        assert first != then
        assert f"{min(first, then)}" in str(error) and "--dataset-format" in str(error)
        return
    with problems:
        for name in problems.ids():
            found = problems.get(name)
            assert found is None or problems.official_sizes(name), (name, first, then)
