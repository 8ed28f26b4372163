"""What a command prints must never end its run: closed, broken and full streams are survived.

A reader that goes (`| head`), a terminal that is closed, a full disk behind `>`: the results
are files of their own, so what can't be printed is dropped and the grading goes on.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import TextIO


def steady_streams() -> None:
    """Gives a process without standard streams /dev/null for them; call it first.

    A file opened later would get the number of a closed one, and whatever writes to
    descriptor 2 (a signal handler, a library) would write into the records.
    """
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is fd
    sys.stdout = _usable(sys.stdout, 1)
    sys.stderr = _usable(sys.stderr, 2)


def _usable(stream: TextIO | None, fd: int) -> TextIO:
    if stream is None:
        return open(fd, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
    if isinstance(stream, io.TextIOWrapper):  # what an encoding can't spell is escaped
        stream.reconfigure(errors="backslashreplace")
    return stream


def tell(text: str, stream: TextIO | None = None) -> None:
    """Prints a line to the stream, stdout when none is given; silently not when it can't."""
    stream = sys.stdout if stream is None else stream
    try:
        print(text, file=stream, flush=True)
    except (OSError, ValueError):
        silence(stream)


def silence(stream: TextIO) -> None:
    """Sends what is still written there, the buffer included, to /dev/null."""
    with contextlib.suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(null, stream.fileno())
        finally:
            os.close(null)
        stream.flush()
