"""Interpret the text of rows: a short one here, a long one in a worker with limits.

    interpret(function, value) ─┬─ up to 4,000 bytes ─▶ function(value)
                                └─ more ─▶ in_worker(function, value)

A data set or request may come from anywhere, and Python's parser takes 1.5 s for 1 MB of text,
longer when numbers in the text collide as keys of a dict. `function` takes and returns values that
JSON can hold.
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
CPU_S, CPU_S_PER_MB = 1.0, 4.0
MEMORY_BYTES = 2 << 30  # parsing takes 700 bytes for each character


class RowPool(WorkerPool):
    """Workers that interpret the text of rows."""

    module = __name__
    most_waiting = 200  # wall time up to 200 × the CPU limit: CPU time decides
    max_reply_bytes = 512 << 20  # the functions themselves bound what they return

    def __init__(self) -> None:
        super().__init__(memory_bytes=MEMORY_BYTES)


def interpret(function: Callable[[Any], Any], value: Any) -> Any:
    """Return function(value), by a worker where the value is long (`in_worker`)."""
    data = _written(value)
    return function(value) if len(data) <= SHORT else _ask(function, data)


def in_worker(function: Callable[[Any], Any], value: Any) -> Any:
    """Return function(value) from a worker.

    `function` is at the top level of a module and raises RowError for an unusable value. RowError
    is also raised where a limit ends the worker, SandboxError when no worker can be started.
    """
    return _ask(function, _written(value))


def _ask(function: Callable[[Any], Any], data: bytes) -> Any:
    limit_s = CPU_S + CPU_S_PER_MB * len(data) / (1 << 20)
    request = {"function": [function.__module__, function.__name__]}
    found = shared_pool(RowPool).ask(request, limit_s, (data,))
    if found.readings:
        raise RowError(found.readings[0])
    if found.blobs:
        return _read(found.blobs[0])
    raise RowError(f"no worker could read it: {found.reason}")


def _written(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _read(data: bytes) -> Any:
    return load_json(data.decode("utf-8", "surrogatepass"))


# ---- in the workers ----


def work(request: dict[str, Any], blobs: list[bytes]) -> tuple[bool, str, list[str | bytes]]:
    """Return what a function makes of the value in a blob, or why the row is unusable."""
    module, name = request["function"]
    function = getattr(importlib.import_module(module), name)
    try:
        return True, "", [_written(function(_read(blobs[0])))]
    except RowError as error:
        return True, "", [str(error)]
