"""The messages between the parent and a driver.

    parent ─▶ driver   Setup, then OpenSession, OpenRun, ProblemSent, Work, Widen, StopRun, EndRun,
                       Forget, CloseSession
    driver ─▶ parent   Ready, then Started, Graded, Counted, RunEnded, Logged, Warned

A session is what grades with one set of options; several may share drivers (the graders of a
server). A run is one `Executor.run`; several may be open at once (the batches of a `Grader`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from gradebox.eval.grading.resources import TestSetInfo
from gradebox.eval.problems.chosen_tests import StoredTests
from gradebox.eval.problems.problem import Problem
from gradebox.eval.results.records import EncodedRecord
from gradebox.eval.solutions.solution import Solution
from gradebox.sandbox.model import Description


class Setup(NamedTuple):
    """What a driver opens.

    sandbox      arguments of the sandbox's constructor
    slots        programs at once, of all drivers together
    workers      solutions' cases that this driver runs at once
    hidden       paths that programs must not see
    description  of the parent's sandbox, which records state
    log_level    of messages that are passed on
    """

    sandbox: Mapping[str, Any]
    slots: int
    workers: int
    hidden: tuple[str, ...]
    description: Description
    log_level: int


class OpenSession(NamedTuple):
    """Begin to grade with other options; `options` are fields of `Options`."""

    session: int
    options: Mapping[str, Any]


class CloseSession(NamedTuple):
    """No further run belongs to a session; all its problems are forgotten."""

    session: int


class OpenRun(NamedTuple):
    """Begin a run of a session; `retry` is (attempts, first_s, cap_s) of `Retry`."""

    run: int
    session: int
    retry: tuple[int, float, float]


class ProblemSent(NamedTuple):
    """A session's problem and its tests. With `with_fd` their file's descriptor comes with it."""

    number: int
    session: int
    problem: Problem
    test_set: TestSetInfo
    tests: StoredTests
    with_fd: bool


class Forget(NamedTuple):
    """No further work needs a problem, unless it is sent again under another number."""

    number: int


class Work(NamedTuple):
    """A solution to grade."""

    run: int
    number: int
    problem: int
    solution: Solution
    language: str
    scale: float
    key: str


class Widen(NamedTuple):
    """Run this many cases at once: other drivers have nothing left to do."""

    run: int
    workers: int


class StopRun(NamedTuple):
    """Start nothing more; the running cases end."""

    run: int


class EndRun(NamedTuple):
    """No further work follows."""

    run: int


class Ready(NamedTuple):
    """The driver's sandbox is open; `error` says why it is not."""

    description: Description | None
    error: str = ""


class Started(NamedTuple):
    """A solution's grading begins."""

    run: int
    number: int


class Graded(NamedTuple):
    """A solution's record, with the verdicts of cases and the seconds that programs ran since."""

    run: int
    number: int
    record: EncodedRecord
    cases: Mapping[str, int]
    run_s: float


class Counted(NamedTuple):
    """Verdicts of cases, and seconds that programs ran, since the last message of the run."""

    run: int
    cases: Mapping[str, int]
    run_s: float


class RunEnded(NamedTuple):
    """The run has ended in this driver; an `error` is the user's (`is_input`) or ours."""

    run: int
    error: str = ""
    is_input: bool = False


class Logged(NamedTuple):
    """A message for the user's log, with the traceback as text."""

    name: str
    level: int
    text: str


class Warned(NamedTuple):
    """A Python warning."""

    category: type[Warning]
    text: str
    file: str
    line: int
