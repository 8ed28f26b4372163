"""The interface of a place that problems are read from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from gradebox.eval.common.diagnostics import Diagnostics


class RowSource(Protocol):
    """Rows of problems by number. Any thread may call any method.

    name         a subset or a file, for messages and records
    fingerprint  changes when the contents change
    diagnostics  rows that were skipped, and why
    """

    name: str
    fingerprint: str
    diagnostics: Diagnostics

    def names(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Yield the number and the NAME_COLUMNS of every row."""
        ...

    def row(self, number: int) -> dict[str, Any]:
        """Return the columns of a row, its tests included; raise RowError when it is unusable."""
        ...

    def close(self) -> None: ...
