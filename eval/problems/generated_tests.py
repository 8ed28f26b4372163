"""Read generated tests by problem from a folder with one parquet file for each contest.

    folder/test_cases_0006.parquet      (or test_cases_6.parquet)
        problem_id  input  output  test_case_i      (or test_i)
        "6/A"       "3 …"  "YES"   0
        └─ one scan of numbers and sizes a file ─▶ refs; contents ─▶ a few rows at a time

A file is never held whole: only one parquet page of each column (a megabyte, or a thousand rows
where rows are larger) and a few rows are in memory.

A row without input, output or number is ignored, and so is a repeated number; `notes` reports
both. The rows may name a problem by an alias: the first of (id, aliases…) with rows is used.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from gradebox.eval.common.diagnostics import Diagnostics
from gradebox.eval.common.errors import InputError, shown
from gradebox.eval.problems.arrow import (
    arrow_errors,
    as_bytes,
    is_text,
    lengths,
    load_parquet,
    one_line,
    release_memory,
)
from gradebox.eval.problems.ids import spellings
from gradebox.eval.problems.problem import Problem, TestCase, TestRef
from gradebox.sandbox.common.lru_cache import LruCache

NUMBER_COLUMNS = ("test_case_i", "test_i")
TEXT_COLUMNS = ("problem_id", "input", "output")
_FILE = re.compile(r"test_cases_(\d{1,18})\.parquet")
_CONTEST = re.compile(r"\s*(\d{1,18})(?!\d)")
_MAX_BATCH_ROWS = 16
_BATCH_BYTES = 1 << 20
_SCANS_KEPT = 16
_READ_AHEAD_BYTES = 1 << 20


class _Row(NamedTuple):
    """A test's place in a file, its number and the bytes of its input."""

    group: int
    row: int  # within its row group
    number: int
    size: int


class GeneratedTests:
    """The generated tests of a folder. Any thread may call any method.

    Raises InputError for a folder that is missing or has no `test_cases_*.parquet`, and at the
    first use of a file that is not parquet or lacks columns.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self.notes = Diagnostics()
        self._files = _contest_files(self.folder, self.notes)
        self._scans: LruCache[Path, dict[str, list[_Row]]] = LruCache(_SCANS_KEPT)
        self._lock = threading.Lock()

    def refs(self, problem: Problem) -> list[TestRef]:
        """Return the number and input size of a problem's tests, in the file's order."""
        _, rows = self._find(problem)
        return [TestRef("generated", row.number, row.size) for row in rows]

    def read(self, problem: Problem, wanted: set[int]) -> Iterator[TestCase]:
        """Yield the tests with the wanted numbers in the file's order, a few in memory at once.

        Raises InputError when the file changed since `refs` read it.
        """
        path, rows = self._find(problem)
        if path is None:
            return
        groups: dict[int, dict[int, _Row]] = {}
        for row in rows:
            if row.number in wanted:
                groups.setdefault(row.group, {})[row.row] = row
        for group, picked in groups.items():
            yield from _read_group(path, group, picked)
        release_memory()

    def _find(self, problem: Problem) -> tuple[Path | None, list[_Row]]:
        """Return the first file that has tests of the problem, and their rows."""
        for contest in _contests(problem):
            path = self._files.get(contest)
            if path is None:
                continue
            found = self._scan(path)
            for known in (problem.id, *problem.aliases):
                for name in spellings(known):
                    if name in found:
                        return path, found[name]
        return None, []

    def _scan(self, path: Path) -> dict[str, list[_Row]]:
        with self._lock:
            found = self._scans.get(path)
            if found is None:
                found = _scan_file(path, self.notes)
                self._scans.put(path, found)
            return found


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


def _contest_files(folder: Path, notes: Diagnostics) -> dict[int, Path]:
    """Return contest number → file; of two files for a contest, the one with a padded number."""
    if not folder.is_dir():
        raise InputError(
            f"--generated-tests-dir {folder} is not a folder: "
            "give the folder of the test_cases_*.parquet files"
        )
    files: dict[int, Path] = {}
    try:
        names = [entry.name for entry in folder.iterdir()]
    except OSError as error:
        raise InputError(f"--generated-tests-dir {folder}: {error.strerror}") from error
    for name in sorted(names, key=lambda n: (-len(n), n)):
        match = _FILE.fullmatch(name)
        if match is None:
            continue
        used = files.setdefault(int(match.group(1)), folder / name)
        if used.name != name:
            notes.add(f"{folder / name} is ignored: {used.name} has the same contest")
    if not files:
        inner = folder / "generated_tests"
        remedy = f"give {inner}" if inner.is_dir() else "give the folder that has them"
        raise InputError(f"--generated-tests-dir {folder} has no test_cases_*.parquet: {remedy}")
    return files


def _contests(problem: Problem) -> list[int]:
    """Return the contests whose files may have the problem: its own, then its aliases'."""
    names = (problem.contest_id, problem.id, *problem.aliases)
    matches = [_CONTEST.match(name) for name in names]
    return list(dict.fromkeys(int(match.group(1)) for match in matches if match))


def _open_file(path: Path) -> Any:
    """Return the parquet file. Raises InputError."""
    try:
        # Without a buffered stream, a whole compressed column of a row group is held.
        return load_parquet().ParquetFile(path, pre_buffer=False, buffer_size=_READ_AHEAD_BYTES)
    except arrow_errors() as error:
        with path.open("rb") as raw:
            if raw.read(64).startswith(b"version https://git-lfs"):
                raise InputError(f"{path} is a git-lfs pointer to the file: git lfs pull") from None
        raise InputError(
            f"{path} is not a readable parquet file: {one_line(error)}: download it again"
        ) from error


