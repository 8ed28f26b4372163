"""The errors of eval, by whose fault they are; `Retry`, what follows the machine's; `Diagnostics`.

Exception
├── InputError             the user's: one line on stderr, exit status 2
│   ├── UnusableProblem      of one problem's data; its solutions are invalid
│   └── DriversUnavailable   of this machine's limits; a server answers 503
├── RowError               of a row or line, which is reported and left out
├── CallError              a model server's, retried; ServerLost: it has gone (models/exchange.py)
├── CompileError           the program's, of `Grader.run` (api/grader.py)
├── Interrupted            nobody's: the run is being stopped
├── NotGraded              the machine's, of a reward (api/rewards/trl.py)
├── sandbox.errors         SandboxError: the machine's, retried, then ER; BadRequest: a client's
└── checkers.check         CheckerError: the checker's, never the solution's
"""

from __future__ import annotations

import difflib
import logging
import random
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from gradebox.sandbox.errors import SandboxError

MAX_SHOWN = 80
T = TypeVar("T")
log = logging.getLogger(__name__)


class InputError(Exception):
    """The user has to change something. The message: the value, the limit, the remedy."""


class UnusableProblem(InputError):
    """The data of one problem is faulty: its solutions cannot be graded, all others can."""


class DriversUnavailable(InputError):
    """The driver processes of this machine cannot be used."""


class RowError(ValueError):
    """A row, or a line, is unusable: the field, its value and the values it may have."""


class Interrupted(Exception):
    """The run is being stopped; the work in progress has no result."""


def shown(value: object, limit: int = MAX_SHOWN) -> str:
    """Quote an untrusted value for a message: one printable line of at most `limit` characters.

    Only the start of a long text is quoted, so a line of 100 MB costs nothing.
    """
    if isinstance(value, (str, bytes)):
        return repr(value[:limit]) + ("…" if len(value) > limit else "")
    if isinstance(value, (list, tuple, dict)):
        return f"a {type(value).__name__} of {len(value)} elements"
    text = repr(value)
    return text[:limit] + ("…" if len(text) > limit else "")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return "; did you mean 'x'" with the most similar known name, "" when none is similar."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {near[0]!r}" if near else ""


MAX_MESSAGES = 50


class Diagnostics:
    """Messages of one line in order, each once. Those beyond MAX_MESSAGES are only counted."""

    def __init__(self) -> None:
        self._messages: dict[str, None] = {}
        self._more = 0
        self._lock = threading.Lock()

    def add(self, message: str) -> None:
        """Add a message unless it is already listed."""
        with self._lock:
            if message in self._messages:
                return
            if len(self._messages) < MAX_MESSAGES:
                self._messages[message] = None
            else:
                self._more += 1

    def messages(self) -> list[str]:
        """Return the messages, and at the end the number of those that are not listed."""
        with self._lock:
            tail = [f"and {self._more} more"] if self._more else []
            return [*self._messages, *tail]

    def __len__(self) -> int:
        return len(self._messages) + self._more


@dataclass(frozen=True)
class Retry:
    """How often what the sandbox failed at is tried, with pauses; `stop` ends a pause at once.

    A pause is drawn from [0.5, 1] × min(cap_s, first_s × 2^n): about 6 s in all for 5 attempts.
    """

    attempts: int = 5
    first_s: float = 0.5
    cap_s: float = 8.0
    stop: threading.Event = field(default_factory=threading.Event)

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
