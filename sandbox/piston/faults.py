"""Faults between the client and a Piston server, by what the client does about them.

Transient           send the request again, to another server first
  Busy              the server takes no more requests for now (429)
  Tampered          the launcher's report is missing or damaged
Refused             this server refuses the request every time; the message has the remedy
  BodyTooLarge      the request exceeds the server's body limit
  LimitTooSmall     a setting of the server is smaller than the run needs
"""

from __future__ import annotations

from gradebox.sandbox.errors import SandboxError
from gradebox.sandbox.model import Execution

# The environment variable of a Piston server that sets each limit.
SETTING = {
    "run_timeout": "PISTON_RUN_TIMEOUT",
    "run_cpu_time": "PISTON_RUN_CPU_TIME",
    "run_memory_limit": "PISTON_RUN_MEMORY_LIMIT",
    "output": "PISTON_OUTPUT_MAX_SIZE",
}


class Transient(SandboxError):
    """A fault that may be gone the next time: cut connections, 500, XX, overload.

    pause_s        seconds the server asked the client to wait (Retry-After); 0 when it did not
    server_failed  count it as a failure of the server, which is then left out for a while
    """

    pause_s: float = 0.0
    server_failed = True


class Busy(Transient):
    """The server, or a proxy before it, answers 429: it works, and takes more requests later."""


class Tampered(Transient):
    """The launcher's report is missing or damaged, by the network, the server or the program.

    evidence  of a program that destroyed its own report; None unless the server carried a trusted
              program's report of the same size
    lost      the launcher exited well, so that the report may have been lost on the way
    """

    server_failed = False
    evidence: Execution | None = None
    lost = False


class Refused(SandboxError):
    """HTTP 400 with a message, or an address that moved: the same request is refused again."""

    lasting = True


class BodyTooLarge(Refused):
    """The request is larger than the server's body limit (PayloadTooLargeError or 413)."""


class LimitTooSmall(Refused):
    """A limit of the server is smaller than this run needs; the message names its setting.

    name  a key of SETTING
    """

    def __init__(self, name: str, actual: str, needed: str) -> None:
        self.name = name
        super().__init__(
            f"the Piston server's {SETTING[name]} ({actual}) is too small for this run, "
            f"which needs {needed}: raise it (piston.env) and restart the server"
        )
