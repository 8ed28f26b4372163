"""The points of tests, groups and problems, from the records of cases.

a test     a score 0 … 1, from the checker, the manager, or a comparison
a group    its share 0 … 1 by its rule (`RULES`), times its points; 0 where a group that it
           needs has not full marks
a problem  the sum over the groups that are in no other; of several solutions, the sum of the
           best of each
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from gradebox.eval.problems.problem import GroupRule, Problem
from gradebox.eval.results.record import CaseRecord, SubtaskPoints

Weighed = Sequence[tuple[float, float]]  # (share, weight) of each test and inner group


def _weighted(parts: Weighed) -> float:
    whole = sum(weight for _, weight in parts)
    if not whole:
        return _mean(parts)
    return sum(share * weight for share, weight in parts) / whole


def _mean(parts: Weighed) -> float:
    return sum(share for share, _ in parts) / len(parts)


RULES: Mapping[GroupRule, Callable[[Weighed], float]] = {
    "min": lambda parts: min(share for share, _ in parts),
    "max": lambda parts: max(share for share, _ in parts),
    "avg": _mean,
    "sum": _weighted,
    "all": lambda parts: float(all(share >= 1 for share, _ in parts)),
}


def subtask_points(problem: Problem, cases: Sequence[CaseRecord]) -> tuple[SubtaskPoints, ...]:
    """Return the points of each group in no other; a test that was not judged scores 0."""
    scores = {c.test_case_i: c.score or 0.0 for c in cases if c.case_type == "official"}
    shares: dict[str, float] = {}
    points: dict[str, float] = {}
    found, inner = [], {name for group in problem.subtasks for name in group.groups}
    for group in problem.subtasks:
        weights = [problem.info_of("official", i).points for i in group.tests]
        usual = 0.0 if any(weight is not None for weight in weights) else 1.0
        tests = zip(group.tests, weights, strict=True)
        parts = [(scores.get(i, 0.0), usual if w is None else w) for i, w in tests]
        parts += [(shares[name], points[name]) for name in group.groups]
        share = RULES[group.rule](parts) if parts else float(not group.points)
        if any(shares[name] < 1 for name in group.needs):
            share = 0.0
        if group.digits is not None:
            share = round(share, group.digits)
        shares[group.name], points[group.name] = share, group.points
        if group.name not in inner:
            found.append(SubtaskPoints(group.name, round(share * group.points, 6), group.points))
    return tuple(found)
