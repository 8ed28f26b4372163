"""The estimate of the time left, on runs whose true times are known."""

from __future__ import annotations

import random

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


def test_several_workers_are_seen_in_the_elapsed_time():
    left = TimeLeft()
    for _ in range(10):
        left.add(5)
    for _ in range(5):
        left.finish(5)
    assert left.seconds(2.5, 5) == pytest.approx(2.5)  # four at once


def test_solutions_that_were_not_read_yet_count_as_average_ones():
    left = TimeLeft()
    left.add(1)
    left.add(3)
    left.finish(1)
    assert left.seconds(1.0, 1 + 8) == pytest.approx(3.0 + 8 * 2.0)
    left.all_added = True  # the others wait for the record of a program like theirs
    assert left.seconds(1.0, 1 + 8) == pytest.approx(3.0)


def simulated(seed: int, share: float) -> tuple[float, float]:
    """Return (estimate, truth) after a share of a run's time, on one worker.

    Problems have time limits of 1 to 10 s and 5 to 100 cases, most of which take some per cent of
    the limit; a tenth of the solutions use the whole limit and end at their first failure.
    """
    rng = random.Random(seed)
    left, jobs = TimeLeft(), []
    for _ in range(60):
        limit_s, cases = rng.uniform(1, 10), rng.randint(5, 100)
        typical = rng.uniform(0.001, 0.05)
        for _ in range(20):
            slow = rng.random() < 0.1
            true_s = 1.25 * limit_s if slow else cases * limit_s * typical * rng.uniform(0.5, 1.5)
            jobs.append((limit_s * cases, true_s))
    rng.shuffle(jobs)
    jobs.sort(key=lambda job: -job[0])  # as the scheduler does
    for cost, _ in jobs:
        left.add(cost)
    total_s = sum(job[-1] for job in jobs)
    elapsed_s, done = 0.0, 0
    for cost, true_s in jobs:
        done += 1
        elapsed_s += true_s
        left.finish(cost)
        if elapsed_s >= share * total_s:
            break
    estimate = left.seconds(elapsed_s, len(jobs) - done)
    assert estimate is not None
    return estimate, total_s - elapsed_s


@pytest.mark.parametrize("share", [0.1, 0.3, 0.6])
def test_the_estimate_is_right_although_the_longest_solutions_come_first(share):
    ratios = sorted(e / truth for e, truth in (simulated(seed, share) for seed in range(20)))
    assert ratios[0] > 0.4
    assert ratios[-1] < 2.0
    assert 0.75 < ratios[len(ratios) // 2] < 1.3
