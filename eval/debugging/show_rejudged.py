"""What is said while and after cases are graded again."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

from eval.debugging.rejudge import Rejudged
from eval.debugging.screen import Row, Span, cut, row

EVERY_S = 2.0
SKIPPED_SHOWN = 5


class Ticker:
    """Says on stderr, every few seconds, how far it is."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._said = time.monotonic()

    def __call__(self, told: Rejudged) -> None:
        if time.monotonic() - self._said < EVERY_S:
            return
        self._said = time.monotonic()
        print(f"{told.solutions}/{self._total} solutions", file=sys.stderr, flush=True)


def summary(told: Rejudged, chosen: int, width: int) -> Iterator[Row]:
    """What changed, a few lines."""
    yield row(
        Span(f"{told.solutions} of {_many(chosen, 'solution')} graded again", "head"),
        f"; {_many(told.from_stored, 'case')} judged by the stored output",
    )
    for (then, now), count in sorted(told.changed.items()):
        yield row(f"  {_many(count, 'case')} {then} before, {now} now")
    if not told.changed:
        yield row("  no verdict of a case changed")
    for (then, now), count in sorted(told.statuses.items()):
        if then != now:
            yield row(f"  {_many(count, 'solution')} {then} before, {now} now")
    for text in told.skipped[:SKIPPED_SHOWN]:
        yield row(cut(f"  left out: {text}", width))
    if told.metrics is not None:
        yield row(f"  pass@1 {_share(told.metrics.get('pass_at_1'))} now")
    elif told.solutions:
        yield row("  the run has not ended: start it again for its metrics")
    if told.interrupted:
        yield row(Span("  interrupted: the same command goes on with the rest", "warn"))


def _many(count: int, what: str) -> str:
    return f"{count} {what}" + "s" * (count != 1)


def _share(value: object) -> str:
    return f"{value:.4f}" if isinstance(value, float) else "unknown"
