"""The functions of `import gradebox`, over the process's own warm grader of each set of flags."""

from __future__ import annotations

from typing import Any

from eval.grader import Grader, Problems, Solutions
from eval.shared_grader import close_shared, shared
from sandbox.model import Execution, Limits


def grade(
    solutions: Solutions,
    problems: Problems,
    *,
    time_limit_s: float | None = None,
    **flags: Any,
) -> list[dict[str, Any]]:
    """A record for each solution, in order; see `Grader.grade`.

    solutions  rows as in a solutions file, or its path
    problems   a dataset's name or path, a row with `official_tests`, or rows
    flags      those of the main command, as keywords (stop_on_first_failure=True)

    What is opened stays open for the next call of the same flags, until `close`.
    """
    return _grader(problems, flags).grade(solutions, problems, time_limit_s=time_limit_s)


async def grade_async(
    solutions: Solutions,
    problems: Problems,
    *,
    time_limit_s: float | None = None,
    **flags: Any,
) -> list[dict[str, Any]]:
    """`grade` without blocking the event loop; cancelling it stops the batch."""
    grader = _grader(problems, flags)
    return await grader.grade_async(solutions, problems, time_limit_s=time_limit_s)


def run(
    code: str,
    language: str = "python",
    stdin: str | bytes = b"",
    limits: Limits | None = None,
    **flags: Any,
) -> Execution:
    """Runs one program in the sandbox: evidence, no verdict; see `Grader.run`."""
    return shared(None, **flags).run(code, language, stdin, limits)


async def run_async(
    code: str,
    language: str = "python",
    stdin: str | bytes = b"",
    limits: Limits | None = None,
    **flags: Any,
) -> Execution:
    """`run` without blocking the event loop."""
    return await shared(None, **flags).run_async(code, language, stdin, limits)


def close() -> None:
    """Frees what these functions and the rewards keep open; they open it again when needed."""
    close_shared()


def _grader(problems: Problems, flags: dict[str, Any]) -> Grader:
    return shared(problems, **flags)
