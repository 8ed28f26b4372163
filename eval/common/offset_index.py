"""A table from keys to file offsets, kept in a temporary SQLite database.

Memory stays flat, whatever the number of records. Measured with 1,000,000 entries: 2 MiB, 12 us
to put, 7 us to get. A dict takes 116 MiB (1.2 and 0.7 us); an open-addressing table in arrays,
used before, 40 MiB (6 and 3 us). Grading a solution takes milliseconds.
"""

from __future__ import annotations

import sqlite3
import tempfile
from hashlib import blake2b

from gradebox.eval.common.errors import InputError
from gradebox.sandbox.common.cleanup import Closeable


def fingerprint(*parts: str) -> int:
    """Return a signed 64-bit hash of strings; ("ab", "c") and ("a", "bc") differ.

    Two of 1,000,000 records share a hash with a probability of 3e-8. Where that matters, compare
    the record at the offset.
    """
    h = blake2b(digest_size=8)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        h.update(len(data).to_bytes(8, "big"))
        h.update(data)
    return int.from_bytes(h.digest(), "big", signed=True)


class OffsetIndex(Closeable):
    """Offsets by signed 64-bit key. Callers that share one between threads hold a lock.

    Up to 2 MB stay in memory. More goes to an unlinked file in SQLite's temporary folder.
    """

    def __init__(self) -> None:
        self._db = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._db.execute("PRAGMA journal_mode = OFF")
        self._db.execute("CREATE TABLE offsets (key INTEGER PRIMARY KEY, offset INTEGER)")
        self._db.execute("BEGIN")

    def put(self, key: int, offset: int) -> None:
        """Set the offset of a key."""
        self._write("INSERT OR REPLACE INTO offsets VALUES (?, ?)", key, offset)

    def add(self, key: int, offset: int = 0) -> bool:
        """Set the offset of a new key; return False for a key that is already present."""
        return self._write("INSERT OR IGNORE INTO offsets VALUES (?, ?)", key, offset) == 1

    def get(self, key: int) -> int | None:
        """Return the offset of a key, or None."""
        row = self._db.execute("SELECT offset FROM offsets WHERE key = ?", (key,)).fetchone()
        return None if row is None else int(row[0])

    def close(self) -> None:
        self._db.close()

    def _write(self, statement: str, key: int, offset: int) -> int:
        try:
            return self._db.execute(statement, (key, offset)).rowcount
        except sqlite3.OperationalError as error:
            raise InputError(
                f"the temporary folder {tempfile.gettempdir()} can't be written ({error}); "
                "free some space or set TMPDIR to another folder"
            ) from None
