"""Errors of calls to a model server."""

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
    """A call that failed.

    kind           the error's name in records
    retry          whether the same request may succeed when it is sent again
    retry_after_s  seconds the server asked us to wait, or None
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
    """The server stopped answering during a run. The answers received so far are on disk."""
