"""One run as the page asks for it: rows that changed, the summary, one solution.

`RecordIndex` has the latest record of each solution of a file that is being written:

    file ─ advance ─▶ place ─▶ (offset, row of the table, number of its last change)

A line counts once its newline is there. A record of a solution that has one already replaces it.
The table is a temporary database, so memory stays flat whatever the number of records.
"""

from __future__ import annotations

import copy
import json
import os
import sqlite3
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from gradebox.eval.common.errors import InputError
from gradebox.eval.debugging.find import Results
from gradebox.eval.debugging.reopen import Overrides
from gradebox.eval.reporting.page_data import detail_of, row_of
from gradebox.eval.reporting.sources import RunSources
from gradebox.eval.results.records import (
    check_record,
    parse_record,
    read_metrics,
    results_path,
    solution_fingerprint,
)
from gradebox.eval.results.statistics.counts import StatisticsOptions
from gradebox.eval.results.statistics.summary import Summary
from gradebox.sandbox.common.cleanup import Closeable
from gradebox.sandbox.errors import RequestRefused
from gradebox.sandbox.input_file import check_input_file

RUN_FACTS = ("timestamp", "flags", "sandbox", "calibration", "problems", "run")
SLICE_S = 0.3  # of reading records in one answer
MOST_ROWS = 5_000  # in one answer
TEXT_BYTES = 16 << 20  # of a record whose texts are all shown


class RunView(Closeable):
    """A results folder that may be written at the same time. Any thread may call any method.

    name   the path that the user gave
    epoch  a number of the records file: another one when it was replaced or cut, with other places

    Raises InputError when the folder does not exist.
    """

    def __init__(self, name: str, statistics: StatisticsOptions, overrides: Overrides) -> None:
        if not Path(name).exists():
            raise InputError(f"{name} does not exist; give the results folder of a run")
        self.name = name
        self.records = results_path(name)
        self.epoch = 1
        self.sources = RunSources(overrides)
        self._options = statistics
        self._lock = threading.Lock()
        self._index = RecordIndex(self.records)
        self._summary: tuple[object, dict[str, Any]] = (None, {})

    @property
    def title(self) -> str:
        """The name of its folder."""
        return self.records.parent.resolve().name

    def results(self) -> Results:
        """Return the files of the run, with its metrics as they are now."""
        return Results(self.records.parent, self.records, self.metrics())

    def metrics(self) -> dict[str, Any]:
        """Return the metrics, {} while the run has none; unreadable ones count as missing."""
        try:
            return read_metrics(self.records.parent)
        except InputError:
            return {}

    def changes(self, epoch: int, after: int) -> dict[str, Any]:
        """Return the rows that changed since a number, in the file of an epoch.

        `rows` has [place, row as JSON bytes]. With another epoch it begins at the first row.
        """
        with self._lock:
            reading = self._advance()
            index = self._index
            rows, change = index.changes(after if epoch == self.epoch else 0, MOST_ROWS)
            return {
                "epoch": self.epoch,
                "change": change,
                "rows": [f"[{place},{row}]".encode() for place, row in rows],
                "total": index.count,
                "more": reading or change < index.change,
                "damaged": index.damaged,
                "why": index.why,
                "finished": bool(self.metrics()),
            }

    def summary(self) -> dict[str, Any]:
        """Return the statistics so far, with what the metrics say of the run."""
        with self._lock:
            self._advance()
            metrics = self.metrics()
            key = (self.epoch, self._index.change, metrics)
            if self._summary[0] == key:
                return self._summary[1]
            counted = self._index.statistics()
        options = self._options
        if not options.ks:
            options = replace(options, ks=_ks_of_run(metrics))
        value = {
            "statistics": counted.result(options),
            "curve": counted.curve(options),
            "run": {name: metrics[name] for name in RUN_FACTS if name in metrics},
        }
        self._summary = (key, value)
        return value

    def record(self, epoch: int, place: int) -> dict[str, Any]:
        """Return the record of a row. Raises RequestRefused when it is no longer there."""
        with self._lock:
            record = self._index.record(place) if epoch == self.epoch else None
        if record is None:
            raise RequestRefused(404, "the records have changed; open the solution again")
        return record

    def detail(self, record: Mapping[str, Any], *, every_text: bool = True) -> dict[str, Any]:
        """Return what an opened solution shows; see `page_data.detail_of`.

        every_text  of the cases, unless they are very large
        """
        sizes = (len(case.get("output") or "") for case in record.get("details") or ())
        return detail_of(record, self.name, every_text=every_text and sum(sizes) < TEXT_BYTES)

    def close(self) -> None:
        """Close the files."""
        self._index.close()
        self.sources.close()

    def _advance(self) -> bool:
        """Read on; return whether more is left. A replaced file has another epoch."""
        if self._index.is_stale():
            self._index.close()
            self._index = RecordIndex(self.records)
            self.epoch += 1
        return self._index.advance(SLICE_S)


def _ks_of_run(metrics: dict[str, Any]) -> list[int]:
    """Return the k of pass@k that the run has, and 1."""
    try:
        return sorted({1, *(int(row["k"]) for row in metrics["statistics"]["pass_at_k"])})
    except (LookupError, TypeError, ValueError):
        return [1]


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
        self._summary = Summary()
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
            if not line.endswith(b"\n") and len(line) < MAX_LINE_BYTES:
                return False
            self._add(line, self._end)  # a part of a longer line is no record
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

    def statistics(self) -> Summary:
        """Return a copy of the counters of all latest records."""
        if self._replaced:  # they counted the replaced ones as well
            self._summary, self._replaced = Summary(), False
            for place in range(self.count):
                if (record := self.record(place)) is not None:
                    self._summary.add(record)
        return copy.deepcopy(self._summary)

    def close(self) -> None:
        self._db.close()
        if self._file is not None:
            self._file.close()

    def _add(self, line: bytes, offset: int) -> None:
        record = parse_record(line)
        if record is None:
            self._damage(f"{self.path}: a line is not a record; start the run again to repair it")
            return
        try:
            check_record(self.path, record)
            row = json.dumps(row_of(record), separators=(",", ":"), allow_nan=False)
            self._put(solution_fingerprint(record), offset, row, record)
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
        else:
            self._db.execute(
                "UPDATE rows SET offset = ?, change = ?, row = ? WHERE place = ?",
                (offset, self.change, row, found[0]),
            )
            self._replaced = True

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
