"""The data of sampling: a request, its reply or failure, and the outcome that holds them.

Request(item, sample, messages | prompt) ─▶ RequestOutcome(request, reply | failure)

A call that fails raises CallError; a run ends with ServerLost when the server has gone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

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


@dataclass(frozen=True)
class Request:
    """One question to a server.

    item      id of the problem; (item, sample) is unique in a run
    sample    number of this sample of the problem, from 0
    messages  the messages, for chat servers
    prompt    the text, for completion servers
    stop      texts that end the answer
    seed      seed of this sample; None leaves it to the server
    extra     additional fields of the request's body
    """

    item: str
    sample: int = 0
    messages: tuple[Mapping[str, str], ...] = ()
    prompt: str = ""
    stop: tuple[str, ...] = ()
    seed: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls, item: str, sample: int, text: str, *, chat: bool, seed: int | None, **fields: Any
    ) -> Request:
        """Return the request of a sample; `seed` is that of the first one, and `chat` the server's.

        fields  see `Request`
        """
        seed = None if seed is None else seed + sample
        if chat:
            return cls(item, sample, ({"role": "user", "content": text},), seed=seed, **fields)
        return cls(item, sample, prompt=text, seed=seed, **fields)

    @property
    def resume_key(self) -> tuple[str, int]:
        """Return what identifies the request when a run is resumed."""
        return (self.item, self.sample)

    def digest(self, parameters: Mapping[str, Any]) -> str:
        """Return the SHA-256 (hex) of everything the answer depends on."""
        content = {
            "messages": [dict(m) for m in self.messages],
            "prompt": self.prompt,
            "stop": list(self.stop),
            "seed": self.seed,
            "extra": dict(self.extra),
            "parameters": dict(parameters),
        }
        text = json.dumps(content, sort_keys=True, default=str)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class ModelReply:
    """A server's answer. Fields the server did not send are None."""

    text: str
    finish_reason: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    provider: str | None = None
    model: str | None = None
    refused: bool = False


@dataclass(frozen=True)
class RequestOutcome:
    """A request with its reply or its failure.

    attempts  number of calls made, including retries
    wall_s    seconds from the first call to the result
    """

    request: Request
    reply: ModelReply | None
    failure: CallError | None
    attempts: int
    wall_s: float
