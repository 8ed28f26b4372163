"""Interpret the text of rows: a short one here, a long one in a worker with limits.

    interpret(function, value) ─┬─ up to 4,000 bytes ─▶ function(value)
                                └─ more ─▶ in_worker(function, value)

A data set or request may come from anywhere, and Python's parser takes 1.5 s for 1 MB of it, longer
for numbers that collide in a dict. The functions take and return values that JSON has. These pass
as JSON whose long texts are apart, since JSON's own form of a text takes up to six times its bytes:

    ["a", "<70 characters>"] ─▶ b'["a",{"~":70}]', b"<70 characters>"
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from typing import Any

from gradebox.checkers.workers.pool import WorkerPool, shared_pool
from gradebox.eval.common.errors import RowError
from gradebox.sandbox.common.json_text import load_json

SHORT = 4_000  # bytes: 3 ms of CPU time
LONG_TEXT, APART = 65, "~"  # characters; the key of its size
Parts = tuple[bytes, bytes]
CPU_S, CPU_S_PER_MB = 1.0, 4.0
MEMORY_BYTES = 2 << 30  # a parse takes 700 bytes a character


class RowPool(WorkerPool):
    """Workers that interpret the text of rows."""

    module = __name__
    most_waiting = 200  # only CPU time decides
    max_reply_bytes = 512 << 20  # functions have bounds of their own

    def __init__(self) -> None:
        super().__init__(memory_bytes=MEMORY_BYTES)


def interpret(function: Callable[[Any], Any], value: Any) -> Any:
    """Return function(value), by a worker where the value is long (`in_worker`)."""
    parts = _apart(value)
    return function(value) if sum(map(len, parts)) <= SHORT else _ask(function, parts)


def in_worker(function: Callable[[Any], Any], value: Any) -> Any:
    """Return function(value); `function` is one of a module, and raises RowError.

    Raises RowError also where a limit ends the worker, SandboxError when none can be started.
    """
    return _ask(function, _apart(value))


def _ask(function: Callable[[Any], Any], parts: Parts) -> Any:
    limit_s = CPU_S + CPU_S_PER_MB * sum(map(len, parts)) / (1 << 20)
    request = {"function": [function.__module__, function.__name__]}
    found = shared_pool(RowPool).ask(request, limit_s, parts)
    if found.readings:
        raise RowError(found.readings[0])
    if len(found.blobs) == 2:
        return _joined(*found.blobs)
    raise RowError(f"no worker could read it: {found.reason}")


def structure_bytes(value: Any) -> int:
    """Return the bytes of a value as JSON without its long texts."""
    return len(_apart(value)[0])


def _apart(value: Any) -> Parts:
    """Return a value as JSON with the sizes of its long texts, and these. Raises RowError."""
    texts: list[bytes] = []

    def written(value: Any) -> Any:
        if isinstance(value, str) and len(value) >= LONG_TEXT:
            texts.append(value.encode("utf-8", "surrogatepass"))
            return {APART: len(texts[-1])}
        if isinstance(value, (list, tuple)):
            return [written(item) for item in value]
        if isinstance(value, dict):
            if APART in value:
                raise RowError(f"an object with the key {APART!r} is not read")
            return {key: written(item) for key, item in value.items()}
        return value

    skeleton = json.dumps(written(value), separators=(",", ":"))
    return skeleton.encode(), b"".join(texts)


def _joined(skeleton: bytes, texts: bytes) -> Any:
    """Return the value of two parts."""
    if not texts:
        return load_json(skeleton)
    at = 0

    def read(item: dict[str, Any]) -> Any:
        nonlocal at
        if APART not in item:
            return item
        at += item[APART]
        return str(memoryview(texts)[at - item[APART] : at], "utf-8", "surrogatepass")

    return load_json(skeleton, object_hook=read)


# ---- in the workers ----


def preload() -> None:
    """Do nothing: modules are loaded when they are asked for."""


def work(request: dict[str, Any], blobs: list[bytes]) -> tuple[bool, str, list[str | bytes]]:
    """Return what a function makes of the value in two blobs, or why the row is unusable."""
    module, name = request["function"]
    function = getattr(importlib.import_module(module), name)
    try:
        return True, "", [*_apart(function(_joined(*blobs)))]
    except RowError as error:
        return True, "", [str(error)]


def clear_caches() -> None:
    """Do nothing: there are none."""
