"""Read problems from a file that is one JSON array, as MBPP's sanitized file. It is held whole."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from gradebox.eval.common.diagnostics import Diagnostics
from gradebox.eval.common.errors import InputError
from gradebox.eval.problems.formats import Reading
from gradebox.eval.problems.row import RowError

MOST_BYTES = 64 << 20


class ArrayRows:
    """The rows of a .json file, a `Source`."""

    def __init__(
        self, path: Path, fingerprint: str, choose: Callable[[Iterable[str], str], Reading]
    ) -> None:
        self.name = path.name
        self.fingerprint = fingerprint
        self.diagnostics = Diagnostics()
        if path.stat().st_size > MOST_BYTES:
            raise InputError(
                f"--dataset {path} is a JSON array of more than {MOST_BYTES} bytes: give one "
                "object a line (jq -c .[])"
            )
        try:
            rows = json.loads(path.read_bytes())
        except (ValueError, RecursionError) as error:
            raise InputError(f"--dataset {path} is not JSON: {error}") from None
        self._rows = [row for row in rows if isinstance(row, dict)]
        if len(self._rows) < len(rows):
            self.diagnostics.add(f"{path}: {len(rows) - len(self._rows)} items are not objects")
        self._reading = choose(self._rows[0] if self._rows else (), str(path))

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
