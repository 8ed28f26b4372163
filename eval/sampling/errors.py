"""What can go wrong with a call to a model server, and whether trying again makes sense."""

from __future__ import annotations

from typing import Literal

CallErrorKind = Literal[
    "TimeoutError",
    "NetworkError",
    "RateLimited",
    "InsufficientQuota",
    "ServerError",
    "RequestRefused",
    "BadReply",
]


class CallError(Exception):
    """One call failed.

    kind           a word for records, one of CallErrorKind
    retry          trying the same request again may help
    retry_after_s  seconds the server asked us to wait, else None
    """

    def __init__(
        self,
        kind: CallErrorKind,
        message: str,
        *,
        retry: bool = False,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.kind: CallErrorKind = kind
        self.retry = retry
        self.retry_after_s = retry_after_s


class ServerLost(Exception):
    """The server stopped answering in the middle of a run; what was answered is kept."""
