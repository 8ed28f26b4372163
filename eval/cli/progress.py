"""The progress of a grading run, as `ProgressDisplay` shows it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TextIO

from gradebox.eval.common.progress import ProgressDisplay
from gradebox.eval.grading.planner import ProgressCounts

LINE_EVERY_S = 10.0
SLOW_S = 3.0
BAR = "{percentage:3.0f}%|{bar:8}| {n_fmt}/{total_fmt} {elapsed}{postfix}"


class Progress:
    """Show the counts of a run. Call `tick` often and `close` at the end.

    total    number of solutions, None when unknown
    slowest  returns (name, seconds) of the solution that has been running longest
    """

    def __init__(
        self,
        counts: ProgressCounts,
        total: int | None,
        slowest: Callable[[], tuple[str, float] | None] = lambda: None,
        stream: TextIO | None = None,
    ) -> None:
        self._counts = counts
        self._total = total
        self._slowest = slowest
        self._started = time.monotonic()
        how: Any = {"stream": stream, "line_every_s": LINE_EVERY_S, "bar_format": BAR}
        self._display = ProgressDisplay(total, "sol", lambda: counts.solutions, self._text, **how)
        self.tick = self._display.tick

    def close(self) -> None:
        """Show the final counts."""
        self._display.close(last_line=self._counts.solutions > self._counts.reused)

    def _text(self, as_line: bool) -> str:
        counts, slow, left = self._counts, self._slowest(), self._remaining()
        cases = f"{sum(counts.cases.values())} cases"
        if not as_line:
            is_slow = slow is not None and slow[1] >= SLOW_S
            parts = [
                left,
                counts.text(),
                cases,
                is_slow and slow and f"{slow[0]} for {slow[1]:.0f} s",
            ]
            return " · ".join(part for part in parts if part)
        done = f"{counts.solutions}/{self._total}" if self._total else f"{counts.solutions}"
        parts = [f"{done} solutions", cases, left and f"about {left}"]
        if slow is not None and slow[1] >= LINE_EVERY_S:
            parts.append(f"running {slow[0]} for {slow[1]:.0f} s")
        return f"{', '.join(part for part in parts if part)}: {counts.text()}"

    def _remaining(self) -> str:
        """Return the estimated time left; "" when it is unknown."""
        solutions = (self._total or 0) - self._counts.solutions
        if solutions <= 0:
            return ""
        seconds = self._counts.left.seconds(time.monotonic() - self._started, solutions)
        if seconds is None:
            return ""
        if seconds < 90:
            return f"{seconds:.0f} s left"
        return f"{seconds / 60:.0f} min left" if seconds < 5400 else f"{seconds / 3600:.1f} h left"
