"""The problems of USACO: one JSON object of rows, and a folder of test files for each.

usaco_subset307_dict.json                 {"1333_platinum_strings": {"num_tests": 21, …}, …}
usaco_v3/tests/1333_platinum_strings/     1.in, 1.out, or I.1, O.1; the folder may be `tests`
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gradebox.eval.common.errors import InputError, RowError
from gradebox.eval.problems.formats.archives import USACO
from gradebox.eval.problems.formats.row_format import MOST_TESTS, MOST_TEXT, Judge, Reading
from gradebox.eval.problems.packages.files import PackageFiles, number
from gradebox.eval.problems.rows import Rows, parse_row

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
        files, found = PackageFiles(self._tests, "tests"), []
        for i in range(1, count + 1):
            given = files.find(f"{name}/{i}.in", f"{name}/I.{i}")
            expected = files.find(f"{name}/{i}.out", f"{name}/O.{i}")
            if given is None or expected is None:
                raise RowError(f"test {i} of {count} is not in {self._tests / str(name)}")
            found.append({"input": files.test_file(given), "output": files.test_file(expected)})
        return found
