"""The API key of a model server: read from the environment, removed from all output."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from gradebox.eval.common.errors import InputError
from gradebox.eval.models.exchange import ModelReply

HIDDEN = "***"
# Shorter keys are placeholders such as EMPTY, which an answer may contain as a word.
MIN_KEY_CHARS = 16
_MIN_PREFIX_CHARS = 8


def read_api_key(variable: str) -> str:
    """Return the key in an environment variable, "" when it is not set.

    Surrounding white space, as editors and `$(cat file)` leave it, is removed. Raises InputError
    when the key can't be sent in an HTTP header; the message does not show the key.
    """
    key = os.environ.get(variable, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise InputError(
            f"{variable} contains a character that is not printable ASCII, so it can't be an API "
            "key; set it again"
        )
    return key


def redact(text: str, key: str) -> str:
    """Return a message without the key, and without a part of the key where it was cut."""
    if not key:
        return text
    text = text.replace(key, HIDDEN)
    uncut = text.removesuffix("…")
    for length in range(len(key) - 1, _MIN_PREFIX_CHARS - 1, -1):
        if uncut.endswith(key[:length]):
            return uncut[:-length] + HIDDEN
    return text


def redact_reply(reply: ModelReply, key: str) -> ModelReply:
    """Return a reply without the key, which some servers echo with their request's headers."""
    if len(key) < MIN_KEY_CHARS:
        return reply
    fields: dict[str, Any] = {
        name: value.replace(key, HIDDEN)
        for name, value in vars(reply).items()
        if isinstance(value, str)
    }
    return replace(reply, **fields)
