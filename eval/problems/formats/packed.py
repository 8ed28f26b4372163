"""Values that data sets pack: base64(zlib(…)) of a text, or of a pickle of plain values.

    text ─ base64 ─ zlib, at most `most` bytes ─┬─ text ──────────────────────────▶ bytes
                                                └─ pickle, plain instructions only ─▶ value

A data set or request may come from anywhere. A pickle is read only after each of its instructions
is known to be harmless: none that names a class, calls anything, or reserves memory for what it
does not have.
"""

from __future__ import annotations

import base64
import binascii
import io
import pickle
import pickletools
import zlib
from typing import Any, NoReturn

from gradebox.eval.problems.row import RowError

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
        raise RowError(f"the packed value wants {module}.{name}")


def unpacked(text: str, where: str, most: int = MOST_BYTES) -> Any:
    """Return the bytes of a packed text, or the value of a packed pickle.

    where  names the value in messages
    most   the bytes that it may unpack to

    Raises RowError.
    """
    try:
        inflate = zlib.decompressobj()
        data = inflate.decompress(base64.b64decode(text, validate=True), most + 1)
    except (binascii.Error, zlib.error, ValueError) as error:
        raise RowError(f"{where} is neither JSON nor packed: {error}") from None
    if len(data) > most:
        raise RowError(f"{where} unpacks to more than {most} bytes")
    if not inflate.eof:
        raise RowError(f"{where} is cut")
    if data[:1] != pickle.PROTO:
        return data
    _check(data, where, most)
    try:
        return _NoClasses(io.BytesIO(data)).load()
    except Exception as error:  # noqa: BLE001 - whatever a damaged pickle leads to
        raise RowError(f"{where} is damaged: {str(error)[:100]}") from None


def _check(data: bytes, where: str, most: int) -> None:
    """Raise RowError unless all instructions of a pickle are plain.

    Only texts may be repeated, and they count each time: a few bytes could otherwise stand for
    terabytes.
    """
    texts: dict[int, int | None] = {}  # places → characters of a text, None for anything else
    total, size = 0, None
    try:
        for number, (instruction, argument, _) in enumerate(pickletools.genops(data)):
            name = instruction.name
            if number > MOST_INSTRUCTIONS:
                raise RowError(f"{where} has over {MOST_INSTRUCTIONS} parts")
            if name in _KEEPS:
                place = len(texts) if argument is None else int(argument)
                if place > number:
                    raise RowError(f"{where} is damaged: a place is out of order")
                texts[place] = size
                continue
            if name in _REPEATS:
                size = texts.get(int(argument or 0))
                if size is None:
                    raise RowError(f"{where} repeats a list or dict")
            elif name in _PLAIN:
                size = len(argument) if isinstance(argument, str) else None
            else:
                raise RowError(
                    f"{where} has the instruction {name}: only text, numbers, lists and "
                    "dicts are read"
                )
            total += size or 0
            if total > most:
                raise RowError(f"{where} is over {most} characters")
    except RowError:
        raise
    except Exception as error:  # noqa: BLE001 - pickletools raises anything
        raise RowError(f"{where} is damaged: {str(error)[:100]}") from None
