"""The problems of IOI in a folder with rows of subtasks and rows of tests."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from gradebox.eval.common.errors import RowError
from gradebox.eval.problems.arrow import arrow_errors, load_parquet
from gradebox.eval.problems.formats.ioi import (
    IOI,
    IOI_ROWS,
    IOI_TESTS,
    merged,
    names_of,
    problem_name,
    test_names,
)
from gradebox.eval.problems.formats.row_format import Judge, Reading, RowFormat
from gradebox.eval.problems.rows import MAX_ROW_BYTES, Rows, parse_row

# (path, how its rows are read) → a source
OpenFile = Callable[[Path, Reading], Rows]


def ioi_files(folder: Path) -> dict[Path, RowFormat]:
    """Return the files of a folder, or of folders in it, that hold subtasks or tests.

    It is empty unless there are subtasks.
    """
    found: dict[Path, RowFormat] = {}
    for path in sorted((*folder.glob("*"), *folder.glob("*/*"))):
        if not path.is_file() or path.suffix not in (".jsonl", ".parquet"):
            continue
        names = frozenset(_columns(path))
        kind = next((row for row in (IOI, IOI_TESTS) if row.matched(names)), None)
        if kind is not None:
            found[path] = kind
    return found if IOI in found.values() else {}


def _columns(path: Path) -> list[str]:
    """Return the names of a file's columns, or of its first row's fields."""
    if path.suffix == ".jsonl":
        # a file that is no data set, or cannot be read, is another reader's matter
        with contextlib.suppress(RowError, OSError), path.open("rb") as file:
            return list(parse_row(file.readline(MAX_ROW_BYTES)))
        return []
    try:
        return list(load_parquet().read_schema(path).names)
    except arrow_errors():
        return []


class IoiRows(Rows):
    """Problems whose subtasks and tests are rows of several files.

    Subtasks are held, tests are looked up by name and read when their problem is needed.
    """

    def __init__(
        self, folder: Path, files: Mapping[Path, RowFormat], open_file: OpenFile, judge: Judge
    ) -> None:
        super().__init__(folder.name, "")
        self._judge = judge
        self._sources: list[Rows] = []
        self._problems: dict[str, list[dict[str, Any]]] = {}
        self._tests: dict[str, tuple[Rows, int]] = {}
        for path, kind in files.items():
            reading = Reading(IOI_ROWS if kind is IOI else IOI_TESTS, judge)
            source = open_file(path, reading)
            self._sources.append(source)
            for number, row in source.names():
                self._add(source, number, dict(row), kind)
            for message in source.diagnostics.messages():
                self.diagnostics.add(message)
        self.fingerprint = "-".join(source.fingerprint for source in self._sources)
        self._names = list(self._problems)

    def _add(self, source: Rows, number: int, row: dict[str, Any], kind: RowFormat) -> None:
        if kind is IOI_TESTS:
            self._tests.setdefault(row["id"], (source, number))
            return
        try:
            self._problems.setdefault(problem_name(row), []).append(row)
        except RowError as error:
            self.diagnostics.add(f"{source.name}, row {number} is not a subtask: {error}")

    def names(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        for number, name in enumerate(self._names):
            yield number, names_of(self._problems[name][0])

    def row(self, number: int) -> dict[str, Any]:
        name = self._names[number]
        rows = self._problems[name]
        wanted = dict.fromkeys(test for row in rows for test in test_names(row))
        found = {}
        for test in wanted:
            if place := self._tests.get(f"{name}/{test}"):
                source, at = place
                columns = source.row(at)
                found[test] = {"input": columns["input"], "output": columns["output"]}
        return merged(rows, found) | {"dataset_format": IOI.name, "judge": self._judge}

    def close(self) -> None:
        for source in self._sources:
            source.close()
        self._tests.clear()
