"""The sample files of other graders: several codes a line, one JSON array, task_id."""

import json
from pathlib import Path

from gradebox.eval.solutions.files import count_lines
from gradebox.eval.solutions.reader import read_rows, read_solutions


def read(path: Path, text: str) -> list[tuple[str, str, int, str | None, str | None]]:
    path.write_text(text)
    return [
        (s.problem_id, s.solution_id, s.sample_i, s.code, s.response)
        for s in read_solutions([path])
    ]


def test_a_list_of_codes_is_one_solution_each(tmp_path):
    row = {"question_id": "abc301_a", "code_list": ["a", "```\nb\n```", "", None]}
    path = tmp_path / "s.jsonl"
    path.write_text("{}\n" + json.dumps(row))
    assert count_lines(path) is None
    assert read(path, json.dumps(row) + "\n") == [
        ("abc301_a", "1.0", 0, "a", None),
        ("abc301_a", "1.1", 1, "b\n", None),
        ("abc301_a", "1.2", 2, None, None),
        ("abc301_a", "1.3", 3, None, None),
    ]


def test_a_file_may_be_one_array(tmp_path):
    rows = [{"question_id": "1", "code_list": ["a"]}, {"task_id": 5, "completion": "    return 1"}]
    wanted = [("1", "1.0", 0, "a", None), ("5", "2", 0, None, "    return 1")]
    assert read(tmp_path / "s.json", json.dumps(rows)) == wanted
    assert read(tmp_path / "t.json", json.dumps(rows, indent=1)) == wanted


def test_a_response_without_a_program_is_kept_without_its_thoughts():
    rows = [
        {"id": "1", "completion": "<think>```python\nno\n```</think>    return 1"},
        {"id": "1", "completion": "```python\nx = 1\n```"},
        {"id": "1", "completion": None},
        {"id": "1", "completion": " "},
    ]
    assert [(s.code, s.response) for s in read_rows(rows)] == [
        (None, "    return 1"),
        ("x = 1\n", None),
        (None, None),
        (None, None),
    ]
