"""What grading a problem needs, opened once and shared: its chosen tests and its checker.

borrow ──▶ Kit(tests, checker) ──▶ give_back     open while anybody uses it, then kept
                                                among the last few used
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Protocol

from checkers.interactors import Interactor
from checkers.protocol import Checker
from eval.model import Problem, TestCase, TestRef

KEPT_OPEN = 8
FACTS_KEPT = 50_000  # a trainer may see ever new problems


class Tests(Protocol):
    """The chosen tests of one problem (`eval.test_store.ProblemTests`)."""

    @property
    def plan(self) -> tuple[TestRef, ...]: ...

    @property
    def digest(self) -> str: ...

    def load(self, ref: TestRef) -> TestCase: ...

    def close(self) -> None: ...


class UnsupportedTests:
    """Stands in for the tests of a problem that can't be judged here: all are skipped."""

    def __init__(self, plan: Iterable[TestRef]) -> None:
        self.plan = tuple(replace(ref, skip="unsupported_interactive") for ref in plan)
        self.digest = f"unsupported {len(self.plan)}"

    def load(self, ref: TestRef) -> TestCase:
        raise LookupError(f"{ref.case_type} test {ref.index} is not to be run")

    def close(self) -> None:
        pass


@dataclass
class Kit:
    """Tests and checker of one problem. `checker` None: outputs are compared.

    hashes  SHA-256 of the inputs that were run so far
    users   borrowers that have not given it back
    """

    problem: Problem
    tests: Tests
    checker: Checker | None
    interactor: Interactor | None = None
    hashes: dict[tuple[str, int], str] = field(default_factory=dict)
    users: int = 0

    @property
    def judge_digest(self) -> str:
        """Digest of what judges beside the comparison, "" when nothing does."""
        judge = self.interactor or self.checker
        return judge.digest if judge is not None else ""

    def close(self) -> None:
        self.tests.close()
        for judge in (self.checker, self.interactor):
            if judge is not None:
                judge.close()


@dataclass(frozen=True)
class KitFacts:
    """What is remembered of every kit ever opened: small, whatever the tests' size.

    to_run      tests that are not skipped
    input_bytes of those
    """

    number: int
    tests: str
    checker: str
    to_run: int
    input_bytes: int
    num_official: int
    num_generated: int
    num_skipped: int
    skipped_plan: tuple[TestRef, ...] = field(default=(), repr=False)


class KitShelf:
    """Opens kits with `make`, one at a time, and closes the ones longest unused."""

    def __init__(
        self,
        make: Callable[[Problem], Kit],
        keep: int = KEPT_OPEN,
        name: Callable[[Problem], str] = lambda problem: problem.id,
    ) -> None:
        """name: what tells problems apart, where two of one id may differ."""
        self._make = make
        self._keep = keep
        self._name = name
        self._lock = threading.Lock()
        self._opening = threading.Lock()
        self._kits: OrderedDict[str, Kit] = OrderedDict()
        self._facts: dict[str, KitFacts] = {}
        self._opened = 0

    def borrow(self, problem: Problem) -> Kit:
        """The problem's kit, opened when it is not; hand it back with `give_back`."""
        name = self._name(problem)
        kit = self._take(name)
        if kit is not None:
            return kit
        with self._opening:
            kit = self._take(name)
            if kit is None:
                kit = self._make(problem)
                kit.users = 1
                with self._lock:
                    self._kits[name] = kit
            if name not in self._facts:
                self._facts[name] = _facts_of(kit, self._opened)
                self._opened += 1
                if len(self._facts) > FACTS_KEPT:
                    del self._facts[next(iter(self._facts))]
        return kit

    def give_back(self, kit: Kit) -> None:
        """Ends a use; a kit nobody uses may be closed any time after."""
        with self._lock:
            kit.users -= 1
            unused = [i for i, k in self._kits.items() if k.users == 0]
            closing = [self._kits.pop(i) for i in unused[: max(0, len(self._kits) - self._keep)]]
        for old in closing:
            old.close()

    def facts(self, problem: Problem) -> KitFacts:
        """What is known of the problem's kit; opens it the first time."""
        name = self._name(problem)
        known = self._facts.get(name)
        if known is None:
            self.give_back(self.borrow(problem))
            known = self._facts[name]
        return known

    def close(self) -> None:
        """Closes every kit, used or not."""
        with self._lock:
            kits = list(self._kits.values())
            self._kits.clear()
        for kit in kits:
            kit.close()

    def _take(self, name: str) -> Kit | None:
        with self._lock:
            kit = self._kits.get(name)
            if kit is not None:
                kit.users += 1
                self._kits.move_to_end(name)
            return kit


def _facts_of(kit: Kit, number: int) -> KitFacts:
    plan = kit.tests.plan
    run = [ref for ref in plan if ref.skip is None]
    return KitFacts(
        number=number,
        tests=kit.tests.digest,
        checker=kit.judge_digest,
        to_run=len(run),
        input_bytes=sum(ref.input_bytes for ref in run),
        num_official=sum(ref.case_type == "official" for ref in plan),
        num_generated=sum(ref.case_type == "generated" for ref in plan),
        num_skipped=len(plan) - len(run),
        skipped_plan=tuple(plan) if not run else (),
    )
