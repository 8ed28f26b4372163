"""A plain command as a checker: a small Python program inside the box becomes the command.

The command sees the files input.txt, output.txt and answer.txt; `{input}`, `{output}` and
`{answer}` in it stand for them, and without any of these the three are appended.
"""

from __future__ import annotations

import shlex

from checkers.errors import CheckerError
from sandbox.model import Program

# 127 is what a shell says of a command that is not there; 1 would be a rejection.
_LAUNCHER = b"""\
import os
import sys

try:
    os.execvp(sys.argv[1], sys.argv[1:])
except OSError as e:
    sys.stderr.write(f"{sys.argv[1]}: {e.strerror}\\n")
    sys.stderr.flush()
    os._exit(127)
"""

LAUNCHER = Program("python", {"main.py": _LAUNCHER})
_PLACES = ("{input}", "{output}", "{answer}")


def split_command(line: str) -> tuple[str, ...]:
    """The words of a command line, the files' places in them; CheckerError when unreadable."""
    try:
        words = shlex.split(line)
    except ValueError as e:
        raise CheckerError(f"checker command {line!r} can't be read: {e}") from e
    if not words:
        raise CheckerError("checker command is empty: write command:LINE, e.g. command:cmp -s")
    if not any(place in word for word in words for place in _PLACES):
        words.extend(_PLACES)
    return tuple(words)
