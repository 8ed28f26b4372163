"""Show the progress of a run: a bar on a terminal, occasional lines elsewhere."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, TextIO

from gradebox.eval.common.streams import silence
from gradebox.eval.grading.planner import ProgressCounts

LINE_EVERY_S = 10.0
DRAW_EVERY_S = 0.2
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
        self._stream = stream or sys.stderr
        self._bar: Any = self._open_bar() if self._stream.isatty() else None
        self._started = time.monotonic()
        self._next_update = self._started + (0.0 if self._bar is not None else LINE_EVERY_S)

    def _open_bar(self) -> object:
        from tqdm import tqdm

        return tqdm(
            total=self._total,
            unit="sol",
            file=self._stream,
            dynamic_ncols=True,
            mininterval=0.1,
            bar_format=BAR if self._total else None,
        )

    def tick(self) -> None:
        """Update the display when it is due."""
        now = time.monotonic()
        if now < self._next_update:
            return
        self._next_update = now + (DRAW_EVERY_S if self._bar is not None else LINE_EVERY_S)
        with self._ignoring_stream_errors():
            self._draw()

    def close(self) -> None:
        """Show the final counts."""
        with self._ignoring_stream_errors():
            if self._bar is not None or self._counts.solutions > self._counts.reused:
                self._draw()
            if self._bar is not None:
                self._bar.close()

    @contextlib.contextmanager
    def _ignoring_stream_errors(self) -> Iterator[None]:
        """Stop writing to a stream that fails, such as a closed terminal."""
        try:
            yield
        except (OSError, ValueError):
            silence(self._stream)

    def _draw(self) -> None:
        counts, slow = self._counts, self._slowest()
        cases = f"{sum(counts.cases.values())} cases"
        left = self._remaining()
        if self._bar is not None:
            parts = [left, counts.text(), cases]
            if slow is not None and slow[1] >= SLOW_S:
                parts.append(f"{slow[0]} for {slow[1]:.0f} s")
            self._bar.n = counts.solutions
            self._bar.set_postfix_str(" · ".join(filter(None, parts)))
            return
        done = f"{counts.solutions}/{self._total}" if self._total else f"{counts.solutions}"
        parts = [f"{done} solutions", cases, left and f"about {left}"]
        if slow is not None and slow[1] >= LINE_EVERY_S:
            parts.append(f"running {slow[0]} for {slow[1]:.0f} s")
        line = ", ".join(filter(None, parts))
        print(f"{line}: {counts.text()}", file=self._stream, flush=True)

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
        if seconds < 5400:
            return f"{seconds / 60:.0f} min left"
        return f"{seconds / 3600:.1f} h left"
