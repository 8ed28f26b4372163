"""Trying again what the machine failed at: bounded, with growing and jittered pauses."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event
from typing import TypeVar

from sandbox.errors import SandboxError

T = TypeVar("T")
log = logging.getLogger(__name__)


class Interrupted(Exception):
    """The run is being stopped: what was under way has no result."""


@dataclass(frozen=True)
class Retry:
    """How often and how patiently; `stop` ends the waiting at once.

    Pauses are drawn from [0.5, 1] × min(cap_s, first_s × 2^n): about 6 s over 5 attempts.
    """

    attempts: int = 5
    first_s: float = 0.5
    cap_s: float = 8.0
    stop: Event = field(default_factory=Event)

    def call(self, action: Callable[[], T], what: str) -> T:
        """The value of `action`; its last SandboxError when it never succeeded.

        Lasting faults are not tried again: waiting installs no compiler and raises no limit.
        Raises Interrupted when the run is stopped while waiting.
        """
        for attempt in range(1, self.attempts + 1):
            try:
                return action()
            except SandboxError as e:
                if e.lasting:
                    raise
                log.warning("%s: attempt %d of %d failed: %s", what, attempt, self.attempts, e)
                if attempt == self.attempts:
                    raise
            pause = min(self.cap_s, self.first_s * 2 ** (attempt - 1))
            if self.stop.wait(pause * random.uniform(0.5, 1.0)):
                raise Interrupted
        raise AssertionError("attempts must be at least 1")
