"""One run at a time in a results folder: a lock the kernel lets go of when its holder dies."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from eval.input_error import InputError
from sandbox.closing import Closing


class FolderLock(Closing):
    """Holds `folder`/.lock as long as it is open.

    Raises InputError, naming the process that holds it, when another run is at work there.
    The file stays: removing it would let two runs lock two different files of one name.
    """

    def __init__(self, folder: Path) -> None:
        path = folder / ".lock"
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.pread(self._fd, 32, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(self._fd)
            raise InputError(
                f"{folder}: another run (process {holder}) is writing there; "
                "wait for it or choose another --results-dir"
            ) from None
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, str(os.getpid()).encode(), 0)

    def close(self) -> None:
        """Lets go; calling it twice is harmless."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
