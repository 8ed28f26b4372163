"""What can go wrong between here and a Piston server, by what a caller should do about it.

Transient     try again, elsewhere if there is an elsewhere
Refused       the same request is refused again; the message says what to change
BodyTooLarge  the server does not take requests of this size
"""

from __future__ import annotations

from sandbox.errors import SandboxError


class Transient(SandboxError):
    """A fault that may be gone the next time: cut connections, 500, XX, overload.

    pause_s  how long the server asked not to be bothered (Retry-After); 0: it did not say
    """

    pause_s: float = 0.0


class Refused(SandboxError):
    """HTTP 400 with a message: this server will not take this request."""

    lasting = True


class BodyTooLarge(Refused):
    """The request is larger than the server's body limit (PayloadTooLargeError or 413)."""
