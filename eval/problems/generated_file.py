"""One parquet file of generated tests: its problems, where a problem's tests are, their contents.

    problem_id  input  output  test_case_i      (or test_i)
    "6/A"       "3 …"  "YES"   0

    problems_of ─▶ names      GeneratedRows.places ─▶ where they are      read_places ─▶ contents

A file is never held whole: only one parquet page of each column (a megabyte, or a thousand rows
where rows are larger) and a few rows are in memory.
"""

from __future__ import annotations

import contextlib
from array import array
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from gradebox.eval.common.errors import InputError, shown
from gradebox.eval.problems.arrow import (
    arrow_errors,
    as_bytes,
    is_text,
    lengths,
    load_parquet,
    one_line,
    release_memory,
)
from gradebox.eval.problems.problem import TestCase
from gradebox.sandbox.common.lru_cache import LruCache

NUMBER_COLUMNS = ("test_case_i", "test_i")
TEXT_COLUMNS = ("problem_id", "input", "output")
_MAX_BATCH_ROWS = 128
_BATCH_BYTES = 1 << 20
_READ_AHEAD_BYTES = 1 << 20
_MAX_DECODED_BYTES = 512 << 20  # a repeated text is small in the file, whatever its size
_KEPT_BYTES = 64 << 20
_NUMBERS = range(-(2**63), 2**63)


class NotTests(InputError):
    """A parquet file lacks the columns of generated tests."""


class TestPlace(NamedTuple):
    """A test's place in a file, its number and the bytes of its input."""

    group: int
    row: int  # within its row group
    number: int
    size: int


class RowGroup(NamedTuple):
    """The usable rows of a row group, 28 bytes each.

    problems  the number of each row's problem in `GeneratedRows.numbers`
    rows      row, number and size of each test, one after the other
    unusable  rows that lack a problem, a number, an input or an output
    """

    problems: array[int]
    rows: array[int]
    unusable: int


class GeneratedRows:
    """The rows of files, read again once they are more than fit: 2 million."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self._groups = LruCache[tuple[Path, int], RowGroup](
            _KEPT_BYTES, cost=lambda group: 28 * len(group.problems)
        )

    def places(self, path: Path, problem: str) -> Iterator[tuple[int, int, list[TestPlace]]]:
        """Yield each row group that may have a problem: its number, unusable rows, and places.

        Raises InputError for a file that is unreadable or damaged.
        """
        with _opened(path) as file:
            number_column = _number_column(path, file)
            for group in range(file.num_row_groups):
                least, most = _range(file, group) or (problem, problem)
                if least <= problem <= most:
                    rows = self._groups.get((path, group))
                    if rows is None:
                        rows = _scan_group(file, group, number_column, self.numbers)
                        self._groups.put((path, group), rows)
                    yield group, rows.unusable, list(self._places(group, rows, problem))

    def _places(self, group: int, rows: RowGroup, problem: str) -> Iterator[TestPlace]:
        wanted, at = self.numbers.get(problem, -1), -1
        with contextlib.suppress(ValueError):  # no more of them
            while True:
                at = rows.problems.index(wanted, at + 1)
                yield TestPlace(group, *rows.rows[3 * at : 3 * at + 3])


def problems_of(path: Path) -> frozenset[str]:
    """Return the problems that a file names; only that column is read: 2 ms for 300 rows.

    Raises InputError for an unreadable file, NotTests for one with other columns.
    """
    names: set[str] = set()
    with _opened(path) as file:
        if file.metadata.num_rows:  # else its columns have any types, or there are none
            _number_column(path, file)
            for batch in file.iter_batches(
                _MAX_BATCH_ROWS, columns=["problem_id"], use_threads=False
            ):
                found = as_bytes(batch.column(0).unique()).to_pylist()
                names.update(_name(name) for name in found if name is not None)
    return frozenset(names)


def read_places(path: Path, group: int, places: Mapping[int, TestPlace]) -> Iterator[TestCase]:
    """Yield the tests at some places of a row group; raise InputError when the file changed.

    places  by row
    """
    row, last, left = 0, max(places), len(places)
    with _opened(path) as file:
        if group < file.num_row_groups:
            for batch in _batches(file, group, ["input", "output"]):
                for i in range(batch.num_rows):
                    if row + i in places:
                        yield _test(path, batch.slice(i, 1), places[row + i])
                        left -= 1
                row += batch.num_rows
                if row > last:
                    break
    if left:
        raise InputError(f"{path} changed while it was read: start again")


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Open a parquet file; raise InputError where it cannot be opened or read."""
    if not path.is_file():  # opening a FIFO waits for its writer
        raise InputError(f"{path} is not a file, or a link to none: remove it or download it again")
    try:
        # Without a buffered stream, a whole compressed column of a row group is held.
        file = load_parquet().ParquetFile(path, pre_buffer=False, buffer_size=_READ_AHEAD_BYTES)
    except arrow_errors() as error:
        with contextlib.suppress(OSError), path.open("rb") as raw:
            if raw.read(64).startswith(b"version https://git-lfs"):
                raise InputError(f"{path} is a git-lfs pointer to the file: git lfs pull") from None
        raise InputError(
            f"{path} is not a readable parquet file: {one_line(error)}: download it again"
        ) from error
    try:
        yield file
    except InputError:
        raise
    except arrow_errors() as error:
        raise InputError(f"{path} is damaged: {one_line(error)}: download it again") from error
    finally:
        file.close()
        release_memory()


