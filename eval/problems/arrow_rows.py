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
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from gradebox.eval.common.errors import InputError, RowError, shown
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
from gradebox.eval.problems.row import MAX_ID
from gradebox.eval.problems.rows import MAX_ROW_BYTES, Choose, Rows

_REMAP_AFTER_BYTES = 64 << 20
_NAME_BATCH = 1024
_FIRST_BYTES = 8 << 20  # of the rows of which the format is recognised
_READ_AHEAD_BYTES = 1 << 20
MAX_ROWS = 2_000_000
MAX_ALIASES = 10 * MAX_ROWS
MAX_GROUP_BYTES = 32 << 30
# Columns of which the values are needed to recognise a format.
_TOLD = {name for row in FORMATS.values() for name, told in row.content.items() if told.fits}


def _check_names(columns: list[str], where: object) -> None:
    """Raise InputError when two columns have one name."""
    known: set[str] = set()
    for name in columns:
        if name in known:
            raise InputError(f"{where} has several columns {shown(name)}: rename all but one")
        known.add(name)


def recognised(rows: Iterable[Row], where: str) -> Reading:
    """Return how a data set with these first rows is read. Raises InputError if it is unclear."""
    return Reading(find_format(rows, None, where))


class ArrowRows(Rows):
    """Rows with columns; a class of its own says how batches of them are read.

    columns  the names of all
    first    batches of one row each, with the columns of _TOLD
    """

    def __init__(
        self, name: str, fingerprint: str, columns: list[str], first: Iterable[Any], choose: Choose
    ) -> None:
        super().__init__(name, fingerprint)
        self._lock = threading.Lock()
        self._reading = choose(_first(columns, first), self.where)
        self._columns = [name for name in columns if name in self._reading.fields]

    @property
    def where(self) -> str:
        """The rows, for messages."""
        return self.name

    def names(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        found = [column for column in self._reading.format.names if column in self._columns]
        with self._reporting_damage():
            batches = self._batches(found or self._columns[:1])  # without columns, no rows
            rows = (row for batch in batches for row in batch.to_pylist())
            for number, row in enumerate(rows):
                yield number, self._reading.ids(row, number)

    def row(self, number: int) -> dict[str, Any]:
        return self._reading.columns(_as_dict(self._one(number)), number)

    @abstractmethod
    def _batches(self, columns: list[str]) -> Iterator[Any]:
        """Yield some columns of all rows."""

    @abstractmethod
    def _one(self, number: int) -> Any:
        """Return a table or batch of one row. Raises RowError."""

    @abstractmethod
    def _damaged(self, error: BaseException) -> InputError: ...

    @contextlib.contextmanager
    def _reporting_damage(self) -> Iterator[None]:
        try:
            yield
        except arrow_errors() as error:
            raise self._damaged(error) from error


class MappedRows(ArrowRows):
    """Rows of a table.

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
        self._open_table = open_table
        self._read_bytes = 0
        with self._reporting_damage():
            self._table = open_table()
            columns = self._table.column_names
        _check_names(columns, name)
        told = self._table.select([name for name in columns if name in _TOLD])
        first = told.slice(0, FIRST_ROWS).to_batches(max_chunksize=1)
        super().__init__(name, fingerprint, columns, first, choose)

    def _batches(self, columns: list[str]) -> Iterator[Any]:
        return map(_checked, self._table.select(columns).to_batches(max_chunksize=_NAME_BATCH))

    def _one(self, number: int) -> Any:
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
        return row

    def close(self) -> None:
        with self._lock:
            self._table = None

    def _damaged(self, error: BaseException) -> InputError:
        return InputError(
            f"the data of {self.name} is damaged: {one_line(error)}: download or save it again"
        )


class ParquetRows(ArrowRows):
    """Rows of a local parquet file."""

    def __init__(self, path: Path, fingerprint: str, choose: Choose = recognised) -> None:
        self._path = path
        self._groups: dict[int, _RowFile] = {}
        with self._reporting_damage():
            self._file = self._opened()
        columns = self._file.schema_arrow.names
        _check_names(columns, path)
        told = [name for name in columns if name in _TOLD]
        first = self._file.iter_batches(batch_size=1, columns=told, use_threads=False)
        super().__init__(path.name, fingerprint, columns, first, choose)
        sizes = [
            self._file.metadata.row_group(g).num_rows for g in range(self._file.num_row_groups)
        ]
        self._starts = list(itertools.accumulate(sizes, initial=0))
        for count, most, what in (
            (self._starts[-1], MAX_ROWS, "rows"),
            (self._count_values("aliases."), MAX_ALIASES, "aliases"),
        ):
            if count > most:
                self._file.close()
                raise InputError(
                    f"{path} has {count} {what}: a data set may have {most}; give a part of it"
                )

    @property
    def where(self) -> str:
        return str(self._path)

    def close(self) -> None:
        with self._lock:
            for rows in self._groups.values():
                rows.close()
            self._groups.clear()
            self._file.close()

    def _opened(self, texts: Iterable[str] = ()) -> Any:
        """Open the file; texts of some columns are read with their dictionaries."""
        return load_parquet().ParquetFile(
            self._path,
            read_dictionary=list(texts),
            pre_buffer=False,
            buffer_size=_READ_AHEAD_BYTES,
        )

    def _batches(self, columns: list[str]) -> Iterator[Any]:
        texts = [c for c in columns if is_text(self._file.schema_arrow.field(c).type)]
        with self._opened(texts) as file:
            for batch in file.iter_batches(batch_size=_NAME_BATCH, columns=columns):
                yield short_texts(batch, MAX_ID + 1)

    def _one(self, number: int) -> Any:
        group = next(g for g, end in enumerate(self._starts[1:]) if number < end)
        with self._lock, self._reporting_damage():
            if group not in self._groups:
                self._groups[group] = self._rewrite(group)
            return self._groups[group].batch(number - self._starts[group])

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


def _check_size(row: Any) -> None:
    """Raise RowError for a row that would be several times as large in Python."""
    if row.nbytes > MAX_ROW_BYTES:
        raise RowError(f"a row of {row.nbytes} bytes: at most {MAX_ROW_BYTES} are read; shorten it")


def _checked(batch: Any) -> Any:
    for column in batch.columns:
        check_slice(column)
    return batch


def _as_dict(row: Any) -> dict[str, Any]:
    """Return the values of a table or batch of one row."""
    try:
        return dict(row.to_pylist()[0])
    except UnicodeDecodeError as error:
        raise RowError(f"not UTF-8 at byte {error.start} of a value") from error
    except OverflowError as error:
        raise RowError(f"a date or duration is out of range: {one_line(error)}") from error
