"""The estimate of the time left, on runs whose true times are known."""

import pytest

from gradebox.eval.grading.planner import TimeLeft


def test_nothing_is_known_before_a_solution_has_finished():
    left = TimeLeft()
    assert left.seconds(5.0, 10) is None
    left.add(10)
    assert left.seconds(5.0, 10) is None


def test_equal_solutions_take_equal_time():
    left = TimeLeft()
    for _ in range(10):
        left.add(5)
    for _ in range(4):
        left.finish(5)
    assert left.seconds(8.0, 6) == pytest.approx(12.0)


def test_solutions_that_were_not_read_yet_count_as_average_ones():
    left = TimeLeft()
    left.add(1)
    left.add(3)
    left.finish(1)
    assert left.seconds(1.0, 1 + 8) == pytest.approx(3.0 + 8 * 2.0)
    left.all_added = True  # the others wait for the record of a program like theirs
    assert left.seconds(1.0, 1 + 8) == pytest.approx(3.0)
