"""Print without ending a run: closed, broken and full output streams are tolerated.

The reader may stop (`| head`), the terminal may close, the disk behind `>` may be full. Results
are files of their own, so text that cannot be printed is dropped and the grading continues.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import TextIO


def repair_streams() -> None:
    """Open /dev/null for each standard stream that is closed; call this before opening files.

    Otherwise a file opened later would get the descriptor of a closed stream, and writes to
    descriptor 2 (by a signal handler or a library) would end up in the records.
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
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")  # for characters the encoding lacks
    return stream


def print_line(text: str, stream: TextIO | None = None) -> None:
    """Print a line to `stream` (default: stdout); drop it when the stream cannot be written."""
    stream = sys.stdout if stream is None else stream
    try:
        print(text, file=stream, flush=True)
    except (OSError, ValueError):
        silence(stream)


def silence(stream: TextIO) -> None:
    """Redirect a stream, including what it has buffered, to /dev/null."""
    with contextlib.suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(null, stream.fileno())
        finally:
            os.close(null)
        stream.flush()
