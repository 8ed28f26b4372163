"""How the rows of each data set are named and labelled."""

from __future__ import annotations

from typing import Any

import pytest

from gradebox.eval.problems.formats import FORMATS, Reading

ROWS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "codeforces": (
        {"id": "1/A", "aliases": ["1A"], "contest_id": 1, "index": "A"},
        {"id": "1/A", "aliases": ["1A"], "contest_id": 1, "index": "A"},
    ),
    "humaneval": ({"task_id": "HumanEval/0"}, {"id": "HumanEval/0"}),
    "mbpp": ({"task_id": 11}, {"id": 11, "aliases": ["Mbpp/11"]}),
    "acecode": ({"id": "a", "source": "taco"}, {"id": "a", "platform": "taco"}),
    "leetcode": (
        {"task_id": "two-sum", "question_id": 1, "difficulty": "Easy"}
        | {"estimated_date": "2015-08-07 00:00:00"},
        {"id": "two-sum", "aliases": [1], "difficulty": "easy", "platform": "leetcode"}
        | {"contest_date": "2015-08-07"},
    ),
    "multipl-e": (
        {"name": "HumanEval_0_f", "language": "go_test.go"},
        {"id": "go/HumanEval_0_f", "aliases": ["HumanEval_0_f"], "platform": "go"},
    ),
    "livecodebench": (
        {"question_id": "abc301_a", "difficulty": "easy", "platform": "atcoder"}
        | {"contest_date": "2023-05-13T00:00:00"},
        {"id": "abc301_a", "difficulty": "easy", "platform": "atcoder"}
        | {"contest_date": "2023-05-13"},
    ),
    "kodcode": (
        {"question_id": "Prefill_1_I", "gpt_difficulty": "medium"},
        {"id": "Prefill_1_I", "difficulty": "medium"},
    ),
    "code-contests": (
        {"name": "1000_A. Sums", "source": 2},
        {"id": "1000_A. Sums", "aliases": ["1000_A", "1000/A"], "platform": "codeforces"},
    ),
    "code-contests-plus": (
        {"id": "1000_A", "source": "Codeforces"},
        {"id": "1000_A", "aliases": ["1000/A"], "platform": "codeforces"},
    ),
    "ioi": ({"year": 2024, "id": "largest", "subtask": "01"}, {"id": "2024/largest/01"}),
    "apps": ({"problem_id": 5, "difficulty": "Interview"}, {"id": 5, "difficulty": "interview"}),
    "taco": (
        {"id": None, "difficulty": "EASY", "source": "CodeChef", "date": "2020-02-29 10:00"},
        {"id": 7, "difficulty": "easy", "platform": "codechef", "contest_date": "2020-02-29"},
    ),
    "deepcoder": ({"problem": "Add."}, {"id": 7}),
    "verl": ({"data_source": "codeforces"}, {"id": 7, "platform": "codeforces"}),
    "evalplus": (
        {"task_id": "Mbpp/11"},
        {"id": "Mbpp/11", "aliases": ["11"]},
    ),
    "humaneval-x": ({"task_id": "CPP/0"}, {"id": "CPP/0", "platform": "c++17"}),
    "deepseek-leetcode": (
        {"task_id": "w-1", "title": "two-sum"},
        {"id": "w-1", "aliases": ["two-sum"]},
    ),
    "cruxeval-output": ({"id": "sample_0"}, {"id": "sample_0"}),
    "cruxeval-input": ({"id": "sample_0"}, {"id": "sample_0"}),
    "bigcodebench": (
        {"task_id": "BigCodeBench/0", "libs": "['os']"},
        {"id": "BigCodeBench/0", "libraries": "os"},
    ),
    "classeval": ({"task_id": "ClassEval_0"}, {"id": "ClassEval_0"}),
    "rstar-coder": ({"question_id": "seed_1"}, {"id": "seed_1"}),
    "xcodeeval": ({"src_uid": "u", "difficulty": 800}, {"id": "u", "difficulty": "800"}),
    "icpc-eval": ({"id": "1", "source": "NERC"}, {"id": "1", "platform": "NERC"}),
    "usaco": (
        {"problem_id": "84_bronze", "problem_level": "Bronze"},
        {"id": "84_bronze", "difficulty": "bronze"},
    ),
    "prime": (
        {"problem_id": "p1", "source": "apps"},
        {"id": "p1", "platform": "apps"},
    ),
    "nemo-gym": ({"hash_id": "h", "source": None}, {"id": "h", "platform": ""}),
    "sandboxfusion": ({"id": 3}, {"id": 3}),
}


@pytest.mark.parametrize("name", FORMATS)
def test_the_ids_and_labels_of_a_row(name: str) -> None:
    row, expected = ROWS[name]
    reading = Reading(FORMATS[name])
    assert reading.ids(row, 7) == expected
    assert row.keys() <= {*FORMATS[name].names}, "only these are read to look a row up"
