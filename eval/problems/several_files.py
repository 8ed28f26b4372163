"""Problems of several files: IOI's rows of subtasks and of tests, USACO's rows and files of tests.

IOI    a folder, or folders in it, with rows of open-r1/ioi and of open-r1/ioi-test-cases
USACO  usaco_subset307_dict.json             {"1333_platinum_strings": {"num_tests": 21, …}, …}
       usaco_v3/tests/1333_platinum_strings/ 1.in, 1.out, or I.1, O.1; the folder may be `tests`
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from gradebox.eval.common.errors import InputError, RowError
from gradebox.eval.problems.arrow import arrow_errors, load_parquet
from gradebox.eval.problems.formats.archives import USACO
from gradebox.eval.problems.formats.ioi import (
    IOI,
    IOI_ROWS,
    IOI_TESTS,
    merged,
    names_of,
    problem_name,
    test_names,
)
from gradebox.eval.problems.formats.row_format import (
    MOST_TESTS,
    MOST_TEXT,
    Judge,
    Reading,
    RowFormat,
)
from gradebox.eval.problems.packages.files import PackageFiles, number
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
            for place, row in source.names():
                self._add(source, place, dict(row), kind)
            for message in source.diagnostics.messages():
                self.diagnostics.add(message)
        self.fingerprint = "-".join(source.fingerprint for source in self._sources)
        self._names = list(self._problems)

    def _add(self, source: Rows, place: int, row: dict[str, Any], kind: RowFormat) -> None:
        if kind is IOI_TESTS:
            self._tests.setdefault(row["id"], (source, place))
            return
        try:
            self._problems.setdefault(problem_name(row), []).append(row)
        except RowError as error:
            self.diagnostics.add(f"{source.name}, row {place} is not a subtask: {error}")

    def names(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        for place, name in enumerate(self._names):
            yield place, names_of(self._problems[name][0])

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


# ---- USACO ----

_FOLDERS = ("usaco_v3/tests", "tests")


def usaco_tests(path: Path) -> Path | None:
    """Return the folder of the tests of a file of USACO's problems, None for another file.

    Raises InputError when the folder is missing.
    """
    if not path.name.startswith("usaco") or not path.name.endswith("_dict.json"):
        return None
    found = next((path.parent / name for name in _FOLDERS if (path.parent / name).is_dir()), None)
    if found is None:
        raise InputError(
            f"--dataset {path} has no tests: put the folder {_FOLDERS[0]} of the data set beside it"
        )
    return found


class UsacoRows(Rows):
    """The problems of one file; a test is read when its problem is graded."""

    def __init__(self, path: Path, fingerprint: str, tests: Path, judge: Judge) -> None:
        super().__init__(path.name, fingerprint)
        self._tests, self._reading = tests, Reading(USACO, judge)
        try:
            with path.open("rb") as file:
                rows = parse_row(file.read(MOST_TEXT + 1))
        except (OSError, RowError) as error:
            raise InputError(f"--dataset {path} can't be read: {error}") from None
        self._rows = [row for row in rows.values() if isinstance(row, dict)]

    def names(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        for place, row in enumerate(self._rows):
            yield place, self._reading.ids(row)

    def row(self, number: int) -> dict[str, Any]:
        row = self._rows[number]
        return self._reading.columns({**row, "tests": self._files(row)})

    def close(self) -> None:
        self._rows = []

    def _files(self, row: Mapping[str, Any]) -> list[dict[str, Path]]:
        name = row.get("problem_id")
        count = int(number(row.get("num_tests"), "num_tests", most=MOST_TESTS))
        files, found = PackageFiles(self._tests), []
        for i in range(1, count + 1):
            given = files.find(f"{name}/{i}.in", f"{name}/I.{i}")
            expected = files.find(f"{name}/{i}.out", f"{name}/O.{i}")
            if given is None or expected is None:
                raise RowError(f"test {i} of {count} is not in {self._tests / str(name)}")
            found.append({"input": given, "output": expected})
        return found
