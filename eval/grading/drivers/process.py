"""The parent's side of one driver process: sends problems and solutions, takes the records."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from gradebox.eval.common.errors import DriversUnavailable
from gradebox.eval.grading.drivers.driver import Calls, DriverSetup
from gradebox.eval.grading.resources import ProblemResources
from gradebox.eval.grading.solution_run import SolutionRun
from gradebox.eval.problems.in_memory import InMemoryProblem, cache_name
from gradebox.eval.problems.problem import Problem
from gradebox.eval.results.record import CaseVerdict
from gradebox.eval.results.records import EncodedRecord
from gradebox.sandbox.children.child import Child

MAIN = "gradebox.eval.grading.drivers.driver:run_driver"
MOST_KNOWN, MOST_KNOWN_BYTES = 32, 64 << 20  # above these, a driver forgets idle problems
numbers = count(1)  # each run, problem and solution gets one
KeyedOptions = tuple[str, Mapping[str, Any]]  # a run's options: as text, as values
Graded = tuple[EncodedRecord, Mapping[CaseVerdict, int]]  # the record, cases by verdict


@dataclass(eq=False)
class Known:
    """A problem that a driver was sent; `users` of its solutions are with the driver."""

    number: int
    size_bytes: int
    users: int = 0


class DriverProcess:
    """A started driver process. Not thread-safe. Raises DriversUnavailable if it cannot be started.

    sent   (run, number) → the solution's problem, and where its record goes
    runs   open run → cases at once
    alone  it has a solution at which another driver died, and gets no other solution
    """

    def __init__(self, setup: DriverSetup, folder: str | None) -> None:
        self.setup = setup
        self.ready = self.alone = self.failed_by_itself = False
        self.why = ""
        self.sent: dict[tuple[int, int], tuple[Known, Future[Graded]]] = {}
        self.runs: dict[int, int] = {}
        self._known: OrderedDict[tuple[str, str], Known] = OrderedDict()  # by options and problem
        try:
            self.child = Child(MAIN, folder=folder)
        except OSError as error:
            remedy = "raise the limit of processes (ulimit -u)"
            if isinstance(error, (PermissionError, FileNotFoundError)):
                remedy = f"let this user run {sys.executable}"
            raise DriversUnavailable(
                f"--drivers: a driver process cannot be started: {error.strerror or error}; "
                f"{remedy} or give --drivers 1"
            ) from None
        self.calls = Calls(self.child.channel)
        self.tell("setup", setup)

    def tell(self, method: str, *arguments: Any, fd: int | None = None) -> None:
        """Call a method of the driver (`Calls.call`); reading from it then shows if it has died."""
        try:
            self.calls.call(method, *arguments, fd=fd)
        except OSError:
            self.child.kill()

    @property
    def has_room(self) -> bool:
        """Whether it may get another solution."""
        return self.ready and not self.alone and len(self.sent) < room_of(self.setup)

    def reluctance(self, options: KeyedOptions, problem: Problem) -> tuple[bool, bool, float]:
        """Return what orders drivers: the lowest one gets a solution of the problem."""
        knows = (options[0], cache_name(problem)) in self._known
        load, workers = len(self.sent), self.setup.workers
        return load >= workers, not knows, load / workers

    def give(
        self,
        run: int,
        options: KeyedOptions,
        solution_run: SolutionRun,
        resources: ProblemResources,
    ) -> Future[Graded]:
        """Send a solution of a run, with what it needs; return the future of its record."""
        known = self._know(options, solution_run, resources)
        known.users += 1
        number, found = next(numbers), Future[Graded]()
        self.sent[run, number] = known, found
        self.runs.setdefault(run, self.setup.workers)
        s = solution_run
        names = s.language, s.scale, s.key
        self.tell("work", run, number, known.number, s.solution, names)
        return found

    def take_back(self, run: int, number: int) -> Future[Graded]:
        """Return the future of a solution's record; the driver is done with the solution."""
        known, found = self.sent.pop((run, number))
        known.users -= 1
        self.alone = self.alone and bool(self.sent)
        return found

    def fail(self, error: Exception, run: int | None = None) -> None:
        """End the solutions that the driver has, of one run or of all, with an error."""
        for key in [key for key in self.sent if run is None or key[0] == run]:
            self.take_back(*key).set_exception(error)

    def _know(self, options: KeyedOptions, run: SolutionRun, resources: ProblemResources) -> Known:
        """Return the driver's copy of a solution's problem; send it when it has none."""
        name = options[0], cache_name(run.problem)
        known = self._known.get(name)
        if known is None:
            self._forget_unused()
            stored, fd = resources.tests.stored()
            known = self._known[name] = Known(next(numbers), stored.size_bytes)
            given = known.number, options[1], _slim(run.problem), run.test_set, stored
            self.tell("add_problem", *given, fd is not None, fd=fd)
        self._known.move_to_end(name)
        return known

    def _forget_unused(self) -> None:
        size = sum(known.size_bytes for known in self._known.values())
        for name, known in list(self._known.items()):
            if len(self._known) < MOST_KNOWN and size < MOST_KNOWN_BYTES:
                return
            if not known.users:
                del self._known[name]
                size -= known.size_bytes
                self.tell("forget", known.number)

    def end(self, wait_s: float) -> str:
        """End the process unless it ends within `wait_s`; return how it ended."""
        how = self.child.end(wait_s)
        self.failed_by_itself = not self.why and (self.child.status or 0) > 0
        return self.why or how


def room_of(setup: DriverSetup) -> int:
    """Return how many solutions a driver has at most, so that it need not wait for more."""
    return 2 * setup.workers + 2


def _slim(problem: Problem) -> Problem:
    """Return a problem without what no grading needs."""
    if isinstance(problem, InMemoryProblem):
        problem = problem.without_tests()
    return problem if problem.test_kind == "assert" else replace(problem, gold_solutions=())
