"""The functions of pyarrow that are used here. It is imported on first use: that takes 0.2 s."""

from __future__ import annotations

import importlib
import itertools
from typing import Any

from gradebox.eval.common.errors import shown


def load_arrow() -> Any:
    """Import pyarrow."""
    return importlib.import_module("pyarrow")


def load_parquet() -> Any:
    """Import pyarrow.parquet."""
    return importlib.import_module("pyarrow.parquet")


def arrow_errors() -> tuple[type[BaseException], ...]:
    """Return the exceptions pyarrow raises for unreadable files and for dates out of range."""
    return (load_arrow().ArrowException, OSError, ValueError, OverflowError)


def one_line(error: object, limit: int = 160) -> str:
    """Return a library's message as one printable line."""
    return shown(" ".join(str(error).split()), limit).strip("'\"")


def is_text(kind: Any) -> bool:
    """Return whether a column type holds text or bytes, dictionary-encoded or not."""
    types = load_arrow().types
    if types.is_dictionary(kind):
        kind = kind.value_type
    return any(
        test(kind)
        for test in (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    )


def as_bytes(column: Any) -> Any:
    """Return a text column as bytes, without decoding it."""
    arrow = load_arrow()
    if arrow.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column.cast(arrow.large_binary())


def lengths(column: Any) -> list[int | None]:
    """Return the bytes of each value, None for null, without creating Python objects of them."""
    compute = importlib.import_module("pyarrow.compute")
    if load_arrow().types.is_dictionary(column.type):
        found = compute.binary_length(column.dictionary).take(column.indices)
    else:
        found = compute.binary_length(column)
    sizes: list[int | None] = found.to_pylist()
    return sizes


def check_slice(array: Any) -> None:
    """Raise ArrowInvalid unless every value of an array can be read.

    Files of record batches are mapped as they are: a wrong offset in one would crash the process
    or show its memory. `validate(full=True)` checks the whole child of a list, which is a whole
    file; here only the part that the array refers to is checked.
    """
    arrow = load_arrow()
    array.validate()
    if arrow.types.is_list(array.type) or arrow.types.is_large_list(array.type):
        ends = array.offsets.to_pylist()
        if not all(0 <= a <= b for a, b in itertools.pairwise(ends)):
            raise arrow.ArrowInvalid("the offsets of a list are not in order")
        if ends[-1] > len(array.values):
            raise arrow.ArrowInvalid("the offsets of a list exceed its values")
        check_slice(array.values.slice(ends[0], ends[-1] - ends[0]))
    elif arrow.types.is_struct(array.type):
        for number in range(array.type.num_fields):
            check_slice(array.field(number))
    else:
        array.validate(full=True)


def short_texts(batch: Any, most: int) -> Any:
    """Return a batch with the texts of dictionary columns cut to `most` characters.

    One long text that a dictionary holds once would become an object for each row.
    """
    arrow, compute = load_arrow(), importlib.import_module("pyarrow.compute")
    columns = []
    for column in batch.columns:
        if arrow.types.is_dictionary(column.type) and is_text(column.type):
            texts = compute.utf8_slice_codeunits(column.dictionary.cast("large_string"), 0, most)
            column = arrow.DictionaryArray.from_arrays(column.indices, texts)
        columns.append(column)
    return arrow.RecordBatch.from_arrays(columns, names=batch.schema.names)


def release_memory() -> None:
    """Return the memory that pyarrow's pool keeps after large batches."""
    load_arrow().default_memory_pool().release_unused()
