"""A box's folder on the host, for levels without a mount namespace: made, emptied, removed.

Removing walks by descriptors and never follows a link, so a program's links lead nowhere.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

TRASH = ".gradebox-trash-"


class BoxFolder:
    """`work` (the program's, writable) and `program` (its files) in a folder of one box."""

    def __init__(self, prefix: str = "gradebox-box-") -> None:
        self.root = Path(tempfile.mkdtemp(prefix=prefix))
        self.root.chmod(0o711)
        self.work = self.root / "work"
        self.program = self.root / "program"
        self.work.mkdir(mode=0o700)
        self.program.mkdir(mode=0o755)

    def give(self, uid: int) -> None:
        """Makes the working folder that user's."""
        os.chown(self.work, uid, uid)

    def empty(self) -> None:
        """Removes whatever a run left in the working folder.

        Folders are moved up and emptied one by one: a tree of any depth takes two
        descriptors. Nothing of the run lives any more, so what is seen stays as it is.
        """
        top = os.open(self.work, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            os.fchmod(top, 0o700)
            waiting = list(self._clear(top, top, 0))
            count = len(waiting)
            while waiting:
                name = waiting.pop()
                fd = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
                try:
                    found = list(self._clear(fd, top, count))
                finally:
                    os.close(fd)
                count += len(found)
                waiting += found
                os.rmdir(name, dir_fd=top)
        finally:
            os.close(top)

    def _clear(self, folder: int, top: int, count: int) -> Iterator[str]:
        """Unlinks the files of a folder and moves its folders to the top; their new names."""
        for name in os.listdir(folder):
            state = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if not stat.S_ISDIR(state.st_mode):
                os.unlink(name, dir_fd=folder)
                continue
            os.chmod(name, 0o700, dir_fd=folder)
            moved = f"{TRASH}{count}"
            count += 1
            os.rename(name, moved, src_dir_fd=folder, dst_dir_fd=top)
            yield moved

    def close(self) -> None:
        """Removes the folder."""
        with contextlib.suppress(OSError):
            self.empty()
        shutil.rmtree(self.root, ignore_errors=True)
