"""Read generated tests by problem from a folder of parquet files.

    folder/test_cases_0006.parquet      (or test_cases_6.parquet)      of contest 6
           mine.parquet                                               of any problem

    problem_id  input  output  test_case_i      (or test_i)
    "6/A"       "3 …"  "YES"   0

    problems_of ─▶ which files have a problem ─ index_of ─▶ refs ─ read_places ─▶ contents

Tests are found by the problem that their row names. A file with a contest in its name is looked
into for other problems only when these are in no other file, because a folder has thousands.

A row without input, output or number is ignored, and so is a repeated number; `messages` reports
both. The rows may name a problem by an alias: the first of (id, aliases…) with rows is used.

A file is never held whole: only one parquet page of each column (a megabyte, or a thousand rows
where rows are larger) and a few rows are in memory.
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from gradebox.eval.common.errors import Diagnostics, InputError, shown
from gradebox.eval.problems.arrow import (
    arrow_errors,
    as_bytes,
    is_text,
    lengths,
    load_parquet,
    one_line,
    release_memory,
)
from gradebox.eval.problems.problem import Problem, TestCase, TestRef, spellings
from gradebox.sandbox.common.lru_cache import LruCache

NUMBER_COLUMNS = ("test_case_i", "test_i")
TEXT_COLUMNS = ("problem_id", "input", "output")
_MAX_BATCH_ROWS = 128
_BATCH_BYTES = 1 << 20
_READ_AHEAD_BYTES = 1 << 20
_MAX_DECODED_BYTES = 512 << 20  # a repeated text is small in the file, whatever its size
_NUMBERS = range(-(2**63), 2**63)
_FILE = re.compile(r"test_cases_(\d{1,18})\.parquet")
_CONTEST = re.compile(r"\s*(\d{1,18})(?!\d)")
_MAX_NAMES = 3
_KEPT_BYTES = 64 << 20  # of indexes of files


class TestPlace(NamedTuple):
    """A test's place in a file, its number and the bytes of its input."""

    group: int
    row: int  # within its row group
    number: int
    size: int


class FileIndex(NamedTuple):
    """The usable rows of a file.

    places    those of each problem's tests, in the file's order
    unusable  rows that lack a problem, a number, an input or an output
    """

    places: Mapping[str, list[TestPlace]]
    unusable: int


def _cost(index: FileIndex) -> int:
    """Return the bytes that an index takes, at most."""
    return sum(200 + 250 * len(places) for places in index.places.values())


