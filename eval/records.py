"""Records on disk: one JSON line a solution, written whole or not at all.

    piston_eval_results.jsonl
    {"schema": 1, "problem_id": "1000/A", …, "details": [{…case…}, …], "key": "…"}\\n

While a run goes on, records are appended in the order they are finished, and a solution
graded again has several: the last one wins. A run that ends puts the file in the order of
the solutions file, one record each. A line cut by a crash is no record; readers skip it
and the next run removes it.

Lines are pure ASCII (JSON escapes), whatever the programs printed.
"""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.input_error import InputError
from eval.model import CaseRecord, SolutionRecord
from eval.offset_index import OffsetIndex, fingerprint

if TYPE_CHECKING:
    import pandas as pd

RESULTS_NAME = "piston_eval_results.jsonl"
SYNC_EVERY_S = 5.0
MAX_ERROR = 400
_BLOCK = 1 << 16


def as_json(record: SolutionRecord) -> dict[str, Any]:
    """The JSON object of a record, fields in the order they are documented."""
    fields = dict(vars(record))
    fields["tags"] = list(record.tags)
    fields["details"] = [_case_as_json(c) for c in record.details]
    return {"schema": fields.pop("schema"), **fields}


def _case_as_json(case: CaseRecord) -> dict[str, Any]:
    fields = dict(vars(case))
    if not case.repeats:
        del fields["repeats"]
    else:
        fields["repeats"] = list(case.repeats)
    return fields


