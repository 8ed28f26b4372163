"""The data of sampling: a request, its reply or failure, and which failed calls are retried, when.

Request(item, sample, messages | prompt) ─▶ RequestOutcome(request, reply | failure)

A call that fails raises CallError; one of kind ServerLost ends the run: the server has gone.

what happened                                   kind               retried
network fault, time-out                         NetworkError, …    yes
402, or 429 with a used-up quota                InsufficientQuota  no
429                                             RateLimited        yes
408, 425                                        RequestRefused     yes
another status under 500                        RequestRefused     no
500 and more                                    ServerError        yes
a reply that is not JSON, or has no choices     BadReply           yes
a reply that is too long, or lacks the field    BadReply           no
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

CallErrorKind = Literal[
    "TimeoutError",
    "NetworkError",
    "RateLimited",
    "InsufficientQuota",
    "ServerError",
    "RequestRefused",
    "BadReply",
    "ServerLost",
]


class CallError(Exception):
    """A call that failed, or a server that stopped answering during a run (ServerLost).

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


RETRIED_STATUSES = frozenset({408, 425, 429})
QUOTA_PHRASES = (
    *("insufficient_quota", "insufficient quota", "insufficient credits"),
    "exceeded your current quota",
)


def error_of_status(
    status: int, message: str, detail: str = "", retry_after_s: float | None = None
) -> CallError:
    """Return the error of an HTTP status, from 300 on.

    detail  text of the server in which it says that a quota is used up, which waiting won't change
    """
    of_quota = any(phrase in detail.lower() for phrase in QUOTA_PHRASES)
    if status == 402 or (status == 429 and of_quota):
        return CallError("InsufficientQuota", message)
    kind: CallErrorKind = "ServerError" if status >= 500 else "RequestRefused"
    return CallError(
        "RateLimited" if status == 429 else kind,
        message,
        retry=status >= 500 or status in RETRIED_STATUSES,
        retry_after_s=retry_after_s,
    )


@dataclass(frozen=True)
class RetryPolicy:
    """How often and for how long a call is retried.

    first_s      seconds before the first retry, doubled for each further one
    longest_s    longest wait in seconds
    jitter       share by which a wait may be shorter or longer
    budget_s     a retry that would start later than this after the first call is not made
    max_retries  calls after the first; None: as many as the budget allows
    """

    first_s: float = 1.0
    longest_s: float = 30.0
    jitter: float = 0.5
    budget_s: float = 120.0
    max_retries: int | None = None

    def wait_s(self, failures: int, error: CallError) -> float:
        """Return the seconds to wait after `failures` failed calls, the last with this error.

        The wait is never shorter than what the server asked for.
        """
        doubled = min(self.longest_s, self.first_s * 2.0 ** min(failures - 1, 60))
        wait = doubled * random.uniform(1 - self.jitter, 1 + self.jitter)
        return max(wait, error.retry_after_s or 0.0)


@dataclass(frozen=True)
class Request:
    """One question to a server.

    item      id of the problem; (item, sample) is unique in a run
    sample    number of this sample of the problem, from 0
    messages  the messages, for chat servers
    prompt    the text, for completion servers
    stop      texts that end the answer
    seed      seed of this sample; None leaves it to the server
    """

    item: str
    sample: int = 0
    messages: tuple[Mapping[str, str], ...] = ()
    prompt: str = ""
    stop: tuple[str, ...] = ()
    seed: int | None = None

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
            "extra": {},  # so that responses of earlier runs are those to the same request
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
