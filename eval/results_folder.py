"""The folder a run writes into, and what earlier runs left there.

    results/<stem>/
      piston_eval_results.jsonl    records; in the solutions file's order once a run ended
      piston_eval_metrics.json     what they come to; written last
      other_records.jsonl          records of solutions that the last run did not look at
      .lock                        held while a run is at work

Killed at any moment, a run leaves a folder from which the next one goes on.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import threading
from array import array
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from eval.input_error import InputError
from eval.lock import FolderLock
from eval.offset_index import OffsetIndex, fingerprint
from eval.record_shape import is_record
from eval.records import RESULTS_NAME, RecordLog, encode, identity, is_settled, scan
from sandbox.closing import Closing

METRICS_NAME = "piston_eval_metrics.json"
OTHERS_NAME = "other_records.jsonl"
log = logging.getLogger(__name__)


def stem_of(source: Path) -> str:
    """The results folder's name for a solutions file: its name up to the first known suffix."""
    name = source.name
    for suffix in (".gz", ".jsonl", ".ndjson", ".json"):
        name = name[: -len(suffix)] if name.lower().endswith(suffix) and name != suffix else name
    return name


def make_folder(path: Path) -> None:
    """Makes a results folder; InputError when it can't be written."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / ".lock"
        with probe.open("ab"):
            pass
    except OSError as e:
        raise InputError(
            f"{path}: can't write results there ({e.strerror}); "
            "choose another --results-dir or change its owner or mode"
        ) from None


class ResultsFolder(Closing):
    """Records of one solutions file: what is there, what is added, and the order at the end.

    A solution is known here by its ordinal, its 0-based place among those of this run.
    Methods may be called from any thread. Raises InputError when the folder can't be
    used: unwritable, locked by another run, or filled by another kind of sandbox.
    """

    def __init__(self, path: Path, *, backend: str, fresh: bool = False) -> None:
        self.path = path
        self.records_path = path / RESULTS_NAME
        self.metrics_path = path / METRICS_NAME
        self._others_path = path / OTHERS_NAME
        self._guard = threading.Lock()
        make_folder(path)
        self._lock = FolderLock(path)
        try:
            if fresh:
                self._remove_all()
            self._take_others_back()
            self._log = RecordLog(self.records_path)
            self._read(backend)
        except BaseException:
            self._lock.close()
            raise
        self._places = array("q")
        self.added = 0
        self.kept = 0

    def find(self, key: str) -> dict[str, Any] | None:
        """A record with this key that need not be graded again, or None."""
        with self._guard:
            offset = self._by_key.get(fingerprint(key))
            record = self._log.read(offset) if offset is not None else None
        return record if record is not None and record.get("key") == key else None

    def add(self, ordinal: int, record: Mapping[str, Any]) -> None:
        """Appends a record."""
        line = encode(record)
        with self._guard:
            self._append(ordinal, record, line)

    def place(self, ordinal: int, record: Mapping[str, Any]) -> bool:
        """Takes a record that was there before if it is the very same, else appends it.

        True when it was there.
        """
        line = encode(record)
        with self._guard:
            offset = self._by_identity.get(identity(record))
            if offset is not None and self._log.read_line(offset) == line:
                self._set_place(ordinal, offset)
                self.kept += 1
                return True
            self._append(ordinal, record, line)
            return False

    def _append(self, ordinal: int, record: Mapping[str, Any], line: bytes) -> None:
        if self.added == 0:
            remove(self.metrics_path)  # they are not of these records any more
        offset = self._log.append(line)
        self._index(offset, record)
        self._set_place(ordinal, offset)
        self.added += 1

    def _set_place(self, ordinal: int, offset: int) -> None:
        missing = ordinal + 1 - len(self._places)
        if missing > 0:
            self._places.extend([-1] * missing)
        self._places[ordinal] = offset

    def _index(self, offset: int, record: Mapping[str, Any]) -> None:
        self._by_identity.put(identity(record), offset)
        if is_record(record) and record["key"] and is_settled(record):
            self._by_key.put(fingerprint(str(record["key"])), offset)

    def _read(self, backend: str) -> None:
        self._by_key, self._by_identity = OffsetIndex(), OffsetIndex()
        self._lines = 0
        for offset, record in scan(self.records_path):
            self._lines += 1
            if record is None:
                log.warning("%s: a damaged record at byte %d", self.records_path, offset)
                continue
            box = record.get("sandbox")
            theirs = box.get("backend") if isinstance(box, dict) else None
            if theirs not in (None, backend):
                self._log.close()
                raise InputError(
                    f"{self.path}: its records were made with sandbox {theirs!r}, this run uses "
                    f"{backend!r}; choose another --results-dir, or --fresh to start over"
                )
            self._index(offset, record)

    def compact(self) -> bool:
        """Puts the file in order, one record a solution; False when it was so already.

        Records of solutions this run did not look at go to other_records.jsonl, so that a
        run over a part of the file (--limit, --problems) loses nothing.
        """
        with self._guard:
            if self._is_compact():
                return False
            self._log.sync()
            with replacing(self._others_path) as others:
                for line in self._left_out():
                    others.write(line)
            if not self._others_path.stat().st_size:
                remove(self._others_path)
            with replacing(self.records_path) as file:
                for offset in self._places:
                    if offset >= 0:
                        file.write(self._log.read_line(offset))
            self._log.close()
            return True

    def _is_compact(self) -> bool:
        places = self._places
        if len(places) != self._lines + self.added or min(places, default=0) < 0:
            return False
        return all(places[i - 1] < places[i] for i in range(1, len(places)))

    def _left_out(self) -> Iterator[bytes]:
        """Lines that are the last of their solution and of their key, and have no place."""
        placed = array("q", sorted(self._places))
        at = 0
        for offset, record in scan(self.records_path):
            while at < len(placed) and placed[at] < offset:
                at += 1
            if record is None or (at < len(placed) and placed[at] == offset):
                continue
            key = fingerprint(str(record.get("key")))
            if (
                self._by_identity.get(identity(record)) == offset
                and self._by_key.get(key) == offset
            ):
                yield encode(record)

    def _take_others_back(self) -> None:
        """Puts the records set aside by the last run before those of the file."""
        if not self._others_path.exists():
            return
        with replacing(self.records_path) as file:
            for source in (self._others_path, self.records_path):
                if source.exists():
                    for _, record in scan(source):
                        if record is not None:
                            file.write(encode(record))
        remove(self._others_path)

    def _remove_all(self) -> None:
        for path in (self.metrics_path, self.records_path, self._others_path):
            remove(path)

    def write_metrics(self, metrics: Mapping[str, Any]) -> None:
        """Writes the metrics file, whole or not at all."""
        write_json_whole(self.metrics_path, metrics)

    def close(self) -> None:
        """Syncs what was written and lets the folder go."""
        self._log.close()
        self._lock.close()


def write_json_whole(path: Path, value: Mapping[str, Any]) -> None:
    """Writes a JSON file, whole or not at all."""
    text = json.dumps(value, indent=2, allow_nan=False)
    with replacing(path) as file:
        file.write(text.encode() + b"\n")


class replacing:
    """A binary file that takes a path's place only when it was written to its end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._new = path.with_name(path.name + ".new")
        self._file: IO[bytes]

    def __enter__(self) -> IO[bytes]:
        try:
            self._file = self._new.open("wb")
        except OSError as e:
            raise InputError(_unwritten(self._new, e)) from None
        return self._file

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        error = value if isinstance(value, OSError) else None
        try:
            if kind is None:
                self._finish()
            else:
                self._file.close()
        except OSError as e:
            error = e
        if kind is None and error is None:
            return
        with contextlib.suppress(OSError):  # of a folder that has become read-only
            self._new.unlink(missing_ok=True)
        if error is not None:
            raise InputError(_unwritten(self._new, error)) from None

    def _finish(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        self._new.replace(self._path)


def remove(path: Path) -> None:
    """Removes a file if it is there; InputError when it can't be."""
    try:
        path.unlink(missing_ok=True)
    except OSError as e:
        raise InputError(
            f"{path}: can't be removed: {e.strerror}; repair the folder or choose another "
            "--results-dir, then start the run again"
        ) from None


def _unwritten(path: Path, error: OSError) -> str:
    return (
        f"{path}: can't be written: {error.strerror}; free some space or repair "
        "the folder, then start the run again: what is recorded is not graded again"
    )
