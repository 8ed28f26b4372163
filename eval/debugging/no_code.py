"""Show the response of a solution in which no program was found."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gradebox.eval.common.errors import InputError
from gradebox.eval.common.terminal import Row, row, wrap_words
from gradebox.eval.debugging.find import Json, Results
from gradebox.eval.debugging.page_parts import block, title
from gradebox.eval.debugging.reopen import Overrides, run_options
from gradebox.eval.solutions.files import find_files
from gradebox.eval.solutions.reader import TEXT_KEYS, read_response


def has_no_code(record: Json) -> bool:
    """Return whether a solution failed because its response has no program."""
    failed = record.get("status") == "failed" and record.get("verdict") is None
    return failed and not record.get("details")


def response_page(
    results: Results, record: Json, overrides: Overrides, width: int, *, full: bool
) -> Iterator[Row]:
    """Yield the page of a response without a program.

    Raises InputError when its line is no longer there.
    """
    paths = run_options(results, overrides).solutions_path
    files = find_files([paths] if isinstance(paths, (str, Path)) else list(paths))
    line = record.get("line")
    if not isinstance(line, int):
        raise InputError(f"the record has no usable line: {str(line)[:40]!r}")
    response = read_response(files[0], line)
    yield from title(record, "none", width)
    yield row("")
    why = (
        "no program was found in the response: it has no code fence with the requested language, "
        f"and no field but `code` and {', '.join(TEXT_KEYS)} is read"
    )
    for text in wrap_words(why, width):
        yield row(text)
    yield from block("response", response.encode(), width, full=full)
