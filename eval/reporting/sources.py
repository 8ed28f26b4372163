"""What a solution was made from: its program, the response, and the statement of its problem.

record ─ line, solution_id ─▶ line of the solutions file ─▶ {program, language, response, …}
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gradebox.eval.common.errors import InputError, RowError
from gradebox.eval.common.files import OffsetIndex, limited_lines
from gradebox.eval.debugging.find import Results
from gradebox.eval.debugging.reopen import Overrides, run_options, solutions_file
from gradebox.eval.models.answers.code_prompts import plain_statement, statement_sources
from gradebox.eval.problems.problem import spellings
from gradebox.eval.problems.row import problem_id
from gradebox.eval.problems.rows import Rows
from gradebox.eval.solutions.files import MAX_LINE_BYTES
from gradebox.eval.solutions.reader import recorded_solution
from gradebox.sandbox.common.cleanup import Closeable

_NOT_LINES = (b"\x1f\x8b", b"[")  # how gzip files and JSON arrays begin


class SolutionLines(Closeable):
    """The solutions of a file by line. Not thread-safe.

    The first use reads the whole file and notes where its lines begin; each use then reads only the
    wanted line. A compressed file, or a JSON array, is read from its start up to the line.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._offsets: OffsetIndex | None = None
        self._size = 0

    def texts(
        self, record: Mapping[str, Any], program_chars: int, response_chars: int
    ) -> dict[str, Any]:
        """Return the program and the response of a record's solution, null where it has none.

        program_chars, response_chars  the most characters that are returned of each

        `cut` names the texts that are longer; `named` is the line's problem where the record
        spells it differently, "" where it does not. A response is null where the line has only
        the program. Raises InputError when the file no longer has the solution.
        """
        solution, response = recorded_solution(self.path, record, self._line(record.get("line")))
        names = spellings(solution.problem_id)
        given = {"program": (solution.code, program_chars), "response": (response, response_chars)}
        return {
            **{key: (text or "")[:most] or None for key, (text, most) in given.items()},
            "language": str(record.get("language") or solution.language),
            "named": "" if record.get("problem_id") in names else solution.problem_id,
            "cut": [key for key, (text, most) in given.items() if len(text or "") > most],
        }

    def _line(self, number: Any) -> bytes | None:
        """Return a line by its offset in the file, None where no offset is known."""
        try:
            with self.path.open("rb") as file:
                if file.read(2).startswith(_NOT_LINES) or not isinstance(number, int):
                    return None
                offset = self._index().get(number)
                if offset is None:
                    return None
                file.seek(offset)
                return file.readline(MAX_LINE_BYTES + 1)
        except OSError as error:
            raise InputError(f"{self.path} can't be read: {error.strerror or error}") from None

    def _index(self) -> OffsetIndex:
        size = self.path.stat().st_size
        if self._offsets is None or size != self._size:
            self.close()
            self._offsets, self._size = OffsetIndex(), size
            with self.path.open("rb") as file:
                for number, offset, line in limited_lines(file, MAX_LINE_BYTES):
                    if line is not None:
                        self._offsets.put(number, offset)
        return self._offsets

    def close(self) -> None:
        """Free the index; a later call builds it again."""
        if self._offsets is not None:
            self._offsets.close()
            self._offsets = None


PROGRAM_CHARS = 1 << 20
RESPONSE_CHARS = 8 << 20
STATEMENT_CHARS = 1 << 20


class RunSources(Closeable):
    """The sources of a run's solutions. Any thread may call any method.

    The files are those that `debug` finds, and are opened at the first use. What is missing is
    reported in words, so that the rest is shown.
    """

    def __init__(self, overrides: Overrides) -> None:
        self.overrides = overrides
        self._lock = threading.Lock()
        self._lines: SolutionLines | None = None
        self._statements: ProblemStatements | None = None

    def of(self, results: Results, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return {program, language, response, statement, notes}; null for what is missing."""
        notes: list[str] = []
        value: dict[str, Any] = {"program": None, "response": None}
        with self._lock:
            try:
                value |= self.lines(results).texts(record, PROGRAM_CHARS, RESPONSE_CHARS)
            except InputError as error:
                notes.append(f"The program can't be shown: {error}.")
            try:
                if self._statements is None:
                    options = run_options(results, self.overrides)
                    self._statements = ProblemStatements(
                        options.dataset, options.dataset_split, options.dataset_subsets
                    )
                value["statement"] = self._statements.of(str(record.get("problem_id")))
            except InputError as error:
                value["statement"] = None
                notes.append(f"The statement can't be shown: {error}.")
        return {**value, "notes": notes}

    def lines(self, results: Results) -> SolutionLines:
        """Return the run's solutions file; raise InputError when it can't be found."""
        if self._lines is None:
            self._lines = SolutionLines(solutions_file(results, self.overrides))
        return self._lines

    def close(self) -> None:
        """Close the files."""
        for part in (self._lines, self._statements):
            if part is not None:
                part.close()


class ProblemStatements(Closeable):
    """Statements of a dataset's problems by id. Raises InputError when it can't be read."""

    def __init__(self, dataset: str, split: str, subsets: Sequence[str]) -> None:
        self._places: dict[str, tuple[Rows, int]] = {}
        self._sources, _ = statement_sources(dataset, split, subsets)
        for source in self._sources:
            for number, names in source.names():
                try:
                    self._places.setdefault(problem_id(names), (source, number))
                except RowError:
                    continue

    def of(self, name: str) -> str | None:
        """Return the statement of a problem as text, None when it has none."""
        source, number = self._places.get(name, (None, 0))
        if source is None:
            return None
        try:
            return plain_statement(source.row(number))[:STATEMENT_CHARS] or None
        except RowError as error:
            raise InputError(f"problem {name} is unusable: {error}") from None

    def close(self) -> None:
        """Close the dataset's files."""
        for source in self._sources:
            source.close()
