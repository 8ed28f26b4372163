"""Problem files: one object a line, each with an id of its own.

{"id": "7", "problem": "…", "answer": "42"}
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from eval.input_error import InputError
from eval.sampling.response_file import read_lines

ID_FIELDS = ("id", "problem_id", "unique_id")


def read_items(
    path: Path, needed: Iterable[str | Sequence[str]], limit: int | None = None
) -> list[tuple[str, dict[str, Any]]]:
    """(id, line) of a JSONL file; the id is a field's, else the 1-based line number.

    `needed` names fields every line must have; a list of names means any one of them.
    Raises InputError for a missing file or field, a duplicate id, a file without a problem.
    """
    wanted = [(n,) if isinstance(n, str) else tuple(n) for n in needed]
    seen: dict[str, int] = {}
    items: list[tuple[str, dict[str, Any]]] = []
    for number, line in enumerate(read_lines(path), 1):
        for names in wanted:
            if all(line.get(name) is None for name in names):
                have = ", ".join(list(line)[:8]) or "none"
                raise InputError(
                    f"{path} line {number}: no field {' or '.join(map(repr, names))}; it has {have}"
                )
        name = item_id(line, str(number))
        if name in seen:
            raise InputError(
                f"{path} line {number}: id {name!r} was given in line {seen[name]} as well; "
                "ids must differ"
            )
        seen[name] = number
        if limit is None or len(items) < limit:
            items.append((name, line))
    if not items:
        raise InputError(f"{path}: no problem in it; at least one line is needed")
    return items


def item_id(line: dict[str, Any], default: str) -> str:
    """The id a line carries under any of the usual names, else `default`."""
    for field in ID_FIELDS:
        value = line.get(field)
        if isinstance(value, (str, int)) and not isinstance(value, bool) and value != "":
            return str(value)
    return default


def text_field(where: str, line: dict[str, Any], *names: str) -> str:
    """The first of the fields that is there, as text; InputError when it is neither text
    nor number."""
    for name in names:
        value = line.get(name)
        if value is None:
            continue
        if isinstance(value, str):
            return value
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            whole = isinstance(value, float) and value.is_integer()
            return str(int(value)) if whole else repr(value)
        raise InputError(f"{where}: field {name!r} is {type(value).__name__}, not a text")
    raise InputError(f"{where}: no field {' or '.join(map(repr, names))}")