def encode(record: Mapping[str, Any]) -> bytes:
    """One line, newline included."""
    return json.dumps(record, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n"


def stored_text(data: bytes, limit: int) -> str:
    """At most `limit` bytes of `data` as text.

    Bytes that are not UTF-8 are shown as \\\\xNN; the whole data's size and SHA-256 stand
    beside it in a record. A character is never cut in two.
    """
    if len(data) > limit:
        data = data[:limit]
        for back in range(1, min(4, len(data) + 1)):
            if data[-back] & 0xC0 != 0x80:
                if data[-back] >= 0xC0 and back < _utf8_width(data[-back]):
                    data = data[:-back]
                break
    return data.decode("utf-8", "backslashreplace")


def _utf8_width(lead: int) -> int:
    return 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


def one_line(text: str, limit: int = MAX_ERROR) -> str:
    """Text of a program, a checker or a server as it may stand in an error: short, one line."""
    head = " ".join(text[: 4 * limit].split())
    return head if len(head) <= limit else head[: limit - 1] + "…"


def identity(record: Mapping[str, Any]) -> int:
    """Fingerprint of the solution a record is of."""
    return fingerprint(
        str(record.get("problem_id")),
        str(record.get("solution_id")),
        str(record.get("sample_i")),
        str(record.get("line")),
    )


def is_settled(record: Mapping[str, Any]) -> bool:
    """Whether nothing of it is to be graded again: the machine failed at no case."""
    if record.get("status") == "error":
        return False
    return all(case["verdict"] != "ER" for case in record.get("details", ()))


def results_path(path: str | Path) -> Path:
    """The records file itself, given it or the results folder it lies in."""
    path = Path(path)
    return path / RESULTS_NAME if path.is_dir() else path


def parse_line(line: bytes) -> dict[str, Any] | None:
    """The record of one line, or None when the line is not a whole record."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) and "problem_id" in record else None


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """(offset, line) of every line that ends in a newline."""
    try:
        file = path.open("rb")
    except OSError as e:
        raise InputError(f"{path}: can't read records: {e.strerror}") from None
    with file:
        offset = 0
        for line in file:
            if line.endswith(b"\n"):
                yield offset, line
            offset += len(line)


def scan(path: Path) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """(offset, record) of every whole line; None for a line that is no record."""
    for offset, line in _lines(path):
        yield offset, parse_line(line)


def read_records(path: str | Path) -> Iterator[dict[str, Any]]:
    """Every record of a file (or results folder) in the order written, streaming.

    A cut last line is left out; InputError names any other line that is no record.
    """
    for number, (_, record) in enumerate(scan(results_path(path)), start=1):
        if record is None:
            raise InputError(
                f"{path}: line {number} is no record; start the run again to repair the file"
            )
        yield record


def latest_records(path: str | Path) -> Iterator[dict[str, Any]]:
    """The last record of each solution, in file order; two passes, flat memory."""
    where = results_path(path)
    last = OffsetIndex()
    for offset, record in scan(where):
        if record is not None:
            last.put(identity(record), offset)
    for offset, record in scan(where):
        if record is not None and last.get(identity(record)) == offset:
            yield record


def to_frame(path: str | Path, *, cases: bool = False) -> pd.DataFrame:
    """The latest records as a table: one row a solution, or one a case with `cases`.

    Nested fields become columns with a dot (`compile.ok`). Rows of cases carry the fields
    that say which solution they belong to.
    """
    import pandas as pd

    rows = (_case_rows(r) if cases else [_flat(r)] for r in latest_records(path))
    frame: pd.DataFrame = pd.DataFrame([row for group in rows for row in group])
    return frame


def _flat(record: Mapping[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name, value in record.items():
        if name == "details":
            continue
        if isinstance(value, dict):
            row.update({f"{name}.{k}": v for k, v in value.items()})
        else:
            row[name] = value
    return {name: _exportable(value) for name, value in row.items()}


def _exportable(value: Any) -> Any:
    """Half a surrogate pair, which JSON can spell and parquet and csv can't, as its escape."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, list):
        return [_exportable(one) for one in value]
    return value


def _case_rows(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    head = {k: record.get(k) for k in ("problem_id", "solution_id", "sample_i", "line", "language")}
    return [_flat({**head, **case}) for case in record.get("details", ())]


class RecordLog:
    """Appends records to a file, each whole.

    A record is one write to a descriptor opened for appending. When it does not fit (full
    disk) what was written of it is taken back and InputError raised: the file stays good.
    A record that was appended survives the death of the process at once; against loss of
    power the file is synced every few seconds and at the end.
    Not for several threads at once: callers hold a lock of their own.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        try:
            self._fd = os.open(path, flags, 0o644)
        except OSError as e:
            raise InputError(f"{path}: can't write records: {e.strerror}") from None
        self.size = repair(self._fd)
        self._synced = time.monotonic()

    def append(self, line: bytes) -> int:
        """Appends a line that ends in a newline; gives the offset it starts at."""
        offset = self.size
        view = memoryview(line)
        try:
            while view:
                view = view[os.write(self._fd, view) :]
        except OSError as e:
            os.ftruncate(self._fd, offset)
            raise InputError(
                f"{self.path}: can't write a record of {len(line)} bytes: {e.strerror}; "
                f"{_remedy(e)}, then start the run again: it goes on where it stopped"
            ) from None
        self.size = offset + len(line)
        if time.monotonic() - self._synced > SYNC_EVERY_S:
            self.sync()
        return offset

    def read(self, offset: int) -> dict[str, Any] | None:
        """The record at an offset."""
        return parse_line(self.read_line(offset))

    def read_line(self, offset: int) -> bytes:
        """The line at an offset, newline included."""
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
        """Returns when what was appended is on the disk."""
        os.fdatasync(self._fd)
        self._synced = time.monotonic()

    def close(self) -> None:
        """Syncs and closes; calling it twice is harmless."""
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


def repair(fd: int) -> int:
    """Cuts a last line without its newline off; gives the size that is left."""
    size = os.fstat(fd).st_size
    end = size
    while end > 0:
        start = max(0, end - _BLOCK)
        at = os.pread(fd, end - start, start).rfind(b"\n")
        if at >= 0:
            end = start + at + 1
            break
        end = start
    if end != size:
        os.ftruncate(fd, end)
    return end
