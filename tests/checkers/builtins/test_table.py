"""cases.jsonl: the verdicts of testlib's and Kattis' own programs on small texts, one line a case.

The verdicts were taken from those programs (testlib 0.9.45 and problemtools' validator, built
with GCC on Linux); texts are bytes written as Latin-1.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from gradebox.checkers import builtin
from gradebox.checkers.builtins import TABLE
from gradebox.checkers.check import Check

OUTCOMES = {"OK": "accepted", "WA": "rejected", "PE": "rejected", "FAIL": "unclear"}

ROWS: list[dict[str, Any]] = [
    json.loads(line) for line in Path(__file__).with_name("cases.jsonl").read_text().splitlines()
]


def judged(row: dict[str, Any]) -> Check:
    return builtin(row["checker"])(
        b"", row["output"].encode("latin-1"), row["answer"].encode("latin-1")
    )


@pytest.mark.parametrize("name", TABLE)
def test_every_case_gets_the_verdict_of_the_original(name):
    rows = [row for row in ROWS if row["checker"].split()[0] == name]
    assert len(rows) >= 9
    wrong = [
        (row["checker"], row["case"], row["verdict"], check)
        for row in rows
        if ((check := judged(row)).verdict, check.outcome)
        != (row["verdict"], OUTCOMES[row["verdict"]])
    ]
    assert wrong == []


def test_the_table_is_large_and_has_every_verdict():
    assert len(ROWS) >= 900
    assert {row["verdict"] for row in ROWS} == set(OUTCOMES)
