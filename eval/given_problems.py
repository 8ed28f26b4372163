"""Problems given as rows in memory: a dataset's columns as a Python caller or a request has them.

    row {"id", "time_limit", "official_tests": [{"input", "output"}…], …}
        ─▶ GivenProblem(… , digest, tests) ─▶ BatchProblems.get(id)

Trainers give the same row again with every batch, and may give two rows of one id: what a
problem is known by is the digest of all that decides a verdict.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from eval.input_error import InputError, shown
from eval.model import Problem, TestCase
from eval.problem_ids import loose
from eval.problems.json_rows import parse_tests_text
from eval.problems.row import TESTS_COLUMN, RowError, make_problem, official_pairs

Row = Mapping[str, Any]


@dataclass(frozen=True)
class GivenProblem(Problem):
    """A problem with its tests, (input, expected) each in UTF-8 bytes."""

    digest: str = ""
    tests: tuple[tuple[bytes, bytes], ...] = field(default=(), repr=False)

    def official_sizes(self, problem_id: str) -> list[int]:
        """Bytes of each test's input; the id is this problem's own."""
        return [len(given) for given, _ in self.tests]

    def official_tests(self, problem_id: str) -> Iterator[TestCase]:
        """The tests in order."""
        for i, (given, expected) in enumerate(self.tests):
            yield TestCase("official", i, given, expected)

    def without_tests(self) -> GivenProblem:
        """What may be kept for long."""
        return replace(self, tests=())


def given_problem(row: Row) -> GivenProblem:
    """The problem of a row; InputError names the column that makes it unusable.

    A row without an id gets one from its contents. An interactor is not taken from a row:
    it would name a file of this machine.
    """
    columns = {name: _plain(value) for name, value in row.items()}
    try:
        pairs = [(_utf8(given), expected) for given, expected in official_pairs(_tests(columns))]
        if not any(columns.get(name) for name in ("id", "contest_id")):
            columns["id"] = f"problem-{_digest(pairs)[:12]}"
        problem = replace(make_problem(columns, len(pairs)), interactor=None)
        if not problem.interactive and any(expected is None for _, expected in pairs):
            raise RowError("an official test has no output")
        tests = tuple((given, _utf8(expected or "")) for given, expected in pairs)
    except RowError as error:
        raise InputError(f"problem {shown(columns.get('id'))} is unusable: {error}") from None
    return GivenProblem(**vars(problem), digest=_digest([repr(problem), *tests]), tests=tests)


def _tests(columns: Row) -> object:
    value = columns.get(TESTS_COLUMN)
    return parse_tests_text(value) if isinstance(value, str) else value


def _plain(value: Any) -> Any:
    """Arrays of numpy, as pandas reads parquet files into, as lists."""
    return value.tolist() if hasattr(value, "tolist") else value


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise RowError("an official test has a lone surrogate: UTF-8 text is needed") from error


def _digest(parts: Iterable[Any]) -> str:
    """SHA-256 (hex) of texts, bytes and tuples of them, each told apart from the next."""
    sha = hashlib.sha256()

    def add(part: Any) -> None:
        if isinstance(part, tuple):
            for inner in part:
                add(inner)
            return
        data = part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogatepass")
        sha.update(len(data).to_bytes(8, "big"))
        sha.update(data)

    for part in parts:
        add(part)
    return sha.hexdigest()


def read_problem(value: object) -> Row:
    """A row from what callers hand over as one: a mapping, or JSON text of an object."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise InputError(f"the problem {shown(value)} is not JSON: {error}") from None
    if not isinstance(value, Mapping):
        raise InputError(f"the problem is {shown(value)}: a row of columns is needed")
    return value


class ProblemBook(Protocol):
    """Where a batch's problems are looked up (`ProblemSet`, `GivenBook`)."""

    def get(self, problem_id: str) -> Problem | None: ...

    def resolve(self, problem_id: str) -> str | None: ...

    def why_missing(self, problem_id: str) -> str: ...


class GivenBook:
    """Rows by id and alias; the first row of an id counts, an unusable one says why."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._problems: dict[str, GivenProblem] = {}
        self._usual: dict[str, str | None] = {}
        self._why: dict[str, str] = {}
        aliases: list[tuple[str, GivenProblem]] = []
        for row in rows:
            try:
                problem = given_problem(row)
            except InputError as error:
                self._why.setdefault(str(row.get("id") or ""), str(error))
                continue
            self._problems.setdefault(problem.id, problem)
            aliases += [(name, problem) for name in problem.aliases]
        for name, problem in aliases:
            self._problems.setdefault(name, problem)
        for name, problem in self._problems.items():
            usual = loose(name)
            if usual is not None and self._usual.setdefault(usual, problem.id) != problem.id:
                self._usual[usual] = None

    @property
    def only_id(self) -> str:
        """The id when there is one problem only, else ""."""
        ids = {problem.id for problem in self._problems.values()} | set(self._why)
        return ids.pop() if len(ids) == 1 else ""

    def ids(self) -> list[str]:
        """The ids of the usable rows."""
        return list({problem.id: None for problem in self._problems.values()})

    def get(self, problem_id: str) -> GivenProblem | None:
        name = self.resolve(problem_id)
        return None if name is None else self._problems[name]

    def resolve(self, problem_id: str) -> str | None:
        """The id of an id, an alias or another spelling ("1000A")."""
        name = problem_id.strip()
        if name not in self._problems:
            name = self._usual.get(loose(name) or "") or ""
        return self._problems[name].id if name in self._problems else None

    def why_missing(self, problem_id: str) -> str:
        """Why `get` gave None: one line."""
        known = self._why.get(problem_id)
        return known or (
            f"unknown problem {shown(problem_id)}: not among the {len(self._problems)} given"
        )


class Openable:
    """A book that hides problems which can't be opened, so that one spoils no batch."""

    def __init__(self, book: ProblemBook, open_it: Callable[[Problem], object]) -> None:
        self._book = book
        self._open = open_it
        self._why: dict[str, str] = {}
        self._lock = threading.Lock()

    def get(self, problem_id: str) -> Problem | None:
        """The problem, opened once; None when it is unknown or can't be opened."""
        if problem_id in self._why:
            return None
        problem = self._book.get(problem_id)
        if problem is None:
            return None
        try:
            self._open(problem)
        except InputError as error:
            with self._lock:
                self._why[problem_id] = str(error)
            return None
        return problem

    def why_missing(self, problem_id: str) -> str:
        return self._why.get(problem_id) or self._book.why_missing(problem_id)


def name_of(problem: Problem) -> str:
    """What an open problem is known by: two rows of one id may differ."""
    return problem.digest if isinstance(problem, GivenProblem) else problem.id
