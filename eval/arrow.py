"""The few things asked of pyarrow, imported when first needed: it takes 0.2 s to load."""

from __future__ import annotations

import importlib
from typing import Any


def load_arrow() -> Any:
    """The module pyarrow."""
    return importlib.import_module("pyarrow")


def load_parquet() -> Any:
    """The module pyarrow.parquet."""
    return importlib.import_module("pyarrow.parquet")


def arrow_errors() -> tuple[type[BaseException], ...]:
    """What pyarrow raises for files that cannot be read."""
    return (load_arrow().ArrowException, OSError, ValueError)


def is_text(kind: Any) -> bool:
    """Whether a column of this type holds text or bytes (dictionary-encoded or not)."""
    types = load_arrow().types
    if types.is_dictionary(kind):
        kind = kind.value_type
    return any(
        test(kind)
        for test in (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    )


def as_bytes(column: Any) -> Any:
    """A text column as bytes, contents as they are: nothing is decoded."""
    arrow = load_arrow()
    if arrow.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column.cast(arrow.large_binary())


def lengths(column: Any) -> list[int | None]:
    """Bytes of each value, None for a missing one; no value is turned into an object."""
    compute = importlib.import_module("pyarrow.compute")
    sizes: list[int | None] = compute.binary_length(as_bytes(column)).to_pylist()
    return sizes


def release_memory() -> None:
    """Gives back what pyarrow's pool keeps after large batches."""
    load_arrow().default_memory_pool().release_unused()
