"""Progress of a sampling run: a bar on a terminal, otherwise a log line every half minute."""

from __future__ import annotations

import contextlib
import logging
import sys
import time

from gradebox.eval.models.exchange import RequestOutcome
from gradebox.sandbox.common.cleanup import Closeable

log = logging.getLogger("gradebox.sampling")

LOG_EVERY_S = 30.0


class SamplingProgress(Closeable):
    """Count outcomes and show them on stderr."""

    def __init__(self, total: int, label: str) -> None:
        self.answered = 0
        self.failed = 0
        self._tokens_out = 0
        self._total = total
        self._label = label
        self._last_logged = time.monotonic()
        self._bar = None
        self._stack = contextlib.ExitStack()
        if sys.stderr.isatty():
            from tqdm import tqdm
            from tqdm.contrib.logging import logging_redirect_tqdm

            # Log lines appear above the bar instead of inside it.
            self._stack.enter_context(logging_redirect_tqdm())
            self._bar = self._stack.enter_context(tqdm(total=total, desc=label, unit="call"))

    def add(self, outcome: RequestOutcome) -> None:
        """Count an outcome and update the display."""
        if outcome.reply is None:
            self.failed += 1
        else:
            self.answered += 1
            self._tokens_out += outcome.reply.tokens_out or 0
        if self._bar is not None:
            self._bar.set_postfix(failed=self.failed, tokens=self._tokens_out, refresh=False)
            self._bar.update(1)
        elif time.monotonic() - self._last_logged >= LOG_EVERY_S:
            self._last_logged = time.monotonic()
            done = self.answered + self.failed
            log.info("%s: %d of %d calls, %d failed", self._label, done, self._total, self.failed)

    def close(self) -> None:
        """Remove the bar. May be called more than once."""
        self._stack.close()
