"""The nouns of sampling: what is asked, what came back.

Request(item, sample, messages | prompt) ─▶ Outcome(request, reply | failure)
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Request:
    """One question to a server.

    item      id of the problem; (item, sample) is unique in a run
    sample    0-based number of this sample of the problem
    messages  the chat, for servers that take one
    prompt    the text, for servers that take a text
    stop      texts that end the answer
    seed      seed of this sample, None: the server's choice
    extra     further fields of the request's body, as given
    """

    item: str
    sample: int = 0
    messages: tuple[Mapping[str, str], ...] = ()
    prompt: str = ""
    stop: tuple[str, ...] = ()
    seed: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, int]:
        """What a run is resumed by."""
        return (self.item, self.sample)

    def digest(self, parameters: Mapping[str, Any]) -> str:
        """SHA-256 (hex) of everything the answer depends on."""
        whole = {
            "messages": [dict(m) for m in self.messages],
            "prompt": self.prompt,
            "stop": list(self.stop),
            "seed": self.seed,
            "extra": dict(self.extra),
            "parameters": dict(parameters),
        }
        text = json.dumps(whole, sort_keys=True, default=str)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class Reply:
    """What a server answered; None where it did not say."""

    text: str
    finish_reason: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    provider: str | None = None
    model: str | None = None
    refused: bool = False


@dataclass(frozen=True)
class Failure:
    """Why there is no reply: a word and a line for people."""

    error: str
    message: str


@dataclass(frozen=True)
class Outcome:
    """A request with its reply, or with its failure.

    attempts  calls made for it, retries included
    wall_s    seconds from the first call to the end
    """

    request: Request
    reply: Reply | None
    failure: Failure | None
    attempts: int
    wall_s: float
