"""The results folder of a solutions file.

    results/<stem>/
      piston_eval_results.jsonl    records; at the end of a run in the solutions file's order
      piston_eval_metrics.json     the metrics of these records; written last
      other_records.jsonl          records of solutions that the last run did not include
      .lock                        locked while a run uses the folder

A run that is killed at any moment leaves a folder in which the next run can continue.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import threading
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from gradebox.eval.common.errors import InputError
from gradebox.eval.common.files import OffsetIndex, fingerprint, replacing, write_json
from gradebox.eval.results.record import SCHEMA, encode, is_record
from gradebox.eval.results.records import (
    METRICS_NAME,
    RESULTS_NAME,
    EncodedRecord,
    RecordLog,
    is_settled,
    scan_records,
    solution_fingerprint,
)
from gradebox.sandbox.common.cleanup import Closeable

OTHERS_NAME = "other_records.jsonl"
log = logging.getLogger(__name__)


def results_stem(source: Path) -> str:
    """Return the results folder's name for a solutions file: its name without known suffixes."""
    name = source.name
    for suffix in (".gz", ".jsonl", ".ndjson", ".json"):
        name = name[: -len(suffix)] if name.lower().endswith(suffix) and name != suffix else name
    return name


def make_folder(path: Path) -> None:
    """Create a results folder; raise InputError when it can't be written."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        os.close(_open_lock(path))
    except OSError as e:
        raise InputError(
            f"{path}: can't write results there ({e.strerror}); "
            "choose another --results-dir or change its owner or mode"
        ) from None


def _open_lock(folder: Path) -> int:
    """Open the lock's file, which is overwritten; raise OSError for a symbolic link.

    A folder from elsewhere may contain links to any file of the user.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    return os.open(folder / ".lock", flags, 0o644)


