"""Reading the fields of a row that may be anything."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from eval.benchmarks.model import Row

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class BadRow(Exception):
    """A row lacks a field or has another kind of value there; the reader adds where."""


def value(row: Row, name: str) -> Any:
    """A field that must be there."""
    if row.get(name) is None:
        have = ", ".join(list(row)[:12]) or "none"
        raise BadRow(f"no field {name!r}; it has {have}")
    return row[name]


def text(row: Row, name: str) -> str:
    """A field as text, stripped; whole floats lose their point (27.0 is 27)."""
    return as_text(value(row, name), name)


def as_text(found: Any, name: str) -> str:
    """The same for a value at hand."""
    if isinstance(found, str):
        return found.strip()
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        raise BadRow(f"field {name!r} is {type(found).__name__}, not a text")
    return str(int(found)) if isinstance(found, float) and found.is_integer() else str(found)


def texts(row: Row, name: str) -> tuple[str, ...]:
    """A field that is a list of texts."""
    found = value(row, name)
    if not isinstance(found, list):
        raise BadRow(f"field {name!r} is {type(found).__name__}, not a list")
    return tuple(as_text(item, name) for item in found)


def optional(row: Row, name: str) -> str:
    """A field as text, "" when it is not there."""
    return "" if row.get(name) is None else text(row, name)


def row_id(row: Row, *names: str) -> str:
    """The first of the fields that is there, else ""."""
    for name in names or ("id",):
        if row.get(name) is not None:
            return as_text(row[name], name)
    return ""


def letter(index: Any, count: int, name: str) -> str:
    """The letter of a 0-based option number."""
    if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < count:
        raise BadRow(f"field {name!r} is {index!r}; a whole number from 0 to {count - 1} is needed")
    return LETTERS[index]


def checked_letter(found: str, count: int, name: str) -> str:
    """A letter that stands for one of `count` options, upper case."""
    upper = found.strip().strip("()").upper()
    if len(upper) != 1 or upper not in LETTERS[:count]:
        raise BadRow(
            f"field {name!r} is {found!r}; a letter from A to {LETTERS[count - 1]} is needed"
        )
    return upper


def letter_of(option: str, options: Sequence[str], name: str) -> str:
    """The letter of the option with that text."""
    if option not in options:
        raise BadRow(f"field {name!r} is {option[:60]!r}, which is none of the options")
    return LETTERS[list(options).index(option)]


def parsed(row: Row, name: str) -> Any:
    """A field that is JSON inside a text, or the value itself."""
    found = value(row, name)
    if not isinstance(found, str):
        return found
    try:
        return json.loads(found)
    except (ValueError, RecursionError):
        raise BadRow(f"field {name!r} is not JSON") from None
