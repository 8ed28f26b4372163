"""The tests and the judge of each problem: opened once, shared, and closed when unused.

info(problem) ──▶ TestSetInfo          digests and counts, kept after the tests are closed
acquire(problem) ──▶ ProblemResources ──▶ release      open while at least one user is left
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from gradebox.checkers.check import Checker, CheckerError
from gradebox.checkers.interactive import Interactor
from gradebox.eval.common.errors import UnusableProblem
from gradebox.eval.problems.chosen_tests import ProblemTests
from gradebox.eval.problems.in_memory import cache_name
from gradebox.eval.problems.problem import Problem, TestRef
from gradebox.sandbox.common.cleanup import Closeable
from gradebox.sandbox.common.lru_cache import LruCache
from gradebox.sandbox.errors import BadRequest

# Space for tests. A problem whose tests are in a file holds a descriptor, for which it counts at
# least IN_FILE_BYTES: at most 128 are in use ahead of time and 32 stay open unused. A problem whose
# tests are in memory counts at least IN_MEMORY_BYTES: 4,096 and 1,024.
IN_USE_BYTES = 1 << 30
UNUSED_BYTES = 256 << 20
IN_FILE_BYTES, IN_MEMORY_BYTES = 8 << 20, 1 << 18
INFO_KEPT = 50_000  # a trainer may grade an endless series of new problems


@dataclass
class ProblemResources(Closeable):
    """The opened tests and judge of one problem.

    judge  of an output that differs from the expected one; None: outputs are compared with those
    users  number of `acquire` calls without a `release`
    """

    problem: Problem
    tests: ProblemTests
    judge: Checker | Interactor | None = None
    users: int = 0

    @property
    def interactor(self) -> Interactor | None:
        """The judge of an interactive problem."""
        return self.judge if isinstance(self.judge, Interactor) else None

    @property
    def checker(self) -> Checker | None:
        """The judge of any other problem."""
        return None if isinstance(self.judge, Interactor) else self.judge

    @property
    def cost_bytes(self) -> int:
        """Bytes that count towards the limits of the cache."""
        least = IN_MEMORY_BYTES if self.tests.in_memory else IN_FILE_BYTES
        return max(least, self.tests.size_bytes)

    def prepare_judge(self) -> None:
        """Compile the judge, once. Raises UnusableProblem with the compiler's messages."""
        judge = self.judge
        if judge is None:
            return
        try:
            judge.prepare()
        except (CheckerError, BadRequest) as e:
            kind = "checker" if self.interactor is None else "interactor"
            raise UnusableProblem(
                f"problem {self.problem.id} is unusable: {kind} {judge.name} {e}"
            ) from None

    def close(self) -> None:
        self.tests.close()


@dataclass(frozen=True)
class TestSetInfo:
    """What the planner needs to know about a problem's tests; small whatever their size.

    number        order in which problems were opened; groups jobs that share tests
    tests         digest of the chosen tests
    checker       digest of the checker or interactor, "" when outputs are only compared
    to_run        number of tests that are not skipped
    input_bytes   their total input size
    skipped_plan  the plan when every test is skipped, else empty
    """

    __test__ = False  # not a pytest class

    number: int = 0
    tests: str = ""
    checker: str = ""
    to_run: int = 0
    input_bytes: int = 0
    num_official: int = 0
    num_generated: int = 0
    num_skipped: int = 0
    skipped_plan: tuple[TestRef, ...] = field(default=(), repr=False)


class ResourceCache(Closeable):
    """Problem resources by problem. Any thread may call any method.

    open_resources  opens the resources of a problem; only one problem is opened at a time
    """

    def __init__(
        self,
        open_resources: Callable[[Problem], ProblemResources],
        *,
        in_use_bytes: int = IN_USE_BYTES,
        unused_bytes: int = UNUSED_BYTES,
    ) -> None:
        self._open_resources = open_resources
        self._in_use_bytes = in_use_bytes
        self._lock = threading.Lock()
        self._opening = threading.Lock()
        self._in_use: dict[str, ProblemResources] = {}
        self._bytes_in_use = 0
        self._unused: LruCache[str, ProblemResources] = LruCache(
            unused_bytes,
            cost=lambda resources: resources.cost_bytes,
            dropped=ProblemResources.close,
        )
        self._info: LruCache[str, TestSetInfo | UnusableProblem] = LruCache(INFO_KEPT)
        self._opened = 0

    def acquire(self, problem: Problem) -> ProblemResources:
        """Return the problem's resources, opened if necessary; call `release` after use.

        Raises InputError, and UnusableProblem for a fault of this problem alone.
        """
        name = cache_name(problem)
        found = self._take(name)
        if found is not None:
            return found
        with self._opening:
            found = self._take(name)
            if found is not None:  # another thread opened it
                return found
            try:
                opened = self._open_resources(problem)
            except UnusableProblem as error:
                self._info.put(name, error)
                raise
            if self._info.get(name) is None:
                self._info.put(name, _info_of(opened, self._opened))
                self._opened += 1
            opened.users = 1
            with self._lock:
                self._begin_use(name, opened)
            return opened

    def release(self, resources: ProblemResources) -> None:
        """End one use. Unused resources stay open until others need their space."""
        name = cache_name(resources.problem)
        with self._lock:
            resources.users -= 1
            if resources.users or self._in_use.pop(name, None) is None:
                return
            self._bytes_in_use -= resources.cost_bytes
            self._unused.put(name, resources)

    def info(self, problem: Problem) -> TestSetInfo:
        """Return what is known of the problem's tests; open them the first time.

        Raises like `acquire`. An unusable problem is opened only once.
        """
        name = cache_name(problem)
        known = self._info.get(name)
        if known is None:
            self.release(self.acquire(problem))
            known = self._info.get(name)
        if isinstance(known, TestSetInfo):
            return known
        raise UnusableProblem(str(known))

    @property
    def is_full(self) -> bool:
        """Whether the resources in use have reached their share of disk space."""
        with self._lock:
            return self._bytes_in_use >= self._in_use_bytes

    def close(self) -> None:
        """Close all resources, even those in use."""
        with self._lock:
            in_use = list(self._in_use.values())
            self._in_use.clear()
            self._bytes_in_use = 0
        for resources in in_use:
            resources.close()
        for resources in self._unused.clear():
            resources.close()

    def _take(self, name: str) -> ProblemResources | None:
        with self._lock:
            found = self._in_use.get(name)
            if found is None:
                found = self._unused.pop(name)
                if found is not None:
                    self._begin_use(name, found)
            if found is not None:
                found.users += 1
            return found

    def _begin_use(self, name: str, resources: ProblemResources) -> None:
        self._in_use[name] = resources
        self._bytes_in_use += resources.cost_bytes


def _info_of(resources: ProblemResources, number: int) -> TestSetInfo:
    plan = resources.tests.plan
    run = [ref for ref in plan if ref.skip is None]
    return TestSetInfo(
        number=number,
        tests=resources.tests.digest,
        checker=resources.judge.digest if resources.judge is not None else "",
        to_run=len(run),
        input_bytes=sum(ref.input_bytes for ref in run),
        num_official=sum(ref.case_type == "official" for ref in plan),
        num_generated=sum(ref.case_type == "generated" for ref in plan),
        num_skipped=len(plan) - len(run),
        skipped_plan=plan if not run else (),
    )
