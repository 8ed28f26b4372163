"""Values that data sets pack: base64(zlib(…)) of a text, or of a pickle of plain values.

    text ─ base64 ─ zlib, at most `most` bytes ─┬─ text ──────────────────────────▶ bytes
                                                └─ pickle, plain instructions only ─▶ value

A data set or request may come from anywhere, so nothing is unpickled: the few instructions that
plain values need are followed here, and none of them names a class, calls anything, or reserves
memory for what it does not have.
"""

from __future__ import annotations

import base64
import binascii
import pickle
import pickletools
import zlib
from typing import Any

from gradebox.eval.common.errors import RowError

MOST_BYTES = 64 << 20
MOST_INSTRUCTIONS = 1 << 18
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_SCALARS = frozenset(
    {
        *("INT", "BININT", "BININT1", "BININT2", "LONG1", "FLOAT", "BINFLOAT"),
        *("UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"),
    }
)
_TAKES = {  # how many values of the stack; None: those since the last mark
    **dict.fromkeys(("LIST", "APPENDS", "TUPLE", "DICT", "SETITEMS")),
    **dict.fromkeys(("EMPTY_LIST", "EMPTY_TUPLE", "EMPTY_DICT"), 0),
    **dict.fromkeys(("APPEND", "TUPLE1"), 1),
    **dict.fromkeys(("TUPLE2", "SETITEM"), 2),
    "TUPLE3": 3,
}
_KEEPS = frozenset({"PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"})
_REPEATS = frozenset({"GET", "BINGET", "LONG_BINGET"})
_NOTHING = frozenset({"PROTO", "FRAME", "STOP"})


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
    try:
        return _value(data, where, most)
    except RowError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a damaged pickle leads to
        raise RowError(f"{where} is damaged: {str(error)[:100]}") from None


def _value(data: bytes, where: str, most: int) -> Any:
    """Return the value of a pickle of plain values. Raises RowError, or anything.

    Only texts may be repeated, and they count each time: a few bytes could otherwise stand for
    terabytes.
    """
    stack: list[Any] = []
    marks: list[int] = []  # sizes of the stack
    kept: dict[int, Any] = {}  # places → values
    total = 0
    for number, (instruction, argument, _) in enumerate(pickletools.genops(data)):
        name = instruction.name
        if number > MOST_INSTRUCTIONS:
            raise RowError(f"{where} has over {MOST_INSTRUCTIONS} parts")
        if name in _KEEPS:
            place = len(kept) if argument is None else int(argument)
            if place > number:
                raise RowError(f"{where} is damaged: a place is out of order")
            kept[place] = stack[-1]
        elif name in _TAKES:
            takes = _TAKES[name]
            start = marks.pop() if takes is None else len(stack) - takes
            items = stack[start:]
            del stack[start:]
            _put(name, items, stack, where)
        elif name in _REPEATS or name in _SCALARS:
            value = kept.get(int(argument or 0)) if name in _REPEATS else argument
            if name in _REPEATS and not isinstance(value, str):
                raise RowError(f"{where} repeats a list or dict")
            total += len(value) if isinstance(value, str) else 0
            if total > most:
                raise RowError(f"{where} is over {most} characters")
            stack.append(value)
        elif name in _CONSTANTS:
            stack.append(_CONSTANTS[name])
        elif name == "MARK":
            marks.append(len(stack))
        elif name not in _NOTHING:
            raise RowError(
                f"{where} has the instruction {name}: only text, numbers, lists and dicts are read"
            )
    return stack[-1]


def _put(name: str, items: list[Any], stack: list[Any], where: str) -> None:
    """Put the list, tuple or dict of an instruction onto the stack, or add to the one there."""
    if "TUPLE" in name:
        stack.append(tuple(items))
    elif "LIST" in name or "DICT" in name:
        stack.append([] if "LIST" in name else {})
    if "LIST" in name or "APPEND" in name:
        stack[-1].extend(items)
    elif "DICT" in name or "SETITEM" in name:
        # Numbers can be chosen so that all have one hash: 20,000 of them as keys take 4 s.
        if not all(isinstance(key, str) for key in items[::2]):
            raise RowError(f"{where} has a key that is not text")
        stack[-1].update(zip(items[::2], items[1::2], strict=True))
