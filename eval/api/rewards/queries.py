"""The answer in a query: a prompt and an answer, decoded with their special tokens."""

from __future__ import annotations

import re

TAIL = 64
# <|im_end|>, <|eot_id|>, <｜end▁of▁sentence｜>, </s>, <eos>, <end_of_turn>, <pad> …
_END = re.compile(r"(?:\s*<(?:[|｜][^<>]{1,40}[|｜]|/s|eos|pad|end_of_turn|endoftext)>)+\s*\Z")


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
    return _END.sub("", query)
