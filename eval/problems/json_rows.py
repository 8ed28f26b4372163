"""A JSON-lines file of problems: an index of line offsets, lines parsed when asked for."""

from __future__ import annotations

import json
import os
import threading
from array import array
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from eval.input_error import InputError
from eval.notes import Notes
from eval.problems.row import NAME_COLUMNS, TESTS_COLUMN, RowError, official_pairs
from eval.problems.source import TestSize

_BOM = b"\xef\xbb\xbf"
_ROWS_REMEMBERED = 4
_REMEMBERED_BYTES = 1 << 20


class JsonRows:
    """The rows of a .jsonl file. The file stays open: replacing it meanwhile does no harm."""

    def __init__(self, path: Path, fingerprint: str) -> None:
        self.name = path.name
        self.fingerprint = fingerprint
        self.notes = Notes()
        self._path = path
        self._lock = threading.Lock()
        self._recent: OrderedDict[int, dict[str, Any]] = OrderedDict()
        self._offsets = array("Q")
        self._sizes = array("Q")
        try:
            self._file = path.open("rb")
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror or error}") from error

    def names(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """One pass over the file; a line at a time is held."""
        for line_number, offset, line in self._lines():
            try:
                row = _parse(line)
            except RowError as error:
                self.notes.add(f"{self._path}, line {line_number} is no problem: {error}")
                continue
            self._offsets.append(offset)
            self._sizes.append(len(line))
            number = len(self._offsets) - 1
            self._remember(number, row, len(line))
            yield number, {column: row.get(column) for column in NAME_COLUMNS}

    def row(self, number: int) -> Mapping[str, Any]:
        row = self._row(number)
        return {key: value for key, value in row.items() if key != TESTS_COLUMN}

    def sizes(self, number: int) -> list[TestSize]:
        return [
            TestSize(len(_utf8(given)), expected is not None)
            for given, expected in official_pairs(_tests_value(self._row(number)))
        ]

    def tests(self, number: int) -> Iterator[tuple[bytes, bytes]]:
        for given, expected in official_pairs(_tests_value(self._row(number))):
            yield _utf8(given), _utf8(expected or "")

    def close(self) -> None:
        self._file.close()

    def _lines(self) -> Iterator[tuple[int, int, bytes]]:
        """(1-based number, offset, bytes) of every line that is not blank."""
        offset = 0
        try:
            for number, line in enumerate(self._file, 1):
                start = offset
                offset += len(line)
                if number == 1 and line.startswith(_BOM):
                    start, line = start + len(_BOM), line.removeprefix(_BOM)
                if line.strip():
                    yield number, start, line
        except OSError as error:
            raise InputError(f"{self._path} cannot be read: {error.strerror or error}") from error

    def _row(self, number: int) -> dict[str, Any]:
        with self._lock:
            if number in self._recent:
                self._recent.move_to_end(number)
                return self._recent[number]
        size = self._sizes[number]
        try:
            line = os.pread(self._file.fileno(), size, self._offsets[number])
        except OSError as error:
            raise InputError(f"{self._path} cannot be read: {error.strerror or error}") from error
        if len(line) < size:
            raise InputError(f"{self._path} changed while it was read: start again")
        row = _parse(line)
        self._remember(number, row, size)
        return row

    def _remember(self, number: int, row: dict[str, Any], size: int) -> None:
        if size > _REMEMBERED_BYTES:
            return
        with self._lock:
            self._recent[number] = row
            if len(self._recent) > _ROWS_REMEMBERED:
                self._recent.popitem(last=False)


def _parse(line: bytes) -> dict[str, Any]:
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


def _tests_value(row: Mapping[str, Any]) -> object:
    """The tests of a row; some exports hold them as JSON text."""
    value = row.get(TESTS_COLUMN)
    return parse_tests_text(value) if isinstance(value, str) else value


def parse_tests_text(text: str) -> object:
    """Tests written as JSON text; RowError when they are not JSON."""
    try:
        return json.loads(text) if text.strip() else None
    except (ValueError, RecursionError) as error:
        raise RowError("official_tests is text that is no JSON") from error


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise RowError("an official test has a lone surrogate: UTF-8 text is needed") from error
