"""Rows of problems by number: the interface of all their stores, and JSON lines.

    JsonRows                 a file of JSON lines; a JSON array, a .csv or a .gz is written out as
                             lines
    arrow.MappedRows         files of the `datasets` library
    arrow.ParquetRows        a parquet file
    several_files.IoiRows    rows of subtasks and of tests, in files of the kinds above

Opening a file of JSON lines reads it once and keeps the offset of each line. A line is parsed again
when its problem is needed, and its tests go to a temporary file (`chosen_tests`), so one line is
held at a time. A line is parsed whole: a scanner that parsed one test at a time saved little memory
and was slower (86 MB and 2.7 s, instead of 101 MB and 2.1 s, on five problems with 84 MB of tests,
in lines of up to 32 MB).
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import tempfile
import zlib
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, cast

from gradebox.eval.common.errors import Diagnostics, InputError, RowError
from gradebox.eval.common.files import limited_lines
from gradebox.eval.problems.formats import FIRST_ROWS, Reading, Row
from gradebox.sandbox.common.cleanup import Closeable

FIRST_BYTES = 8 << 20  # of the rows of which the format is recognised
MAX_ROW_BYTES = 512 << 20  # parsing holds text twice, small values about twenty times
MOST_ARRAY_BYTES = 64 << 20
MOST_UNPACKED_BYTES = 4 << 30
_BOM = b"\xef\xbb\xbf"
Choose = Callable[[Iterable[Row], str], Reading]  # (first rows, where they are) → how they are read


class Rows(Closeable):
    """Rows of problems by number. Any thread may call any method.

    name         a subset or a file, for messages and records
    fingerprint  changes when the contents change
    diagnostics  rows that were skipped, and why
    """

    def __init__(self, name: str, fingerprint: str) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self.diagnostics = Diagnostics()

    @abstractmethod
    def names(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Yield the number and the NAME_COLUMNS of every row."""

    @abstractmethod
    def row(self, number: int) -> dict[str, Any]:
        """Return the columns of a row, its tests included; raise RowError when it is unusable."""


