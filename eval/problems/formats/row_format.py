"""`RowFormat`: how the rows of one data set become rows of our own columns.

    row of a data set ── Reading(format, judge) ──▶ row of our own ── make_problem ──▶ Problem

Rows are converted where they are read, so that nothing behind the reader knows of data sets.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from gradebox.eval.problems.row import NAME_COLUMNS, TESTS_COLUMN, USED_COLUMNS

Judge = Literal["strict", "reference"]
JUDGES: tuple[Judge, ...] = ("strict", "reference")
Row = Mapping[str, Any]


@dataclass(frozen=True)
class RowFormat:
    """The rows of one data set.

    name     what --dataset-format takes, and records say
    needs    sets of fields; a row is recognised by having all of one set
    names    fields that `ids` needs, and all that is read of a row to look it up
    uses     fields that `convert` needs
    ids      returns the NAME_COLUMNS of a row
    convert  returns the row in our own columns, which may lack those of `ids`; raises RowError
    numbered  a row without an id is named by its number in its file, from 0
    """

    name: str
    needs: tuple[frozenset[str], ...]
    names: tuple[str, ...]
    uses: tuple[str, ...]
    ids: Callable[[Row], dict[str, Any]]
    convert: Callable[[Row, Judge], dict[str, Any]]
    numbered: bool = False

    def recognises(self, fields: Mapping[str, Any] | frozenset[str]) -> bool:
        """Return whether a row with these fields has this format."""
        return bool(self.matched(frozenset(fields)))

    def matched(self, fields: frozenset[str]) -> frozenset[str]:
        """Return the largest set of `needs` that is among the fields, an empty one for none."""
        found = (needed for needed in self.needs if needed <= fields)
        return max(found, key=len, default=frozenset())


def _own_ids(row: Row) -> dict[str, Any]:
    return {name: row.get(name) for name in NAME_COLUMNS}


OWN = RowFormat(
    name="codeforces",
    needs=(frozenset({"id"}), frozenset({"contest_id", "index"})),
    names=NAME_COLUMNS,
    uses=(*USED_COLUMNS, TESTS_COLUMN),
    ids=_own_ids,
    convert=lambda row, _judge: dict(row),
)


@dataclass(frozen=True)
class Reading:
    """A format, and the way in which its tests are judged."""

    format: RowFormat = OWN
    judge: Judge = "strict"

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that are read of a row."""
        return tuple(dict.fromkeys((*self.format.names, *self.format.uses)))

    def ids(self, row: Row, number: int | None = None) -> dict[str, Any]:
        """Return the ids of a row, which may have a number, by our names. Raises RowError."""
        return self._named(self.format.ids(row), number)

    def columns(self, row: Row, number: int | None = None) -> dict[str, Any]:
        """Return a row, which may have a number, in our own columns. Raises RowError.

        A row with neither an id nor a number is named by its tests.
        """
        converted = {**self.format.ids(row), **self.format.convert(row, self.judge)}
        converted = self._named(converted, number)
        if self.format.numbered and converted["id"] is None:
            tests = repr(converted.get(TESTS_COLUMN)).encode("utf-8", "backslashreplace")
            converted["id"] = f"problem-{hashlib.sha256(tests).hexdigest()[:12]}"
        if self.format is not OWN:
            converted |= {"dataset_format": self.format.name, "judge": self.judge}
        return converted

    def _named(self, columns: dict[str, Any], number: int | None) -> dict[str, Any]:
        if self.format.numbered and columns.get("id") in (None, ""):
            columns["id"] = number
        return columns