def _number_column(path: Path, file: Any) -> str:
    """Return the name of the number column. Raises InputError when columns are unusable."""
    schema = file.schema_arrow
    number = next((name for name in NUMBER_COLUMNS if name in schema.names), None)
    if number is None or not {*TEXT_COLUMNS} <= {*schema.names}:
        raise NotTests(
            f"{path} has the columns {', '.join(map(shown, schema.names[:20])) or 'none'}: "
            f"{', '.join(TEXT_COLUMNS)} and {' or '.join(NUMBER_COLUMNS)} are needed"
        )
    for name in TEXT_COLUMNS:
        kind = schema.field(name).type
        if not is_text(kind):
            raise InputError(f"{path}: column {name} is of type {kind}, text is needed")
    return number


def _scan_group(file: Any, group: int, number_column: str, known: dict[str, int]) -> RowGroup:
    """Return the rows of a row group; add its problems to `known`.

    The output column is read to find missing outputs, unless the file's statistics rule them
    out.
    """
    columns = ["problem_id", number_column, "input"]
    stats = _statistics(file, group, "output")
    if stats is None or not stats.has_null_count or stats.null_count > 0:
        columns.append("output")
    problems, rows, row, unusable = array("i"), array("q"), 0, 0
    for batch in _batches(file, group, columns):
        if batch.nbytes > _MAX_DECODED_BYTES:
            raise ValueError(
                f"{batch.num_rows} tests have {batch.nbytes} bytes: {_MAX_DECODED_BYTES} are read"
            )
        names = as_bytes(batch.column("problem_id")).to_pylist()
        numbers = batch.column(number_column).to_pylist()
        sizes: list[int | None] = lengths(batch.column("input"))
        if "output" in columns:
            outputs = batch.column("output").is_valid().to_pylist()
            sizes = [size if valid else None for size, valid in zip(sizes, outputs, strict=True)]
        for name, value, size in zip(names, numbers, sizes, strict=True):
            number = _number(value)
            if name is None or number is None or size is None:
                unusable += 1
            else:
                problems.append(known.setdefault(_name(name), len(known)))
                rows.extend((row, number, size))
            row += 1
    return RowGroup(problems, rows, unusable)


def _statistics(file: Any, group: int, column: str) -> Any:
    """Return the statistics of a column of a row group, None without any."""
    meta = file.metadata.row_group(group)
    chunks = (meta.column(i) for i in range(meta.num_columns))
    return next((chunk.statistics for chunk in chunks if chunk.path_in_schema == column), None)


def _range(file: Any, group: int) -> tuple[str, str] | None:
    """Return the first and the last problem of a row group; None where they are unknown.

    The order of bytes in UTF-8, which statistics have, is that of Python's strings.
    """
    stats = _statistics(file, group, "problem_id")
    if stats is None or not stats.has_min_max:
        return None
    raw = [end.encode() if isinstance(end, str) else end for end in (stats.min, stats.max)]
    least, most = map(_name, raw)
    # blanks around an id and bytes that are no text have another place in the order
    return (least, most) if [least.encode(), most.encode()] == raw else None


def _name(raw: bytes) -> str:
    return raw.decode("utf-8", "replace").strip()


def _batches(file: Any, group: int, columns: list[str]) -> Iterator[Any]:
    """Yield a row group in batches of about a megabyte."""
    meta = file.metadata.row_group(group)
    mean_bytes = int(meta.total_byte_size) // max(1, int(meta.num_rows))
    rows = max(1, min(_MAX_BATCH_ROWS, _BATCH_BYTES // max(1, mean_bytes)))
    yield from file.iter_batches(
        batch_size=rows, row_groups=[group], columns=columns, use_threads=False
    )


def _test(path: Path, batch: Any, row: TestPlace) -> TestCase:
    given = as_bytes(batch.column("input"))[0].as_py()
    expected = as_bytes(batch.column("output"))[0].as_py()
    if given is None or expected is None or len(given) != row.size:
        raise InputError(f"{path} changed while it was read: start again")
    return TestCase("generated", row.number, given, expected)


def _number(value: Any) -> int | None:
    """Return a test's number as an int; the column may hold 7, 7.0 or "7". Else None."""
    try:
        number = None if isinstance(value, float) and not value.is_integer() else int(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if number in _NUMBERS else None
