"""The key of a server: read from the environment, and kept out of everything that is written."""

from __future__ import annotations

import os
from dataclasses import replace

from eval.input_error import InputError
from eval.sampling.model import Reply

STARS = "***"
# Placeholders such as EMPTY are words that answers hold; keys are longer.
SHORTEST_SECRET = 16
_SHORTEST_PART = 8


def key_from(name: str) -> str:
    """The key in that variable of the environment, "" when there is none.

    White space around it, as `$(cat file)` or an editor leaves it, is not part of it. Raises
    InputError when no header can carry it; the line does not show it.
    """
    key = os.environ.get(name, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise InputError(
            f"{name} holds a character that is in no key (not printable ASCII); set it again"
        )
    return key


def redacted(text: str, secret: str) -> str:
    """A message without the key, nor the start of it where the message was cut."""
    if not secret:
        return text
    text = text.replace(secret, STARS)
    bare = text.removesuffix("…")
    for length in range(len(secret) - 1, _SHORTEST_PART - 1, -1):
        if bare.endswith(secret[:length]):
            return bare[:-length] + STARS
    return text


def without_key(reply: Reply, secret: str) -> Reply:
    """A reply in which a server that echoes its headers has not put the key."""
    if len(secret) < SHORTEST_SECRET:
        return reply
    return replace(
        reply,
        text=reply.text.replace(secret, STARS),
        finish_reason=reply.finish_reason and reply.finish_reason.replace(secret, STARS),
        provider=reply.provider and reply.provider.replace(secret, STARS),
        model=reply.model and reply.model.replace(secret, STARS),
    )
