"""The functions of `import gradebox`, and the process's own graders that they use."""

from __future__ import annotations

import atexit
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypedDict

from gradebox.eval.api.grader import GivenProblems, Grader, Solutions
from gradebox.eval.api.keywords import Flags, Unpack, lists_flags
from gradebox.eval.common.errors import InputError
from gradebox.eval.results.record_objects import Record
from gradebox.sandbox import languages
from gradebox.sandbox.common.cancellation import asynchronous
from gradebox.sandbox.common.lru_cache import LruCache
from gradebox.sandbox.endpoints import DEFAULT
from gradebox.sandbox.model import Execution, Limits

MAX_SHARED = 4


@lists_flags
def grade(
    solutions: Solutions,
    problems: GivenProblems,
    *,
    time_limit_s: float | None = None,
    **flags: Unpack[Flags],
) -> list[Record]:
    """Return a record for each solution, in order; see `Grader.grade`.

    solutions  rows as in a solutions file, or its path
    problems   a dataset's name or path, a row with `official_tests`, or rows
    flags      options of the main command, as keywords (stop_on_first_failure=True)

    The grader stays open for the next call with the same flags, until `close`.
    """
    grader = shared_grader(problems, **flags)
    return grader.grade(solutions, problems, time_limit_s=time_limit_s)


grade_async = asynchronous(grade)


def run(
    code: str,
    language: str = "python",
    stdin: str | bytes = b"",
    limits: Limits | None = None,
    **flags: Unpack[Flags],
) -> Execution:
    """Run one program in the sandbox and return the evidence; see `Grader.run`."""
    return shared_grader(**flags).run(code, language, stdin, limits)


run_async = asynchronous(run)


def shared_grader(problems: GivenProblems | None = None, **flags: Unpack[Flags]) -> Grader:
    """Return the process's own grader with these flags, created at the first call.

    The MAX_SHARED last used ones are kept. `close` and the end of the process close them.
    """
    dataset = problems if isinstance(problems, (str, Path)) else None
    key = repr((str(dataset), sorted((name, repr(value)) for name, value in flags.items())))
    return _graders.find(key, lambda: Grader(dataset, **flags))


def close() -> None:
    """Close the graders that these functions and the rewards use; later calls open new ones."""
    for grader in _graders.clear():
        grader.close()


def _new_cache() -> LruCache[str, Grader]:
    return LruCache(MAX_SHARED, dropped=Grader.retire)


def _after_fork() -> None:
    global _graders
    _graders = _new_cache()  # another thread may have held the lock of the parent's


_graders = _new_cache()  # by dataset and flags
os.register_at_fork(after_in_child=_after_fork)
atexit.register(close)


STORED_BYTES = 1 << 20
_COLUMNS = ("id", "time_limit", "memory_limit", "input_mode", "generated_checker")


class PistonTestResult(TypedDict):
    """`passed` is None when the sandbox failed (`reason` sandbox_error)."""

    passed: bool | None
    output: str
    expected: str
    error: str
    reason: str


def run_piston_test(
    source_code: str,
    problem_data: Mapping[str, Any],
    test_case: Mapping[str, Any],
    language: str = "python",
    extension: str = "py",
    endpoint: str = DEFAULT,
    session: object = None,
) -> PistonTestResult:
    """Run one case on the Piston server at `endpoint` and judge it.

    problem_data  a row of the dataset: time_limit (s), memory_limit (MB), input_mode,
                  generated_checker
    test_case     `input` and `output`, text
    extension     ignored; the language table names the file
    session       ignored; connections are kept per thread and endpoint

    Raises UnknownLanguage and other BadRequest. A fault of the sandbox is a result whose
    `passed` is None.
    """
    languages.find(language)
    row = {name: problem_data.get(name) for name in _COLUMNS}
    given, expected = (_text(test_case.get(name)) for name in ("input", "output"))
    tests = [{"input": given, "output": expected}]
    grader = shared_grader(
        sandbox="piston",
        endpoint=(endpoint,),
        max_stored_output=STORED_BYTES,
        no_check_dataset=True,
    )
    solution = {"code": source_code, "language": language}
    record: Mapping[str, Any]
    try:
        [record] = grader.grade([solution], {**row, "official_tests": tests})
    except InputError as error:  # no server answers
        record = {"details": [], "compile": {}, "error": str(error)}
    [case] = record["details"] or [{}]
    ran = case.get("reason") not in (None, "compile_error", "sandbox_error")
    log = record["compile"].get("log") or case.get("error") or record["error"]
    return {
        "passed": case.get("passed"),
        "output": case.get("output", ""),
        "expected": case.get("expected") or expected,
        "error": case["error"] if ran else log,
        "reason": case.get("reason", "sandbox_error"),
    }


def _text(value: object) -> str:
    return str(value if value is not None else "").encode("utf-8", "replace").decode()
