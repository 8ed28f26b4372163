"""One run as the page asks for it: rows that changed, the summary, one solution."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gradebox.eval.common.errors import InputError
from gradebox.eval.debugging.find import Results
from gradebox.eval.debugging.reopen import Overrides
from gradebox.eval.reporting.build import RUN_FACTS, StatisticsOptions, ks_of_run
from gradebox.eval.reporting.page_data import detail_of
from gradebox.eval.results.records import (
    METRICS_NAME,
    read_metrics,
    reporting_bad_record,
    results_path,
)
from gradebox.eval.viewing.record_index import RecordIndex
from gradebox.eval.viewing.sources import RunSources
from gradebox.sandbox.common.cleanup import Closeable
from gradebox.sandbox.errors import RequestRefused

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
        self._next: RecordIndex | None = None  # of the file that has replaced it
        self._metrics: tuple[object, dict[str, Any]] = (None, {})
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
            state = (self.records.parent / METRICS_NAME).stat()
        except OSError:
            return {}
        key = (state.st_ino, state.st_size, state.st_mtime_ns)
        if self._metrics[0] != key:
            try:
                self._metrics = (key, read_metrics(self.records.parent))
            except InputError:
                self._metrics = (key, {})
        return self._metrics[1]

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
            key = (self.epoch, self._index.change, id(metrics))
            if self._summary[0] == key:
                return self._summary[1]
            counted, usage = self._index.statistics()
        options = self._options
        value = {
            "statistics": counted.result(
                ks=options.ks or ks_of_run(metrics),
                level=options.level,
                seed=options.seed,
                cluster_by_contest=options.cluster_by_contest,
            ),
            "limit_usage": usage.result(),
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

    def detail(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return what an opened solution shows; see `page_data.detail_of`."""
        sizes = (len(case.get("output") or "") for case in record.get("details") or ())
        with reporting_bad_record(self.records, record):
            return detail_of(record, self.name, every_text=sum(sizes) < TEXT_BYTES)

    def close(self) -> None:
        """Close the files."""
        self._index.close()
        if self._next is not None:
            self._next.close()
        self.sources.close()

    def _advance(self) -> bool:
        """Read on; return whether more is left. A replaced file is read whole before it counts."""
        if self._next is not None and self._next.is_stale():
            self._next.close()
            self._next = None
        if self._next is None and self._index.is_stale():
            self._next = RecordIndex(self.records)
        more = (self._next or self._index).advance(SLICE_S)
        if self._next is not None and not more:
            self._index.close()
            self._index, self._next = self._next, None
            self.epoch += 1
        return more
