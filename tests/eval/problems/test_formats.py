"""Rows of other data sets become problems; bad ones say why, in one line."""

import base64
import json
import pickle
import re
import zlib
from pathlib import Path
from typing import Any

import pytest

from gradebox.eval.common.errors import InputError
from gradebox.eval.problems import open_problems
from gradebox.eval.problems.in_memory import parse_problem
from tests.eval.problems.dataset_rows import (
    HUMANEVAL,
    MBPP,
    call_row,
    packed,
    stdin_row,
)


def write(path: Path, rows: list[Any]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_an_unclear_row_names_the_candidates(tmp_path):
    path = write(tmp_path / "p.jsonl", [{**MBPP, "id": "x", "official_tests": []}])
    with pytest.raises(InputError, match="codeforces and mbpp: say which with --dataset-format"):
        open_problems(path)
    assert open_problems(path, format_name="mbpp").ids() == ["900"]


def test_a_json_array_is_read(tmp_path):
    path = tmp_path / "p.json"
    path.write_text(json.dumps([MBPP, {**MBPP, "task_id": 901}, 5]))
    problems = open_problems(str(path))
    assert problems.ids() == ["900", "901"]
    assert problems.get("Mbpp/901") is not None
    assert "line 3 is not a problem: a JSON int, not an object" in problems.messages()[0]


def test_livecodebench_reads_private_tests_in_both_forms(tmp_path):
    tests = [{"input": "1\n2", "output": "3", "testtype": "functional"}]
    for private in (json.dumps(tests), packed(tests)):
        problem = parse_problem(call_row(private_test_cases=private))
        assert [given for given, _ in problem.tests] == [b"[2, 3]", b"[1, 2]"]
        assert [expected for _, expected in problem.tests] == [b"5", b"3"]


def test_the_judge_chooses_comparison_and_prelude():
    for row, names in (
        (call_row(), ("value", "value-reference")),
        (stdin_row(), (None, "lines-reference")),
    ):
        strict, reference = parse_problem(row), parse_problem(row, "reference")
        assert (strict.checker_name, reference.checker_name) == names
        assert "from typing import *" in reference.prelude
        assert (strict.origin["judge"], reference.origin["judge"]) == ("strict", "reference")
    assert not parse_problem(stdin_row()).prelude


class Wanted:
    pass


def compressed(value: Any) -> str:
    return base64.b64encode(zlib.compress(value)).decode()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (compressed(pickle.dumps(Wanted())), "names .*Wanted"),
        (compressed(pickle.dumps([1])), "Expected `object`, got `int`"),
        (compressed(b"\x80\x04"), "is damaged"),
        (base64.b64encode(zlib.compress(b"x" * 1000)[:-8]).decode(), "is cut"),
        ("e" * 40, "neither JSON nor packed"),
        ("é", "neither JSON nor packed"),
    ],
    ids=lambda value: value[:20],
)
def test_a_payload_that_is_no_text_is_refused(text, why):
    with pytest.raises(InputError, match=why):
        parse_problem(stdin_row(private_test_cases=text))


def test_a_payload_that_expands_too_much_is_refused(monkeypatch):
    monkeypatch.setattr("gradebox.eval.problems.formats.livecodebench.MOST_TESTS_BYTES", 1000)
    with pytest.raises(InputError, match="more than 1000 bytes"):
        parse_problem(stdin_row(private_test_cases=compressed(pickle.dumps("x" * 2000))))


BAD = [
    (call_row(public_test_cases=json.dumps([{}] * 5001)), "tests: a row may have 5000"),
    (call_row(public_test_cases='[{"input": '), "public_test_cases is not JSON"),
    (call_row(public_test_cases='{"input": "1"}'), "Expected `array`, got `object`"),
    (call_row(metadata="[1]"), "metadata is"),
    (call_row(metadata='{"func_name": "a b"}'), "must be a name"),
    (call_row(metadata="{}"), "test 0 calls a function and names none"),
    (call_row(public_test_cases='[{"input": "1\\n{", "output": "2"}]'), "argument is not JSON"),
    ({**HUMANEVAL, "entry_point": None}, "entry_point is empty"),
    ({**HUMANEVAL, "entry_point": "f" * 201}, "`str` of length <= 200"),
    ({**HUMANEVAL, "test": 5}, "test is 5: it must be text"),
    ({**MBPP, "test_list": "assert x"}, "test_list is 'assert x': Expected `array`"),
]


@pytest.mark.parametrize(("row", "why"), BAD, ids=[why for _, why in BAD])
def test_a_bad_row_says_why_in_one_line(row, why):
    with pytest.raises(InputError, match=re.escape(why)) as raised:
        parse_problem(row)
    assert "\n" not in str(raised.value)


def test_too_long_a_field_is_a_bad_row(monkeypatch):
    monkeypatch.setattr("gradebox.eval.problems.formats.row_format.MOST_TEXT", 10)
    with pytest.raises(InputError, match="at most 10 are read"):
        parse_problem(HUMANEVAL)


@pytest.mark.parametrize(
    "row",
    [
        {**HUMANEVAL, "test": ""},
        {**HUMANEVAL, "test": "def check(candidate):\n    pass\n"},
        {**MBPP, "test_list": []},
        call_row(public_test_cases="[]", private_test_cases=""),
    ],
    ids=["no text", "no assert", "no list", "no calls"],
)
def test_a_row_without_tests_has_none(row):
    assert parse_problem(row).tests == ()
