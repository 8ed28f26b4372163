"""Generated tests: one parquet file a contest, read by problem, never held as a whole.

    folder/test_cases_0006.parquet      (or test_cases_6.parquet)
        problem_id  input  output  test_case_i      (or test_i)
        "6/A"       "3 …"  "YES"   0
        └─ one scan of numbers and sizes a file ─▶ refs; contents ─▶ a few rows at a time

What is held of a file at once is one parquet page of each column read (writers make
pages of a megabyte, or of a thousand rows where rows are larger) and a few rows.

A row without input, output or number is no test, nor is a second one of the same
number: both are left out and named in `notes`. A file's rows may call a problem by an
alias; the first of (id, aliases…) that has rows in the file is taken.
"""

from __future__ import annotations

import re
import threading
from array import array
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eval.arrow import arrow_errors, as_bytes, is_text, lengths, load_parquet, release_memory
from eval.input_error import InputError, shown
from eval.model import Problem, TestCase, TestRef
from eval.notes import Notes
from eval.options import Options
from eval.problem_ids import spellings

NUMBER_COLUMNS = ("test_case_i", "test_i")
TEXT_COLUMNS = ("problem_id", "input", "output")
_FILE = re.compile(r"test_cases_(\d+)\.parquet")
_CONTEST = re.compile(r"\s*(\d+)")
_ROWS_AT_ONCE = 16
_BATCH_BYTES = 1 << 20
_FILES_REMEMBERED = 16
_READ_AHEAD_BYTES = 1 << 20


@dataclass
class _Rows:
    """The tests of one problem in one file: parallel arrays, in the file's order."""

    group: array[int] = field(default_factory=lambda: array("q"))
    row: array[int] = field(default_factory=lambda: array("q"))  # within its row group
    number: array[int] = field(default_factory=lambda: array("q"))
    size: array[int] = field(default_factory=lambda: array("q"))


class GeneratedTests:
    """The generated tests of a folder. Any method may be called from any thread.

    Raises InputError when the folder is missing or holds no `test_cases_*.parquet`,
    and, when a file is first needed, for one that is not parquet or lacks columns.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self.notes = Notes()
        self._files = _contest_files(self.folder, self.notes)
        self._scans: OrderedDict[Path, dict[str, _Rows]] = OrderedDict()
        self._lock = threading.Lock()

    def refs(self, problem: Problem) -> list[TestRef]:
        """The tests of a problem in the file's order: number and bytes of input."""
        _, rows = self._find(problem)
        return [
            TestRef("generated", number, size)
            for number, size in zip(rows.number, rows.size, strict=True)
        ]

    def read(self, problem: Problem, wanted: set[int]) -> Iterator[TestCase]:
        """The tests of these numbers in the file's order, a few rows in memory at once.

        A file that changed since `refs` looked at it raises InputError.
        """
        path, rows = self._find(problem)
        if path is None:
            return
        by_group: dict[int, dict[int, tuple[int, int]]] = {}
        for group, row, number, size in zip(
            rows.group, rows.row, rows.number, rows.size, strict=True
        ):
            if number in wanted:
                by_group.setdefault(group, {})[row] = (number, size)
        for group, picked in by_group.items():
            yield from _read_group(path, group, picked)
        release_memory()

    def _find(self, problem: Problem) -> tuple[Path | None, _Rows]:
        """The first file with tests of the problem under its first name that has any."""
        for contest in _contests(problem):
            path = self._files.get(contest)
            if path is None:
                continue
            found = self._scan(path)
            for name in dict.fromkeys(
                spelling
                for known in (problem.id, *problem.aliases)
                for spelling in spellings(known)
            ):
                if name in found:
                    return path, found[name]
        return None, _Rows()

    def _scan(self, path: Path) -> dict[str, _Rows]:
        with self._lock:
            found = self._scans.get(path)
            if found is None:
                found = _scan_file(path, self.notes)
                self._scans[path] = found
                if len(self._scans) > _FILES_REMEMBERED:
                    self._scans.popitem(last=False)
            self._scans.move_to_end(path)
            return found


