"""The process's own graders: one for each set of flags, warm until the process ends."""

from __future__ import annotations

import atexit
import os
import threading
from pathlib import Path
from typing import Any

from eval.grader import Grader, Problems

SHARED_KEPT = 4

_shared: dict[str, Grader] = {}
_shared_lock = threading.Lock()


def shared(problems: Problems | None = None, **flags: Any) -> Grader:
    """The process's own grader of these flags, made when first asked for.

    The few last used are kept; `close_shared` and the end of the process close them.
    """
    dataset = problems if isinstance(problems, (str, Path)) else None
    key = repr((str(dataset), sorted((name, repr(value)) for name, value in flags.items())))
    with _shared_lock:
        found = _shared.pop(key, None)
        if found is None:
            found = Grader(dataset, **flags)
        _shared[key] = found
        surplus = [_shared.pop(old) for old in list(_shared)[:-SHARED_KEPT]]
    for grader in surplus:
        threading.Thread(target=grader.close_when_idle, daemon=True).start()
    return found


def close_shared() -> None:
    """Closes the graders that `gradebox.grade`, `run` and the rewards use."""
    with _shared_lock:
        graders = list(_shared.values())
        _shared.clear()
    for grader in graders:
        grader.close()


def _after_fork() -> None:
    global _shared_lock
    _shared_lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)
atexit.register(close_shared)
