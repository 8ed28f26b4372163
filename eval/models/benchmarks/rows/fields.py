"""Read the fields of a row, which may hold anything."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from gradebox.eval.models.benchmarks.sample import LETTERS, Row


class BadRow(Exception):
    """A field is missing or has a wrong value. The reader of the file adds file and row."""


def value(row: Row, name: str) -> Any:
    """Return a required field."""
    if row.get(name) is None:
        present = ", ".join(list(row)[:12]) or "none"
        raise BadRow(f"no field {name!r}; its fields are {present}")
    return row[name]


def text(row: Row, name: str) -> str:
    """Return a required field as stripped text, 27.0 as "27"."""
    return as_text(value(row, name), name)


def as_text(found: Any, name: str) -> str:
    """Return the value of field `name` as stripped text, 27.0 as "27"."""
    if isinstance(found, str):
        return found.strip()
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        raise BadRow(f"field {name!r} is a {type(found).__name__}, not a text")
    return str(int(found)) if isinstance(found, float) and found.is_integer() else str(found)


def texts(row: Row, name: str) -> tuple[str, ...]:
    """Return a required field that is a list of texts."""
    found = value(row, name)
    if not isinstance(found, list):
        raise BadRow(f"field {name!r} is a {type(found).__name__}, not a list")
    return tuple(as_text(item, name) for item in found)


def optional(row: Row, name: str) -> str:
    """Return a field as text, "" when it is missing."""
    return "" if row.get(name) is None else text(row, name)


def row_id(row: Row, *names: str) -> str:
    """Return the first of the fields (default: "id") that is present, else ""."""
    for name in names or ("id",):
        if row.get(name) is not None:
            return as_text(row[name], name)
    return ""


def letter_at(index: Any, count: int, name: str) -> str:
    """Return the letter of a 0-based option number from field `name`."""
    if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < count:
        raise BadRow(f"field {name!r} is {index!r}; use a whole number from 0 to {count - 1}")
    return LETTERS[index]


def option_letter(found: str, count: int, name: str) -> str:
    """Return the letter in field `name` in upper case; it must belong to one of `count` options."""
    upper = found.strip().strip("()").upper()
    if len(upper) != 1 or upper not in LETTERS[:count]:
        raise BadRow(f"field {name!r} is {found!r}; use a letter from A to {LETTERS[count - 1]}")
    return upper


def letter_of(option: str, options: Sequence[str], name: str) -> str:
    """Return the letter of the option with the text of field `name`."""
    if option not in options:
        raise BadRow(f"field {name!r} is {option[:60]!r}, which is not one of the options")
    return LETTERS[list(options).index(option)]


def parsed_json(row: Row, name: str) -> Any:
    """Return a required field that may be JSON inside a text."""
    found = value(row, name)
    if not isinstance(found, str):
        return found
    try:
        return json.loads(found)
    except (ValueError, RecursionError):
        raise BadRow(f"field {name!r} is not JSON") from None


def first_example(row: Row) -> Row:
    """Return the question of a ChemBench row, which is in a list with one element."""
    examples = value(row, "examples")
    if not (isinstance(examples, list) and examples and isinstance(examples[0], dict)):
        raise BadRow("field 'examples' is not a list of questions")
    found: Row = examples[0]
    return found
