"""`ProblemSet`: problems and their official tests by id or alias, from one or more sources."""

from __future__ import annotations

import difflib
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gradebox.eval.common.errors import Diagnostics, InputError, RowError, shown
from gradebox.eval.problems.formats import REMEDY
from gradebox.eval.problems.problem import Problem, TestCase, canonical_spelling
from gradebox.eval.problems.row import alias_ids, make_problem, problem_id
from gradebox.eval.problems.row.tests import TESTS_COLUMN, all_blank, input_sizes, official_tests
from gradebox.eval.problems.rows import Rows
from gradebox.sandbox.common.cleanup import Closeable
from gradebox.sandbox.common.lru_cache import LruCache

LABELS = ("difficulty", "platform", "contest_date", "libraries")
_CACHED_PROBLEMS = 256
_MAX_SUGGESTIONS = 20
_MAX_SUGGESTION_LENGTH = 64
_PERHAPS_MS = 500.0  # seconds of a time limit; few problems have so many


class _Location(NamedTuple):
    id: str
    source: Rows
    row: int
    labels: Mapping[str, str]  # of LABELS, those that the row has


class _Loaded(NamedTuple):
    problem: Problem
    input_bytes: list[int]  # of each official test
    doubt: str  # why its verdicts may not be what is wanted


