"""What a solution was made from: its program, the response, and the statement of its problem."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

from gradebox.eval.common.errors import InputError, RowError
from gradebox.eval.debugging.find import Results
from gradebox.eval.debugging.reopen import Overrides, run_options, solutions_file
from gradebox.eval.models.answers.code_prompts import plain_statement, statement_sources
from gradebox.eval.problems.row import problem_id
from gradebox.eval.problems.rows import Rows
from gradebox.eval.solutions.lines import SolutionLines
from gradebox.sandbox.common.cleanup import Closeable

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
