"""Read problems from a file that is one JSON array, as MBPP's sanitized file. It is held whole."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from gradebox.eval.common.diagnostics import Diagnostics
from gradebox.eval.common.errors import InputError
from gradebox.eval.problems.formats import FIRST_ROWS, Reading, Row
from gradebox.eval.problems.row import RowError

MOST_BYTES = 64 << 20


def array_items(path: Path) -> tuple[list[dict[str, Any]], int]:
    """Return the objects of a file that is one JSON array, and the number of other items.

    Raises InputError for a file that is too long or not JSON.
    """
    if path.stat().st_size > MOST_BYTES:
        raise InputError(
            f"--dataset {path} is a JSON array of more than {MOST_BYTES} bytes: give one "
            "object a line (jq -c .[])"
        )
    try:
        items = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise InputError(f"--dataset {path} is not JSON: {error}") from None
    rows = [item for item in items if isinstance(item, dict)]
    return rows, len(items) - len(rows)


class ArrayRows:
    """The rows of a .json file, a `Source`."""

    def __init__(
        self, path: Path, fingerprint: str, choose: Callable[[Iterable[Row], str], Reading]
    ) -> None:
        self.name = path.name
        self.fingerprint = fingerprint
        self.diagnostics = Diagnostics()
        self._rows, others = array_items(path)
        if others:
            self.diagnostics.add(f"{path}: {others} items are not objects")
        self._reading = choose(self._rows[:FIRST_ROWS], str(path))

    def names(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        for number, row in enumerate(self._rows):
            try:
                yield number, self._reading.ids(row, number)
            except RowError as error:
                self.diagnostics.add(f"{self.name}, row {number} is not a problem: {error}")

    def row(self, number: int) -> dict[str, Any]:
        return self._reading.columns(self._rows[number], number)

    def close(self) -> None:
        self._rows = []
