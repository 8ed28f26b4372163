"""Tests and checkers are opened once while they are used, and only a few stay open."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import pytest

from eval.kits import Kit, KitShelf, UnsupportedTests
from eval.model import Problem, TestCase, TestRef

REFS = (
    TestRef("official", 0, 10),
    TestRef("official", 1, 90, skip="skipped_large_input"),
    TestRef("generated", 7, 5),
)


@dataclass
class FakeTests:
    plan: tuple[TestRef, ...] = REFS
    digest: str = "d"
    closed: int = 0

    def load(self, ref: TestRef) -> TestCase:
        raise AssertionError

    def close(self) -> None:
        self.closed += 1


class Shelf:
    """A shelf and every kit it made."""

    def __init__(self, keep: int = 2, plan: tuple[TestRef, ...] = REFS) -> None:
        self.made: list[Kit] = []
        self.plan = plan
        self.shelf = KitShelf(self._make, keep)

    def _make(self, problem: Problem) -> Kit:
        kit = Kit(problem, FakeTests(self.plan), None)
        self.made.append(kit)
        return kit

    def open_ids(self) -> list[str]:
        return [k.problem.id for k in self.made if not k.tests.closed]


def problem(number: int) -> Problem:
    return Problem(f"{number}/A")


def test_a_kit_is_opened_once_and_shared():
    s = Shelf()
    assert s.shelf.borrow(problem(1)) is s.shelf.borrow(problem(1))
    assert len(s.made) == 1


def test_the_longest_unused_is_closed_when_there_are_too_many():
    s = Shelf(keep=2)
    for number in (1, 2, 1, 3):
        s.shelf.give_back(s.shelf.borrow(problem(number)))
    assert s.open_ids() == ["1/A", "3/A"]


def test_what_is_in_use_stays_open():
    s = Shelf(keep=1)
    used = [s.shelf.borrow(problem(number)) for number in range(4)]
    assert len(s.open_ids()) == 4
    for kit in used:
        s.shelf.give_back(kit)
    assert len(s.open_ids()) == 1


def test_facts_outlive_the_kit():
    s = Shelf(keep=0)
    facts = s.shelf.facts(problem(1))
    assert (facts.to_run, facts.input_bytes, facts.num_skipped) == (2, 15, 1)
    assert (facts.num_official, facts.num_generated, facts.skipped_plan) == (2, 1, ())
    assert s.open_ids() == []
    assert s.shelf.facts(problem(1)) is facts
    assert len(s.made) == 1
    assert s.shelf.facts(problem(2)).number == 1


def test_a_plan_of_which_nothing_runs_is_remembered():
    s = Shelf(plan=REFS[1:2])
    assert s.shelf.facts(problem(1)).skipped_plan == REFS[1:2]


def test_many_threads_open_one_kit():
    s = Shelf()
    start = threading.Barrier(8)
    kits = []

    def borrow() -> None:
        start.wait(timeout=30)
        kits.append(s.shelf.borrow(problem(1)))

    threads = [threading.Thread(target=borrow) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(s.made) == 1
    assert kits[0].users == 8


def test_closing_closes_all():
    s = Shelf()
    s.shelf.borrow(problem(1))
    s.shelf.give_back(s.shelf.borrow(problem(2)))
    s.shelf.close()
    assert s.open_ids() == []


def test_tests_that_cannot_be_judged_are_all_skipped():
    tests = UnsupportedTests(REFS)
    assert {ref.skip for ref in tests.plan} == {"unsupported_interactive"}
    with pytest.raises(LookupError):
        tests.load(REFS[0])
