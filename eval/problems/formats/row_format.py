"""`RowFormat`: how the rows of one data set become rows of our own columns.

    row of a data set ── Reading(format, judge) ──▶ row of our own ── make_problem ──▶ Problem

Rows are converted where they are read, so that nothing behind the reader knows of data sets.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from gradebox.eval.problems.row import NAME_COLUMNS, TESTS_COLUMN, USED_COLUMNS, RowError

Judge = Literal["strict", "reference"]
JUDGES: tuple[Judge, ...] = ("strict", "reference")
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Content:
    """What a field holds in the rows of a format.

    words  of the field, for messages: "does not define check"
    fits   whether a value that is not empty is of the format. A value of a wrong type is: the
           format's own reader says what is wrong. None: any value
    """

    words: str = ""
    fits: Callable[[Any], bool] | None = None

    def holds(self, value: Any) -> bool:
        """Return whether a value may be of the format."""
        return self.fits is None or is_empty(value) or self.fits(value)


def text_with(pattern: str, words: str) -> Content:
    """Return the content of a field whose text has a pattern; `words` say that it has not."""
    found = re.compile(pattern, re.MULTILINE)
    return Content(words, lambda value: not isinstance(value, str) or bool(found.search(value)))


def is_empty(value: Any) -> bool:
    """Return whether a value says nothing."""
    if isinstance(value, str):
        return value[:9].strip() in ("", "[]", "{}", "null") and not value[9:].strip()
    return value is None or (isinstance(value, (list, tuple, dict)) and not value)


@dataclass(frozen=True)
class RowFormat:
    """The rows of one data set.

    name     what --dataset-format takes, and records say
    needs    sets of fields; a row has all of one set
    content  what the fields of the tests hold; a row has one of them at least
    never    fields of other data sets, whose rows would look like these
    names    fields that `ids` needs, and all that is read of a row to look it up
    uses     fields that `convert` needs
    ids      returns the NAME_COLUMNS of a row
    convert  returns the row in our own columns, which may lack those of `ids`; raises RowError
    numbered  a row without an id is named by its number in its file, from 0
    alone    a row with no other fields than these needs only an id
    """

    name: str
    needs: tuple[frozenset[str], ...]
    names: tuple[str, ...]
    uses: tuple[str, ...]
    ids: Callable[[Row], dict[str, Any]]
    convert: Callable[[Row, Judge], dict[str, Any]]
    content: Mapping[str, Content] = field(default_factory=dict)
    never: frozenset[str] = frozenset()
    numbered: bool = False
    alone: frozenset[str] = frozenset()

    def matched(self, fields: frozenset[str]) -> frozenset[str]:
        """Return the largest set of `needs` that is among the fields, an empty one for none."""
        found = (needed for needed in self.needs if needed <= fields)
        own = "id" in fields and fields <= self.alone
        return max(found, key=len, default=fields if own else frozenset())

    def objection(self, row: Row) -> str:
        """Return why the tests in a row are not this format's, "" when they may be."""
        if self.alone and not self.matched(frozenset(row)):
            return f"{TESTS_COLUMN} is missing"
        if self.content and not any(name in row for name in self.content):
            return f"{' and '.join(self.content)} is missing"
        if other := self.never.intersection(row):
            return f"{min(other)} is a field of other data sets"
        for name, content in self.content.items():
            if not content.holds(row.get(name)):
                return f"{name} {content.words}"
        return ""

    def has_tests(self, row: Row) -> bool:
        """Return whether a field that holds tests in this format is not empty."""
        known = [name for name, content in self.content.items() if content.fits]
        return not known or not all(is_empty(row.get(name)) for name in known)


def _own_ids(row: Row) -> dict[str, Any]:
    return {name: row.get(name) for name in NAME_COLUMNS}


_STATEMENT = (
    *("description", "input_format", "output_format", "note", "examples", "editorial"),
    *("contest_name", "contest_type", "contest_start", "generated_tests", "executable"),
)
# Many data sets have an `id`. With it, one of these makes a row one of our own.
_DECIDES = (
    *("official_tests_complete", "generated_checker", "testlib_checker", "input_mode"),
    *("interaction_format", "interactor", "test_kind"),
)
OWN = RowFormat(
    name="codeforces",
    needs=(
        frozenset({"contest_id", "index"}),
        frozenset({"id", TESTS_COLUMN}),
        frozenset({TESTS_COLUMN}),
        *(frozenset({"id", column}) for column in _DECIDES),
    ),
    alone=frozenset((*USED_COLUMNS, TESTS_COLUMN, *_STATEMENT)),
    names=NAME_COLUMNS,
    uses=(*USED_COLUMNS, TESTS_COLUMN),
    ids=_own_ids,
    convert=lambda row, _judge: dict(row),
)


@dataclass(frozen=True)
class Reading:
    """A format, and the way in which its tests are judged.

    stated  the user named the format: our own rows may lack what they are recognised by
    """

    format: RowFormat = OWN
    judge: Judge = "strict"
    stated: bool = False

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
        why = "" if self.stated and self.format is OWN else self.format.objection(row)
        if why:
            raise RowError(f"{why}: not a row of the format {self.format.name}")
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
