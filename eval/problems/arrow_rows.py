"""Read problems from Arrow tables: memory-mapped files of a dataset, or a parquet file.

MappedRows   tables of the `datasets` library. They are mapped again after every 64 MB of rows,
             so that pages that were read leave the process's memory. Every part is checked
             before it is read.
ParquetRows  parquet can't read a single row cheaply. A row group is rewritten on first use to an
             unlinked temporary Arrow file of one record batch a row. A small file may expand to
             any size: its rows, its aliases and that temporary file are bounded, and ids are
             read with their dictionaries.
"""

from __future__ import annotations

import contextlib
import itertools
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from gradebox.eval.common.diagnostics import Diagnostics
from gradebox.eval.common.errors import InputError
from gradebox.eval.problems.arrow import (
    arrow_errors,
    check_slice,
    is_text,
    load_arrow,
    load_parquet,
    one_line,
    release_memory,
    short_texts,
)
from gradebox.eval.problems.formats import FIRST_ROWS, FORMATS, Reading, Row, find_format
from gradebox.eval.problems.json_rows import MAX_ROW_BYTES
from gradebox.eval.problems.row import MAX_ID, RowError

_REMAP_AFTER_BYTES = 64 << 20
_NAME_BATCH = 1024
_FIRST_BYTES = 8 << 20  # of the rows of which the format is recognised
_READ_AHEAD_BYTES = 1 << 20
MAX_ROWS = 2_000_000
MAX_ALIASES = 10 * MAX_ROWS
MAX_GROUP_BYTES = 32 << 30
Choose = Callable[[Iterable[Row], str], Reading]  # (first rows, where they are) → how they are read
# Columns of which the values are needed to recognise a format.
_TOLD = {name for row in FORMATS.values() for name, told in row.content.items() if told.fits}


def recognised(rows: Iterable[Row], where: str) -> Reading:
    """Return how a data set with these first rows is read. Raises InputError if it is unclear."""
    return Reading(find_format(rows, None, where))


