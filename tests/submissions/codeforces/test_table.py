"""The solutions of real problems parse and are of every verdict."""

import ast
from collections import Counter
from pathlib import Path

from testing.submissions.codeforces.table import read_table

WORDS = {"AC": "right", "WA": "wrong", "TLE": "slow"}


def test_programs_parse_and_are_named_after_their_verdict():
    for row in read_table():
        name = Path(row.program).name
        assert name.startswith(WORDS.get(row.verdict, row.verdict.lower())), row
        assert not name.endswith(".py") or ast.parse(row.source).body, row


def test_25_problems_have_correct_wrong_and_slow_solutions():
    rows = read_table()
    right = Counter(row.problem for row in rows if row.verdict == "AC")
    wrong = {row.problem for row in rows if row.verdict == "WA"}
    slow = {row.problem for row in rows if row.verdict == "TLE"}
    assert sum(right[problem] == 2 for problem in wrong & slow) >= 25
    assert {row.verdict for row in rows} == {"AC", "WA", "TLE", "MLE", "RE", "CE"}
