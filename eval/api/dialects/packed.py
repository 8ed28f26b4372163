"""Tests that data sets pack: base64(zlib(…)) of JSON text or of a pickle of plain values.

    text ─ base64 ─ zlib, at most MOST_BYTES ─┬─ JSON ──────────────────────────▶ value
                                              └─ pickle, plain instructions only ─▶ value

A request may come from anywhere. A pickle is read only after each of its instructions is known to
be harmless: none that names a class, calls anything, or reserves memory for what it does not have.
"""

from __future__ import annotations

import base64
import binascii
import io
import json
import pickle
import pickletools
import zlib
from typing import Any, NoReturn

from gradebox.sandbox.errors import BadRequest
from gradebox.sandbox.server.body import check_structure, structure_bytes

MOST_BYTES = 64 << 20
MOST_INSTRUCTIONS = 1 << 18
_PLAIN = frozenset(
    {
        *("PROTO", "FRAME", "STOP", "MARK", "NONE", "NEWTRUE", "NEWFALSE"),
        *("INT", "BININT", "BININT1", "BININT2", "LONG1", "FLOAT", "BINFLOAT"),
        *("UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"),
        *("EMPTY_LIST", "LIST", "APPEND", "APPENDS"),
        *("EMPTY_TUPLE", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3"),
        *("EMPTY_DICT", "DICT", "SETITEM", "SETITEMS"),
    }
)
_KEEPS = frozenset({"PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"})
_REPEATS = frozenset({"GET", "BINGET", "LONG_BINGET"})


class _NoClasses(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> NoReturn:
        raise BadRequest("the packed value wants a class")


def unpacked(text: str) -> Any:
    """Return a packed value. Raises BadRequest; Refused for one of too many parts."""
    try:
        inflate = zlib.decompressobj()
        data = inflate.decompress(base64.b64decode(text, validate=True), MOST_BYTES + 1)
    except (binascii.Error, zlib.error, ValueError) as error:
        raise BadRequest(f"the value is neither JSON nor packed: {error}") from None
    if len(data) > MOST_BYTES or not inflate.eof:
        raise BadRequest(f"the packed value is cut, or over {MOST_BYTES} bytes")
    if data[:1] != pickle.PROTO:
        return json_text(data.decode("utf-8", "replace"))
    _check(data)
    try:
        return _NoClasses(io.BytesIO(data)).load()
    except BadRequest:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a damaged pickle leads to
        raise BadRequest(f"the packed value is damaged: {str(error)[:100]}") from None


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


def _check(data: bytes) -> None:
    """Raise BadRequest unless all instructions of a pickle are plain.

    Only texts may be repeated, and they count each time: a few bytes could otherwise stand for
    terabytes.
    """
    texts: dict[int, int | None] = {}  # places → characters of a text, None for anything else
    total, size = 0, None
    try:
        for number, (instruction, argument, _) in enumerate(pickletools.genops(data)):
            name = instruction.name
            if number > MOST_INSTRUCTIONS:
                raise BadRequest(f"the packed value has over {MOST_INSTRUCTIONS} parts")
            if name in _KEEPS:
                place = len(texts) if argument is None else int(argument)
                if place > number:
                    raise BadRequest("the packed value is damaged: a place is out of order")
                texts[place] = size
                continue
            if name in _REPEATS:
                size = texts.get(int(argument or 0))
                if size is None:
                    raise BadRequest("the packed value repeats a list or dict")
            elif name in _PLAIN:
                size = len(argument) if isinstance(argument, str) else None
            else:
                raise BadRequest(
                    f"the packed value has the instruction {name}: only text, numbers, lists and "
                    "dicts are read"
                )
            total += size or 0
            if total > MOST_BYTES:
                raise BadRequest(f"the packed value is over {MOST_BYTES} characters")
    except BadRequest:
        raise
    except Exception as error:  # noqa: BLE001 - pickletools raises anything
        raise BadRequest(f"the packed value is damaged: {str(error)[:100]}") from None
