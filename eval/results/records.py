"""Records on disk: one JSON line a solution, written whole or not at all.

    piston_eval_results.jsonl
    {"schema": 2, "problem_id": "1000/A", …, "details": [{…case…}, …], "key": "…"}\n

During a run records are appended as solutions finish. A solution that is graded again has several
records, of which the last one counts. At the end the file is rewritten in the order of the
solutions file, with one record each. A crash can cut the last line: readers skip it, and the next
run removes it.

Lines are ASCII (JSON escapes), whatever the programs printed.
"""

from __future__ import annotations

import codecs
import errno
import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec

from gradebox.eval.common.errors import InputError, shown
from gradebox.eval.common.files import OffsetIndex, fingerprint, remove_cut_line
from gradebox.eval.results.record import (
    CaseVerdict,
    SolutionRecord,
    Status,
    check_types,
    encode,
)
from gradebox.eval.results.record_objects import Record
from gradebox.sandbox.input_file import check_input_file

if TYPE_CHECKING:
    import pandas as pd


RESULTS_NAME = "piston_eval_results.jsonl"
METRICS_NAME = "piston_eval_metrics.json"
SYNC_EVERY_S = 5.0
MAX_ERROR = 400
UNSETTLED = ("error", "invalid")  # statuses
_BLOCK = 1 << 16


@dataclass(frozen=True)
class EncodedRecord:
    """A record as its line, with what a run needs to know of it.

    settled  see `is_settled`
    error    of a record of status `invalid`, else ""
    """

    line: bytes
    status: Status
    verdict: CaseVerdict | None
    settled: bool
    error: str = ""

    def fields(self) -> dict[str, Any]:
        """Return the record's JSON object."""
        fields: dict[str, Any] = msgspec.json.decode(self.line)
        return fields


def fields_of(record: dict[str, Any] | EncodedRecord) -> dict[str, Any]:
    """Return a record's JSON object."""
    return record.fields() if isinstance(record, EncodedRecord) else record


def line_of(record: dict[str, Any] | EncodedRecord) -> bytes:
    """Return a record's line; one that is encoded costs nothing."""
    return record.line if isinstance(record, EncodedRecord) else encode(record)


def encoded(record: SolutionRecord | EncodedRecord) -> EncodedRecord:
    """Return a record as its line; one that is encoded costs nothing."""
    if isinstance(record, EncodedRecord):
        return record
    failed = record.status in UNSETTLED or any(case.verdict == "ER" for case in record.details)
    error = record.error if record.status == "invalid" else ""
    return EncodedRecord(encode(record), record.status, record.verdict, not failed, error)


def stored_text(data: bytes, limit: int) -> str:
    """Return at most `limit` bytes of `data` as text; a cut character is left out.

    Bytes that are not UTF-8 become `\\\\xNN`. A record also has the size and hash of all of `data`.
    """
    if len(data) <= limit:
        return data.decode("utf-8", "backslashreplace")
    decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
    return decoder.decode(data[:limit])


def recorded_output(case: Mapping[str, Any]) -> bytes | None:
    """Return the whole output in a recorded case; None when it was cut or not valid text."""
    data = str(case.get("output") or "").encode("utf-8", "surrogatepass")
    if len(data) != case.get("output_bytes"):
        return None
    return data if hashlib.sha256(data).hexdigest() == case.get("output_sha256") else None


def one_line(text: str) -> str:
    """Return the start of a program's, checker's or server's text as one line for `error`."""
    if not text:
        return ""
    head = " ".join(text[: 4 * MAX_ERROR].split())
    return head if len(head) <= MAX_ERROR else head[: MAX_ERROR - 1] + "…"


def solution_fingerprint(record: Mapping[str, Any]) -> int:
    """Return a hash of the fields that identify the solution of a record."""
    names = ("problem_id", "solution_id", "sample_i", "line")
    return fingerprint(*(str(record.get(name)) for name in names))


def is_settled(record: Mapping[str, Any]) -> bool:
    """Return whether a record stays. The machine, or what was unusable, may be repaired."""
    if record.get("status") in UNSETTLED:
        return False
    return all(case["verdict"] != "ER" for case in record.get("details", ()))


def results_path(path: str | Path) -> Path:
    """Return the records file of a results folder; any other path is the file itself."""
    path = Path(path)
    return path / RESULTS_NAME if path.is_dir() else path


def parse_record(line: bytes) -> dict[str, Any] | None:
    """Return the record of one line; None when the line is cut or damaged."""
    try:
        record = msgspec.json.decode(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) and "problem_id" in record else None


def scan_records(
    path: Path, wanted: Callable[[int], bool] = lambda offset: True
) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """Yield (offset, record) of every line that ends in a newline; None for a damaged line.

    wanted  whether the line at an offset is decoded and yielded
    """
    try:
        check_input_file(path)
        file = path.open("rb")
    except OSError as e:
        raise InputError(f"{path}: can't read records: {e.strerror}") from None
    with file:
        offset = 0
        for line in file:
            if line.endswith(b"\n") and wanted(offset):
                yield offset, parse_record(line)
            offset += len(line)


