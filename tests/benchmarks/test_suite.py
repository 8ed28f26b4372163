"""The benchmark commands run, and notice wrong verdicts."""

import json
import re
import sys

import pytest

from benchmarks import sets
from benchmarks.real_problems import changed, unintended, write_solutions
from testing.commands import run_command
from testing.submissions.codeforces.table import Intended, read_table


@pytest.mark.parametrize("name", sets.SETS)
def test_a_set_is_reproducible_except_for_its_nonce(name, tmp_path):
    first = sets.write_set(name, tmp_path / "a", "1")
    again = sets.write_set(name, tmp_path / "b", "1")
    other = sets.write_set(name, tmp_path / "c", "2")
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]
    assert first[0].read_bytes() == other[0].read_bytes()
    codes = [json.loads(line)["code"] for line in first[1].read_text().splitlines()]
    others = [json.loads(line)["code"] for line in other[1].read_text().splitlines()]
    assert len({*codes, *others}) == len(codes) + len(others)


@pytest.mark.slow(15)
def test_the_suite_prints_both_times_and_their_ratio():
    done = run_command([sys.executable, "benchmarks/suite.py", "--set", "tiny", "--repeat", "1"])
    assert done.returncode == 0, done.stderr
    head, _, row, closing = done.stdout.splitlines()
    assert "1 problems, 2 solutions, 10 cases" in head
    grader_s, plain_s, ratio, _ = map(float, row.split()[1:])
    assert ratio == pytest.approx(grader_s / plain_s, abs=0.02)
    assert re.match(r"median case \d+ ms · ratio", closing)


def test_real_problems_lists_unintended_verdicts():
    rows = [Intended("6/A", "a.py", "AC"), Intended("6/A", "b.py", "WA")]
    first = {"a.py": ("AC", 1), "b.py": ("TLE", 2)}
    assert unintended(rows, first) == ["b.py: TLE instead of WA"]
    assert changed(first, {**first, "a.py": ("AC", 3)}) == ["a.py: differs from the first run"]
    assert changed(first, dict(first)) == []


def test_real_problems_writes_every_program(tmp_path):
    write_solutions(read_table(), tmp_path / "solutions.jsonl")
    lines = (tmp_path / "solutions.jsonl").read_text().splitlines()
    assert [json.loads(line)["solution_id"] for line in lines] == [r.program for r in read_table()]
