"""A box's folder on the host, for levels without a mount namespace.

It is emptied by descriptors, without following links, so a program's links have no effect.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

TRASH = ".gradebox-trash-"
PREFIX = "gradebox-box-"
OLD_S = 60.0


class BoxFolder:
    """A folder with `work`, which the program may write to, and `program` with its files."""

    def __init__(self) -> None:
        _remove_abandoned()
        self.root = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
        self._alive = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(self._alive, fcntl.LOCK_EX)  # released with this process, however it ends
        self.root.chmod(0o711)
        self.work = self.root / "work"
        self.program = self.root / "program"
        self.work.mkdir(mode=0o700)
        self.program.mkdir(mode=0o755)

    def hide_in(self, text: bytes) -> bytes:
        """Return a program's stderr without this folder's name, as if the box had its own root.

        A traceback is then the same in every run.
        """
        return text.replace(os.fsencode(self.root) + b"/", b"/")

    def give(self, uid: int) -> None:
        """Give the working folder to a user."""
        os.chown(self.work, uid, uid)

    def empty(self) -> None:
        """Remove everything that a run left in the working folder.

        Folders are moved to the top and emptied one by one, so a tree of any depth takes two
        descriptors. The run has no processes any more that could interfere.
        """
        top = os.open(self.work, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            os.fchmod(top, 0o700)
            waiting = list(self._clear(top, top))
            while waiting:
                name = waiting.pop()
                fd = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
                try:
                    waiting += self._clear(fd, top)
                finally:
                    os.close(fd)
                os.rmdir(name, dir_fd=top)
        finally:
            os.close(top)

    def _clear(self, folder: int, top: int) -> Iterator[str]:
        """Unlink the files of a folder and move its folders to the top; yield their new names."""
        for name in os.listdir(folder):
            state = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if not stat.S_ISDIR(state.st_mode):
                os.unlink(name, dir_fd=folder)
                continue
            os.chmod(name, 0o700, dir_fd=folder)
            moved = TRASH + secrets.token_hex(12)  # a name that the program could not predict
            os.rename(name, moved, src_dir_fd=folder, dst_dir_fd=top)
            yield moved

    def close(self) -> None:
        """Remove the folder."""
        with contextlib.suppress(OSError):
            self.empty()
        shutil.rmtree(self.root, ignore_errors=True)
        self.release()

    def release(self) -> None:
        """Release the folder without touching it: in a forked child it is the parent's."""
        if self._alive >= 0:
            os.close(self._alive)
            self._alive = -1


@cache
def _remove_abandoned() -> None:
    """Remove folders of graders that were killed: of this user, old, and not locked."""
    for root in Path(tempfile.gettempdir()).glob(PREFIX + "*"):
        with contextlib.suppress(OSError):
            state = root.lstat()
            if state.st_uid != os.geteuid() or time.time() - state.st_mtime < OLD_S:
                continue
            fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(root, ignore_errors=True)
            finally:
                os.close(fd)
