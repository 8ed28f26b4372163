"""Read single values of a dataset's row: text, numbers, lists."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from gradebox.eval.common.errors import RowError, shown

MAX_NAME = 200
_NAME = re.compile(rf"[^/\0\n\ud800-\udfff]{{1,{MAX_NAME}}}")


def as_text(value: object) -> str:
    """Return text, or a whole number as text; "" for anything else."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if abs(value) < 1 << 63 else ""
    return value.strip() if isinstance(value, str) else ""


def number_of(column: str, value: object) -> float | None:
    """Return a finite number, which may be written as text; None for null and ""."""
    if value is None or value == "":
        return None
    if not isinstance(value, bool) and isinstance(value, (int, float, str)):
        try:
            number = float(value)
        except (ValueError, OverflowError):
            number = math.nan
        if math.isfinite(number):
            return number
    raise RowError(f"{column} is {shown(value)}: it must be a number")


def text_of(row: Mapping[str, Any], column: str) -> str | None:
    """Return a text that decides verdicts; None when it is missing or blank."""
    value = row.get(column)
    if value is None:
        return None
    if not isinstance(value, str):
        raise RowError(f"{column} is {shown(value)}: it must be text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise RowError(f"{column} has a lone surrogate: it must be UTF-8 text") from None
    return value if value.strip() else None


def converted(column: str, value: object, kind: Any) -> Any:
    """Return a value as a type that msgspec knows; a number may be text. Raises RowError."""
    try:
        return msgspec.convert(value, kind, strict=False)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:  # of a lone surrogate
        raise RowError(f"{column} is {shown(value)}: {error}") from None


def one_of(row: Mapping[str, Any], column: str, words: tuple[str, ...]) -> Any:
    """Return a word; the first one when it is missing."""
    value = text_of(row, column) or words[0]
    if value not in words:
        choices = " or ".join(words) if len(words) == 2 else f"one of {', '.join(words)}"
        raise RowError(f"{column} is {shown(value)}: it must be {choices}")
    return value


def whole_number(value: object) -> int | None:
    try:
        number = number_of("", value)
    except RowError:
        return None
    whole = number is not None and number.is_integer() and abs(number) < 1 << 63
    return int(number) if number is not None and whole else None


def plain_name(column: str, value: object) -> str:
    """Return the name of a file in a program's folder."""
    if not isinstance(value, str) or not _NAME.fullmatch(value) or value in (".", ".."):
        raise RowError(
            f"{column} has {shown(value)}: a file name has 1 to {MAX_NAME} characters and no '/'"
        )
    return value


def items_of(value: object, kind: type) -> tuple[Any, ...]:
    """Return the items of a list that have a type; () when the value is not a list."""
    if not isinstance(value, (list, tuple)):
        return ()
    return tuple(item for item in value if isinstance(item, kind))