def _contest_files(folder: Path, notes: Notes) -> dict[int, Path]:
    """Contest number → file, whatever the padding; of two for one contest, the padded."""
    if not folder.is_dir():
        raise InputError(
            f"--generated-tests-dir {folder} is no folder: "
            "give the folder of the test_cases_*.parquet files"
        )
    files: dict[int, Path] = {}
    try:
        names = sorted(entry.name for entry in folder.iterdir())
    except OSError as error:
        raise InputError(f"--generated-tests-dir {folder}: {error.strerror}") from error
    for name in sorted(names, key=lambda n: (-len(n), n)):
        match = _FILE.fullmatch(name)
        if match is None or len(match.group(1)) > 18:
            continue
        contest = int(match.group(1))
        if contest in files:
            notes.add(f"{folder / name} is left out: {files[contest].name} is the same contest's")
            continue
        files[contest] = folder / name
    if not files:
        inner = folder / "generated_tests"
        remedy = f"give {inner}" if inner.is_dir() else "give the folder that holds them"
        raise InputError(f"--generated-tests-dir {folder} has no test_cases_*.parquet: {remedy}")
    return files


def _contests(problem: Problem) -> list[int]:
    """The contests whose files may hold the problem: its own first, then its aliases'."""
    found: dict[int, None] = {}
    for name in (problem.contest_id, problem.id, *problem.aliases):
        match = _CONTEST.match(name)
        if match and len(match.group(1)) <= 18:
            found.setdefault(int(match.group(1)))
    return list(found)


