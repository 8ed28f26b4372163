"""The errors of eval, by whose fault they are; `Diagnostics`, messages about skipped data.

Exception
├── InputError             the user's: one line on stderr, exit status 2
│   ├── UnusableProblem      of one problem's data; its solutions are invalid
│   └── DriversUnavailable   of this machine's limits; a server answers 503
├── RowError               of a row or line, which is reported and left out
├── CallError              a model server's, retried; ServerLost: it has gone (models/exchange.py)
├── CompileError           the program's, of `Grader.run` (api/grader.py)
├── Interrupted            nobody's: the run is being stopped (grading/retry.py)
├── NotGraded              the machine's, of a reward (api/rewards/trl.py)
├── sandbox.errors         SandboxError: the machine's, retried, then ER; BadRequest: a client's
│   └── Invalid              a field of a body in another server's dialect (dialects/bodies.py)
└── checkers.check         CheckerError: the checker's, never the solution's
"""

from __future__ import annotations

import difflib
import threading
from collections.abc import Iterable

MAX_SHOWN = 80


class InputError(Exception):
    """The user has to change something. The message: the value, the limit, the remedy."""


class UnusableProblem(InputError):
    """The data of one problem is faulty: its solutions cannot be graded, all others can."""


class DriversUnavailable(InputError):
    """The driver processes of this machine cannot be used."""


class RowError(ValueError):
    """A row, or a line, is unusable: the field, its value and the values it may have."""


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
