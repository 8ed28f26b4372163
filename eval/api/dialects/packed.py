"""Values of requests: JSON text, or packed as data sets pack them (problems/formats/packed.py)."""

from __future__ import annotations

import json
from typing import Any

from gradebox.eval.problems.formats import packed
from gradebox.eval.problems.row import RowError
from gradebox.sandbox.errors import BadRequest
from gradebox.sandbox.server.body import check_structure, structure_bytes


def unpacked(text: str) -> Any:
    """Return a packed value. Raises BadRequest; Refused for one of too many parts."""
    try:
        value = packed.unpacked(text, "the packed value")
    except RowError as error:
        raise BadRequest(str(error)) from None
    return json_text(value.decode("utf-8", "replace")) if isinstance(value, bytes) else value


def json_or_unpacked(value: Any) -> Any:
    """Return a value that may be JSON text or packed. Raises BadRequest, Refused."""
    if not isinstance(value, str):
        return value
    if value.lstrip()[:1] in ("[", "{", '"'):
        return json_text(value)
    return unpacked(value)


def json_text(text: str) -> Any:
    """Return the value of JSON text, which may have line breaks in strings.

    Raises BadRequest; Refused for one of too many parts.
    """
    check_structure(structure_bytes(text.encode("utf-8", "surrogatepass")))
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"the value is not JSON: {str(error)[:100]}") from None
