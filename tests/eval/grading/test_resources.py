"""Tests and checkers are opened once while they are used, and only some stay open afterwards."""

import threading

import pytest

from gradebox.eval.common.errors import UnusableProblem
from gradebox.eval.grading.resources import IN_MEMORY_BYTES, ProblemResources, ResourceCache
from gradebox.eval.problems.chosen_tests import ProblemTests, unsupported_tests
from gradebox.eval.problems.in_memory import InMemoryProblem
from gradebox.eval.problems.problem import Problem, TestCase, TestRef

REFS = (
    TestRef("official", 0, 10),
    TestRef("official", 1, 90, skip="skipped_large_input"),
    TestRef("generated", 7, 5),
)


class Cache:
    """A resource cache with room for some unused problems, and all resources it opened."""

    def __init__(self, unused: int = 2, in_use: int = 9, plan: tuple[TestRef, ...] = REFS) -> None:
        self.opened: list[ProblemResources] = []
        self.plan = plan
        self.cache = ResourceCache(
            self._open, unused_bytes=unused * IN_MEMORY_BYTES, in_use_bytes=in_use * IN_MEMORY_BYTES
        )

    def _open(self, problem: Problem) -> ProblemResources:
        tests = ProblemTests(problem.id, self.plan)
        for ref in self.plan:
            if ref.skip is None:
                tests.add([TestCase(ref.case_type, ref.index, b"x" * ref.input_bytes, b"")])
        tests.finish()
        self.opened.append(ProblemResources(problem, tests))
        return self.opened[-1]

    def acquire(self, number: int) -> ProblemResources:
        return self.cache.acquire(problem(number))

    def use(self, number: int) -> None:
        self.cache.release(self.acquire(number))

    def open_ids(self) -> list[str]:
        return [r.problem.id for r in self.opened if not r.tests.closed]


def problem(number: int) -> Problem:
    return Problem(f"{number}/A")


def test_a_problem_is_opened_once_and_shared():
    c = Cache()
    assert c.acquire(1) is c.acquire(1)
    assert len(c.opened) == 1


def test_the_least_recently_used_problem_is_closed():
    c = Cache(unused=2)
    for number in (1, 2, 1, 3):
        c.use(number)
    assert c.open_ids() == ["1/A", "3/A"]


def test_problems_in_use_stay_open_and_fill_the_cache():
    c = Cache(unused=1, in_use=3)
    used = [c.acquire(number) for number in range(3)]
    assert len(c.open_ids()) == 3
    assert c.cache.is_full
    for resources in used:
        c.cache.release(resources)
    assert len(c.open_ids()) == 1
    assert not c.cache.is_full


def test_an_unusable_problem_is_opened_once():
    attempts = []

    def fail(problem: Problem) -> ProblemResources:
        attempts.append(problem.id)
        raise UnusableProblem("no such checker")

    cache = ResourceCache(fail)
    for _ in range(3):
        with pytest.raises(UnusableProblem, match="no such checker"):
            cache.info(problem(1))
    assert attempts == ["1/A"]


def test_many_threads_open_a_problem_once():
    c = Cache()
    start = threading.Barrier(8)
    found = []

    def acquire() -> None:
        start.wait(timeout=150)
        found.append(c.acquire(1))

    threads = [threading.Thread(target=acquire) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(c.opened) == 1
    assert found[0].users == 8


def test_closing_the_cache_closes_everything():
    c = Cache()
    c.acquire(1)
    c.use(2)
    c.cache.close()
    assert c.open_ids() == []


def test_the_tests_of_an_unsupported_problem_are_all_skipped():
    talk = InMemoryProblem("1/A", tests=((b"1", b""), (b"22", b"")))
    with unsupported_tests(talk, talk) as tests:
        assert [ref.input_bytes for ref in tests.plan] == [1, 2]
        assert {ref.skip for ref in tests.plan} == {"unsupported_interactive"}
        assert tests.digest == "unsupported 2"
        with pytest.raises(KeyError):
            tests.load(tests.plan[0])
