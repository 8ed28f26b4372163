"""The latest record of each solution of a file that is being written.

    file ─ advance ─▶ place ─▶ (offset, row of the table, number of its last change)

A line counts once its newline is there. A record of a solution that has one already replaces it.
The table is a temporary database, so memory stays flat whatever the number of records.
"""

from __future__ import annotations

import copy
import json
import os
import sqlite3
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from gradebox.eval.common.errors import InputError
from gradebox.eval.reporting.page_data import LimitUsage, row_of
from gradebox.eval.results.records import parse_record, reporting_bad_record, solution_fingerprint
from gradebox.eval.results.statistics import Summary
from gradebox.sandbox.common.cleanup import Closeable
from gradebox.sandbox.input_file import check_input_file

MAX_LINE_BYTES = 256 << 20
TAIL_BYTES = 64 << 10  # of the last line, by which a rewritten file is noticed
_TABLE = """
CREATE TABLE rows (place INTEGER PRIMARY KEY, key INTEGER UNIQUE, offset INTEGER,
                   change INTEGER, row TEXT);
CREATE INDEX by_change ON rows (change);
"""


class RecordIndex(Closeable):
    """An index of one file, which may not exist yet. Not thread-safe.

    count      solutions
    change     number of the last change; each new or replaced record is one
    damaged    lines that are no records, and `why` the first one is none
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.count = self.change = self.damaged = 0
        self.why = ""
        self._end, self._tail = 0, b""
        self._summary, self._usage = Summary(), LimitUsage()
        self._replaced = False
        self._file = _opened(path)
        self._db = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._db.execute("PRAGMA journal_mode = OFF")
        self._db.executescript(_TABLE)
        self._db.execute("BEGIN")

    def advance(self, budget_s: float) -> bool:
        """Read what was appended, for about `budget_s`; return whether more is left."""
        if self._file is None:
            return False
        until = time.monotonic() + budget_s
        self._file.seek(self._end)
        while True:
            line = self._file.readline(MAX_LINE_BYTES)
            if not line.endswith(b"\n"):
                if len(line) < MAX_LINE_BYTES or not self._skip_line():
                    return False
                line = b""
                self._damage(f"a line is longer than {MAX_LINE_BYTES} bytes")
            else:
                self._add(line, self._end)
            self._end, self._tail = self._file.tell(), line[-TAIL_BYTES:]
            if time.monotonic() > until:
                return True

    def is_stale(self) -> bool:
        """Return whether the file was replaced, removed, or cut before what was read."""
        try:
            now = self.path.stat()
        except OSError:
            return self._file is not None
        if self._file is None:
            return True
        own = os.fstat(self._file.fileno())
        if (now.st_dev, now.st_ino) != (own.st_dev, own.st_ino) or now.st_size < self._end:
            return True
        tail, at = self._tail, self._end - len(self._tail)
        return os.pread(self._file.fileno(), len(tail), at) != tail

    def changes(self, after: int, most: int) -> tuple[list[tuple[int, str]], int]:
        """Return (place, row as JSON) of changes after a number, and the last one's number."""
        found = self._db.execute(
            "SELECT place, row, change FROM rows WHERE change > ? ORDER BY change LIMIT ?",
            (after, most),
        ).fetchall()
        return [(place, row) for place, row, _ in found], found[-1][2] if found else after

    def record(self, place: int) -> dict[str, Any] | None:
        """Return the record of a place; None when the file no longer has it there."""
        found = self._db.execute(
            "SELECT key, offset FROM rows WHERE place = ?", (place,)
        ).fetchone()
        if found is None or self._file is None:
            return None
        self._file.seek(found[1])
        record = parse_record(self._file.readline(MAX_LINE_BYTES))
        return record if record and solution_fingerprint(record) == found[0] else None

    def statistics(self) -> tuple[Summary, LimitUsage]:
        """Return copies of the counters of all latest records."""
        if self._replaced:  # they counted the replaced ones as well
            self._summary, self._usage, self._replaced = Summary(), LimitUsage(), False
            for place in range(self.count):
                if (record := self.record(place)) is not None:
                    self._summary.add(record)
                    self._usage.add(record)
        return copy.deepcopy((self._summary, self._usage))

    def close(self) -> None:
        self._db.close()
        if self._file is not None:
            self._file.close()

    def _add(self, line: bytes, offset: int) -> None:
        record = parse_record(line)
        if record is None:
            self._damage("a line is not a record")
            return
        try:
            with reporting_bad_record(self.path, record):
                row = json.dumps(row_of(record), separators=(",", ":"), allow_nan=False)
                key = solution_fingerprint(record)
                self._put(key, offset, row, record)
        except InputError as error:
            self._damage(str(error))

    def _put(self, key: int, offset: int, row: str, record: Mapping[str, Any]) -> None:
        found = self._db.execute("SELECT place FROM rows WHERE key = ?", (key,)).fetchone()
        self.change += 1
        if found is None:
            values = (self.count, key, offset, self.change, row)
            self._db.execute("INSERT INTO rows VALUES (?, ?, ?, ?, ?)", values)
            self.count += 1
            self._summary.add(record)
            self._usage.add(record)
        else:
            self._db.execute(
                "UPDATE rows SET offset = ?, change = ?, row = ? WHERE place = ?",
                (offset, self.change, row, found[0]),
            )
            self._replaced = True

    def _skip_line(self) -> bool:
        """Read the rest of a line; return False when its end is not written yet."""
        assert self._file is not None
        while piece := self._file.readline(1 << 20):
            if piece.endswith(b"\n"):
                return True
        return False

    def _damage(self, why: str) -> None:
        self.damaged += 1
        self.why = self.why or why


def _opened(path: Path) -> IO[bytes] | None:
    try:
        check_input_file(path)
        return path.open("rb")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{path}: can't read records: {error.strerror}") from None