class ProblemSet(Closeable):
    """Problems by id. Any thread may call any method.

    A name is looked up in the first source, as an id and then as an alias, and after that in the
    next sources. A Codeforces id may also be spelled "1000A" or "1000/a" when only one problem
    matches. When a source has an id twice, its first row counts. `diagnostics` lists unusable
    problems.

    columns  what the rows have, for `why_no_tests`
    """

    def __init__(
        self, dataset: str, split: str | None, sources: Sequence[Rows], columns: str = ""
    ) -> None:
        self.diagnostics = Diagnostics()
        self._columns = columns
        self._dataset = dataset
        self._split = split
        self._sources = list(sources)
        self._locations: dict[str, _Location] = {}
        self._canonical: dict[str, _Location | None] = {}  # None when several problems match
        self._cache: LruCache[str, _Loaded] = LruCache(_CACHED_PROBLEMS)
        self._unusable: dict[str, str] = {}
        self._lock = threading.Lock()
        self._suggestions_left = _MAX_SUGGESTIONS
        for source in self._sources:
            self._index(source)
        for name, location in self._locations.items():
            canonical = canonical_spelling(name)
            if canonical and self._canonical.setdefault(canonical, location) != location:
                self._canonical[canonical] = None
        self._count = len(self.ids())
        if not self._locations:
            first = next(
                (m for s in self._sources for m in s.diagnostics.messages()), "it is empty"
            )
            raise InputError(f"--dataset {dataset} has no usable problem: {first}")

    def get(self, problem_id: str) -> Problem | None:
        """Return the problem of an id or alias; None when it is unknown or its row is unusable.

        The id of the returned problem is its own, never an alias. `why_missing` explains None.
        """
        location = self._find(problem_id)
        loaded = None if location is None else self._load(location)
        return None if loaded is None else loaded.problem

    def resolve(self, problem_id: str) -> str | None:
        """Return the problem's own id for an id or alias; None when it is unknown."""
        location = self._find(problem_id)
        return None if location is None else location.id

    def why_missing(self, problem_id: str) -> str:
        """Return one line for the user that explains why `get` returned None."""
        location = self._find(problem_id)
        if location is not None and location.id in self._unusable:
            return self._unusable[location.id]
        return (
            f"unknown problem {shown(problem_id)}: not among the {len(self)} of "
            f"{self._dataset}{self._suggestion(problem_id)}; "
            "check --dataset, --dataset-split and --dataset-subsets"
        )

    def why_no_tests(self) -> str:
        """Return one line for the user when no graded problem has a test."""
        columns = f": the data set has {self._columns}" if self._columns else ""
        return f"no problem of --dataset {self._dataset} has a test{columns}; {REMEDY}"

    def official_sizes(self, problem_id: str) -> list[int]:
        """Return the bytes of each official test's input; raise InputError for a bad problem."""
        location = self._find(problem_id)
        loaded = None if location is None else self._load(location)
        if loaded is None:
            raise InputError(self.why_missing(problem_id))
        return loaded.input_bytes

    def official_tests(self, problem_id: str) -> Iterator[TestCase]:
        """Yield the official tests in order; raise InputError for a bad problem."""
        location = self._find(problem_id)
        if location is None:
            raise InputError(self.why_missing(problem_id))
        try:
            tests = official_tests(location.source.row(location.row).get(TESTS_COLUMN))
            for i, (given, expected) in enumerate(tests):
                yield TestCase("official", i, given, expected or b"")
        except RowError as error:
            raise InputError(_unusable(location, error)) from error

    def ids(self) -> list[str]:
        """Return the problems' own ids, in the order of the sources."""
        return [name for name, location in self._locations.items() if name == location.id]

    def matching(
        self,
        *,
        since: str | None = None,
        until: str | None = None,
        difficulty: Collection[str] | None = None,
        platform: Collection[str] | None = None,
    ) -> list[str]:
        """Return the ids of problems of certain contests; None takes all.

        since, until  dates as YYYY-MM-DD, both inclusive

        A problem that lacks what is asked for is left out.
        """

        def fits(labels: Mapping[str, str]) -> bool:
            date = labels.get("contest_date", "")
            return (
                (since is None or date >= since)
                and (until is None or "" < date <= until)
                and (difficulty is None or labels.get("difficulty") in difficulty)
                and (platform is None or labels.get("platform") in platform)
            )

        return [name for name in self.ids() if fits(self._locations[name].labels)]

    def libraries(self, names: Iterable[str]) -> Iterator[list[str]]:
        """Yield the libraries that each of some problems needs; nothing for one that names none."""
        for name in names:
            if needed := self._locations[name].labels.get("libraries"):
                yield needed.split(",")

    def describe(self) -> dict[str, Any]:
        """Return where the problems come from, as a JSON object for the metrics."""
        return {
            "dataset": self._dataset,
            "split": self._split,
            "subsets": [{"name": s.name, "fingerprint": s.fingerprint} for s in self._sources],
            "problems": len(self),
        }

    def messages(self) -> list[str]:
        """Return what was skipped so far, in the sources and in this set."""
        found = [*(source.diagnostics for source in self._sources), self.diagnostics]
        return [message for diagnostics in found for message in diagnostics.messages()]

    def close(self) -> None:
        """Close the sources."""
        for source in self._sources:
            source.close()

    def __len__(self) -> int:
        return self._count

    def _index(self, source: Rows) -> None:
        """Add a source's ids, then its aliases; names of earlier sources stay."""
        aliases: list[tuple[str, _Location]] = []
        own: set[str] = set()
        for number, row in source.names():
            try:
                labels = {name: str(row[name]) for name in LABELS if row.get(name)}
                location = _Location(problem_id(row), source, number, labels)
                names = alias_ids(row)
            except RowError as error:
                source.diagnostics.add(f"{source.name}, row {number} is not a problem: {error}")
                continue
            if location.id in own:
                source.diagnostics.add(
                    f"{source.name} has {location.id} twice: the first row is used"
                )
                continue
            own.add(location.id)
            self._locations.setdefault(location.id, location)
            aliases.extend((name, location) for name in names)
        for name, location in aliases:
            self._locations.setdefault(name, location)

    def _find(self, name: str) -> _Location | None:
        location = self._locations.get(name) or self._locations.get(name.strip())
        if location is None and (canonical := canonical_spelling(name)) is not None:
            location = self._canonical.get(canonical)
        return location

    def _load(self, location: _Location) -> _Loaded | None:
        if location.id in self._unusable:
            return None
        loaded = self._cache.get(location.id)
        if loaded is None:
            try:
                loaded = _read(location)
            except RowError as error:
                self._unusable[location.id] = _unusable(location, error)
                self.diagnostics.add(self._unusable[location.id])
                return None
            if loaded.doubt:
                self.diagnostics.add(f"problem {location.id}: {loaded.doubt}")
            self._cache.put(location.id, loaded)
        return loaded

    def _suggestion(self, name: str) -> str:
        """Suggest a similar name; only a few times, since each search compares all names."""
        with self._lock:
            if self._suggestions_left == 0 or len(name) > _MAX_SUGGESTION_LENGTH:
                return ""
            self._suggestions_left -= 1
        near = difflib.get_close_matches(name, self._locations, n=1)
        return f"; the nearest is {near[0]}" if near else ""


def _unusable(location: _Location, error: RowError) -> str:
    return f"problem {location.id} is unusable: {error}"


def _read(location: _Location) -> _Loaded:
    """Read a problem; raise RowError when it or one of its tests is unusable."""
    row = location.source.row(location.row)
    problem = make_problem(row)
    tests = row.get(TESTS_COLUMN)  # only an interactor needs no output
    input_bytes = input_sizes(tests, needs_output=not problem.interactive)
    doubt = str(row.get("doubt") or "")
    judged = problem.checker or problem.checker_name or problem.judge_program
    if problem.test_kind == "stdin" and not (problem.interactive or judged) and all_blank(tests):
        doubt = "no test has an output, so that only programs pass that print nothing"
    if problem.time_limit_s >= _PERHAPS_MS:
        limit = f"{problem.time_limit_s:g}"
        doubt = f"its time_limit is {limit} seconds: divide by 1000 if milliseconds are meant"
    return _Loaded(problem, input_bytes, doubt)