def _number_column(path: Path, file: Any) -> str:
    """Return the name of the number column. Raises InputError when columns are unusable."""
    schema = file.schema_arrow
    number = next((name for name in NUMBER_COLUMNS if name in schema.names), None)
    if number is None or not {*TEXT_COLUMNS} <= {*schema.names}:
        raise InputError(
            f"{path} has the columns {', '.join(map(shown, schema.names[:20])) or 'none'}: "
            f"{', '.join(TEXT_COLUMNS)} and {' or '.join(NUMBER_COLUMNS)} are needed"
        )
    for name in TEXT_COLUMNS:
        kind = schema.field(name).type
        if not is_text(kind):
            raise InputError(f"{path}: column {name} is of type {kind}, text is needed")
    return number


def _scan_file(path: Path, notes: Diagnostics) -> dict[str, list[_Row]]:
    """Return problem → rows of a file, read in one pass that holds a few rows at a time."""
    file = _open_file(path)
    found: dict[str, list[_Row]] = {}
    seen: set[tuple[str, int]] = set()
    unusable = repeated = 0
    try:
        if not file.metadata.num_rows:  # its columns have any types, or there are none
            notes.add(f"{path} has no rows: its problems have no generated tests")
            return found
        number_column = _number_column(path, file)
        for group in range(file.num_row_groups):
            for row, problem, number, size in _scan_group(file, group, number_column):
                if problem is None or number is None or size is None:
                    unusable += 1
                elif (problem, number) in seen:
                    repeated += 1
                else:
                    seen.add((problem, number))
                    found.setdefault(problem, []).append(_Row(group, row, number, size))
    except arrow_errors() as error:
        raise InputError(f"{path} is damaged: {one_line(error)}: download it again") from error
    finally:
        file.close()
        release_memory()
    if unusable:
        notes.add(f"{path}: {unusable} rows lack a problem, number, input or output: ignored")
    if repeated:
        notes.add(f"{path}: {repeated} rows repeat a number of their problem: the first counts")
    return found


def _scan_group(
    file: Any, group: int, number_column: str
) -> Iterator[tuple[int, str | None, int | None, int | None]]:
    """Yield (row, problem, number, bytes of input) of a row group; None for a missing value.

    The output column is read to find missing outputs, unless the file's statistics rule them
    out.
    """
    columns = ["problem_id", number_column, "input"]
    if _may_have_nulls(file, group, "output"):
        columns.append("output")
    row = 0
    for batch in _batches(file, group, columns):
        problems = as_bytes(batch.column("problem_id")).to_pylist()
        numbers = batch.column(number_column).to_pylist()
        sizes: list[int | None] = lengths(batch.column("input"))
        if "output" in columns:
            outputs = batch.column("output").is_valid().to_pylist()
            sizes = [size if valid else None for size, valid in zip(sizes, outputs, strict=True)]
        for problem, number, size in zip(problems, numbers, sizes, strict=True):
            name = None if problem is None else problem.decode("utf-8", "replace").strip()
            yield row, name, _number(number), size
            row += 1


def _may_have_nulls(file: Any, group: int, column: str) -> bool:
    meta = file.metadata.row_group(group)
    for i in range(meta.num_columns):
        chunk = meta.column(i)
        if chunk.path_in_schema == column:
            stats = chunk.statistics
            return stats is None or not stats.has_null_count or stats.null_count > 0
    return True


def _batches(file: Any, group: int, columns: list[str]) -> Iterator[Any]:
    """Yield a row group in batches of about a megabyte."""
    meta = file.metadata.row_group(group)
    mean_bytes = int(meta.total_byte_size) // max(1, int(meta.num_rows))
    rows = max(1, min(_MAX_BATCH_ROWS, _BATCH_BYTES // max(1, mean_bytes)))
    yield from file.iter_batches(
        batch_size=rows, row_groups=[group], columns=columns, use_threads=False
    )


def _read_group(path: Path, group: int, picked: dict[int, _Row]) -> Iterator[TestCase]:
    """Yield the picked rows of a row group; raise InputError when the file changed."""
    row, last, left = 0, max(picked), len(picked)
    file = _open_file(path)
    try:
        if group < file.num_row_groups:
            for batch in _batches(file, group, ["input", "output"]):
                for i in range(batch.num_rows):
                    if row + i in picked:
                        yield _test(path, batch.slice(i, 1), picked[row + i])
                        left -= 1
                row += batch.num_rows
                if row > last:
                    break
    except arrow_errors() as error:
        raise InputError(f"{path} is damaged: {one_line(error)}: download it again") from error
    finally:
        file.close()
    if left:
        raise InputError(f"{path} changed while it was read: start again")


def _test(path: Path, batch: Any, row: _Row) -> TestCase:
    given = as_bytes(batch.column("input"))[0].as_py()
    expected = as_bytes(batch.column("output"))[0].as_py()
    if given is None or expected is None or len(given) != row.size:
        raise InputError(f"{path} changed while it was read: start again")
    return TestCase("generated", row.number, given, expected)


def _number(value: Any) -> int | None:
    """Return a test's number as an int; the column may hold 7, 7.0 or "7". Else None."""
    try:
        return None if isinstance(value, float) and not value.is_integer() else int(value)
    except (TypeError, ValueError):
        return None
