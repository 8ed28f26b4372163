"""`ProblemSet`: problems and their official tests by id or alias, over one or more sources."""

from __future__ import annotations

import difflib
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from eval.input_error import InputError, shown
from eval.model import Problem, TestCase
from eval.notes import Notes
from eval.problem_ids import loose
from eval.problems.row import RowError, alias_ids, is_interactive, make_problem, problem_id
from eval.problems.source import Source, TestSize
from sandbox.closing import Closing

_PROBLEMS_REMEMBERED = 256
_HINTS = 20
_HINT_LENGTH = 64


class _Place(NamedTuple):
    id: str
    source: Source
    row: int


class ProblemSet(Closing):
    """Problems by id. Any method may be called from any thread.

    A name is looked for as an id, then as an alias, in the first source, then in the
    next ones; a Codeforces id may also be spelled "1000A" or "1000/a", when that means
    one problem only. Within a source the first row of an id counts. `notes` names what
    was passed over.
    """

    def __init__(self, dataset: str, split: str | None, sources: Sequence[Source]) -> None:
        self.notes = Notes()
        self._dataset = dataset
        self._split = split
        self._sources = list(sources)
        self._places: dict[str, _Place] = {}
        self._usual: dict[str, _Place | None] = {}
        self._recent: OrderedDict[str, Problem | None] = OrderedDict()
        self._unusable: dict[str, str] = {}
        self._lock = threading.Lock()
        self._hints_left = _HINTS
        for source in self._sources:
            self._index(source)
        for name, place in self._places.items():
            usual = loose(name)
            if usual is not None and self._usual.setdefault(usual, place) != place:
                self._usual[usual] = None
        self._count = len(self.ids())
        if not self._places:
            first = [m for s in self._sources for m in s.notes.messages()] or ["it is empty"]
            raise InputError(f"--dataset {dataset} has no usable problem: {first[0]}")

    def get(self, problem_id: str) -> Problem | None:
        """The problem of an id or alias, its `id` the canonical one; None when there is none.

        None, too, for a row that cannot be used; `why_missing` then says why.
        """
        place = self._find(problem_id)
        if place is None:
            return None
        with self._lock:
            if place.id in self._recent:
                self._recent.move_to_end(place.id)
                return self._recent[place.id]
        problem = self._read(place)
        with self._lock:
            self._recent[place.id] = problem
            if len(self._recent) > _PROBLEMS_REMEMBERED:
                self._recent.popitem(last=False)
        return problem

    def resolve(self, problem_id: str) -> str | None:
        """The canonical id of an id or alias, None when there is no such problem."""
        place = self._find(problem_id)
        return None if place is None else place.id

    def why_missing(self, problem_id: str) -> str:
        """Why `get` gave None, for the user: one line."""
        place = self._find(problem_id)
        if place is not None and place.id in self._unusable:
            return self._unusable[place.id]
        return (
            f"unknown problem {shown(problem_id)}: not among the {len(self)} of "
            f"{self._dataset}{self._nearest(problem_id)}; "
            "look at --dataset, --dataset-split and --dataset-subsets"
        )

    def _nearest(self, name: str) -> str:
        """A hint at a known name; only so often, as each takes a look at all of them."""
        with self._lock:
            if self._hints_left == 0 or len(name) > _HINT_LENGTH:
                return ""
            self._hints_left -= 1
        near = difflib.get_close_matches(name, self._places, n=1)
        return f"; the nearest is {near[0]}" if near else ""

    def official_sizes(self, problem_id: str) -> list[int]:
        """UTF-8 bytes of the input of each official test, in order."""
        place = self._known(problem_id)
        try:
            return [size.input_bytes for size in place.source.sizes(place.row)]
        except RowError as error:
            raise InputError(f"problem {place.id} is unusable: {error}") from error

    def official_tests(self, problem_id: str) -> Iterator[TestCase]:
        """The official tests in order, one in memory at a time where the source allows it."""
        place = self._known(problem_id)
        try:
            for i, (given, expected) in enumerate(place.source.tests(place.row)):
                yield TestCase("official", i, given, expected)
        except RowError as error:
            raise InputError(f"problem {place.id} is unusable: {error}") from error

    def ids(self) -> list[str]:
        """The canonical ids, in the order of the sources."""
        return [name for name, place in self._places.items() if name == place.id]

    def describe(self) -> dict[str, Any]:
        """Where the problems come from, for the record; JSON-able."""
        return {
            "dataset": self._dataset,
            "split": self._split,
            "subsets": [{"name": s.name, "fingerprint": s.fingerprint} for s in self._sources],
            "problems": len(self),
        }

    def messages(self) -> list[str]:
        """What was passed over so far, in the data and here."""
        return [
            m for notes in (*(s.notes for s in self._sources), self.notes) for m in notes.messages()
        ]

    def close(self) -> None:
        """Closes the files; calling it twice is harmless."""
        for source in self._sources:
            source.close()

    def __len__(self) -> int:
        return self._count

    def _index(self, source: Source) -> None:
        """Adds a source's ids, then its aliases; what an earlier source has stays."""
        aliases: list[tuple[str, _Place]] = []
        own: set[str] = set()
        for number, row in source.names():
            try:
                place = _Place(problem_id(row), source, number)
                names = alias_ids(row)
            except RowError as error:
                source.notes.add(f"{source.name}, row {number} is no problem: {error}")
                continue
            if place.id in own:
                source.notes.add(f"{source.name} has {place.id} twice: the first row counts")
                continue
            own.add(place.id)
            self._places.setdefault(place.id, place)
            aliases.extend((name, place) for name in names)
        for name, place in aliases:
            self._places.setdefault(name, place)

    def _find(self, name: str) -> _Place | None:
        place = self._places.get(name) or self._places.get(name.strip())
        if place is None and (usual := loose(name)) is not None:
            place = self._usual.get(usual)
        return place

    def _known(self, name: str) -> _Place:
        place = self._find(name)
        if place is None:
            raise InputError(self.why_missing(name))
        return place

    def _read(self, place: _Place) -> Problem | None:
        try:
            row = place.source.row(place.row)
            sizes = place.source.sizes(place.row)
            _check_outputs(sizes, is_interactive(row))
            return make_problem(row, len(sizes))
        except RowError as error:
            message = f"problem {place.id} is unusable: {error}"
            self._unusable[place.id] = message
            self.notes.add(message)
            return None


def _check_outputs(sizes: Sequence[TestSize], interactive: bool) -> None:
    """An interactor may do without expected outputs; nothing else can judge without."""
    for number, size in enumerate(sizes):
        if not size.has_output and not interactive:
            raise RowError(f"official test {number} has no output")
