"""The problems that a driver was sent: tests that the parent opened, judges of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from gradebox.eval.grading.resources import ProblemResources, TestSetInfo
from gradebox.eval.problems.chosen_tests import ProblemTests
from gradebox.eval.problems.problem import Problem

OpenResources = Callable[[Problem, ProblemTests], ProblemResources]


@dataclass(eq=False)
class _Sent:
    problem: Problem
    test_set: TestSetInfo
    tests: ProblemTests
    open_resources: OpenResources
    resources: ProblemResources | None = None
    users: int = 0
    forgotten: bool = False


class SentProblems:
    """Gives jobs the resources of their problems. Any thread may call any method."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_number: dict[int, _Sent] = {}
        self._by_problem: dict[int, _Sent] = {}  # by the identity of the problem's object

    def add(
        self,
        number: int,
        problem: Problem,
        test_set: TestSetInfo,
        tests: ProblemTests,
        open_resources: OpenResources,
    ) -> None:
        """Keep a problem until `forget`.

        open_resources  opens what judges it beside its tests
        """
        sent = _Sent(problem, test_set, tests, open_resources)
        with self._lock:
            self._by_number[number] = self._by_problem[id(problem)] = sent

    def find(self, number: int) -> tuple[Problem, TestSetInfo]:
        """Return a problem that was sent."""
        sent = self._by_number[number]
        return sent.problem, sent.test_set

    def forget(self, number: int) -> None:
        """Close a problem's resources as soon as nobody uses them."""
        with self._lock:
            sent = self._by_number.pop(number)
            sent.forgotten = True
            unused = not sent.users
        if unused:
            self._close(sent)

    def acquire(self, problem: Problem) -> ProblemResources:
        """See `ResourceCache.acquire`."""
        with self._lock:
            sent = self._by_problem[id(problem)]
            if sent.resources is None:
                sent.resources = sent.open_resources(problem, sent.tests)
            sent.users += 1
            return sent.resources

    def release(self, resources: ProblemResources) -> None:
        """See `ResourceCache.release`."""
        with self._lock:
            sent = self._by_problem[id(resources.problem)]
            sent.users -= 1
            last = sent.forgotten and not sent.users
        if last:
            self._close(sent)

    def _close(self, sent: _Sent) -> None:
        with self._lock:
            del self._by_problem[id(sent.problem)]
        sent.tests.close() if sent.resources is None else sent.resources.close()
