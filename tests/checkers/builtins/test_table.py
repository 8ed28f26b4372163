"""cases.jsonl: the verdicts of testlib's and Kattis' own programs on small texts, one line a case.

The verdicts were taken from those programs (testlib 0.9.45 and problemtools' validator, built
with GCC on Linux); texts are bytes written as Latin-1. "points" are exit status 7 of testlib.
"""

from __future__ import annotations

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
def test_every_case_gets_the_verdict_of_the_original(name: str) -> None:
    rows = [row for row in ROWS if row["checker"].split()[0] == name and "points" not in row]
    assert len(rows) >= 9
    wrong = [
        (row["checker"], row["case"], row["verdict"], check)
        for row in rows
        if ((check := judged(row)).verdict, check.outcome)
        != (row["verdict"], OUTCOMES[row["verdict"]])
    ]
    assert wrong == []


def test_points_are_those_of_the_original() -> None:
    rows = [row for row in ROWS if "points" in row]
    assert len(rows) >= 5
    assert [judged(row).points for row in rows] == pytest.approx([row["points"] for row in rows])


def test_the_table_is_large_and_has_every_verdict() -> None:
    assert len(ROWS) >= 900
    assert {row["verdict"] for row in ROWS} == {*OUTCOMES, "points"}


@pytest.mark.parametrize(
    ("output", "score", "outcome"),
    [
        (b"1.5", 0.5, "accepted"),
        (b"1", 0.0, "rejected"),
        (b"2", 1.0, "accepted"),
        (b"51", 0.5, "accepted"),
        (b"5000", None, "unclear"),
    ],
)
def test_points_become_a_share(output: bytes, score: float | None, outcome: str) -> None:
    check = builtin("pointscmp")(b"", output, b"1")
    assert (check.score, check.outcome) == (score, outcome)


def test_points_of_a_known_full_mark() -> None:
    assert builtin("pointscmp full_points 500")(b"", b"251", b"1").score == 0.5
    assert builtin("pointscmp", full_points=500)(b"", b"502", b"1").outcome == "unclear"