class GeneratedTests:
    """The generated tests of a folder. Any thread may call any method.

    Raises InputError for a folder that is missing or has no file of tests, and at the first use of
    a file that is unreadable. A file without the columns is noted, if its name has no contest.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self.notes = Diagnostics()
        self._files = _parquet_files(self.folder)  # each with its contest, None for another name
        self._known: dict[Path, frozenset[str] | str | InputError] = {}
        self._indexes = LruCache[Path, FileIndex](_KEPT_BYTES, cost=_cost)
        self._asked: set[Path] = set()
        self._lock = threading.RLock()
        if set(self._files.values()) <= {None} and not any(map(self._problems_of, self._files)):
            inner = self.folder / "generated_tests"
            remedy = f"give {inner}" if inner.is_dir() else "give the folder that has them"
            found = "".join(f"; {note}" for note in self.messages())
            raise InputError(
                f"--generated-tests-dir {self.folder} has no parquet file of tests: {remedy}{found}"
            )

    def refs(self, problem: Problem) -> list[TestRef]:
        """Return the number and input size of a problem's tests, in the files' order."""
        return [
            TestRef("generated", place.number, place.size) for _, place in self._places(problem)
        ]

    def read(self, problem: Problem, wanted: set[int]) -> Iterator[TestCase]:
        """Yield the tests with the wanted numbers in the files' order, a few in memory at once.

        Raises InputError when a file changed since `refs` read it.
        """
        places = [(path, place) for path, place in self._places(problem) if place.number in wanted]
        for (path, group), found in groupby(places, lambda item: (item[0], item[1].group)):
            yield from read_places(path, group, {place.row: place for _, place in found})

    def messages(self) -> list[str]:
        """Return what the user should know of the files that were read."""
        return self.notes.messages()

    def note_strangers(self, is_known: Callable[[str], bool]) -> None:
        """Add a note for each file that should have tests of the data set's problems and has none.

        is_known  whether the data set has a problem of this name
        """
        with self._lock:
            for path, contest in self._files.items():
                if contest is not None and path not in self._asked:
                    continue  # the data set has no problem of this contest
                names = self._problems_of(path)
                if names and not any(map(is_known, names)):
                    first = ", ".join(map(shown, sorted(names)[:_MAX_NAMES]))
                    self.notes.add(
                        f"{path} has no test of a problem of the data set: its problem_id are "
                        f"{first}{' …' * (len(names) > _MAX_NAMES)}"
                    )

    def _places(self, problem: Problem) -> list[tuple[Path, TestPlace]]:
        """Return the files and places of a problem's tests, in order, each number once."""
        names = [name for known in (problem.id, *problem.aliases) for name in spellings(known)]
        contests = {None, *_contests(problem)}
        with self._lock:
            near = [path for path, contest in self._files.items() if contest in contests]
            self._asked.update(near)
            for name in names:
                if found := [path for path in near if name in self._problems_of(path)]:
                    return self._tests(name, found)
            for name in names:
                if found := [path for path in self._files if name in self._problems_of(path, near)]:
                    return self._tests(name, found)
            return []

    def _problems_of(self, path: Path, near: list[Path] | None = None) -> frozenset[str]:
        """Return the problems that a file names.

        near  the files in which they are expected: others are noted where they are unusable
        """
        if path not in self._known:
            try:
                self._known[path] = problems_of(path)
            except InputError as error:
                self._known[path] = error
        known = self._known[path]
        if isinstance(known, frozenset):
            if not known:
                self.notes.add(f"{path} has no rows: its problems have no generated tests")
            return known
        of_others = isinstance(known, str) and self._files[path] is None
        if not of_others and (near is None or path in near):
            raise InputError(str(known))
        self.notes.add(f"not read: {known}")
        return frozenset()

    def _tests(self, name: str, files: list[Path]) -> list[tuple[Path, TestPlace]]:
        """Return the places of the tests whose rows have this name."""
        found: dict[int, tuple[Path, TestPlace]] = {}
        for path in files:
            index = self._indexes.find(path, partial(index_of, path))
            places = index.places.get(name, [])
            if taken := sum(found.setdefault(p.number, (path, p)) != (path, p) for p in places):
                self.notes.add(
                    f"{path}: {taken} rows repeat a number of {shown(name)}: the first counts"
                )
            if index.unusable:
                self.notes.add(
                    f"{path}: {index.unusable} rows lack a problem, number, input or output: "
                    "ignored"
                )
        return list(found.values())


def open_generated_tests(folder: Path | None, max_tests: int) -> GeneratedTests | None:
    """Return the tests of --generated-tests-dir, None when it is not given.

    max_tests  the value of --max-generated-tests; 0 adds a note
    """
    if folder is None:
        return None
    tests = GeneratedTests(folder)
    if not max_tests:
        tests.notes.add(
            f"--generated-tests-dir {tests.folder} is not used, because --max-generated-tests is "
            "0; -1 takes all"
        )
    return tests


def _parquet_files(folder: Path) -> dict[Path, int | None]:
    """Return the parquet files, those with a contest in their name first, and that contest."""
    if not folder.is_dir():
        raise InputError(
            f"--generated-tests-dir {folder} is not a folder: "
            "give the folder of the parquet files of tests"
        )
    try:
        names = [entry.name for entry in folder.iterdir() if not entry.name.startswith(".")]
    except OSError as error:
        raise InputError(f"--generated-tests-dir {folder}: {error.strerror}") from error
    parquet = [name for name in names if name.endswith(".parquet")]
    numbers = {name: _FILE.fullmatch(name) for name in parquet}
    parquet.sort(key=lambda name: (numbers[name] is None, -len(name), name))
    return {
        folder / name: None if (match := numbers[name]) is None else int(match[1])
        for name in parquet
    }


def _contests(problem: Problem) -> list[int]:
    """Return the contests whose files should have the problem: its own, then its aliases'."""
    names = (problem.contest_id, problem.id, *problem.aliases)
    matches = [_CONTEST.match(name) for name in names]
    return [int(match.group(1)) for match in matches if match]


# ---- one file ----


def problems_of(path: Path) -> frozenset[str] | str:
    """Return the problems that a file names; only that column is read: 2 ms for 300 rows.

    For a file of something else it is what it lacks. Raises InputError for an unreadable file.
    """
    names: set[str] = set()
    with _opened(path) as file:
        if file.metadata.num_rows:  # else its columns have any types, or there are none
            if why := _lacking(path, file):
                return why
            for batch in file.iter_batches(
                _MAX_BATCH_ROWS, columns=["problem_id"], use_threads=False
            ):
                found = as_bytes(batch.column(0).unique()).to_pylist()
                names.update(_name(name) for name in found if name is not None)
    return frozenset(names)