class JsonRows(Rows):
    """The rows of a .jsonl file. The file stays open, so it may be replaced."""

    def __init__(self, path: Path, fingerprint: str, choose: Choose) -> None:
        super().__init__(path.name, fingerprint)
        self._path = path
        self._lines: list[tuple[int, int]] = []  # offset and length of each line
        try:
            self._file = open_lines(path)
            self._reading = choose(_first_rows(self._file), str(path))
            self._file.seek(0)
        except OSError as error:
            raise self._unreadable(error) from error

    def names(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Read the file once; hold one line at a time."""
        try:
            for line_number, offset, line in limited_lines(self._file, MAX_ROW_BYTES):
                number, where = line_number - 1, f"{self._path}, line {line_number}"
                if line is None:
                    self.diagnostics.add(
                        f"{where} is not a problem: it is longer than {MAX_ROW_BYTES} bytes: "
                        "shorten it, or use a parquet file"
                    )
                    continue
                if line.isspace() or not line:
                    continue
                try:
                    row = parse_row(line)
                    names = self._reading.ids(row, number)
                except RowError as error:
                    self.diagnostics.add(f"{where} is not a problem: {error}")
                    continue
                self._lines += [(0, 0)] * (number - len(self._lines))  # lines without a row
                self._lines.append((offset, len(line)))
                del line, row  # before the next line is read
                yield number, names
        except OSError as error:
            raise self._unreadable(error) from error

    def row(self, number: int) -> dict[str, Any]:
        offset, length = self._lines[number]
        try:
            line = os.pread(self._file.fileno(), length, offset)
        except OSError as error:
            raise self._unreadable(error) from error
        if len(line) < length:
            raise InputError(f"{self._path} changed while it was read; start again")
        return self._reading.columns(parse_row(line), number)

    def close(self) -> None:
        self._file.close()

    def _unreadable(self, error: OSError) -> InputError:
        return InputError(f"{self._path} can't be read: {error.strerror or error}")


def open_lines(path: Path) -> IO[bytes]:
    """Open a file of JSON lines; one that is compressed, or a JSON array, is written out as lines.

    Raises InputError for one that is damaged or too large, OSError.
    """
    file: IO[bytes] = path.open("rb")
    magic = file.read(2)
    file.seek(0)
    if magic == b"\x1f\x8b":
        file = _unpacked(path, file)
    start = file.read(len(_BOM) + 1).removeprefix(_BOM).lstrip()
    file.seek(0)
    if path.suffix == ".csv" and start[:1] != b"{":
        return _rows_of_csv(path, file)
    return _items_of(path, file) if start[:1] == b"[" else file


def _rows_of_csv(path: Path, file: IO[bytes]) -> IO[bytes]:
    """Return the rows of a CSV file, whose first line has the columns' names, as lines."""
    csv.field_size_limit(MOST_ARRAY_BYTES)
    lines = _temporary()
    try:
        with io.TextIOWrapper(file, "utf-8-sig", newline="") as rows:
            lines.writelines(json.dumps(row).encode() + b"\n" for row in csv.DictReader(rows))
    except (csv.Error, ValueError) as error:
        raise InputError(f"--dataset {path} is not CSV in UTF-8: {error}") from None
    lines.seek(0)
    return lines


def _items_of(path: Path, file: IO[bytes]) -> IO[bytes]:
    """Return the items of a JSON array, as in MBPP's sanitized file, as lines."""
    with file:
        data = file.read(MOST_ARRAY_BYTES + 1)
    if len(data) > MOST_ARRAY_BYTES:
        raise InputError(
            f"--dataset {path} is a JSON array of more than {MOST_ARRAY_BYTES} bytes: give one "
            "object a line (jq -c .[])"
        )
    try:
        items = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"--dataset {path} is not JSON: {error}") from None
    lines = _temporary()
    lines.writelines(json.dumps(item).encode() + b"\n" for item in items)
    lines.seek(0)
    return lines


def _unpacked(path: Path, file: IO[bytes]) -> IO[bytes]:
    lines = _temporary()
    try:
        with file, gzip.open(file, "rb") as packed:
            while part := packed.read(1 << 20):
                if lines.tell() + len(part) > MOST_UNPACKED_BYTES:
                    raise InputError(
                        f"--dataset {path} is more than {MOST_UNPACKED_BYTES} bytes unpacked: "
                        "give a part of it"
                    )
                lines.write(part)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(
            f"--dataset {path} is damaged ({error}): compress or copy it again"
        ) from None
    lines.seek(0)
    return lines


def _temporary() -> IO[bytes]:
    """Return an unlinked file."""
    return cast("IO[bytes]", tempfile.TemporaryFile(prefix="gradebox-problems-"))


def _first_rows(file: IO[bytes]) -> Iterator[dict[str, Any]]:
    """Yield the first rows of a file. Lines that are no rows are left out."""
    read = 0
    for _ in range(FIRST_ROWS):
        line = file.readline(MAX_ROW_BYTES).removeprefix(_BOM)
        read += len(line)
        try:
            yield parse_row(line)
        except RowError:
            continue
        if read > FIRST_BYTES:
            return


def parse_row(line: bytes) -> dict[str, Any]:
    """Return the JSON object of a line; raise RowError when it is anything else."""
    try:
        row = json.loads(line)
    except UnicodeDecodeError as error:
        raise RowError(f"not UTF-8 at byte {error.start}") from error
    except RecursionError as error:
        raise RowError("JSON nested too deeply") from error
    except ValueError as error:
        raise RowError(f"not JSON: {error}") from error
    if not isinstance(row, dict):
        raise RowError(f"a JSON {type(row).__name__}, not an object")
    return row
