"""--cache DIR: records shared between runs, found by their key.

    DIR/3f/3fa9….json.z     a record, compressed; written beside and renamed, so always whole

Several runs, also on several machines with a common file system, may use one folder at
once: a key says everything a record depends on, so whoever writes it writes the same.
"""

from __future__ import annotations

import contextlib
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eval.input_error import InputError
from eval.record_shape import is_record
from eval.records import encode, is_settled, parse_line


class VerdictCache:
    """A folder of records by key. Methods may be called from any thread.

    Raises InputError when the folder can't be made or written.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as e:
            raise InputError(
                f"--cache {folder}: can't be used: {e.strerror}; give another folder"
            ) from None
        if not os.access(folder, os.W_OK | os.X_OK):  # told before anything is graded
            raise InputError(
                f"--cache {folder}: can't be written; change its owner or mode, or give "
                "another folder"
            )

    def find(self, key: str) -> dict[str, Any] | None:
        """The record with this key, None when there is none or its file is damaged."""
        try:
            record = parse_line(zlib.decompress(self._path(key).read_bytes()))
        except (OSError, zlib.error):
            return None
        usable = is_record(record) and record["key"] == key and is_settled(record)
        return record if usable else None

    def put(self, record: Mapping[str, Any]) -> None:
        """Keeps a record, unless the machine failed at some of it."""
        if not is_settled(record):
            return
        path = self._path(str(record["key"]))
        new = path.with_name(f"{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
        try:
            path.parent.mkdir(exist_ok=True)
            new.write_bytes(zlib.compress(encode(record), 1))
            new.replace(path)
        except OSError as e:
            with contextlib.suppress(OSError):
                new.unlink()
            raise InputError(
                f"--cache {self._folder}: can't keep a record: {e.strerror}; "
                "free some space or leave --cache out, then start the run again"
            ) from None

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json.z"