def read_records(path: str | Path) -> Iterator[Record]:
    """Yield every record of a file or results folder, in the order written.

    A cut last line is left out. Raises InputError for any other damaged line.
    """
    for number, (_, record) in enumerate(scan_records(results_path(path)), start=1):
        if record is None:
            raise InputError(
                f"{path}: line {number} is not a record; start the run again to repair the file"
            )
        yield cast(Record, record)


def latest_records(path: str | Path) -> Iterator[Record]:
    """Yield the last record of each solution, in file order. The file is read twice."""
    file = results_path(path)
    with OffsetIndex() as last:
        for offset, record in scan_records(file):
            if record is not None:
                last.put(solution_fingerprint(record), offset)
        for offset, record in scan_records(file):
            if record is not None and last.get(solution_fingerprint(record)) == offset:
                yield cast(Record, record)


def check_record(path: Path, record: Mapping[str, Any]) -> None:
    """Raise InputError for a record that another version wrote, or that is damaged."""
    try:
        check_types(record)
    except ValueError as error:
        raise InputError(
            f"{path}: the record of problem {shown(record.get('problem_id'))} was not written by "
            f"the grader ({shown(str(error))}); start the run again, or remove its line"
        ) from None


def usable_records(path: str | Path) -> Iterator[Record]:
    """Yield the latest records; raise InputError for one that statistics can't use."""
    for record in latest_records(path):
        check_record(results_path(path), record)
        yield record


def to_frame(path: str | Path, *, cases: bool = False) -> pd.DataFrame:
    """Return the latest records as a table: a row for each solution, or for each case.

    Nested fields become columns with a dot (`compile.ok`). Rows of cases have the fields that
    identify their solution.
    """
    import pandas as pd

    rows = (row for record in latest_records(path) for row in table_rows(record, cases))
    return pd.json_normalize(list(rows), max_level=1)


IDENTIFYING = ("problem_id", "solution_id", "sample_i", "line", "language")


def table_rows(record: Mapping[str, Any], cases: bool) -> list[dict[str, Any]]:
    """Return a record's row of a table, or those of its cases."""
    if not cases:
        return [{name: value for name, value in record.items() if name != "details"}]
    solution = {name: record.get(name) for name in IDENTIFYING}
    return [{**solution, **case} for case in record.get("details", ())]


class RecordLog:
    """A file that lines are appended to, each with one write; no symbolic link. Not thread-safe.

    A line that does not fit on a full disk is removed again and InputError is raised. Appended
    lines survive the death of the process. The file is synced every few seconds and at the end,
    against power failures.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            self._fd = os.open(path, flags, 0o644)
        except OSError as e:
            why = "it is a symbolic link" if e.errno == errno.ELOOP else e.strerror
            raise InputError(f"{path}: can't write records: {why}") from None
        self.size = remove_cut_line(self._fd)
        self._synced = time.monotonic()

    def append(self, line: bytes) -> int:
        """Append a line that ends in a newline; return its offset."""
        offset = self.size
        view = memoryview(line)
        try:
            while view:
                view = view[os.write(self._fd, view) :]
        except OSError as e:
            os.ftruncate(self._fd, offset)
            raise InputError(
                f"{self.path}: can't write a line of {len(line)} bytes: {e.strerror}; "
                f"{_remedy(e)}, then start the run again: it continues where it stopped"
            ) from None
        self.size = offset + len(line)
        if time.monotonic() - self._synced > SYNC_EVERY_S:
            self.sync()
        return offset

    def read(self, offset: int) -> dict[str, Any] | None:
        """Return the record at an offset; None when it is damaged."""
        return parse_record(self.read_line(offset))

    def read_line(self, offset: int) -> bytes:
        """Return the line at an offset, including the newline."""
        parts = []
        while True:
            block = os.pread(self._fd, _BLOCK, offset)
            end = block.find(b"\n")
            if end >= 0 or not block:
                parts.append(block[: end + 1])
                return b"".join(parts)
            parts.append(block)
            offset += len(block)

    def sync(self) -> None:
        """Wait until everything appended is on the disk."""
        os.fdatasync(self._fd)
        self._synced = time.monotonic()

    def close(self) -> None:
        """Sync and close. Further calls have no effect."""
        if self._fd >= 0:
            self.sync()
            os.close(self._fd)
            self._fd = -1


def _remedy(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "free some space"
    if error.errno == errno.EFBIG:
        return "raise the file size limit (ulimit -f)"
    return "repair the folder"


def read_metrics(folder: Path) -> dict[str, Any]:
    """Return the metrics of a results folder; {} when the run has not written them yet.

    Raises InputError when the file can't be read.
    """
    path = folder / METRICS_NAME
    try:
        check_input_file(path)
        metrics = msgspec.json.decode(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(
            f"{path}: the metrics can't be read: {error}; run the grader again to write them"
        ) from None
    return metrics if isinstance(metrics, dict) else {}
