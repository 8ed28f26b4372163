"""Quote text for shell commands that users copy and paste."""

from __future__ import annotations

import shlex

_PLAIN = frozenset(range(0x20, 0x7F)) - {ord("'"), ord("\\")}


def shell_word(text: str) -> str:
    """Return `text` as one word for bash; invisible characters are written as `$'\\x1b'`.

    A pasted control character could run a command before the user presses Enter. A bidirectional
    mark could make the command look different from what it does.
    """
    if text.isprintable():
        return shlex.quote(text)
    data = text.encode("utf-8", "surrogatepass")
    return "$'" + "".join(chr(b) if b in _PLAIN else f"\\x{b:02x}" for b in data) + "'"


def option(name: str, value: str) -> str:
    """Return `--name value`, or `--name=value` when the value would look like an option."""
    return f"{name}{'=' if value.startswith('-') else ' '}{shell_word(value)}"
