"""Solutions of real Codeforces problems with their intended verdicts.

    table.tsv   problem ⇥ program ⇥ verdict
    programs/   1000-C/right.py, right.cpp, wrong_….py, slow_….cpp …

The problems themselves are not included: `benchmarks/real_problems.py --data DIR` reads them from
files with the columns of open-r1/codeforces.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"


@dataclass(frozen=True)
class Intended:
    """One program and its intended verdict."""

    problem: str
    program: str
    verdict: str

    @property
    def language(self) -> str:
        return "python" if self.program.endswith(".py") else "c++17"

    @property
    def source(self) -> bytes:
        return (PROGRAMS / self.program).read_bytes()


def read_table() -> list[Intended]:
    """Return the rows of table.tsv."""
    with (HERE / "table.tsv").open(newline="") as text:
        return [Intended(**row) for row in csv.DictReader(text, delimiter="\t")]
