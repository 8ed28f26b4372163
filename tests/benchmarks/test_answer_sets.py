"""The labelled sets of answers can be read, and the benchmark counts both kinds of errors."""

import gzip
import json
import sys

import pytest

from benchmarks import answer_sets
from testing.commands import run_command


def test_every_row_has_one_answer_a_label_and_an_id_of_its_own():
    rows = answer_sets.read_sets([answer_sets.SETS])
    assert len(rows) == 17_525
    assert len({row["id"] for row in rows}) == len(rows)
    for row in rows:
        assert ("answer" in row) != ("response" in row), row["id"]
        assert isinstance(row["label"], bool) and row["gold"] and row["set"], row["id"]


@pytest.mark.slow(seconds=1)
def test_the_same_rows_give_the_same_small_file(tmp_path):
    copy = tmp_path / "copy.jsonl.gz"
    answer_sets.write_sets(answer_sets.read_sets([answer_sets.SETS]), copy)
    assert gzip.decompress(copy.read_bytes()) == gzip.decompress(answer_sets.SETS.read_bytes())
    assert copy.stat().st_size < 2**20
    assert copy.read_bytes()[3:8] == bytes(5)  # no name, no time


@pytest.mark.slow(seconds=1)
def test_both_kinds_of_errors_are_counted_and_listed(tmp_path):
    rows = [
        {"id": "a", "gold": "5", "answer": "5", "label": True},
        {"id": "b", "gold": "5", "answer": "5.0", "label": False},
        {"id": "c", "gold": "5", "response": "The answer is 6.", "label": True},
        {"id": "d", "gold": "5", "response": "The answer is 7.", "label": True, "doubtful": True},
    ]
    file = tmp_path / "set.jsonl"
    file.write_text("".join(json.dumps({**r, "why": "w", "topic": "t"}) + "\n" for r in rows))
    command = [sys.executable, "benchmarks/answer_sets.py", "--list", str(file)]
    done = run_command(command)
    assert done.returncode == 0, done.stderr
    answers, _, responses, certain, *_ = done.stdout.splitlines()
    assert "right 0.5000  wrong accepts   1 of    1  wrong rejects   0 of    1" in answers
    assert "wrong rejects   2 of    2" in responses and "wrong rejects   1 of    1" in certain
    assert "b: wrong accept: w (t)" in done.stdout
    assert "d: wrong reject, doubtful: w (t)" in done.stdout
    assert "\na: " not in done.stdout
