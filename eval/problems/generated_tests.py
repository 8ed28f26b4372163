"""Read generated tests by problem from a folder of parquet files.

    folder/test_cases_0006.parquet      (or test_cases_6.parquet)      of contest 6
           mine.parquet                                               of any problem
                └─ problems_of ─▶ which files have a problem ─▶ refs ─▶ contents, a few at a time

Tests are found by the problem that their row names. A file with a contest in its name is looked
into for other problems only when these are in no other file, because a folder has thousands.

A row without input, output or number is ignored, and so is a repeated number; `messages` reports
both. The rows may name a problem by an alias: the first of (id, aliases…) with rows is used.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path

from gradebox.eval.common.errors import Diagnostics, InputError, shown
from gradebox.eval.problems.generated_file import (
    GeneratedRows,
    NotTests,
    TestPlace,
    problems_of,
    read_places,
)
from gradebox.eval.problems.problem import Problem, TestCase, TestRef, spellings

_FILE = re.compile(r"test_cases_(\d{1,18})\.parquet")
_CONTEST = re.compile(r"\s*(\d{1,18})(?!\d)")
_MAX_NAMES = 3
UNUSABLE = "rows lack a problem, number, input or output: ignored"
REPEATED = "rows repeat a number of their problem: the first counts"


class GeneratedTests:
    """The generated tests of a folder. Any thread may call any method.

    Raises InputError for a folder that is missing or has no file of tests, and at the first use of
    a file that is unreadable. A file without the columns is noted, if its name has no contest.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self.notes = Diagnostics()
        self._files = _parquet_files(self.folder)  # each with its contest, None for another name
        self._known: dict[Path, frozenset[str] | InputError] = {}
        self._rows = GeneratedRows()
        self._ignored: dict[tuple[Path, str, object], int] = {}  # rows; by why, group or problem
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
        with self._lock:
            ignored: Counter[tuple[Path, str]] = Counter()
            for (path, why, _), count in self._ignored.items():
                ignored[path, why] += count
        rows = [f"{path}: {count} {why}" for (path, why), count in ignored.items()]
        return [*self.notes.messages(), *rows]

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
        known = self._known.get(path)
        if known is None:
            try:
                known = problems_of(path)
                if not known:
                    self.notes.add(f"{path} has no rows: its problems have no generated tests")
            except InputError as error:
                known = error
            self._known[path] = known
        if isinstance(known, frozenset):
            return known
        of_others = isinstance(known, NotTests) and self._files[path] is None
        if not of_others and (near is None or path in near):
            raise InputError(str(known))
        self.notes.add(f"not read: {known}")
        return frozenset()

    def _tests(self, name: str, files: list[Path]) -> list[tuple[Path, TestPlace]]:
        """Return the places of the tests whose rows have this name."""
        found: dict[int, tuple[Path, TestPlace]] = {}
        for path in files:
            repeated = 0
            for group, unusable, places in self._rows.places(path, name):
                if unusable:
                    self._ignored[path, UNUSABLE, group] = unusable
                for place in places:
                    repeated += found.setdefault(place.number, (path, place)) != (path, place)
            if repeated:
                self._ignored[path, REPEATED, name] = repeated
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
