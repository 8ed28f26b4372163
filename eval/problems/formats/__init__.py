"""The formats of data sets, and which of them a row has.

Each module has the formats of some data sets, as `FORMATS`; docs/datasets.md and
docs/stdin-datasets.md list them.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

from gradebox.eval.common.errors import InputError, shown
from gradebox.eval.problems.formats import (
    archives,
    asserts,
    contests,
    evalplus,
    ioi,
    livecodebench,
    other_languages,
    suites,
    training,
)
from gradebox.eval.problems.formats.row_format import (
    JUDGES,
    OWN,
    Judge,
    Reading,
    Row,
    RowFormat,
)
from gradebox.eval.problems.row import USED_COLUMNS
from gradebox.eval.problems.row.tests import TESTS_COLUMN

__all__ = [
    "FIRST_ROWS",
    "FORMATS",
    "JUDGES",
    "OWN",
    "REMEDY",
    "Judge",
    "Reading",
    "Recognised",
    "Row",
    "RowFormat",
    "recognising",
]

_MODULES = (
    *(asserts, evalplus, other_languages, livecodebench, suites),
    *(contests, ioi, archives, training),
)
FORMATS: dict[str, RowFormat] = {
    row.name: row for row in (OWN, *(row for module in _MODULES for row in module.FORMATS))
}
# The columns of data sets whose rows have no tests, and what to give instead.
TESTS_ELSEWHERE = {
    frozenset({"problem_id", "time_limit_ms", "interaction", "examples"}): "CodeElo's rows have "
    "samples only, since its grader submits to Codeforces: give --dataset open-r1/codeforces",
    frozenset({"problem_id", "problem_title", "problem_statement"}): "LiveCodeBench-Pro keeps its "
    "tests in a zip for each problem: give the folder of the zips of LiveCodeBench-Pro-Testcase",
    frozenset({"id", "prompt", "dataset", "language", "difficulty"}): "OJBench keeps its tests in "
    "packages: give --dataset NOI,ICPC, the folders of OJBench_testdata",
    frozenset({"id", "generation", "examples"}): "rows of codeforces-cots are solutions and have "
    "samples only: give --dataset open-r1/codeforces, and these rows as --solutions-path",
    frozenset({"problem_id", "num_tests", "runtime_limit"}): "USACO keeps its tests in files: give "
    "usaco_subset307_dict.json, with the folder usaco_v3/tests beside it",
}
NEAREST = 3  # formats that a message names
FIRST_ROWS = 100  # of which the format is recognised
MOST_SHOWN = 20  # columns in a message
NEAR_NAME = 0.8  # memory_limit_mb for memory_limit; not contest_name for contest_id
REMEDY = (
    f"give rows with id and {TESTS_COLUMN}, state the format with --dataset-format, or give tests "
    "with --generated-tests-dir"
)


class Recognised:
    """What some first rows of a data set are.

    rows     how many they are
    columns  the names of their fields
    formats  that their fields and their tests have
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = 0
        self.columns: dict[str, None] = {}
        self._objections: dict[str, str] = {}
        self._like_tests: set[str] = set()
        with_tests: dict[str, RowFormat] = {}
        without: dict[str, RowFormat] = {}
        for row in rows:
            self.rows += 1
            self.columns |= dict.fromkeys(row)
            if TESTS_COLUMN not in row:
                self._like_tests.update(name for name in row if _like_tests(row[name]))
            found = self._formats_of(row)
            tested = [row_format for row_format in found if row_format.has_tests(row)]
            (with_tests if tested else without).update((f.name, f) for f in tested or found)
        left = [f for name, f in without.items() if name not in self._objections]
        self.formats = list(with_tests.values()) or left

    def _formats_of(self, row: Row) -> list[RowFormat]:
        """Return the formats of a row.

        One that needs a field more than another one, and has it, goes before that one.
        """
        fields, found = frozenset(row), {}
        for name, row_format in FORMATS.items():
            if matched := row_format.matched(fields):
                if why := row_format.objection(row):
                    self._objections.setdefault(name, why)
                else:
                    found[name] = matched
        return [
            FORMATS[name]
            for name, matched in found.items()
            if not any(matched < other for other in found.values())
        ]

    def one(self, name: str | None, where: str) -> RowFormat:
        """Return the format of the rows.

        name   the format that the user named, None for the one that recognises the rows
        where  the data set, for messages

        Raises InputError when no format or several recognise the rows.
        """
        if name is not None:
            return FORMATS[name]
        if not self.rows:  # reported when the rows are read
            return OWN
        if not self.formats:
            raise InputError(f"{where} has {self.described()}; {REMEDY}")
        if len(self.formats) > 1:
            names = " and ".join(row.name for row in self.formats)
            raise InputError(
                f"{where} has the columns of {names}: say which with --dataset-format "
                f"{self.formats[0].name}"
            )
        return self.formats[0]

    def misnamed(self) -> list[str]:
        """Return a hint for each column that is not read and probably meant as one of ours."""
        absent = [TESTS_COLUMN, *USED_COLUMNS]
        absent = [name for name in absent if name not in self.columns]
        hints = []
        for column in sorted(self.columns.keys() - OWN.alone):
            near = difflib.get_close_matches(column, absent, n=1, cutoff=NEAR_NAME)
            if column in self._like_tests:
                near = [TESTS_COLUMN]
            if near:
                hints.append(f"the column {shown(column)} is not read: is {near[0]} meant?")
        return hints

    def described(self) -> str:
        """Return the columns and the formats that are nearest to rows without tests."""
        near: dict[str, tuple[float, str]] = {}
        for name, row_format in FORMATS.items():
            for needed in row_format.needs:
                missing = sorted(needed - self.columns.keys())
                share = len(missing) / len(needed)
                if missing and share < near.get(name, (1.0, ""))[0]:
                    near[name] = (share, f"{' and '.join(missing)} missing")
        near |= {name: (0.0, why) for name, why in self._objections.items()}
        nearest = sorted(near.items(), key=lambda item: item[1][0])[:NEAREST]
        formats = "; ".join(f"{name} ({why})" for name, (_, why) in nearest) or "none"
        columns = ", ".join(shown(c) for c in sorted(self.columns)[:MOST_SHOWN]) or "none"
        more = len(self.columns) - MOST_SHOWN
        return (
            f"the columns {columns}{f' and {more} more' if more > 0 else ''}, and tests of no "
            f"format that is read; the nearest: {formats}"
            f"{''.join(f'; {hint}' for hint in (*self.misnamed(), *self._elsewhere()))}"
        )

    def _elsewhere(self) -> list[str]:
        return [hint for names, hint in TESTS_ELSEWHERE.items() if names <= self.columns.keys()]


def _like_tests(value: Any) -> bool:
    """Return whether a value looks like official tests."""
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, dict) and {"input", "output"} <= first.keys()


def recognising(rows: Iterable[Row]) -> RowFormat | None:
    """Return the one format that some rows have, None for none or several."""
    found = Recognised(rows).formats
    return found[0] if len(found) == 1 else None