def index_of(path: Path) -> FileIndex:
    """Return where the tests of each problem are. Raises InputError for a damaged file."""
    places, usable, rows = defaultdict[str, list[TestPlace]](list), 0, 0
    with _opened(path) as file:
        columns = ["problem_id", _number_column(file), "input", "output"]
        for group in range(file.num_row_groups):
            row = 0
            for batch in _batches(file, group, columns):
                if batch.nbytes > _MAX_DECODED_BYTES:
                    raise ValueError(
                        f"{batch.num_rows} tests have {batch.nbytes} bytes: "
                        f"{_MAX_DECODED_BYTES} are read"
                    )
                values = (
                    as_bytes(batch.column(0)).to_pylist(),
                    batch.column(1).to_pylist(),
                    lengths(batch.column(2)),
                    batch.column(3).is_valid().to_pylist(),
                )
                for at, (name, value, size, answered) in enumerate(zip(*values, strict=True), row):
                    number = _number(value)
                    if answered and name is not None and number is not None and size is not None:
                        places[_name(name)].append(TestPlace(group, at, number, size))
                        usable += 1
                row += batch.num_rows
            rows += row
    return FileIndex(places, rows - usable)


def read_places(path: Path, group: int, places: Mapping[int, TestPlace]) -> Iterator[TestCase]:
    """Yield the tests at some places of a row group; raise InputError when the file changed.

    places  by row
    """
    row, last, left = 0, max(places), len(places)
    with _opened(path) as file:
        if group < file.num_row_groups:
            for batch in _batches(file, group, ["input", "output"]):
                for i in range(batch.num_rows):
                    if place := places.get(row + i):
                        given, expected = (
                            as_bytes(c)[0].as_py() for c in batch.slice(i, 1).columns
                        )
                        if given is None or expected is None or len(given) != place.size:
                            break
                        yield TestCase("generated", place.number, given, expected)
                        left -= 1
                row += batch.num_rows
                if row > last:
                    break
    if left:
        raise InputError(f"{path} changed while it was read: start again")


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Open a parquet file; raise InputError where it cannot be opened or read."""
    if not path.is_file():  # opening a FIFO waits for its writer
        raise InputError(f"{path} is not a file, or a link to none: remove it or download it again")
    try:
        # Without a buffered stream, a whole compressed column of a row group is held.
        file = load_parquet().ParquetFile(path, pre_buffer=False, buffer_size=_READ_AHEAD_BYTES)
    except arrow_errors() as error:
        with contextlib.suppress(OSError), path.open("rb") as raw:
            if raw.read(64).startswith(b"version https://git-lfs"):
                raise InputError(f"{path} is a git-lfs pointer to the file: git lfs pull") from None
        raise InputError(
            f"{path} is not a readable parquet file: {one_line(error)}: download it again"
        ) from error
    try:
        yield file
    except InputError:
        raise
    except arrow_errors() as error:
        raise InputError(f"{path} is damaged: {one_line(error)}: download it again") from error
    finally:
        file.close()
        release_memory()


def _number_column(file: Any) -> str:
    return next((name for name in NUMBER_COLUMNS if name in file.schema_arrow.names), "")


def _lacking(path: Path, file: Any) -> str:
    """Return what a file lacks to have tests, "" for nothing. Raises InputError for other types."""
    schema = file.schema_arrow
    if not _number_column(file) or not {*TEXT_COLUMNS} <= {*schema.names}:
        return (
            f"{path} has the columns {', '.join(map(shown, schema.names[:20])) or 'none'}: "
            f"{', '.join(TEXT_COLUMNS)} and {' or '.join(NUMBER_COLUMNS)} are needed"
        )
    for name in TEXT_COLUMNS:
        kind = schema.field(name).type
        if not is_text(kind):
            raise InputError(f"{path}: column {name} is of type {kind}, text is needed")
    return ""


def _name(raw: bytes) -> str:
    return raw.decode("utf-8", "replace").strip()


def _batches(file: Any, group: int, columns: list[str]) -> Iterator[Any]:
    """Yield some columns of a row group, in this order, in batches of about a megabyte."""
    meta = file.metadata.row_group(group)
    mean_bytes = int(meta.total_byte_size) // max(1, int(meta.num_rows))
    rows = max(1, min(_MAX_BATCH_ROWS, _BATCH_BYTES // max(1, mean_bytes)))
    for batch in file.iter_batches(
        batch_size=rows, row_groups=[group], columns=columns, use_threads=False
    ):
        yield batch.select(columns)


def _number(value: Any) -> int | None:
    """Return a test's number as an int; the column may hold 7, 7.0 or "7". Else None."""
    try:
        number = None if isinstance(value, float) and not value.is_integer() else int(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if number in _NUMBERS else None
