"""How much of their limits solutions used: counts for two plots.

    record… ─▶ {"time": [[share_from, share_to, passed, failed]…], "memory": […]}

A solution counts once, by its slowest case and by its largest. Steps are finer near the limit,
where a verdict is decided, and near zero, where most programs are.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from typing import Any

from eval.report_parts.rows import largest
from eval.statistics.tally import COUNTED

EDGES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0, 1.25)
_MEASURES = {"time": ("cpu_s", "time_limit_s"), "memory": ("memory_bytes", "memory_limit_bytes")}


class LimitsUse:
    """Counters filled record by record."""

    def __init__(self) -> None:
        self._counts = {name: [[0, 0] for _ in range(len(EDGES) + 1)] for name in _MEASURES}

    def add(self, record: Mapping[str, Any]) -> None:
        """Count one solution if it counts at all and has measurements and limits."""
        if record["status"] not in COUNTED:
            return
        for name, (used_name, limit_name) in _MEASURES.items():
            used = largest(record.get("details") or (), used_name)
            limit = record.get(limit_name)
            if used is not None and limit:
                place = bisect_left(EDGES, used / limit)
                self._counts[name][place][record["status"] != "passed"] += 1

    def result(self) -> dict[str, list[list[float | None]]]:
        """Steps from 0 up; the last has no upper end."""
        steps = list(zip((0.0, *EDGES), (*EDGES, None), strict=True))
        return {
            name: [[low, high, *count] for (low, high), count in zip(steps, counts, strict=True)]
            for name, counts in self._counts.items()
        }
