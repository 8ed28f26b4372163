"""Read problems from Arrow tables: memory-mapped files of a dataset, or a parquet file.

MappedRows   tables of the `datasets` library. Every part is checked before it is read.
ParquetRows  parquet can't read a single row cheaply. A row group is rewritten on first use to an
             unlinked temporary Arrow file of one record batch a row. A small file may expand to
             any size: its rows, its aliases and that temporary file are bounded, and ids are
             read with their dictionaries.

pyarrow is imported on first use: that takes 0.2 s. The functions of it that are used here and for
generated tests are at the end.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import tempfile
import threading
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from gradebox.eval.common.errors import InputError, RowError, shown
from gradebox.eval.problems.formats import FIRST_ROWS, FORMATS, Row
from gradebox.eval.problems.row import MAX_ID
from gradebox.eval.problems.rows import MAX_ROW_BYTES, Choose, Rows

_NAME_BATCH = 1024
_FIRST_BYTES = 8 << 20  # of the first rows, by which the format is recognised
_READ_AHEAD_BYTES = 1 << 20
MAX_ROWS = 2_000_000
MAX_ALIASES = 10 * MAX_ROWS
MAX_GROUP_BYTES = 32 << 30
# Columns whose values are needed to recognise a format.
_TOLD = {name for row in FORMATS.values() for name, told in row.content.items() if told.fits}


class ArrowRows(Rows):
    """Rows with columns; subclasses say how batches of rows are read.

    where    the table or file, for messages; a subclass sets it before it calls this __init__
    columns  the names of all columns
    first    (names of columns) → batches of one row each, with these columns
    """

    where: str

    def __init__(
        self,
        fingerprint: str,
        columns: list[str],
        first: Callable[[list[str]], Iterable[Any]],
        choose: Choose,
    ) -> None:
        super().__init__(Path(self.where).name, fingerprint)
        if twice := next((name for name in columns if columns.count(name) > 1), None):
            raise InputError(f"{self.where} has several columns {shown(twice)}: rename all but one")
        self._lock = threading.Lock()
        told = [name for name in columns if name in _TOLD]
        self._reading = choose(_first(columns, first(told)), self.where)
        self._columns = [name for name in columns if name in self._reading.fields]

    def names(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        found = [column for column in self._reading.format.names if column in self._columns]
        with self._reporting_damage():
            batches = self._batches(found or self._columns[:1])  # without a column: no rows
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

    @contextlib.contextmanager
    def _reporting_damage(self) -> Iterator[None]:
        try:
            yield
        except arrow_errors() as error:
            raise InputError(
                f"the data of {self.where} is damaged: {one_line(error)}: download or save it again"
            ) from error


class MappedRows(ArrowRows):
    """Rows of a table that is mapped into memory."""

    def __init__(
        self,
        name: str,
        fingerprint: str,
        open_table: Callable[[], Any],
        choose: Choose,
    ) -> None:
        self.where = name
        with self._reporting_damage():
            table = self._table = open_table()
            columns = table.column_names

        def first(told: list[str]) -> Any:
            return table.select(told).slice(0, FIRST_ROWS).to_batches(max_chunksize=1)

        super().__init__(fingerprint, columns, first, choose)

    def _batches(self, columns: list[str]) -> Iterator[Any]:
        return map(_checked, self._table.select(columns).to_batches(max_chunksize=_NAME_BATCH))

    def _one(self, number: int) -> Any:
        with self._lock:
            if self._table is None:
                raise ValueError("the problems are closed")
            row = self._table.select(self._columns).slice(number, 1)
        try:
            for batch in row.to_batches():
                _checked(batch)
        except arrow_errors() as error:
            raise RowError(f"the row's data is damaged: {one_line(error)}") from error
        return row

    def close(self) -> None:
        with self._lock:
            self._table = None


class ParquetRows(ArrowRows):
    """Rows of a local parquet file."""

    def __init__(self, path: Path, fingerprint: str, choose: Choose) -> None:
        self.where = str(path)
        self._groups: dict[int, Any] = {}  # readers of temporary files
        with self._reporting_damage():
            file = self._file = self._opened()

        def first(told: list[str]) -> Any:
            return file.iter_batches(batch_size=1, columns=told, use_threads=False)

        super().__init__(fingerprint, file.schema_arrow.names, first, choose)
        groups = [file.metadata.row_group(number) for number in range(file.num_row_groups)]
        self._starts = list(itertools.accumulate((g.num_rows for g in groups), initial=0))
        columns = (group.column(i) for group in groups for i in range(group.num_columns))
        aliases = (c.num_values for c in columns if c.path_in_schema.startswith("aliases."))
        for count, most, what in (
            (self._starts[-1], MAX_ROWS, "rows"),
            (sum(aliases), MAX_ALIASES, "aliases"),
        ):
            if count > most:
                self._file.close()
                raise InputError(
                    f"{path} has {count} {what}: a data set may have {most}; give a part of it"
                )

    def close(self) -> None:
        with self._lock:
            self._groups.clear()
            self._file.close()

    def _opened(self, texts: Iterable[str] = ()) -> Any:
        """Open the file; texts of some columns are read with their dictionaries."""
        return load_parquet().ParquetFile(
            self.where,
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
            return self._groups[group].get_batch(number - self._starts[group])

    def _rewrite(self, group: int) -> Any:
        """Return a reader of an unlinked temporary Arrow file with one record batch a row."""
        arrow, writer = load_arrow(), None
        with contextlib.ExitStack() as on_error:
            file = on_error.enter_context(tempfile.TemporaryFile(prefix="gradebox-problems-"))
            for batch in self._file.iter_batches(
                batch_size=1, row_groups=[group], columns=self._columns, use_threads=False
            ):
                _check_size(batch)
                writer = writer or arrow.ipc.new_file(file, batch.schema)
                writer.write_batch(batch)
                if file.tell() > MAX_GROUP_BYTES:
                    raise ValueError(f"a row group expands to more than {MAX_GROUP_BYTES} bytes")
            if writer is not None:
                writer.close()
            file.flush()
            release_memory()
            reader = arrow.ipc.open_file(file)
            on_error.pop_all()  # no error: the file stays open, because the reader needs it
        return reader


def _first(names: Iterable[str], batches: Iterable[Any]) -> Iterator[Row]:
    """Yield the first rows, to recognise their format: all columns, the values of some.

    names    all columns
    batches  of one row each, with columns of _TOLD

    A damaged row ends the iteration without an error: reading this row later raises it.
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


