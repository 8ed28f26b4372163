"""Write a file whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import IO


@contextlib.contextmanager
def whole_file(path: Path, *, mode: int = 0o644, durable: bool = True) -> Iterator[IO[bytes]]:
    """Open a temporary file beside `path` that replaces it when the block ends without an error.

    mode     permissions of the file, before the umask
    durable  flush the contents to disk before the file is replaced

    A reader sees the old file or the new one. Raises OSError; then the old file is unchanged.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.new")
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(fd, "wb") as file:
            yield file
            file.flush()
            if durable:
                os.fsync(fd)
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