class MappedRows:
    """Rows of a table, a `Source`.

    open_table  maps the table into memory. It is called again after _REMAP_AFTER_BYTES were read,
                which frees the pages that were read.
    """

    def __init__(
        self,
        name: str,
        fingerprint: str,
        open_table: Callable[[], Any],
        choose: Choose = recognised,
    ) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self.diagnostics = Diagnostics()
        self._open_table = open_table
        self._lock = threading.Lock()
        self._read_bytes = 0
        with self._reporting_damage():
            self._table = open_table()
            names = self._table.column_names
        self._reading = choose(self._first_rows(names), name)
        self._columns = _columns(names, self._reading)

    def _first_rows(self, names: list[str]) -> Iterator[Row]:
        table = self._table.select([name for name in dict.fromkeys(names) if name in _TOLD])
        yield from _first(names, table.slice(0, FIRST_ROWS).to_batches(max_chunksize=1))

    def names(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        with self._reporting_damage():
            wanted = self._reading.format.names
            found = [c for c in wanted if c in self._columns]
            table = self._table.select(found or self._columns[:1])  # without columns, no rows
            batches = map(_checked, table.to_batches(max_chunksize=_NAME_BATCH))
            yield from _numbered(batches, self._reading)

    def row(self, number: int) -> dict[str, Any]:
        with self._lock:
            if self._table is None:
                raise ValueError("the problems are closed")
            if self._read_bytes > _REMAP_AFTER_BYTES:
                with self._reporting_damage():
                    self._table, self._read_bytes = self._open_table(), 0
            row = self._table.select(self._columns).slice(number, 1)
        try:
            for batch in row.to_batches():
                _checked(batch)
        except arrow_errors() as error:
            raise RowError(f"the row's data is damaged: {one_line(error)}") from error
        with self._lock:
            self._read_bytes += row.nbytes
        return self._reading.columns(_as_dict(row), number)

    def close(self) -> None:
        with self._lock:
            self._table = None

    @contextlib.contextmanager
    def _reporting_damage(self) -> Iterator[None]:
        try:
            yield
        except arrow_errors() as error:
            raise InputError(
                f"the data of {self.name} is damaged: {one_line(error)}: download or save it again"
            ) from error


class ParquetRows:
    """Rows of a local parquet file, a `Source`."""

    def __init__(self, path: Path, fingerprint: str, choose: Choose = recognised) -> None:
        self.name = path.name
        self.fingerprint = fingerprint
        self.diagnostics = Diagnostics()
        self._path = path
        self._lock = threading.Lock()
        self._groups: dict[int, _RowFile] = {}
        try:
            self._file = load_parquet().ParquetFile(
                path, pre_buffer=False, buffer_size=_READ_AHEAD_BYTES
            )
        except arrow_errors() as error:
            raise self._damaged(error) from error
        names = self._file.schema_arrow.names
        told = [name for name in dict.fromkeys(names) if name in _TOLD]
        batches = self._file.iter_batches(batch_size=1, columns=told, use_threads=False)
        self._reading = choose(_first(names, batches), str(path))
        self._columns = _columns(names, self._reading)
        self._starts = [0]
        for group in range(self._file.num_row_groups):
            self._starts.append(self._starts[-1] + self._file.metadata.row_group(group).num_rows)
        aliases = self._count_values("aliases.")
        for count, most, what in (
            (self._starts[-1], MAX_ROWS, "rows"),
            (aliases, MAX_ALIASES, "aliases"),
        ):
            if count > most:
                self._file.close()
                raise InputError(
                    f"{path} has {count} {what}: a data set may have {most}; give a part of it"
                )

    def names(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        columns = [c for c in self._reading.format.names if c in self._columns]
        columns = columns or self._columns[:1]  # without columns, no rows
        texts = [c for c in columns if is_text(self._file.schema_arrow.field(c).type)]
        try:
            with load_parquet().ParquetFile(
                self._path, read_dictionary=texts, pre_buffer=False, buffer_size=_READ_AHEAD_BYTES
            ) as file:
                batches = file.iter_batches(batch_size=_NAME_BATCH, columns=columns)
                short = (short_texts(batch, MAX_ID + 1) for batch in batches)
                yield from _numbered(short, self._reading)
        except arrow_errors() as error:
            raise self._damaged(error) from error

    def row(self, number: int) -> dict[str, Any]:
        group = next(g for g, end in enumerate(self._starts[1:]) if number < end)
        with self._lock:
            try:
                if group not in self._groups:
                    self._groups[group] = self._rewrite(group)
                batch = self._groups[group].batch(number - self._starts[group])
            except arrow_errors() as error:
                raise self._damaged(error) from error
        return self._reading.columns(_as_dict(batch), number)

    def close(self) -> None:
        with self._lock:
            for rows in self._groups.values():
                rows.close()
            self._groups.clear()
            self._file.close()

    def _count_values(self, prefix: str) -> int:
        """Count the values in the columns of a path, as the file's footer states them."""
        count = 0
        for number in range(self._file.num_row_groups):
            group = self._file.metadata.row_group(number)
            columns = (group.column(i) for i in range(group.num_columns))
            count += sum(c.num_values for c in columns if c.path_in_schema.startswith(prefix))
        return count

    def _rewrite(self, group: int) -> _RowFile:
        batches = self._file.iter_batches(
            batch_size=1, row_groups=[group], columns=self._columns, use_threads=False
        )
        file = tempfile.TemporaryFile(prefix="gradebox-problems-")  # noqa: SIM115 - closed by _RowFile
        return _RowFile(file, batches)

    def _damaged(self, error: BaseException) -> InputError:
        return InputError(f"{self._path} can't be read as parquet: {one_line(error)}")


class _RowFile:
    """An unlinked temporary Arrow file with one record batch a row."""

    def __init__(self, file: IO[bytes], batches: Iterator[Any]) -> None:
        arrow = load_arrow()
        self._file = file
        try:
            writer = None
            for batch in batches:
                _check_size(batch)
                if writer is None:
                    writer = arrow.ipc.new_file(self._file, batch.schema)
                writer.write_batch(batch)
                if self._file.tell() > MAX_GROUP_BYTES:
                    raise ValueError(f"a row group expands to more than {MAX_GROUP_BYTES} bytes")
            if writer is not None:
                writer.close()
            self._file.flush()
            release_memory()
            self._reader = arrow.ipc.open_file(self._file)
        except BaseException:
            self._file.close()
            raise

    def batch(self, number: int) -> Any:
        """Return the record batch of one row. Not thread-safe."""
        return self._reader.get_batch(number)

    def close(self) -> None:
        self._file.close()


def _first(names: Iterable[str], batches: Iterable[Any]) -> Iterator[Row]:
    """Yield the first rows for recognising them: all columns, the values of some.

    names    all columns
    batches  of one row each, with columns of _TOLD

    A damaged row ends them: who reads it says so.
    """
    row, read, number = dict.fromkeys(names), 0, -1
    with contextlib.suppress(RowError, *arrow_errors()):
        for number, batch in enumerate(itertools.islice(batches, FIRST_ROWS)):  # noqa: B007
            _check_size(batch)
            yield {**row, **_as_dict(_checked(batch))}
            read += batch.nbytes
            if read > _FIRST_BYTES:
                return
    if number < 0:
        yield row


def _columns(names: Iterable[str], reading: Reading) -> list[str]:
    """Return the columns to read."""
    return [name for name in dict.fromkeys(names) if name in reading.fields]


def _check_size(row: Any) -> None:
    """Raise RowError for a row that would be several times as large in Python."""
    if row.nbytes > MAX_ROW_BYTES:
        raise RowError(f"a row of {row.nbytes} bytes: at most {MAX_ROW_BYTES} are read; shorten it")


def _checked(batch: Any) -> Any:
    for column in batch.columns:
        check_slice(column)
    return batch


def _numbered(batches: Iterable[Any], reading: Reading) -> Iterator[tuple[int, Mapping[str, Any]]]:
    rows = enumerate(row for batch in batches for row in batch.to_pylist())
    return ((number, reading.ids(row, number)) for number, row in rows)


def _as_dict(row: Any) -> dict[str, Any]:
    """Return the values of a table or batch of one row."""
    try:
        return dict(row.to_pylist()[0])
    except UnicodeDecodeError as error:
        raise RowError(f"not UTF-8 at byte {error.start} of a value") from error
    except OverflowError as error:
        raise RowError(f"a date or duration is out of range: {one_line(error)}") from error
