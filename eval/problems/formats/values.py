"""Read single fields of a row; a wrong type makes the row unusable."""

from __future__ import annotations

import json
from typing import Any

from gradebox.eval.common.errors import shown
from gradebox.eval.problems.formats.row_format import Content, Row, text_with
from gradebox.eval.problems.row import RowError

MOST_TEXT = 64 << 20
# What the fields of asserts hold.
CHECK = text_with(r"^def check\([^)\n]*\)[^:\n]*:", "does not define check(candidate)")
ASSERTS = Content(
    "has no assert statement",
    lambda value: (
        not isinstance(value, list) or any(isinstance(v, str) and "assert" in v for v in value)
    ),
)


def text(row: Row, field: str, *, needed: bool = False) -> str:
    """Return a text, "" when it is missing. Raises RowError."""
    value = row.get(field)
    if value is None:
        value = ""
    if not isinstance(value, str):
        raise RowError(f"{field} is {shown(value)}: it must be text")
    if len(value) > MOST_TEXT:
        raise RowError(f"{field} has {len(value)} characters: at most {MOST_TEXT} are read")
    if needed and not value.strip():
        raise RowError(f"{field} is empty")
    return value


def texts(row: Row, field: str) -> list[str]:
    """Return a list of texts, [] when it is missing. Raises RowError."""
    value = row.get(field)
    if value is None:
        return []
    if not isinstance(value, (list, tuple)) or not all(isinstance(v, str) for v in value):
        raise RowError(f"{field} is {shown(value)}: it must be a list of texts")
    return list(value)


def parsed(value: str, field: str) -> Any:
    """Return the value of JSON text. Raises RowError."""
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        raise RowError(f"{field} is not JSON: {str(error)[:100]}") from None


def assert_test(text: str, entry: str, names: list[str], prompt: str) -> list[dict[str, str]]:
    """Return the one test of a row whose tests are a text; none when nothing is asserted.

    entry   what `check(candidate)` is called with; "" when the text calls functions itself
    names   names of the solution that the text uses, even if they are built-ins
    prompt  the problem's own code, which the text may use
    """
    if "assert" not in text:
        return []
    spec = {"entry": entry, "names": names, "prompt": prompt}
    return [{"input": text, "output": json.dumps(spec)}]