# ---- functions of pyarrow ----


def load_arrow() -> Any:
    """Import pyarrow."""
    return importlib.import_module("pyarrow")


def load_parquet() -> Any:
    """Import pyarrow.parquet."""
    return importlib.import_module("pyarrow.parquet")


def arrow_errors() -> tuple[type[BaseException], ...]:
    """Return the exceptions pyarrow raises for unreadable files and for dates out of range."""
    return (load_arrow().ArrowException, OSError, ValueError, OverflowError)


def one_line(error: object, limit: int = 160) -> str:
    """Return a library's message as one printable line."""
    return shown(" ".join(str(error).split()), limit).strip("'\"")


def is_text(kind: Any) -> bool:
    """Return whether a column type holds text or bytes, dictionary-encoded or not."""
    types = load_arrow().types
    if types.is_dictionary(kind):
        kind = kind.value_type
    return any(
        test(kind)
        for test in (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    )


def as_bytes(column: Any) -> Any:
    """Return a text column as bytes, without decoding it."""
    arrow = load_arrow()
    if arrow.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column.cast(arrow.large_binary())


def lengths(column: Any) -> list[int | None]:
    """Return the bytes of each value, None for null, without creating Python objects of them."""
    compute = importlib.import_module("pyarrow.compute")
    if load_arrow().types.is_dictionary(column.type):
        found = compute.binary_length(column.dictionary).take(column.indices)
    else:
        found = compute.binary_length(column)
    sizes: list[int | None] = found.to_pylist()
    return sizes


def check_slice(array: Any) -> None:
    """Raise ArrowInvalid unless every value of an array can be read.

    Files of record batches are mapped as they are: a wrong offset in one would crash the process
    or show its memory. `validate(full=True)` checks the whole child of a list, which is a whole
    file; here only the part that the array refers to is checked.
    """
    arrow = load_arrow()
    array.validate()
    if arrow.types.is_list(array.type) or arrow.types.is_large_list(array.type):
        ends = array.offsets.to_pylist()
        if not all(0 <= a <= b for a, b in itertools.pairwise(ends)):
            raise arrow.ArrowInvalid("the offsets of a list are not in order")
        if ends[-1] > len(array.values):
            raise arrow.ArrowInvalid("the offsets of a list exceed its values")
        check_slice(array.values.slice(ends[0], ends[-1] - ends[0]))
    elif arrow.types.is_struct(array.type):
        for number in range(array.type.num_fields):
            check_slice(array.field(number))
    else:
        array.validate(full=True)


def short_texts(batch: Any, most: int) -> Any:
    """Return a batch with the texts of dictionary columns cut to `most` characters.

    One long text that a dictionary holds once would become an object for each row.
    """
    arrow, compute = load_arrow(), importlib.import_module("pyarrow.compute")
    columns = []
    for column in batch.columns:
        if arrow.types.is_dictionary(column.type) and is_text(column.type):
            texts = compute.utf8_slice_codeunits(column.dictionary.cast("large_string"), 0, most)
            column = arrow.DictionaryArray.from_arrays(column.indices, texts)
        columns.append(column)
    return arrow.RecordBatch.from_arrays(columns, names=batch.schema.names)


def release_memory() -> None:
    """Return the memory that pyarrow's pool keeps after large batches."""
    load_arrow().default_memory_pool().release_unused()
