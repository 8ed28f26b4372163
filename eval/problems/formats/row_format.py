"""`RowFormat`: how the rows of one data set become rows of our own columns.

    row of a data set ── Reading(format, judge) ──▶ row of our own ── make_problem ──▶ Problem

Rows are converted where they are read, so that nothing behind the reader knows of data sets. A
single field of a wrong type makes the row unusable.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal

from gradebox.eval.common.errors import RowError, shown
from gradebox.eval.problems.row import NAME_COLUMNS, USED_COLUMNS
from gradebox.eval.problems.row.tests import TESTS_COLUMN, converted
from gradebox.sandbox.common.json_text import load_json

Judge = Literal["strict", "reference"]
JUDGES: tuple[Judge, ...] = ("strict", "reference")
Row = Mapping[str, Any]
MOST_TEXT = 64 << 20
MOST_LABEL = 100
MOST_TESTS = 5_000  # of a row: up to 7 µs of CPU time each


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


# What the fields of asserts hold.
CHECK = text_with(r"^def check\([^)\n]*\)[^:\n]*:", "does not define check(candidate)")
ASSERTS = Content(
    "has no assert statement",
    lambda value: (
        not isinstance(value, list) or any(isinstance(v, str) and "assert" in v for v in value)
    ),
)


@dataclass(frozen=True)
class Column:
    """How one of the columns that name or describe a problem is read: from the values of fields."""

    fields: tuple[str, ...]
    read: Callable[..., Any]


def of(*fields: str, read: Callable[..., Any] = lambda value: value) -> Column:
    """Return a column that is read from some fields, one as it is."""
    return Column(fields, read)


def label(value: Any) -> str:
    """Return a short text that describes a problem, "" for nothing."""
    return str(value or "")[:MOST_LABEL]


def lower(value: Any) -> str:
    """Return a label in lower case, such as a difficulty."""
    return label(value).lower()


def day(value: Any) -> str:
    """Return a date as YYYY-MM-DD."""
    return str(value or "")[:10]


def fields(*sets: str) -> tuple[frozenset[str], ...]:
    """Return sets of fields, each written as a text with blanks between the names."""
    return tuple(frozenset(names.split()) for names in sets)


@dataclass(frozen=True)
class RowFormat:
    """The rows of one data set.

    name     what --dataset-format takes, and records say
    needs    sets of fields; a row has all of one set
    content  what the fields of the tests hold; a row has one of them at least
    never    fields of other data sets, whose rows would look like these
    ids      the NAME_COLUMNS and labels of a row; nothing else is read of it to look it up
    uses     fields that `convert` reads besides those of `needs`, `content` and `ids`
    convert  returns the row in our own columns, which may lack those of `ids`; raises RowError
    numbered  a row without an id is named by its number in its file, from 0
    alone    a row with no other fields than these needs only an id
    """

    name: str
    needs: tuple[frozenset[str], ...]
    ids: Mapping[str, Column]
    convert: Callable[[Row, Judge], dict[str, Any]]
    uses: tuple[str, ...] = ()
    content: Mapping[str, Content] = field(default_factory=dict)
    never: frozenset[str] = frozenset()
    numbered: bool = False
    alone: frozenset[str] = frozenset()

    @property
    def names(self) -> tuple[str, ...]:
        """The fields that `ids` are read from."""
        return tuple(dict.fromkeys(name for column in self.ids.values() for name in column.fields))

    def ids_of(self, row: Row) -> dict[str, Any]:
        """Return the columns of `ids`. Raises RowError."""
        return {n: c.read(*(row.get(field) for field in c.fields)) for n, c in self.ids.items()}

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
    ids={name: of(name) for name in NAME_COLUMNS},
    uses=USED_COLUMNS,
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
        known = (*self.format.names, *chain(*map(sorted, self.format.needs)))
        return tuple(dict.fromkeys((*known, *self.format.content, *self.format.uses)))

    def ids(self, row: Row, number: int | None = None) -> dict[str, Any]:
        """Return the ids of a row, which may have a number, by our names. Raises RowError."""
        return self._named(self.format.ids_of(row), number)

    def columns(self, row: Row, number: int | None = None) -> dict[str, Any]:
        """Return a row, which may have a number, in our own columns. Raises RowError.

        A row with neither an id nor a number is named by its tests.
        """
        converted = {**self.format.ids_of(row), **self.format.convert(row, self.judge)}
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


def text(row: Row, field: str, *, needed: bool = False) -> str:
    """Return a text, "" when it is missing. Raises RowError."""
    value = row.get(field)
    if value is None:
        value = ""
    if not isinstance(value, str):
        raise RowError(f"{field} is {shown(value)}: it must be text")
    if len(value) > MOST_TEXT:
        raise RowError(f"{field} has {len(value)} characters: at most {MOST_TEXT} are read")
    if needed and not value.strip():
        raise RowError(f"{field} is empty")
    return value


def texts(row: Row, field: str) -> list[str]:
    """Return a list of texts, [] when it is missing. Raises RowError."""
    value = row.get(field)
    return [] if value is None else list(converted(field, value, list[str]))


def parsed(value: str, field: str) -> Any:
    """Return the value of JSON text. Raises RowError."""
    try:
        return load_json(value)
    except (ValueError, RecursionError) as error:
        raise RowError(f"{field} is not JSON: {str(error)[:100]}") from None


def check_count(tests: list[Any], field: str) -> None:
    """Raise RowError when a row has more than MOST_TESTS."""
    if len(tests) > MOST_TESTS:
        raise RowError(
            f"{field} has {len(tests)} tests: a row may have {MOST_TESTS}; give a part of them"
        )


def arguments(value: str, number: int) -> list[Any]:
    """Return LiveCodeBench's arguments of a test: JSON, one a line. Raises RowError."""
    lines = value.split("\n")
    found: list[Any] = parsed(f"[{','.join(lines)}]", f"test {number}: an argument")
    if len(found) != len(lines):
        raise RowError(f"test {number}: a line of its input is not one argument")
    return found


def assert_test(
    text: str, entry: str, names: list[str], prompt: str, **more: Any
) -> list[dict[str, str]]:
    """Return the one test of a row whose tests are a text; none when nothing is asserted.

    entry   what `check(candidate)` is called with; "" when the text calls functions itself
    names   names of the solution that the text uses, even if they are built-ins
    prompt  the problem's own code, which the text may use
    more    `classes`: those of unittest in the text, which are run; `together`: in the process of
            the solution
    """
    return [statements_test(text, entry, names, prompt, **more)] if "assert" in text else []


def statements_test(
    text: str, entry: str = "", names: Sequence[str] = (), prompt: str = "", **more: Any
) -> dict[str, str]:
    """Return the test that a text is; see `assert_test`."""
    spec = {"entry": entry, "names": names, "prompt": prompt, **more}
    return {"input": text, "output": json.dumps(spec)}


def asserted(
    tests: list[dict[str, str]], time_limit: float, memory_limit: float, gold: str, **more: Any
) -> dict[str, Any]:
    """Return the columns of a row whose tests are texts of asserts.

    gold  its known solution, "" for none
    """
    return {
        "test_kind": "assert",
        "official_tests": tests,
        "time_limit": time_limit,
        "memory_limit": memory_limit,
        "gold_solutions": [{"code": gold, "expect": "passed"}] if gold else [],
        **more,
    }
