"""What the user sees while a run goes on: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Literal, TextIO

from eval.model import CaseVerdict
from eval.streams import silence

PLAIN_EVERY_S = 10.0
DRAW_EVERY_S = 0.2
SLOW_S = 3.0
BAR = "{percentage:3.0f}%|{bar:8}| {n_fmt}/{total_fmt} {elapsed}{postfix}"
When = Literal["before", "ran", "at once"]
ORDER = ("AC", "WA", "TLE", "MLE", "RE", "CE", "OLE", "CU", "ER")


class Tally:
    """Counts of a run, filled from any thread.

    statuses, verdicts  of solutions; cases: verdicts of cases graded in this run
    before              solutions whose record was there already
    ran                 solutions that had to run for theirs
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.statuses: Counter[str] = Counter()
        self.verdicts: Counter[str] = Counter()
        self.cases: Counter[str] = Counter()
        self.solutions = 0
        self.before = 0
        self.ran = 0

    def solution(self, status: str, verdict: str | None, when: When) -> None:
        """Counts a solution that has its record: from before, by running, or at once."""
        with self._lock:
            self.solutions += 1
            self.before += when == "before"
            self.ran += when == "ran"
            self.statuses[status] += 1
            if status in ("passed", "failed", "error"):
                self.verdicts[verdict or "no code"] += 1
            else:
                self.verdicts["uncounted"] += 1

    def case(self, verdict: CaseVerdict) -> None:
        """Counts a case that was graded."""
        with self._lock:
            self.cases[verdict] += 1

    def counts(self) -> str:
        """Verdicts of the solutions so far, such as `AC 12 WA 3 TLE 1`."""
        with self._lock:
            found = dict(self.verdicts)
        known = [f"{v} {found.pop(v)}" for v in ORDER if v in found]
        return " ".join([*known, *(f"{v} {n}" for v, n in sorted(found.items()))])


class Progress:
    """Shows a tally as it fills; call `tick` often and `close` at the end.

    total    solutions there will be, None when unknown
    slowest  gives (name, seconds) of the solution that has been at work longest
    """

    def __init__(
        self,
        tally: Tally,
        total: int | None,
        slowest: Callable[[], tuple[str, float] | None] = lambda: None,
        stream: TextIO | None = None,
    ) -> None:
        self._tally = tally
        self._total = total
        self._slowest = slowest
        self._stream = stream or sys.stderr
        self._bar = self._open_bar() if self._stream.isatty() else None
        self._next_draw = 0.0
        self._next_line = time.monotonic() + PLAIN_EVERY_S
        self._started = time.monotonic()

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
        """Brings what is shown up to date, at most as often as is of use."""
        with self._surviving():
            self._tick()

    @contextlib.contextmanager
    def _surviving(self) -> Iterator[None]:
        """A stream that broke, such as a closed terminal, is not written to any more."""
        try:
            yield
        except (OSError, ValueError):
            silence(self._stream)

    def _tick(self) -> None:
        if self._bar is not None:
            self._draw()
        elif time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + PLAIN_EVERY_S
            self._line()

    def _draw(self) -> None:
        bar: Any = self._bar
        cases = sum(self._tally.cases.values())
        parts = [self._tally.counts(), f"{cases} cases"]
        left_s = self._left_s()
        if left_s is not None:
            parts.insert(0, f"{_duration(left_s)} left")
        slow = self._slowest()
        if slow is not None and slow[1] >= SLOW_S:
            parts.append(f"{slow[0]} for {slow[1]:.0f} s")
        bar.n = self._tally.solutions
        bar.set_postfix_str(" · ".join(parts), refresh=False)
        if time.monotonic() >= self._next_draw:
            self._next_draw = time.monotonic() + DRAW_EVERY_S
            bar.refresh()

    def _left_s(self) -> float | None:
        """Seconds to go, judged by the solutions that had to run so far."""
        left = (self._total or 0) - self._tally.solutions
        if left <= 0 or not self._tally.ran:
            return None
        return (time.monotonic() - self._started) / self._tally.ran * left

    def _line(self) -> None:
        done, total = self._tally.solutions, self._total
        share = f"{done}/{total}" if total else f"{done}"
        text = f"{share} solutions, {sum(self._tally.cases.values())} cases"
        left_s = self._left_s()
        if left_s is not None:
            text += f", about {_duration(left_s)} left"
        slow = self._slowest()
        if slow is not None and slow[1] >= PLAIN_EVERY_S:
            text += f", at work on {slow[0]} for {slow[1]:.0f} s"
        print(f"{text}: {self._tally.counts()}", file=self._stream, flush=True)

    def close(self) -> None:
        """Shows the last state."""
        with self._surviving():
            self._close()

    def _close(self) -> None:
        if self._bar is not None:
            bar: Any = self._bar
            self._next_draw = 0.0
            self._draw()
            bar.close()
        elif self._tally.solutions > self._tally.before:
            self._line()


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
