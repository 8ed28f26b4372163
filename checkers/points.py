"""Points, whoever gave them, as a share of the full mark.

| points p                    | score                                                  |
|-----------------------------|--------------------------------------------------------|
| the full mark is known: F   | p / F for 0 ≤ p ≤ F                                     |
| unknown: 0 ≤ p ≤ 1          | p                                                      |
| unknown: 1 < p ≤ 100        | p / 100: a percentage                                  |
| anything else, nan, inf     | no score: the checker said nothing usable              |

1 and 100 are both full marks. 0 is a rejection, everything above is accepted with its score.
"""

from __future__ import annotations

import dataclasses
import math

from checkers.model import Check, accept, reject, unclear


def share(points: float, full_points: float | None = None) -> float | None:
    """The share of the full mark, 0.0 … 1.0; None when `points` can't be one."""
    if not math.isfinite(points) or points < 0:
        return None
    if full_points is not None:
        return points / full_points if points <= full_points else None
    if points <= 1:
        return points
    return points / 100 if points <= 100 else None


def judged(points: float, message: str = "", full_points: float | None = None) -> Check:
    """What a number of points says of an output."""
    score = share(points, full_points)
    if score is None:
        top = 100 if full_points is None else full_points
        said = unclear(f"{points:g} points: a score must lie in 0 … {top:g}. {message}".rstrip())
    elif score > 0:
        said = accept(message, score)
    else:
        said = reject(message or "0 points")
    return dataclasses.replace(said, points=points)
