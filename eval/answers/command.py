"""What answer commands share: types of their flags, and how they write files."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

# What the local contract sends with every request.
CONTRACT_FIELDS = ("dataset", "prompt", "sample_id")


def positive_int(text: str) -> int:
    """argparse type: a whole number of at least 1."""
    return int(_at_least(text, int(text) if text.lstrip("-").isdecimal() else None, 1))


def natural_int(text: str) -> int:
    """argparse type: a whole number of at least 0."""
    return int(_at_least(text, int(text) if text.lstrip("-").isdecimal() else None, 0))


def not_negative(text: str) -> float:
    """argparse type: a finite number, 0 or more."""
    try:
        value: float | None = float(text)
    except ValueError:
        value = None
    return _at_least(text, value, 0)


def _at_least(text: str, value: float | None, least: int) -> float:
    if value is None or not value >= least or value == float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r}: a number of at least {least} is needed")
    return value


def extra_fields(pairs: Sequence[str]) -> dict[str, Any]:
    """{"key": value} of `key=value` texts; a value that reads as JSON is taken as that."""
    from eval.input_error import InputError

    fields: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise InputError(f"--extra-field {pair!r}: write it as key=value")
        if key in CONTRACT_FIELDS:
            raise InputError(f"--extra-field {key!r}: the harness fills it in; leave it out")
        if key in fields:
            raise InputError(f"--extra-field {key!r} is given twice; leave one out")
        try:
            fields[key] = json.loads(value)
        except (ValueError, RecursionError):
            fields[key] = value
    return fields


def write_json(path: Path, value: Any, *, indent: int | None = 2) -> None:
    """Writes a file whole: a reader sees the old one or the new one, never a part."""
    from eval.input_error import InputError

    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps(value, indent=indent) + "\n", "ascii")
        part.replace(path)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}; name another place") from None
