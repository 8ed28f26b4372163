"""One word of a shell command that is shown to be copied and pasted."""

from __future__ import annotations

import shlex

_PLAIN = frozenset(range(0x20, 0x7F)) - {ord("'"), ord("\\")}


def shell_word(text: str) -> str:
    """`text` as one word for bash; invisible characters are spelled out in `$'…'`.

    A pasted control character may run a command before anybody presses Enter; a bidi mark may
    make the command read otherwise than it runs.
    """
    if text.isprintable():
        return shlex.quote(text)
    data = text.encode("utf-8", "surrogatepass")
    return "$'" + "".join(chr(b) if b in _PLAIN else f"\\x{b:02x}" for b in data) + "'"


def option(name: str, value: str) -> str:
    """`--name value`; joined by `=` where the value would be taken for an option."""
    return f"{name}{'=' if value.startswith('-') else ' '}{shell_word(value)}"
