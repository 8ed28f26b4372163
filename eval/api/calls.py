"""The functions of `import gradebox`, and the process's own graders that they use."""

from __future__ import annotations

import atexit
import os
import threading
from pathlib import Path
from typing import Any

from gradebox.eval.api.grader import GivenProblems, Grader, Solutions
from gradebox.sandbox.model import Execution, Limits

MAX_SHARED = 4


def grade(
    solutions: Solutions,
    problems: GivenProblems,
    *,
    time_limit_s: float | None = None,
    **flags: Any,
) -> list[dict[str, Any]]:
    """Return a record for each solution, in order; see `Grader.grade`.

    solutions  rows as in a solutions file, or its path
    problems   a dataset's name or path, a row with `official_tests`, or rows
    flags      options of the main command, as keywords (stop_on_first_failure=True)

    The grader stays open for the next call with the same flags, until `close`.
    """
    grader = shared_grader(problems, **flags)
    return grader.grade(solutions, problems, time_limit_s=time_limit_s)


async def grade_async(
    solutions: Solutions,
    problems: GivenProblems,
    *,
    time_limit_s: float | None = None,
    **flags: Any,
) -> list[dict[str, Any]]:
    """Like `grade`, without blocking the event loop; cancelling it stops the batch."""
    grader = shared_grader(problems, **flags)
    return await grader.grade_async(solutions, problems, time_limit_s=time_limit_s)


def run(
    code: str,
    language: str = "python",
    stdin: str | bytes = b"",
    limits: Limits | None = None,
    **flags: Any,
) -> Execution:
    """Run one program in the sandbox and return the evidence; see `Grader.run`."""
    return shared_grader(**flags).run(code, language, stdin, limits)


async def run_async(
    code: str,
    language: str = "python",
    stdin: str | bytes = b"",
    limits: Limits | None = None,
    **flags: Any,
) -> Execution:
    """Like `run`, without blocking the event loop."""
    return await shared_grader(**flags).run_async(code, language, stdin, limits)


def shared_grader(problems: GivenProblems | None = None, **flags: Any) -> Grader:
    """Return the process's own grader with these flags, created at the first call.

    The MAX_SHARED last used ones are kept. `close` and the end of the process close them.
    """
    dataset = problems if isinstance(problems, (str, Path)) else None
    key = repr((str(dataset), sorted((name, repr(value)) for name, value in flags.items())))
    with _lock:
        found = _graders.pop(key, None) or Grader(dataset, **flags)
        _graders[key] = found
        surplus = [_graders.pop(old) for old in list(_graders)[:-MAX_SHARED]]
    for grader in surplus:
        threading.Thread(target=grader.close_when_idle, daemon=True).start()
    return found


def close() -> None:
    """Close the graders that these functions and the rewards use; later calls open new ones."""
    with _lock:
        graders = list(_graders.values())
        _graders.clear()
    for grader in graders:
        grader.close()


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()


_graders: dict[str, Grader] = {}  # by dataset and flags, the last used one last
_lock = threading.Lock()
os.register_at_fork(after_in_child=_after_fork)
atexit.register(close)
