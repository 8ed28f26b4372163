"""`Source`: rows of problems kept somewhere, read one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from eval.notes import Notes


@dataclass(frozen=True)
class TestSize:
    """An official test without its contents."""

    __test__ = False  # not a pytest class

    input_bytes: int
    has_output: bool


class Source(Protocol):
    """Rows by number; any method may be called from any thread.

    `name` tells the source from others (a subset, a file), `fingerprint` changes with
    its contents. Rows that cannot be used raise `RowError`.
    """

    name: str
    fingerprint: str
    notes: Notes

    def names(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """(row, its NAME_COLUMNS) of every row, tests not read where that can be."""
        ...

    def row(self, number: int) -> Mapping[str, Any]:
        """The columns of a row but its tests."""
        ...

    def sizes(self, number: int) -> list[TestSize]:
        """The sizes of a row's official tests."""
        ...

    def tests(self, number: int) -> Iterator[tuple[bytes, bytes]]:
        """(input, expected) of a row's official tests, one at a time; a missing one is empty."""
        ...

    def close(self) -> None: ...
