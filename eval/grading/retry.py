"""Retry what the sandbox failed at: a few times, with growing, jittered pauses."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event
from typing import TypeVar

from gradebox.sandbox.errors import SandboxError

T = TypeVar("T")
log = logging.getLogger(__name__)


class Interrupted(Exception):
    """The run is being stopped; the work in progress has no result."""


@dataclass(frozen=True)
class Retry:
    """The number of attempts and the pauses between them; `stop` ends a pause at once.

    A pause is drawn from [0.5, 1] × min(cap_s, first_s × 2^n): about 6 s in all for 5 attempts.
    """

    attempts: int = 5
    first_s: float = 0.5
    cap_s: float = 8.0
    stop: Event = field(default_factory=Event)

    def call(self, action: Callable[[], T], what: str) -> T:
        """Return the value of `action`; raise its last SandboxError when every attempt failed.

        A lasting fault, such as a missing compiler, is raised at once. Raises Interrupted when
        the run is stopped before another attempt.
        """
        for attempt in range(1, self.attempts + 1):
            try:
                return action()
            except SandboxError as e:
                if self.stop.is_set():
                    raise Interrupted from None
                if e.lasting:
                    raise
                log.warning("%s: attempt %d of %d failed: %s", what, attempt, self.attempts, e)
                if attempt == self.attempts:
                    raise
            pause_s = min(self.cap_s, self.first_s * 2 ** (attempt - 1))
            if self.stop.wait(pause_s * random.uniform(0.5, 1.0)):
                raise Interrupted
        raise AssertionError("attempts must be at least 1")