class FolderLock(Closeable):
    """An exclusive lock on `folder`/.lock. The kernel releases it when the process dies.

    Raises InputError with the process that holds the lock when another run uses the folder. The
    file is never removed: two runs could then lock two files of the same name.
    """

    def __init__(self, folder: Path) -> None:
        try:
            self._fd = _open_lock(folder)
        except OSError as e:
            raise InputError(f"{folder}/.lock: can't be locked ({e.strerror}); remove it") from None
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
        """Release the lock. Further calls have no effect."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def discard_results(folders: Iterable[Path]) -> None:
    """Remove what earlier runs have written: in all of these folders, else in none.

    All are emptied before the run begins: one that is interrupted in the first folder, and goes on
    without --fresh, must not take old records from the second.

    Raises InputError when one can't be used or another run writes there.
    """
    with contextlib.ExitStack() as stack:
        unique = tuple(dict.fromkeys(folders))
        for folder in unique:
            make_folder(folder)
            stack.enter_context(FolderLock(folder))
        for folder in unique:
            for name in (METRICS_NAME, RESULTS_NAME, OTHERS_NAME):
                _remove(folder / name)


class ResultsFolder(Closeable):
    """The records of one solutions file: those of earlier runs and those that this run adds.

    A solution is identified by its ordinal, its 0-based position among the solutions of this run.
    Any thread may call any method. Raises InputError when the folder can't be used: not writable,
    locked by another run, or with records of another sandbox backend.

    backend   of the run's sandbox; None for rejudging, which grades some solutions of an earlier
              run again. Then all records keep their places, whatever sandbox made them, and the
              metrics stay until new ones are written, as the run's flags are in them
    outdated  solutions whose record has another schema, so that they are graded again
    """

    def __init__(self, path: Path, *, backend: str | None) -> None:
        self.path = path
        self.records_path = path / RESULTS_NAME
        self.metrics_path = path / METRICS_NAME
        self._others_path = path / OTHERS_NAME
        self._guard = threading.Lock()
        make_folder(path)
        self._lock = FolderLock(path)
        self._by_key, self._by_solution = OffsetIndex(), OffsetIndex()
        self._rejudging = backend is None
        self._offsets = array("q")  # by ordinal, -1 for a solution without a record
        self.outdated = 0
        try:
            if not self._rejudging:
                self._restore_others()
            self._log = RecordLog(self.records_path)
            self._read(backend)
        except BaseException:
            for held in (self._by_key, self._by_solution, self._lock):
                held.close()
            raise
        self.added = 0
        self.kept = 0

    def find(self, key: str) -> dict[str, Any] | None:
        """Return a record with this key that need not be graded again, or None."""
        with self._guard:
            offset = self._by_key.get(fingerprint(key))
            record = self._log.read(offset) if offset is not None else None
        return record if record is not None and record.get("key") == key else None

    def record_of(self, names: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the latest record of a solution, None when it has none.

        names  the fields that identify the solution
        """
        with self._guard:
            offset = self._by_solution.get(solution_fingerprint(names))
            return None if offset is None else self._log.read(offset)

    def add_graded(self, ordinal: int, names: Mapping[str, Any], record: EncodedRecord) -> None:
        """Append a record.

        names  its key and the fields that identify its solution
        """
        with self._guard:
            offset = self._write(ordinal, record.line)
            self._by_solution.put(solution_fingerprint(names), offset)
            if record.settled and names["key"]:
                self._by_key.put(fingerprint(names["key"]), offset)

    def place(self, ordinal: int, record: Mapping[str, Any]) -> bool:
        """Use the identical record of an earlier run, or append this one.

        Return True when the identical record was found.
        """
        line = encode(record)
        with self._guard:
            offset = self._by_solution.get(solution_fingerprint(record))
            if offset is not None and self._log.read_line(offset) == line:
                self._set_offset(ordinal, offset)
                self.kept += 1
                return True
            self._index(self._write(ordinal, line), record)
            return False

    def _write(self, ordinal: int, line: bytes) -> int:
        if self.added == 0 and not self._rejudging:
            _remove(self.metrics_path)  # they no longer match the records
        offset = self._log.append(line)
        self._set_offset(ordinal, offset)
        self.added += 1
        return offset

    def _set_offset(self, ordinal: int, offset: int) -> None:
        missing = ordinal + 1 - len(self._offsets)
        if missing > 0:
            self._offsets.extend([-1] * missing)
        self._offsets[ordinal] = offset

    def _index(self, offset: int, record: Mapping[str, Any]) -> None:
        """Remember where a valid record is."""
        self._by_solution.put(solution_fingerprint(record), offset)
        if record["key"] and is_settled(record):
            self._by_key.put(fingerprint(str(record["key"])), offset)

    def _read(self, backend: str | None) -> None:
        self._lines = 0
        for offset, record in scan_records(self.records_path):
            self._lines += 1
            if record is None:
                log.warning("%s: a damaged record at byte %d", self.records_path, offset)
                continue
            sandbox = record.get("sandbox")
            earlier = sandbox.get("backend") if isinstance(sandbox, dict) else None
            if earlier not in (None, backend) and not self._rejudging:
                self._log.close()
                raise InputError(
                    f"{self.path}: its records were made with sandbox {earlier!r}, this run uses "
                    f"{backend!r}; choose another --results-dir, or --fresh to start over"
                )
            solution = solution_fingerprint(record)
            before = self._by_solution.get(solution)
            if before is not None:
                self.outdated -= _is_outdated(self._log.read(before))
            self.outdated += _is_outdated(record)
            if is_record(record):
                self._index(offset, record)
            else:
                self._by_solution.put(solution, offset)

    def compact(self) -> bool:
        """Rewrite the file in order, with one record a solution; False when it already is.

        Records of solutions that this run did not include go to other_records.jsonl, so that a
        run over a part of the solutions (--limit, --problems) loses no record.
        """
        with self._guard:
            if not self._rejudging and self._is_compact():
                return False
            self._log.sync()
            if not self._rejudging:
                self._set_aside()
            with replacing(self.records_path) as file:
                file.writelines(self._in_their_places() if self._rejudging else self._in_order())
            self._log.close()
            return True

    def _in_order(self) -> Iterator[bytes]:
        """Yield the line of each solution of this run."""
        return (self._log.read_line(at) for at in self._offsets if at >= 0)

    def _in_their_places(self) -> Iterator[bytes]:
        """Yield the latest line of each solution, in the order of their first ones."""
        with OffsetIndex() as seen:
            for _, record in scan_records(self.records_path):
                solution = solution_fingerprint(record or {})
                latest = self._by_solution.get(solution)
                if latest is not None and seen.add(solution):
                    yield self._log.read_line(latest)

    def _set_aside(self) -> None:
        with replacing(self._others_path) as others:
            others.writelines(self._left_out())
        if not self._others_path.stat().st_size:
            _remove(self._others_path)

    def _is_compact(self) -> bool:
        offsets = self._offsets
        if len(offsets) != self._lines + self.added or min(offsets, default=0) < 0:
            return False
        return all(offsets[i - 1] < offsets[i] for i in range(1, len(offsets)))

    def _left_out(self) -> Iterator[bytes]:
        """Yield the records to set aside: of each solution that this run left out, the latest."""
        used = array("q", sorted(self._offsets))

        def is_unused(offset: int) -> bool:
            at = bisect_left(used, offset)
            return at == len(used) or used[at] != offset

        for offset, record in scan_records(self.records_path, is_unused):
            if record is None:
                continue
            key = fingerprint(str(record.get("key")))
            if self._by_solution.get(solution_fingerprint(record)) != offset:
                continue
            if self._by_key.get(key) == offset or _is_outdated(record):
                yield encode(record)

    def _restore_others(self) -> None:
        """Put the records that the last run set aside before those of the records file."""
        if not self._others_path.exists():
            return
        with replacing(self.records_path) as file:
            for source in (self._others_path, self.records_path):
                if source.exists():
                    for _, record in scan_records(source):
                        if record is not None:
                            file.write(encode(record))
        _remove(self._others_path)

    def write_metrics(self, metrics: Mapping[str, Any]) -> None:
        """Write the metrics file, whole or not at all."""
        write_json(self.metrics_path, metrics)

    def close(self) -> None:
        """Sync the records and release the folder."""
        self._by_key.close()
        self._by_solution.close()
        self._log.close()
        self._lock.close()


def _is_outdated(record: Mapping[str, Any] | None) -> bool:
    return record is not None and record.get("schema") != SCHEMA


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as e:
        raise InputError(
            f"{path}: can't be removed: {e.strerror}; repair the folder or choose another "
            "--results-dir, then start the run again"
        ) from None
