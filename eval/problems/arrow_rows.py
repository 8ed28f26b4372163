"""Rows of problems in Arrow tables: a dataset's memory-mapped files, or a parquet file.

MappedRows   tables of the `datasets` library, mapped anew after every 64 MB of tests
             read, so that pages once read do not stay in the process
ParquetRows  a row group is rewritten, when first needed, to an unlinked temporary
             file of one record batch a row: parquet itself has no cheap way to one row
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from eval.arrow import (
    arrow_errors,
    as_bytes,
    is_text,
    lengths,
    load_arrow,
    load_parquet,
    release_memory,
)
from eval.input_error import InputError, shown
from eval.notes import Notes
from eval.problems.json_rows import parse_tests_text
from eval.problems.row import (
    LARGE_COLUMNS,
    NAME_COLUMNS,
    TESTS_COLUMN,
    USED_COLUMNS,
    RowError,
    official_pairs,
)
from eval.problems.source import TestSize

_REMAP_AFTER_BYTES = 64 << 20
_NAME_BATCH = 1024
_READ_AHEAD_BYTES = 1 << 20


class MappedRows:
    """Rows of a table that `open_table` maps; the table is opened again now and then."""

    def __init__(self, name: str, fingerprint: str, open_table: Callable[[], Any]) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self.notes = Notes()
        self._open_table = open_table
        self._lock = threading.Lock()
        self._read_bytes = 0
        self._table = open_table()
        self._columns = _columns(self._table.schema, name)

    def names(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        table = self._table.select([c for c in NAME_COLUMNS if c in self._table.column_names])
        number = 0
        for batch in table.to_batches(max_chunksize=_NAME_BATCH):
            for row in batch.to_pylist():
                yield number, row
                number += 1

    def row(self, number: int) -> Mapping[str, Any]:
        rows = self._slice(number).select(self._columns).to_pylist()
        return dict(rows[0])

    def sizes(self, number: int) -> list[TestSize]:
        return _sizes(_tests_cell(self._slice(number)))

    def tests(self, number: int) -> Iterator[tuple[bytes, bytes]]:
        for given, expected in _tests(_tests_cell(self._slice(number))):
            self._count(len(given) + len(expected))
            yield given, expected

    def close(self) -> None:
        with self._lock:
            self._table = None

    def _slice(self, number: int) -> Any:
        with self._lock:
            if self._table is None:
                raise ValueError("the problems were closed")
            return self._table.slice(number, 1)

    def _count(self, read_bytes: int) -> None:
        with self._lock:
            self._read_bytes += read_bytes
            if self._read_bytes > _REMAP_AFTER_BYTES and self._table is not None:
                self._table, self._read_bytes = self._open_table(), 0


class ParquetRows:
    """Rows of a local parquet file."""

    def __init__(self, path: Path, fingerprint: str) -> None:
        self.name = path.name
        self.fingerprint = fingerprint
        self.notes = Notes()
        self._path = path
        self._lock = threading.Lock()
        self._groups: dict[int, _RowFile] = {}
        try:
            self._file = load_parquet().ParquetFile(
                path, pre_buffer=False, buffer_size=_READ_AHEAD_BYTES
            )
        except arrow_errors() as error:
            raise self._damaged(error) from error
        self._columns = _columns(self._file.schema_arrow, str(path))
        self._starts = [0]
        for group in range(self._file.num_row_groups):
            self._starts.append(self._starts[-1] + self._file.metadata.row_group(group).num_rows)

    def names(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        columns = [c for c in NAME_COLUMNS if c in self._columns]
        number = 0
        try:
            for batch in self._file.iter_batches(batch_size=_NAME_BATCH, columns=columns):
                for row in batch.to_pylist():
                    yield number, row
                    number += 1
        except arrow_errors() as error:
            raise self._damaged(error) from error

    def row(self, number: int) -> Mapping[str, Any]:
        rows = self._batch(number).select(self._columns).to_pylist()
        return dict(rows[0])

    def sizes(self, number: int) -> list[TestSize]:
        return _sizes(_tests_cell(self._batch(number)))

    def tests(self, number: int) -> Iterator[tuple[bytes, bytes]]:
        yield from _tests(_tests_cell(self._batch(number)))

    def close(self) -> None:
        with self._lock:
            for rows in self._groups.values():
                rows.close()
            self._groups.clear()
            self._file.close()

    def _batch(self, number: int) -> Any:
        group = next(g for g, end in enumerate(self._starts[1:]) if number < end)
        with self._lock:
            try:
                if group not in self._groups:
                    self._groups[group] = self._rewrite(group)
                return self._groups[group].batch(number - self._starts[group])
            except arrow_errors() as error:
                raise self._damaged(error) from error

    def _rewrite(self, group: int) -> _RowFile:
        columns = [*self._columns]
        if TESTS_COLUMN in self._file.schema_arrow.names:
            columns.append(TESTS_COLUMN)
        batches = self._file.iter_batches(
            batch_size=1, row_groups=[group], columns=columns, use_threads=False
        )
        return _row_file(batches)

    def _damaged(self, error: BaseException) -> InputError:
        text = shown(" ".join(str(error).split()), 160).strip("'\"")
        return InputError(f"{self._path} cannot be read as parquet: {text}")


def _row_file(batches: Iterator[Any]) -> _RowFile:
    file = tempfile.TemporaryFile(prefix="gradebox-problems-")  # noqa: SIM115 - _RowFile owns it
    return _RowFile(file, batches)


class _RowFile:
    """An unlinked temporary Arrow file of one record batch a row."""

    def __init__(self, file: IO[bytes], batches: Iterator[Any]) -> None:
        arrow = load_arrow()
        self._file = file
        try:
            writer = None
            for batch in batches:
                if writer is None:
                    writer = arrow.ipc.new_file(self._file, batch.schema)
                writer.write_batch(batch)
            if writer is not None:
                writer.close()
            self._file.flush()
            release_memory()
            self._reader = arrow.ipc.open_file(self._file)
        except BaseException:
            self._file.close()
            raise

    def batch(self, number: int) -> Any:
        """The record batch of one row; not for two threads at once."""
        return self._reader.get_batch(number)

    def close(self) -> None:
        self._file.close()


def _columns(schema: Any, where: str) -> list[str]:
    """The columns to read for a row; InputError when there are no ids, or no usable tests."""
    names = list(dict.fromkeys(schema.names))
    if "id" not in names and not {"contest_id", "index"} <= set(names):
        raise InputError(
            f"{where} has the columns {', '.join(map(shown, names[:20])) or 'none'}: "
            "id is needed, or contest_id and index"
        )
    if TESTS_COLUMN in names and not _tests_readable(schema.field(TESTS_COLUMN).type):
        raise InputError(
            f"{where}: column {TESTS_COLUMN} is of type {schema.field(TESTS_COLUMN).type}: "
            "a list of input and output is needed"
        )
    types = load_arrow().types
    return [
        name
        for name in names
        if name in USED_COLUMNS
        or (
            name not in LARGE_COLUMNS
            and name != TESTS_COLUMN
            and (types.is_primitive(schema.field(name).type) or is_text(schema.field(name).type))
        )
    ]


def _is_list(kind: Any) -> bool:
    types = load_arrow().types
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def _tests_readable(kind: Any) -> bool:
    """list<struct<input, output>>, struct<input: list, output: list>, JSON text, or nothing."""
    types = load_arrow().types
    if types.is_null(kind) or is_text(kind):
        return True
    if _is_list(kind):
        inner = kind.value_type
        return types.is_null(inner) or (types.is_struct(inner) and _has_pair(inner, is_text))
    return types.is_struct(kind) and _has_pair(
        kind, lambda field: _is_list(field) and is_text(field.value_type)
    )


def _has_pair(kind: Any, fits: Callable[[Any], bool]) -> bool:
    fields = {kind.field(i).name: kind.field(i).type for i in range(kind.num_fields)}
    return all(name in fields and fits(fields[name]) for name in ("input", "output"))


def _tests_cell(one: Any) -> Any:
    """The tests of a table or batch of one row, as an array of length 1; None without any."""
    if TESTS_COLUMN not in one.schema.names:
        return None
    column = one.column(TESTS_COLUMN)
    for chunk in getattr(column, "chunks", [column]):
        if len(chunk):
            return chunk if chunk.is_valid()[0].as_py() else None
    return None


def _columns_of_tests(cell: Any) -> tuple[Any, Any] | None:
    """(inputs, outputs) as arrays of one problem; None when the cell has no tests."""
    types = load_arrow().types
    if cell is None or types.is_null(cell.type):
        return None
    if types.is_struct(cell.type):
        inputs, outputs = cell.field("input").flatten(), cell.field("output").flatten()
        if len(inputs) != len(outputs):
            raise RowError(f"official_tests has {len(inputs)} inputs, {len(outputs)} outputs")
        return inputs, outputs
    flat = cell.flatten()
    if types.is_null(flat.type):
        return None
    if flat.null_count:
        raise RowError("an official test is null: input and output are needed")
    inputs, outputs = (flat.field(name) for name in ("input", "output"))
    return inputs, outputs


def _sizes(cell: Any) -> list[TestSize]:
    if cell is not None and is_text(cell.type):
        return [
            TestSize(len(given.encode()), expected is not None)
            for given, expected in official_pairs(parse_tests_text(cell[0].as_py()))
        ]
    columns = _columns_of_tests(cell)
    if columns is None:
        return []
    inputs, outputs = columns
    there = outputs.is_valid().to_pylist()
    return [TestSize(size or 0, out) for size, out in zip(lengths(inputs), there, strict=True)]


def _tests(cell: Any) -> Iterator[tuple[bytes, bytes]]:
    if cell is not None and is_text(cell.type):
        for given, expected in official_pairs(parse_tests_text(cell[0].as_py())):
            yield given.encode(), (expected or "").encode()
        return
    columns = _columns_of_tests(cell)
    if columns is None:
        return
    inputs, outputs = (as_bytes(column) for column in columns)
    for i in range(len(inputs)):
        yield inputs[i].as_py() or b"", outputs[i].as_py() or b""
