"""The records of a run as one table in a file: a row for each solution, or for each case.

    latest records ─ table_rows ─▶ rows ─▶ FILE.csv or FILE.parquet

The columns are the fields of record.py, so that the tables of all runs have the same ones. A list
of texts is a list in parquet; other nested fields are JSON. Memory use is constant.
"""

from __future__ import annotations

import csv
import importlib
import io
import json
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from gradebox.eval.common.errors import InputError
from gradebox.eval.common.files import replacing
from gradebox.eval.results.record import CaseRecord, SolutionRecord, encodable
from gradebox.eval.results.records import IDENTIFYING, table_rows, usable_records

BATCH_ROWS = 10_000
BATCH_CHARS = 16 << 20
_COMPUTED = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet computes texts that begin so

Row = dict[str, Any]


def columns(*, cases: bool) -> dict[str, type]:
    """Return the type of each column: bool, int, float, str, list (of texts) or dict (JSON)."""
    fields = {name: _kind(hint) for name, hint in get_type_hints(SolutionRecord).items()}
    if cases:
        own = {name: _kind(hint) for name, hint in get_type_hints(CaseRecord).items()}
        return {**{name: fields[name] for name in IDENTIFYING}, **own}
    del fields["details"]
    return fields


def _kind(hint: Any) -> type:
    """Return the kind of column for the type of a field; None and UNSET are empty in all kinds."""
    origin, members = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _kind(next(m for m in members if m not in (type(None), msgspec.UnsetType)))
    if origin is Literal:
        return type(members[0])
    if origin is tuple:
        return list if _kind(members[0]) is str else dict
    return hint if hint in (bool, int, float, str) else dict


def export(results: str, path: Path, *, cases: bool = False) -> int:
    """Write the table of a results folder or records file; return the number of rows.

    path   ends in .csv or .parquet; the file is replaced whole or not at all
    cases  a row for each case, with the fields that identify its solution

    Raises InputError for unusable records, another ending, or a file that can't be written.
    """
    write = WRITERS.get(path.suffix.lower())
    if write is None:
        raise InputError(f"{path}: give a file that ends in {' or '.join(WRITERS)}")
    rows = (row for record in usable_records(results) for row in table_rows(record, cases))
    with replacing(path) as file:
        if not (written := write(file, columns(cases=cases), rows)):
            raise InputError(f"{results}: no {'case' if cases else 'record'} in it")
    return written


def _write_csv(file: IO[bytes], kinds: Mapping[str, type], rows: Iterable[Row]) -> int:
    """Write RFC 4180's format in UTF-8; a text that a spreadsheet would compute begins with '."""
    text = io.TextIOWrapper(file, "utf-8", errors="backslashreplace", newline="")
    writer, written = csv.writer(text), 0
    writer.writerow(kinds)
    for written, row in enumerate(rows, start=1):  # noqa: B007
        writer.writerow([_cell(row.get(name), kind) for name, kind in kinds.items()])
    text.detach()
    return written


def _cell(value: Any, kind: type) -> Any:
    if value is None:
        return ""
    if kind in (list, dict):
        return json.dumps(value)
    return f"'{value}" if kind is str and value.startswith(_COMPUTED) else value


def _write_parquet(file: IO[bytes], kinds: Mapping[str, type], rows: Iterable[Row]) -> int:
    try:  # they have no types
        pa: Any = importlib.import_module("pyarrow")
        parquet: Any = importlib.import_module("pyarrow.parquet")
    except ModuleNotFoundError as error:
        raise InputError(f"{error.name} is missing: pip install pyarrow, or write .csv") from None
    arrow: dict[type, Any] = {
        bool: pa.bool_(), int: pa.int64(), float: pa.float64(), list: pa.list_(pa.string()),
    }  # fmt: skip
    schema = pa.schema([(name, arrow.get(kind, pa.string())) for name, kind in kinds.items()])
    json_columns = [name for name, kind in kinds.items() if kind is dict]
    written = 0
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for batch in _batches(rows):
            written += len(batch)
            for row in batch:
                row.update({n: json.dumps(row[n]) for n in json_columns if row.get(n) is not None})
            try:
                writer.write_table(pa.Table.from_pylist([encodable(row) for row in batch], schema))
            except (pa.ArrowException, OverflowError) as error:
                why = f"a value that parquet can't hold: {error!s:.200}; write .csv"
                raise InputError(why) from None
    return written


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    batch, chars = list[Row](), 0
    for row in rows:
        batch.append(row)
        chars += sum(len(value) for value in row.values() if isinstance(value, str))
        if len(batch) == BATCH_ROWS or chars > BATCH_CHARS:
            yield batch
            batch, chars = [], 0
    if batch:
        yield batch


WRITERS: Mapping[str, Callable[[IO[bytes], Mapping[str, type], Iterable[Row]], int]] = {
    ".csv": _write_csv,
    ".parquet": _write_parquet,
}
