"""Results in the formats of LiveCodeBench and EvalPlus."""

import json
from typing import Any

import pytest
from msgspec import to_builtins

from gradebox.eval.common.errors import InputError
from gradebox.eval.grading.options import Options
from gradebox.eval.results.other_formats import evalplus, livecodebench
from gradebox.eval.solutions.reader import read_rows
from tests.eval.results.statistics.made_records import case, solution

DATED = {"contest_date": "2024-09-01", "difficulty": "hard", "platform": "leetcode"}


def code_of(record: Any) -> str:
    return f"# {record['problem_id']} {record['sample_i']}"


def test_livecodebench():
    records = [
        {**solution("b", 1, [case("TLE")]), "origin": DATED},
        {**solution("b", 0, []), "origin": DATED},
        {**solution("a", 0, [case("AC"), case("WA", 1)]), "origin": DATED},
        {**solution("c", 0, [case("RE")]), "origin": {}},
        {**solution("d", 0, []), "status": "error"},
    ]
    first, second, third = livecodebench(records, code_of)
    assert (first["question_id"], first["graded_list"], first["pass@1"]) == ("a", [False], 0.0)
    assert second["graded_list"] == [True, False]
    assert second["code_list"] == ["# b 0", "# b 1"]
    assert (second["pass@1"], second["contest_date"]) == (0.5, "2024-09-01T00:00:00")
    assert (second["difficulty"], second["platform"]) == ("hard", "leetcode")
    codes = [json.loads(text).get("error_code") for text in second["metadata"] + third["metadata"]]
    assert codes == [None, -3, -4]


def test_evalplus():
    both = {"base_tests": "1"}
    records = [
        {**solution("t", 0, [case("AC"), case("WA", 1)]), "origin": both},
        {**solution("t", 1, []), "origin": both, "details": [case("AC"), case("AC", 1)]},
        {**solution("t", 2, [case("TLE"), case("TLE", 1)]), "origin": both},
    ]
    records[1]["details"] = [to_builtins(c) for c in records[1]["details"]]
    found = evalplus(records, code_of)
    rows = [(r["base_status"], r["plus_status"]) for r in found["eval"]["t"]]
    assert rows == [("pass", "fail"), ("pass", "pass"), ("timeout", "timeout")]
    assert found["eval"]["t"][2]["solution"] == "# t 2"
    assert found["pass_at_k"] == {
        "base": {"pass@1": pytest.approx(2 / 3)},
        "plus": {"pass@1": pytest.approx(1 / 3)},
    }
    alone = evalplus([solution("t", 0, [])], code_of)
    assert alone["eval"]["t"][0]["plus_status"] is None
    assert alone["pass_at_k"] == {"base": {"pass@1": 1.0}}


@pytest.mark.parametrize("text", ["x=y", "evalplus", "evalplus=", "=a"])
def test_a_wrong_format_is_refused(text):
    with pytest.raises(InputError, match="FORMAT=PATH"):
        Options("s.jsonl", also_write=[text])


def test_evalplus_samples_are_programs():
    (whole,) = read_rows([{"task_id": "HumanEval/0", "solution": "def f(): pass"}])
    assert (whole.code, whole.problem_id, whole.error) == ("def f(): pass", "HumanEval/0", None)
    (other,) = read_rows([{"id": "1/A", "solution": "x"}])
    assert other.code is None
