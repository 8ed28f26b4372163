"""Read problems from a JSON-lines file.

Opening reads the file once and keeps the offset of each line. A line is parsed again when its
problem is needed, and its tests go to a temporary file (`chosen_tests`), so one line is held at a
time. A line is parsed whole: a scanner that parsed one test at a time saved little memory and was
slower (86 MB and 2.7 s, instead of 101 MB and 2.1 s, on five problems with 84 MB of tests, in
lines of up to 32 MB).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gradebox.eval.common.diagnostics import Diagnostics
from gradebox.eval.common.errors import InputError
from gradebox.eval.problems.formats import FIRST_ROWS, Reading
from gradebox.eval.problems.row import RowError

FIRST_BYTES = 8 << 20  # of the rows of which the format is recognised
MAX_ROW_BYTES = 512 << 20  # parsing holds text twice, small values about twenty times
_BOM = b"\xef\xbb\xbf"


class JsonRows:
    """The rows of a .jsonl file, a `Source`. The file stays open, so it may be replaced."""

    def __init__(self, path: Path, fingerprint: str, reading: Reading | None = None) -> None:
        self.name = path.name
        self._reading = reading or Reading()
        self.fingerprint = fingerprint
        self.diagnostics = Diagnostics()
        self._path = path
        self._lines: list[tuple[int, int]] = []  # offset and length of each line
        try:
            self._file = path.open("rb")
        except OSError as error:
            raise self._unreadable(error) from error

    def names(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Read the file once; hold one line at a time."""
        end = 0
        try:
            line_number = 0
            while line := self._file.readline(MAX_ROW_BYTES + 1):
                line_number += 1
                end += len(line)
                if len(line) > MAX_ROW_BYTES and not line.endswith(b"\n"):
                    del line
                    end = self._skip_line()
                    self.diagnostics.add(
                        f"{self._path}, line {line_number} is not a problem: it is longer than "
                        f"{MAX_ROW_BYTES} bytes: shorten it, or use a parquet file"
                    )
                    continue
                if line_number == 1:
                    line = line.removeprefix(_BOM)
                if line.isspace() or not line:
                    continue
                try:
                    row = parse_row(line)
                    names = self._reading.ids(row, line_number - 1)
                except RowError as error:
                    self.diagnostics.add(
                        f"{self._path}, line {line_number} is not a problem: {error}"
                    )
                    continue
                number = line_number - 1
                self._lines += [(0, 0)] * (number - len(self._lines))  # lines without a row
                self._lines.append((end - len(line), len(line)))
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

    def _skip_line(self) -> int:
        """Read the rest of a line and return the offset of its end."""
        while (part := self._file.readline(1 << 20)) and not part.endswith(b"\n"):
            pass
        return self._file.tell()

    def _unreadable(self, error: OSError) -> InputError:
        return InputError(f"{self._path} can't be read: {error.strerror or error}")


def first_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the first rows of a file. Lines that are no rows are left out."""
    read = 0
    try:
        with path.open("rb") as file:
            for _ in range(FIRST_ROWS):
                line = file.readline(MAX_ROW_BYTES).removeprefix(_BOM)
                read += len(line)
                try:
                    yield parse_row(line)
                except RowError:
                    continue
                if read > FIRST_BYTES:
                    return
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror or error}") from error


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
