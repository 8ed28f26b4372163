"""The table of solutions of real problems is complete and its programs parse.

`benchmarks/real_problems.py` grades them; it needs the problems themselves.
"""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

from testing.submissions.codeforces.table import PROGRAMS, read_table

ROWS = read_table()


def test_every_program_is_in_the_table_once() -> None:
    files = sorted(path.relative_to(PROGRAMS).as_posix() for path in PROGRAMS.rglob("*.*"))
    assert sorted(row.program for row in ROWS) == files


def test_25_problems_have_correct_wrong_and_slow_solutions() -> None:
    right = Counter(row.problem for row in ROWS if row.verdict == "AC")
    wrong = {row.problem for row in ROWS if row.verdict == "WA"}
    slow = {row.problem for row in ROWS if row.verdict == "TLE"}
    assert sum(right[problem] == 2 for problem in wrong & slow) >= 25
    assert {row.verdict for row in ROWS} == {"AC", "WA", "TLE", "MLE", "RE", "CE"}


def test_the_verdict_is_in_the_name() -> None:
    words = {"AC": "right", "WA": "wrong", "TLE": "slow"}
    for row in ROWS:
        name = Path(row.program).name
        assert name.startswith(words.get(row.verdict, row.verdict.lower())), row


def test_python_programs_parse() -> None:
    for row in ROWS:
        if row.program.endswith(".py"):
            assert ast.parse(row.source.decode()).body, row
