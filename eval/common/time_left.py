"""Estimate how long a run will still take, from the solutions that it has finished.

Solutions start in the order of their expected time, longest first, and the expectation is a
limit: most cases end long before it. So the pace of the first solutions says little about the
rest. A waiting solution is expected to take as long as finished ones of its problem; without any,
the part of its expected time that the solutions finished last took: theirs was nearest to its own.
"""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass

FADING = 0.98  # the last 50 solutions or so count


@dataclass
class _Finished:
    solutions: int = 0
    busy_s: float = 0.0


class TimeLeft:
    """Any thread may call any method.

    all_added  no further call of `add` follows
    """

    all_added = False

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: Counter[str] = Counter()  # solutions by problem, running ones included
        self._cost: dict[str, float] = {}
        self._finished: dict[str, _Finished] = {}
        self._all = _Finished()
        self._recent_s = self._recent_cost = 0.0

    def add(self, problem_id: str, cost: float) -> None:
        """Count a solution that will be run; `cost` is the time it may take (`Job.cost`)."""
        with self._lock:
            self._waiting[problem_id] += 1
            self._cost[problem_id] = cost

    def finish(self, problem_id: str, busy_s: float) -> None:
        """Count a solution that was run; busy_s is the time that its compilation and cases took."""
        with self._lock:
            self._waiting[problem_id] -= 1
            self._recent_s = self._recent_s * FADING + busy_s
            self._recent_cost = self._recent_cost * FADING + self._cost.get(problem_id, 0.0)
            for known in (self._finished.setdefault(problem_id, _Finished()), self._all):
                known.solutions += 1
                known.busy_s += busy_s

    def seconds(self, elapsed_s: float, solutions_left: int) -> float | None:
        """Return the time left, None when nothing is known.

        elapsed_s       time since the start of the run
        solutions_left  solutions without a record; until all are added, others are expected to
                        take as long as the average one that was
        """
        with self._lock:
            if not self._all.solutions or self._all.busy_s <= 0:
                return None
            waiting = [(name, n) for name, n in self._waiting.items() if n > 0]
            expected_s = sum(n * self._expected_s(name) for name, n in waiting)
            known = sum(n for _, n in waiting)
            mean_s = (expected_s + self._all.busy_s) / (known + self._all.solutions)
            if not self.all_added:
                expected_s += max(0, solutions_left - known) * mean_s
            return elapsed_s * expected_s / self._all.busy_s

    def _expected_s(self, problem_id: str) -> float:
        known = self._finished.get(problem_id)
        if known is not None:
            return known.busy_s / known.solutions
        if not self._recent_cost:
            return self._all.busy_s / self._all.solutions
        return self._recent_s / self._recent_cost * self._cost[problem_id]
