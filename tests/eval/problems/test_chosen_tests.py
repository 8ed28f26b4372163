"""The tests of one problem while it is graded: plan, digest, loading, disk errors."""

import errno
import os
import tempfile
from collections.abc import Iterator
from typing import Any

import pytest

from gradebox.eval.common.errors import InputError
from gradebox.eval.problems.chosen_tests import ProblemTests, open_tests
from gradebox.eval.problems.problem import Problem, TestCase, TestRef
from gradebox.eval.problems.selection import TestSelection

Pairs = list[tuple[bytes, bytes]]


class Tests:
    """Official and generated tests in memory; records which generated tests are read."""

    __test__ = False

    def __init__(self, official: Pairs, generated: Pairs | None = None) -> None:
        self.official = official
        self.generated = generated or []
        self.read_numbers: list[int] = []

    def official_sizes(self, problem_id: str) -> list[int]:
        return [len(given) for given, _ in self.official]

    def official_tests(self, problem_id: str) -> Iterator[TestCase]:
        for i, (given_input, expected) in enumerate(self.official):
            yield TestCase("official", i, given_input, expected)

    def refs(self, problem: Problem) -> list[TestRef]:
        return [TestRef("generated", i, len(pair[0])) for i, pair in enumerate(self.generated)]

    def read(self, problem: Problem, wanted: set[int]) -> Iterator[TestCase]:
        for i in sorted(wanted):
            self.read_numbers.append(i)
            yield TestCase("generated", i, *self.generated[i])


def opened(tests: Tests, choice: TestSelection | None = None) -> ProblemTests:
    return open_tests(tests, tests, Problem("1/A"), choice or TestSelection(-1))


SMALL = Tests([(b"1", b"a"), (b"22", b"b")], [(b"333", b"c"), (b"", b"")])
LARGE = Tests(
    [(b"x" * 3_000_000, b"large"), (b"1", b"")],
    [(bytes([65 + i]) * 400_000, b"%d" % i) for i in range(6)],
)


@pytest.mark.parametrize("tests", [SMALL, LARGE], ids=["small", "large"])
def test_every_test_is_loaded_unchanged(tests):
    with opened(tests) as found:
        assert [(r.case_type, r.index) for r in found.plan] == [
            *(("official", i) for i in range(len(tests.official))),
            *(("generated", i) for i in range(len(tests.generated))),
        ]
        pairs = [*tests.official, *tests.generated]
        for ref, (given_input, expected) in reversed(list(zip(found.plan, pairs, strict=True))):
            assert found.load(ref) == TestCase(ref.case_type, ref.index, given_input, expected)


def test_generated_tests_are_not_read_unless_requested():
    tests = Tests([(b"1", b"a")], [(b"2", b"b")])
    with opened(tests, TestSelection(0)) as found:
        assert [ref.case_type for ref in found.plan] == ["official"]
    with open_tests(tests, None, Problem("1/A"), TestSelection(-1)) as found:
        assert [ref.case_type for ref in found.plan] == ["official"]
    assert tests.read_numbers == []


def test_skipped_tests_are_not_read_and_cannot_be_loaded():
    tests = Tests([(b"1", b"a")], [(b"22", b"b"), (b"4444", b"c"), (b"1", b"d")])
    with opened(tests, TestSelection(-1, skip_over=3)) as found:
        assert [ref.skip for ref in found.plan] == [None, None, "skipped_large_input", None]
        with pytest.raises(KeyError):
            found.load(found.plan[2])
    assert tests.read_numbers == [0, 2]


def test_the_digest_depends_on_order_skips_outputs_and_the_end_of_the_input() -> None:
    digests = {
        opened(tests, choice).digest
        for tests, choice in (
            (Tests([], [(b"1", b"2"), (b"33", b"4")]), TestSelection(-1)),
            (Tests([], [(b"1", b"2"), (b"33", b"4")]), TestSelection(-1, sort="large_first")),
            (Tests([], [(b"1", b"2"), (b"33", b"4")]), TestSelection(-1, skip_over=1)),
            (Tests([], [(b"1", b"2"), (b"33", b"4")]), TestSelection(-1, budget=1)),
            (Tests([], [(b"1", b"2"), (b"33", b"4")]), TestSelection(1)),
            (Tests([], [(b"12", b""), (b"33", b"4")]), TestSelection(-1)),
            (Tests([], [(b"1", b"3"), (b"33", b"4")]), TestSelection(-1)),
            (Tests([(b"1", b"2")], [(b"33", b"4")]), TestSelection(-1)),
        )
    }
    assert len(digests) == 8


def test_closed_tests_cannot_be_loaded():
    for tests in (SMALL, LARGE):
        found = opened(tests)
        found.close()
        found.close()
        with pytest.raises(ValueError, match="the tests of 1/A are closed"):
            found.load(found.plan[0])


@pytest.mark.parametrize(
    ("number", "why"),
    [(errno.ENOSPC, "is full: "), (errno.EACCES, r"fails \(Permission denied\): ")],
)
def test_a_folder_without_room_is_reported(monkeypatch, number, why):
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    monkeypatch.setattr(tempfile, "gettempdir", lambda: "/scratch")
    with pytest.raises(InputError, match=f"temporary files, /scratch, {why}.*set TMPDIR"):
        opened(LARGE)


def test_tests_that_change_after_planning_are_reported():
    class Changing(Tests):
        def official_tests(self, problem_id: str) -> Iterator[TestCase]:
            yield TestCase("official", 0, b"other", b"a")

    with pytest.raises(InputError, match="1/A: official test 0 changed while it was read: start"):
        opened(Changing([(b"1", b"a")]))


def test_a_repeated_test_number_is_reported():
    class Twice(Tests):
        def official_tests(self, problem_id: str) -> Iterator[TestCase]:
            yield TestCase("official", 0, b"1", b"a")
            yield TestCase("official", 0, b"1", b"a")

    with pytest.raises(InputError, match="1/A has two official tests of number 0"):
        opened(Twice([(b"1", b"a")]))
