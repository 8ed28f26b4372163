"""Interpret the text of rows: a short one here, a long one in a worker with limits.

    interpret(function, value) ─┬─ up to 4,000 characters as JSON ─▶ function(value)
                                └─ more ─▶ a worker: function(value) ─▶ JSON ─▶ its value

A data set or request may come from anywhere, and Python's parser takes 1.5 s for 1 MB of it, longer
for numbers that collide in a dict. The functions take and return values that JSON has.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from typing import Any

from gradebox.checkers.workers.pool import WorkerPool, shared_pool
from gradebox.eval.common.errors import RowError

SHORT = 4_000  # characters: 3 ms of CPU time
CPU_S, CPU_S_PER_MB = 1.0, 4.0
MEMORY_BYTES = 2 << 30  # a parse takes 700 bytes a character


class RowPool(WorkerPool):
    """Workers that interpret the text of rows."""

    module = __name__
    most_waiting = 200  # only CPU time decides
    max_reply_bytes = 32 << 20  # escaped twice, 1 MB of NUL is 7 MB

    def __init__(self) -> None:
        super().__init__(memory_bytes=MEMORY_BYTES)


def interpret(function: Callable[[Any], Any], value: Any) -> Any:
    """Return function(value); `function` is one of a module, and raises RowError.

    Raises RowError also where a limit ends the worker, SandboxError when none can be started.
    """
    text = json.dumps(value)
    if len(text) <= SHORT:
        return function(value)
    limit_s = CPU_S + CPU_S_PER_MB * len(text) / (1 << 20)
    request = {"function": [function.__module__, function.__name__]}
    found = shared_pool(RowPool).ask(request, limit_s, (text.encode(),))
    if found.readings:
        result, why = found.readings
        if why:
            raise RowError(why)
        return json.loads(result)
    raise RowError(f"no worker could read it: {found.reason}")


# ---- in the workers ----


def preload() -> None:
    """Do nothing: modules are loaded when they are asked for."""


def work(request: dict[str, Any], blobs: list[bytes]) -> tuple[bool, str, list[str]]:
    """Return what a function makes of the value in the only blob, or why the row is unusable."""
    module, name = request["function"]
    function = getattr(importlib.import_module(module), name)
    try:
        return True, "", [json.dumps(function(json.loads(blobs[0]))), ""]
    except RowError as error:
        return True, "", ["null", str(error)]


def clear_caches() -> None:
    """Do nothing: there are none."""
