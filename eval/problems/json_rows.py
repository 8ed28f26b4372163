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
from eval.problems.json_spans import Split, split_tests
from eval.problems.row import NAME_COLUMNS, TESTS_COLUMN, RowError, official_pairs
from eval.problems.source import TestSize

_BOM = b"\xef\xbb\xbf"
_ROWS_REMEMBERED = 4
LONG_LINE_BYTES = 1 << 20
_CHUNK_BYTES = 1 << 20


class JsonRows:
    """The rows of a .jsonl file. The file stays open: replacing it meanwhile does no harm."""

    def __init__(self, path: Path, fingerprint: str) -> None:
        self.name = path.name
        self.fingerprint = fingerprint
        self.notes = Notes()
        self._path = path
        self._lock = threading.Lock()
        self._recent: OrderedDict[int, dict[str, Any]] = OrderedDict()
        self._long_sizes: dict[int, list[TestSize]] = {}
        self._offsets = array("Q")
        self._sizes = array("Q")
        try:
            self._file = path.open("rb")
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror or error}") from error

    def names(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """One pass over the file; a line at a time is held."""
        for line_number, offset, size in self._extents():
            line = self._read(offset, size)
            if line_number == 1 and line.startswith(_BOM):
                offset, line = offset + len(_BOM), line.removeprefix(_BOM)
            if line.isspace() or not line:
                continue
            try:
                row = self._parse_head(line)
            except RowError as error:
                self.notes.add(f"{self._path}, line {line_number} is no problem: {error}")
                continue
            self._offsets.append(offset)
            self._sizes.append(len(line))
            del line  # while the caller works, and while the next one is read
            yield len(self._offsets) - 1, {column: row.get(column) for column in NAME_COLUMNS}

    def row(self, number: int) -> Mapping[str, Any]:
        row = self._recall(number)
        if row is None:
            row = self._parse_head(self._line(number))
        return {key: value for key, value in row.items() if key != TESTS_COLUMN}

    def sizes(self, number: int) -> list[TestSize]:
        sizes = self._long_sizes.get(number)
        if sizes is None:
            sizes = [
                TestSize(len(_utf8(given)), expected is not None)
                for given, expected in self._pairs(number)
            ]
            if self._sizes[number] > LONG_LINE_BYTES:
                self._long_sizes[number] = sizes  # a second scan would cost seconds
        return sizes

    def tests(self, number: int) -> Iterator[tuple[bytes, bytes]]:
        for given, expected in self._pairs(number):
            yield _utf8(given), _utf8(expected or "")

    def close(self) -> None:
        self._file.close()

    def _extents(self) -> Iterator[tuple[int, int, int]]:
        """(1-based number, offset, bytes) of every line; nothing longer than a chunk is held."""
        number, start, at = 1, 0, 0
        while chunk := self._read(at, _CHUNK_BYTES):
            found = chunk.find(b"\n")
            while found >= 0:
                yield number, start, at + found + 1 - start
                number, start = number + 1, at + found + 1
                found = chunk.find(b"\n", found + 1)
            at += len(chunk)
        if at > start:
            yield number, start, at - start

    def _read(self, offset: int, size: int) -> bytes:
        try:
            return os.pread(self._file.fileno(), size, offset)
        except OSError as error:
            raise InputError(f"{self._path} cannot be read: {error.strerror or error}") from error

    def _pairs(self, number: int) -> Iterator[tuple[str, str | None]]:
        """A row's tests: of a long line one at a time, of another all from one parsing."""
        row = self._recall(number)
        if row is None:
            line = self._line(number)
            split = _split(line)
            if split is not None:
                for i, (start, end) in enumerate(split.spans):
                    (pair,) = official_pairs([_parse(line[start:end])], first=i)
                    yield pair
                return
            row = _parse(line)
            self._remember(number, row, len(line))
        yield from official_pairs(_tests_value(row))

    def _line(self, number: int) -> bytes:
        size = self._sizes[number]
        line = self._read(self._offsets[number], size)
        if len(line) < size:
            raise InputError(f"{self._path} changed while it was read: start again")
        return line

    def _parse_head(self, line: bytes) -> dict[str, Any]:
        """The row, its tests left out when the line is long."""
        split = _split(line)
        return _parse(line if split is None else split.head)

    def _recall(self, number: int) -> dict[str, Any] | None:
        with self._lock:
            if number in self._recent:
                self._recent.move_to_end(number)
            return self._recent.get(number)

    def _remember(self, number: int, row: dict[str, Any], size: int) -> None:
        if size > LONG_LINE_BYTES:
            return
        with self._lock:
            self._recent[number] = row
            if len(self._recent) > _ROWS_REMEMBERED:
                self._recent.popitem(last=False)


def _split(line: bytes) -> Split | None:
    return split_tests(line) if len(line) > LONG_LINE_BYTES else None


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
