"""The errors of the sandbox. A class says who is at fault, its fields and its message the rest.

SandboxError             the machine's fault, never a verdict
  SandboxUnavailable     no sandbox works here; the message names the remedy
    MissingToolchain     nor does a compiler or interpreter
  BoxDied                a box process is gone
  BoxFault               a box reports that the machine refused something
  Transient              a Piston server's fault, which may be gone the next time
  Refused                a Piston server refuses the request every time
BadRequest               the caller's fault: nothing was run
  UnknownLanguage        the language table has no such name
RequestRefused           our server's answer to a client, with an HTTP status
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradebox.sandbox.model import Execution


class SandboxError(Exception):
    """The machine failed, not the program. Callers try again; it is never a verdict.

    lasting  another attempt would fail in the same way
    """

    lasting: bool = False


class SandboxUnavailable(SandboxError):
    """No sandbox works on this machine; the message names the remedy.

    reasons  why not, by the name of each isolation level that was tried
    """

    reasons: Mapping[str, str] = {}


class MissingToolchain(SandboxUnavailable):
    """The compiler or interpreter of a known language is not installed, or does not work."""

    lasting = True


class BoxDied(SandboxError):
    """The box process is gone; another box can do the run."""


class BoxFault(SandboxError):
    """The box is alive and reports that the machine refused something."""

    def __init__(self, number: int, stage: str) -> None:
        super().__init__(f"sandbox: {stage}: {os.strerror(number)}")
        self.errno = number
        self.stage = stage

    @property
    def is_of_command(self) -> bool:
        """Whether a compiler or interpreter could not be started."""
        return self.stage.startswith("exec ")


class Transient(SandboxError):
    """A server's fault that may be gone the next time: cut connections, 500, XX, overload.

    The request is sent again, to another server first.

    busy           it answers 429: it works, and takes more requests later
    pause_s        seconds the server asked the client to wait (Retry-After); 0 when it did not
    server_failed  count it as a failure of the server, which is then left out for a while
    evidence       of a program that ended its launcher or damaged its report, if it does so
                   every time; None for a fault of the server
    """

    busy = False
    pause_s: float = 0.0
    server_failed = True
    evidence: Execution | None = None


class Refused(SandboxError):
    """A server refuses the request every time; the message has the remedy.

    limit  the limit of the server that is too small: "body", or a key of `execute.SETTING`
    """

    lasting = True

    def __init__(self, message: str, limit: str = "") -> None:
        super().__init__(message)
        self.limit = limit


class BadRequest(ValueError):
    """The request is impossible: a limit of 0, a file name with a slash. Nothing was run.

    detail  which value of a request's body is wrong, for routes that report it
    """

    detail: Mapping[str, Any] | None = None


class UnknownLanguage(BadRequest):
    """The language table has no such name; the message lists the known ones."""


class RequestRefused(Exception):
    """Our server answers a request with this status and message.

    retry_after_s  when the client may try again; 0: it need not
    """

    def __init__(self, status: int, message: str, retry_after_s: int = 0) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after_s = retry_after_s
