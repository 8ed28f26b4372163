"""Colour the tokens of a program, in a worker with limits: programs are hostile.

    text, language ─▶ a worker: Pygments ─▶ [kind, length, kind, length, …]

Pygments' expressions may take quadratic time. What a worker does not finish is shown plain.
"""

from __future__ import annotations

import json
from typing import Any

from gradebox.checkers.workers.pool import WorkerPool, shared_pool
from gradebox.sandbox.errors import SandboxError

MOST_CHARS = 200_000
CPU_S = 1.5
KINDS = ("", "keyword", "name", "string", "number", "comment", "preprocessor")
_LEXERS = {"c#": "csharp", "c": "c", "python": "python", "pypy3": "python"}


class HighlightPool(WorkerPool):
    """One worker that splits programs into tokens."""

    module = __name__

    def __init__(self) -> None:
        super().__init__(1)


def tokens(text: str, language: str) -> list[int] | None:
    """Return the tokens of a program; None when it is to be shown plain.

    language  its name in the language table

    Even positions have an index of KINDS, odd ones a length in UTF-16 units, as in JavaScript.
    """
    if not text or len(text) > MOST_CHARS:
        return None
    lexer = _LEXERS.get(language, "cpp" if language.startswith("c++") else language)
    text = text.encode("utf-8", "replace").decode()
    try:
        found = shared_pool(HighlightPool).ask({"lexer": lexer}, CPU_S, (text.encode(),))
    except SandboxError:
        return None
    return json.loads(found.readings[0]) if found.readings else None


# ---- in the workers ----


def preload() -> None:
    """Load the library once."""
    import pygments.lexers  # noqa: F401


def work(request: dict[str, Any], blobs: list[bytes]) -> tuple[bool, str, list[str]]:
    """Return the tokens of the program in the only blob."""
    from pygments.lexers import get_lexer_by_name
    from pygments.token import Token

    order = (
        (Token.Comment.Preproc, 6),
        (Token.Comment.PreprocFile, 6),
        (Token.Comment, 5),
        (Token.Literal.String, 3),
        (Token.Literal.Number, 4),
        (Token.Keyword, 1),
        (Token.Operator.Word, 1),
        (Token.Name.Function, 2),
        (Token.Name.Class, 2),
        (Token.Name.Builtin, 2),
    )
    text, merged, chars = blobs[0].decode(), [0, 0], 0
    for _, kind, value in get_lexer_by_name(request["lexer"]).get_tokens_unprocessed(text):
        index = next((number for parent, number in order if kind in parent), 0)
        chars += len(value)
        length = len(value) if value.isascii() else len(value.encode("utf-16-le")) // 2
        if merged[-2] == index:
            merged[-1] += length
        else:
            merged += [index, length]
    if chars != len(text):
        return False, "the tokens are not the text", []
    return True, "", [json.dumps(merged, separators=(",", ":"))]


def clear_caches() -> None:
    """Do nothing: there are none."""
