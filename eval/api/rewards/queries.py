"""The answer in a query: a prompt and an answer, decoded with their special tokens."""

from __future__ import annotations

import re

TAIL = 64
LAST = 1 << 14  # characters in which special tokens at the end are found
# <|im_end|>, <|eot_id|>, <｜end▁of▁sentence｜>, </s>, <eos>, <end_of_turn>, <pad> …
_TOKEN = re.compile(r"<(?:[|｜][^<>]{1,40}[|｜]|/s|eos|pad|end_of_turn|endoftext)>")


def answer_of(query: str, prompt: str) -> str:
    """Return what follows the prompt, without special tokens at its end.

    A long prompt may have been cut at its start: then its last 64 characters count. A query in
    which they do not occur either is returned whole.
    """
    for start in (prompt, prompt[-TAIL:]):
        at = query.find(start)
        if at >= 0:
            query = query[at + len(start) :]
            break
    return query[: len(query) - _ending(query[-LAST:])]


def _ending(tail: str) -> int:
    """Return how many characters at the end of a text are special tokens, with what is between."""
    end = len(tail)
    while True:
        text = tail[:end].rstrip()
        at = text.rfind("<")
        if at < 0 or not _TOKEN.fullmatch(text, at):
            return len(tail) - end
        end = len(text[:at].rstrip())
