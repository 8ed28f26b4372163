"""Problems that a Python caller or a request passes as rows, with their tests in memory.

    row {"id", "time_limit", "official_tests": [{"input", "output"}, …], …}
        ──▶ InMemoryProblem(…, digest, tests) ──▶ InMemoryProblems.get(id)

Trainers pass the same row with every batch and may pass two rows with one id. So opened
problems are cached by a digest of everything that affects a verdict, not by id.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from gradebox.eval.common.errors import InputError, RowError, shown
from gradebox.eval.problems.formats import OWN, Judge, Reading, Recognised, RowFormat
from gradebox.eval.problems.problem import Problem, TestCase, canonical_spelling
from gradebox.eval.problems.row import make_problem, problem_id
from gradebox.eval.problems.row.tests import TESTS_COLUMN, official_tests
from gradebox.sandbox.common.json_text import load_json

Row = Mapping[str, Any]


@dataclass(frozen=True)
class InMemoryProblem(Problem):
    """A problem with its official tests: (input, expected output) pairs of UTF-8 bytes."""

    digest: str = ""
    tests: tuple[tuple[bytes, bytes], ...] = field(default=(), repr=False)

    def official_sizes(self, problem_id: str) -> list[int]:
        """Return the input size of each test in bytes. `problem_id` is ignored."""
        return [len(given) for given, _ in self.tests]

    def official_tests(self, problem_id: str) -> Iterator[TestCase]:
        """Yield the tests in order. `problem_id` is ignored."""
        for i, (given, expected) in enumerate(self.tests):
            yield TestCase("official", i, given, expected)

    def without_tests(self) -> InMemoryProblem:
        """Return a copy without tests, small enough to be kept."""
        return replace(self, tests=())


def cache_name(problem: Problem) -> str:
    """Return what identifies an opened problem; two in-memory problems may share an id."""
    return problem.digest if isinstance(problem, InMemoryProblem) else problem.id


def parse_problem(row: Row, judge: Judge = "strict") -> InMemoryProblem:
    """Return the problem of a row; raise InputError naming a column that is unusable.

    The row is of any data set that is recognised (formats/); any other has our own columns.

    A row without an id gets one from its contents. The row's interactor is ignored, and a checker
    program refused, because they would name files on this machine.
    """
    columns = _columns(row)
    try:
        found = Recognised([columns])
        if not found.formats:
            raise RowError(f"it has {found.described()}")
        columns = Reading(_only(found), judge).columns(columns)
        pairs = list(official_tests(columns.get(TESTS_COLUMN)))
        if not any(columns.get(name) for name in ("id", "contest_id")):
            columns["id"] = f"problem-{_digest(pairs)[:12]}"
        problem = replace(make_problem(columns), interactor=None)
        if not problem.interactive and any(expected is None for _, expected in pairs):
            raise RowError("an official test has no output")
        if ":" in (problem.checker_name or ""):
            raise RowError(
                f"checker {shown(problem.checker_name)} comes from the problem, which may only "
                "name a built-in: pass it as --checker yourself if you trust it"
            )
        tests = tuple((given, expected or b"") for given, expected in pairs)
    except RowError as error:
        name = name_of(row)
        where = f"problem {shown(name)}" if name else "the row of a problem"
        raise InputError(f"{where} is unusable: {error}") from None
    return InMemoryProblem(**vars(problem), digest=_digest([repr(problem), *tests]), tests=tests)


def name_of(row: Row) -> str:
    """Return the id of a row, which may be unusable; "" when it has none."""
    columns = _columns(row)
    try:
        return problem_id(_only(Recognised([columns])).ids_of(columns))
    except RowError:
        return ""


def _columns(row: Row) -> dict[str, Any]:
    """Return a row that may be of pandas, with arrays for lists and nan for null."""
    columns = ((name, _plain(value)) for name, value in row.items())
    return {name: v for name, v in columns if not (isinstance(v, float) and math.isnan(v))}


def _plain(value: Any) -> Any:
    array = hasattr(value, "tolist")
    if array:
        value = value.tolist()
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if array and isinstance(value, list) else value


def _only(found: Recognised) -> RowFormat:
    return found.formats[0] if len(found.formats) == 1 else OWN


def rows_of(problems: Row | Iterable[object]) -> list[Row]:
    """Return the rows of a caller: one, or several, which may be JSON text."""
    one = isinstance(problems, Mapping) or not isinstance(problems, Iterable)
    return list(map(_parsed, [problems] if one else problems))


def _parsed(value: object) -> Row:
    if isinstance(value, str):
        try:
            value = load_json(value)
        except (ValueError, RecursionError) as error:
            raise InputError(f"the problem {shown(value)} is not JSON: {error}") from None
    if not isinstance(value, Mapping):
        raise InputError(f"the problem is {shown(value)}: a row of columns is needed")
    return value


class InMemoryProblems:
    """Problems of rows by id and alias.

    The first row of an id counts. An unusable row is left out; `why_missing` gives the reason.

    rows  with `keep_rows`, the usable ones by id, which each has
    """

    def __init__(
        self, rows: Iterable[Row], judge: str = "strict", *, keep_rows: bool = False
    ) -> None:
        self._problems: dict[str, InMemoryProblem] = {}
        self._by_spelling: dict[str, str | None] = {}
        self._why: dict[str, str] = {}
        self.rows: dict[str, Row] = {}
        aliases: list[tuple[str, InMemoryProblem]] = []
        for number, row in enumerate(rows):
            try:
                problem = parse_problem(row, cast("Judge", judge))
            except InputError as error:
                self._why.setdefault(name_of(row) or f"row {number}", str(error))
                continue
            self._problems.setdefault(problem.id, problem)
            if keep_rows:
                self.rows.setdefault(problem.id, {**_columns(row), "id": problem.id})
            aliases += [(name, problem) for name in problem.aliases]
        for name, problem in aliases:
            self._problems.setdefault(name, problem)
        for name, problem in self._problems.items():
            spelling = canonical_spelling(name)
            if spelling and self._by_spelling.setdefault(spelling, problem.id) != problem.id:
                self._by_spelling[spelling] = None  # ambiguous

    @property
    def only_id(self) -> str:
        """The id when there is exactly one problem, else ""."""
        ids = {problem.id for problem in self._problems.values()} | set(self._why)
        return ids.pop() if len(ids) == 1 else ""

    def ids(self) -> list[str]:
        """Return the ids of the usable rows."""
        return list({problem.id: None for problem in self._problems.values()})

    def get(self, problem_id: str) -> InMemoryProblem | None:
        """Return the problem of an id, an alias or another spelling, None when unknown."""
        name = self.resolve(problem_id)
        return None if name is None else self._problems[name]

    def resolve(self, problem_id: str) -> str | None:
        """Return the id for an id, an alias or another spelling ("1000A"), None when unknown."""
        name = problem_id.strip()
        if name not in self._problems:
            name = self._by_spelling.get(canonical_spelling(name) or "") or ""
        return self._problems[name].id if name in self._problems else None

    def why_missing(self, problem_id: str) -> str:
        """Return one line that says why `get` returned None."""
        unusable = next(iter(self._why.values()), "")
        return self._why.get(problem_id) or (
            f"unknown problem {shown(problem_id)}: not among the {len(self._problems)} given"
            + (f"; of {len(self._why)} unusable rows, the first: {unusable}" if unusable else "")
        )


def _digest(parts: Iterable[Any]) -> str:
    """Return the SHA-256 (hex) of texts, bytes and tuples of them, each preceded by its length."""
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
