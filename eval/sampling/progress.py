"""How far a run is: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import contextlib
import logging
import sys
import time

from eval.sampling.model import Outcome
from sandbox.closing import Closing

log = logging.getLogger("gradebox.sampling")

LINE_EVERY_S = 30.0


class Progress(Closing):
    """Counts outcomes, failures and tokens, and shows them on stderr."""

    def __init__(self, total: int | None, label: str) -> None:
        self.answered = 0
        self.failed = 0
        self.tokens_in = 0
        self.tokens_out = 0
        self._total = total
        self._label = label
        self._last_line = time.monotonic()
        self._bar = None
        self._stack = contextlib.ExitStack()
        if sys.stderr.isatty():
            from tqdm import tqdm
            from tqdm.contrib.logging import logging_redirect_tqdm

            # Log lines are put above the bar instead of into it.
            self._stack.enter_context(logging_redirect_tqdm())
            self._bar = tqdm(total=total, desc=label, unit="call")

    def add(self, outcome: Outcome) -> None:
        """Counts one outcome and shows where the run is."""
        if outcome.failure is not None:
            self.failed += 1
        if outcome.reply is not None:
            self.answered += 1
            self.tokens_in += outcome.reply.tokens_in or 0
            self.tokens_out += outcome.reply.tokens_out or 0
        if self._bar is not None:
            self._bar.set_postfix(failed=self.failed, tokens=self.tokens_out, refresh=False)
            self._bar.update(1)
        elif time.monotonic() - self._last_line >= LINE_EVERY_S:
            self._last_line = time.monotonic()
            log.info("%s", self)

    def __str__(self) -> str:
        done = self.answered + self.failed
        of = f" of {self._total}" if self._total is not None else ""
        return f"{self._label}: {done}{of} calls, {self.failed} failed"

    def close(self) -> None:
        """Ends the bar; twice is harmless."""
        if self._bar is not None:
            self._bar.close()
        self._stack.close()