def _is_pointer(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(64).startswith(b"version https://git-lfs")


def open_generated_tests(options: Options) -> GeneratedTests | None:
    """Those of `--generated-tests-dir`, if it is given; GeneratedTests says what is raised."""
    if options.generated_tests_dir is None:
        return None
    tests = GeneratedTests(options.generated_tests_dir)
    if not options.max_generated_tests:
        tests.notes.add(
            f"--generated-tests-dir {tests.folder}: none of its tests is taken, for "
            "--max-generated-tests is 0; -1 takes all"
        )
    return tests


def _open(path: Path) -> tuple[Any, str]:
    """The parquet file and the name of its number column; InputError when it is not one."""
    try:
        # A buffered stream, else a whole compressed column of a row group is held.
        file = load_parquet().ParquetFile(path, pre_buffer=False, buffer_size=_READ_AHEAD_BYTES)
    except arrow_errors() as error:
        if _is_pointer(path):
            raise InputError(f"{path} is a git-lfs pointer to the file: git lfs pull") from None
        raise InputError(
            f"{path} is no readable parquet file: {_one_line(error)}: download it again"
        ) from error
    schema = file.schema_arrow
    number = next((name for name in NUMBER_COLUMNS if name in schema.names), None)
    missing = [name for name in TEXT_COLUMNS if name not in schema.names]
    if missing or number is None:
        raise InputError(
            f"{path} has the columns {', '.join(map(shown, schema.names[:20])) or 'none'}: "
            f"{', '.join(TEXT_COLUMNS)} and {' or '.join(NUMBER_COLUMNS)} are needed"
        )
    for name in TEXT_COLUMNS:
        kind = schema.field(name).type
        if not is_text(kind):
            raise InputError(f"{path}: column {name} is of type {kind}, text is needed")
    return file, number


def _scan_file(path: Path, notes: Notes) -> dict[str, _Rows]:
    """Numbers and input sizes of every test of a file, by problem: one pass, flat memory."""
    file, number_column = _open(path)
    found: dict[str, _Rows] = {}
    seen: set[tuple[str, int]] = set()
    unusable = repeated = 0
    try:
        for group in range(file.num_row_groups):
            for row, problem, number, size in _scan_group(file, group, number_column):
                if problem is None or number is None or size is None:
                    unusable += 1
                elif (problem, number) in seen:
                    repeated += 1
                else:
                    seen.add((problem, number))
                    _append(found.setdefault(problem, _Rows()), group, row, number, size)
    except arrow_errors() as error:
        raise InputError(f"{path} is damaged: {_one_line(error)}: download it again") from error
    finally:
        file.close()
        release_memory()
    if unusable:
        notes.add(f"{path}: {unusable} rows without problem, number, input or output are no tests")
    if repeated:
        notes.add(f"{path}: {repeated} tests repeat a number of their problem: the first counts")
    return found


def _append(rows: _Rows, group: int, row: int, number: int, size: int) -> None:
    rows.group.append(group)
    rows.row.append(row)
    rows.number.append(number)
    rows.size.append(size)


def _scan_group(
    file: Any, group: int, number_column: str
) -> Iterator[tuple[int, str | None, int | None, int | None]]:
    """(row, problem, number, bytes of input) of a row group; None for what is missing.

    The output column is read to know which outputs are missing, unless the file's
    statistics say that none is.
    """
    columns = ["problem_id", number_column, "input"]
    if _may_have_nulls(file, group, "output"):
        columns.append("output")
    row = 0
    for batch in file.iter_batches(
        batch_size=_batch_rows(file, group), row_groups=[group], columns=columns, use_threads=False
    ):
        problems = [_text(value) for value in as_bytes(batch.column("problem_id")).to_pylist()]
        numbers = [_number(value) for value in batch.column(number_column).to_pylist()]
        sizes: list[int | None] = lengths(batch.column("input"))
        if "output" in columns:
            outputs = batch.column("output").is_valid().to_pylist()
            sizes = [size if there else None for size, there in zip(sizes, outputs, strict=True)]
        for problem, number, size in zip(problems, numbers, sizes, strict=True):
            yield row, problem, number, size
            row += 1


def _may_have_nulls(file: Any, group: int, column: str) -> bool:
    meta = file.metadata.row_group(group)
    for i in range(meta.num_columns):
        chunk = meta.column(i)
        if chunk.path_in_schema == column:
            stats = chunk.statistics
            return stats is None or not stats.has_null_count or stats.null_count > 0
    return True


def _batch_rows(file: Any, group: int) -> int:
    """Rows read at once: about a megabyte, never more than a few of the largest."""
    meta = file.metadata.row_group(group)
    mean = int(meta.total_byte_size) // max(1, int(meta.num_rows))
    return max(1, min(_ROWS_AT_ONCE, _BATCH_BYTES // max(1, mean)))


def _read_group(path: Path, group: int, picked: dict[int, tuple[int, int]]) -> Iterator[TestCase]:
    """The picked rows of a row group: row → (number, bytes of input)."""
    last = max(picked)
    row = 0
    left = len(picked)
    file, _ = _open(path)
    try:
        if group < file.num_row_groups:
            for batch in file.iter_batches(
                batch_size=_batch_rows(file, group),
                row_groups=[group],
                columns=["input", "output"],
                use_threads=False,
            ):
                for i in range(batch.num_rows):
                    if row + i in picked:
                        yield _test(path, batch, i, *picked[row + i])
                        left -= 1
                row += batch.num_rows
                if row > last:
                    break
    except arrow_errors() as error:
        raise InputError(f"{path} is damaged: {_one_line(error)}: download it again") from error
    finally:
        file.close()
    if left:
        raise InputError(f"{path} changed while it was read: start again")


def _test(path: Path, batch: Any, i: int, number: int, size: int) -> TestCase:
    one = batch.slice(i, 1)
    given = as_bytes(one.column("input"))[0].as_py()
    expected = as_bytes(one.column("output"))[0].as_py()
    if given is None or expected is None or len(given) != size:
        raise InputError(f"{path} changed while it was read: start again")
    return TestCase("generated", number, given, expected)


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode("utf-8", "replace").strip()


def _number(value: object) -> int | None:
    """A test's number: an integer, or a float or text that spells one."""
    if isinstance(value, bool):
        return None
    try:
        number = int(value) if isinstance(value, (int, str)) else None
        if isinstance(value, float) and value.is_integer():
            number = int(value)
    except ValueError:
        return None
    return number if number is not None and abs(number) < 1 << 62 else None


def _one_line(error: BaseException) -> str:
    return shown(" ".join(str(error).split()), 160).strip("'\"")
