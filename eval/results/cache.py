"""The folder of `--cache DIR`: records by key, shared between runs.

    DIR/3f/3fa9….json.z     a compressed record

Several runs may use one folder at once, also from several machines on a shared file system. Files
are renamed into place, so readers see whole files. A key covers everything a record depends on,
so two runs that write the same key write the same record.

Users who share a folder trust each other's records. What else they put there can't stop a run: an
entry that is not a plain file, or expands beyond LARGEST bytes, counts as missing; one that can't
be replaced stays.
"""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gradebox.eval.common.errors import InputError
from gradebox.eval.results.record import encode, is_record
from gradebox.eval.results.records import is_settled, parse_record
from gradebox.sandbox.common.whole_file import whole_file

LARGEST = 256 << 20  # bytes of a record
# Something of another user's is in the place of a file or a folder.
OCCUPIED = (PermissionError, FileExistsError, IsADirectoryError, NotADirectoryError)


class VerdictCache:
    """A folder of records by key. Any thread may call any method.

    Raises InputError when the folder can't be created or written.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as e:
            raise InputError(
                f"--cache {folder}: can't be used: {e.strerror}; give another folder"
            ) from None
        if not os.access(folder, os.W_OK | os.X_OK):  # report it before anything is graded
            raise InputError(
                f"--cache {folder}: can't be written; change its owner or mode, or give "
                "another folder"
            )

    def find(self, key: str) -> dict[str, Any] | None:
        """Return the record with this key; None when it is missing or its file is damaged."""
        try:
            record = parse_record(_read(self._path(key)))
        except (OSError, zlib.error):
            return None
        usable = is_record(record) and record["key"] == key and is_settled(record)
        return record if usable else None

    def put(self, record: Mapping[str, Any]) -> None:
        """Store a record, unless it has an infrastructure error."""
        if not is_settled(record):
            return
        path = self._path(str(record["key"]))
        try:
            self._make(path.parent)
            # Not flushed to disk: a file that a power failure damages is graded again.
            with whole_file(path, durable=False) as file:
                file.write(zlib.compress(encode(record), 1))
        except OCCUPIED:
            return
        except OSError as e:
            raise InputError(
                f"--cache {self._folder}: can't store a record: {e.strerror}; "
                "free some space or leave --cache out, then start the run again"
            ) from None

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json.z"

    def _make(self, folder: Path) -> None:
        """Make a folder with the permissions of the cache's top folder."""
        if not folder.is_dir():
            folder.mkdir(exist_ok=True)
            folder.chmod(stat.S_IMODE(self._folder.stat().st_mode))


def _read(path: Path) -> bytes:
    """Return the contents of a compressed file; b"" unless it is a plain file within LARGEST.

    Raises OSError, zlib.error.
    """
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(fd, "rb") as file:
        state = os.fstat(fd)
        if not stat.S_ISREG(state.st_mode) or state.st_size > LARGEST:
            return b""
        reader = zlib.decompressobj()
        data = reader.decompress(file.read(LARGEST), LARGEST)
        return data if reader.eof else b""
