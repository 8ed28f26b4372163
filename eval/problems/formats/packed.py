"""Values that data sets pack: base64(zlib(…)) of JSON, or of a pickle of plain values or JSON.

    text ─ base64 ─ zlib, at most `most` bytes ─┬─ JSON ────────────────────────────▶ value
                                                └─ pickle, plain instructions only ─▶ value, JSON

LiveCodeBench pickles JSON text, the clients of open-instruct's server lists and dicts. A data set
or request may come from anywhere, so nothing is unpickled: the few instructions that
plain values need are followed here, and none of them names a class, calls anything, or reserves
memory for what it does not have.
"""

from __future__ import annotations

import base64
import math
import pickle
import pickletools
import re
import time
import zlib
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from gradebox.eval.common.errors import RowError
from gradebox.eval.problems.row.row_workers import in_worker
from gradebox.sandbox.common.json_text import load_json

MOST_BYTES, MOST_RATIO, LESS_BYTES = 64 << 20, 20, 20 << 20
MOST_INSTRUCTIONS, MOST_PARTS = 1 << 18, 1 << 17
STEP_BYTES = 1 << 17
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
_TEXT = re.compile(rb"\x80[\x02-\x05](?:\x95.{8})?X(.{4})", re.DOTALL)


@dataclass(frozen=True)
class _Bounds:
    """What a value may unpack to, and take to read."""

    bytes: int
    instructions: int = MOST_INSTRUCTIONS  # of a pickle
    parts: float = math.inf  # of JSON
    cpu_s: float = math.inf  # of unpacking

    def times(self, size: float, most: int) -> _Bounds:
        """Return the bounds of a text of so many megabytes, which may unpack to `most` bytes."""
        size_bytes = min(most, int(size * self.bytes))
        return _Bounds(size_bytes, self.instructions, size * self.parts, size * self.cpu_s)


# In the caller's process: for each megabyte, of which numbers unpack to two in 7 ms.
QUICK = _Bounds(5 << 19, 1 << 13, 1 << 16, 0.015)


class _OverBound(RowError):
    """A value is over a bound."""


def unpacked(text: str, where: str, most: int = MOST_BYTES) -> Any:
    """Return the value of packed JSON, or of a packed pickle; a text in a pickle is JSON.

    where  names the value in messages
    most   the bytes that it may unpack to; at most MOST_RATIO times the text's, or LESS_BYTES

    Raises RowError; SandboxError when no worker can be started.
    """
    most = min(most, max(LESS_BYTES, MOST_RATIO * len(text)))
    quick = QUICK.times(max(1.0, len(text) / (1 << 20)), most)
    with suppress(_OverBound):
        return _read(text, where, quick)
    return in_worker(read_long, [text, where, most])


def read_long(arguments: tuple[str, str, int]) -> Any:
    """Return what `unpacked` does, in a worker. Raises RowError."""
    text, where, most = arguments
    value = _read(text, where, _Bounds(most))
    left, waiting = MOST_PARTS, [value]
    while waiting and left >= 0:
        part = waiting.pop()
        inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
        left -= len(inner)
        waiting.extend(inner if left >= 0 else ())
    if left < 0:
        raise RowError(f"{where} has over {MOST_PARTS} lists, objects, numbers and texts")
    return value


def _read(text: str, where: str, bounds: _Bounds) -> Any:
    """Return the value of a packed text. Raises RowError."""
    try:
        data = _inflated(base64.b64decode(text, validate=True), where, bounds)
    except RowError:
        raise
    except (zlib.error, ValueError) as error:
        raise RowError(f"{where} is neither JSON nor packed: {error}") from None
    if data[:1] == pickle.PROTO:
        try:
            value = _only_text(data) or _value(data, where, bounds)
        except RowError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a damaged pickle leads to
            raise RowError(f"{where} is damaged: {str(error)[:100]}") from None
        if not isinstance(value, str):
            return value
    else:
        value = data.decode("utf-8", "replace")
    del data
    if value.count(",") > bounds.parts:
        raise _OverBound(f"{where} has over {bounds.parts:g} parts")
    try:
        return load_json(value, strict=False)
    except (ValueError, RecursionError) as error:
        raise RowError(f"{where} is not JSON: {str(error)[:100]}") from None


def _only_text(data: bytes) -> str:
    """Return the text of a pickle that has nothing else, such as LiveCodeBench's; "" of others."""
    start = _TEXT.match(data)
    end = start.end() + int.from_bytes(start[1], "little") if start else 0
    known = start is not None and data[end : end + 4] in (b".", b"\x94.", b"q\x00.")
    return str(memoryview(data)[start.end() : end], "utf-8") if start and known else ""


def _inflated(packed: bytes, where: str, bounds: _Bounds) -> bytes:
    """Return the bytes of a zlib stream. Raises RowError, zlib.error."""
    inflate, blocks, left = zlib.decompressobj(), [], bounds.bytes
    until_s = time.thread_time() + bounds.cpu_s
    for at in range(0, len(packed), STEP_BYTES):
        blocks.append(inflate.decompress(packed[at : at + STEP_BYTES], left + 1))
        left -= len(blocks[-1])
        if left < 0:
            raise _OverBound(f"{where} unpacks to more than {bounds.bytes} bytes")
        if time.thread_time() > until_s:  # a stream of tables takes 80 ms a megabyte
            raise _OverBound(f"{where} takes over {bounds.cpu_s} s to unpack")
    if not inflate.eof:
        raise RowError(f"{where} is cut")
    return b"".join(blocks)


def _value(data: bytes, where: str, bounds: _Bounds) -> Any:
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
        if number > bounds.instructions:
            raise _OverBound(f"{where} has over {bounds.instructions} parts")
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
            if total > bounds.bytes:
                raise _OverBound(f"{where} is over {bounds.bytes} characters")
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
    """Put the list or dict of an instruction onto the stack, or add to the one there."""
    if "TUPLE" in name:
        stack.append(items)  # JSON has no tuples
    elif "LIST" in name or "DICT" in name:
        stack.append([] if "LIST" in name else {})
    if "LIST" in name or "APPEND" in name:
        stack[-1].extend(items)
    elif "DICT" in name or "SETITEM" in name:
        # Numbers can be chosen so that all have one hash: 20,000 of them as keys take 4 s.
        if not all(isinstance(key, str) for key in items[::2]):
            raise RowError(f"{where} has a key that is not text")
        stack[-1].update(zip(items[::2], items[1::2], strict=True))
