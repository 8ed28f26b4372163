"""Find JSON-lines files and read their lines, plain or gzip, in flat memory.

paths and globs ─▶ files ─▶ (line number, bytes | why the line is unreadable)
"""

from __future__ import annotations

import glob
import gzip
import json
import os
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, cast

from gradebox.eval.common.errors import InputError, shown
from gradebox.eval.common.files import limited_lines
from gradebox.sandbox.input_file import check_input_file

MAX_LINE_BYTES = 64 << 20
MOST_ARRAY_BYTES = 512 << 20  # it is held whole
COUNTED_BYTES = 2 << 30
_GZIP = b"\x1f\x8b"
_UTF16_OR_32 = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
_REMEDY = "give a JSON-lines file, one object a line"


def find_files(paths: Sequence[str | Path]) -> list[Path]:
    """Return the files that paths and globs match, each once; those of a glob sorted by name.

    A path that exists is never read as a glob. Raises InputError for a path or glob that matches
    no file, for a folder, and for a file that is not JSON lines.
    """
    if not paths:
        raise InputError(f"--solutions-path is empty: {_REMEDY}")
    found = dict.fromkeys(file for path in paths for file in _expand(path))
    for file in found:
        _check_format(file)
    return list(found)


def read_lines(path: Path) -> Iterator[tuple[int, bytes | str]]:
    """Yield the 1-based number and the bytes of every line that is not blank.

    A line longer than MAX_LINE_BYTES is skipped. Its number comes with an error message (str).
    Raises InputError when the file can't be read or its compression is damaged.
    """
    number = 0
    _check_kind(path)
    rows = _array(path)
    if rows is not None:
        for number, row in enumerate(rows, start=1):
            yield number, json.dumps(row).encode()
        return
    try:
        with _open(path) as file:
            for number, _, line in limited_lines(file, MAX_LINE_BYTES):
                if line is None:
                    yield number, f"the line is longer than {MAX_LINE_BYTES} bytes: shorten it"
                elif line.strip():
                    yield number, line
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(
            f"{path} is damaged after line {number} ({error}): compress or copy it again"
        ) from error
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror or error}") from error


def _array(path: Path) -> list[object] | None:
    """Return the items of a file that is one JSON array, None for any other file."""
    try:
        with path.open("rb") as file:
            start = file.read(4).removeprefix(b"\xef\xbb\xbf")
            if start[:1] != b"[" or path.stat().st_size > MOST_ARRAY_BYTES:
                return None
        rows = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return rows if isinstance(rows, list) else None


def count_lines(path: Path) -> int | None:
    """Count the lines that are not blank, None where that is slow or lines have several solutions.

    It is slow for a compressed or large file.
    """
    with path.open("rb") as raw:
        compressed = raw.read(2) == _GZIP
    if compressed or path.stat().st_size > COUNTED_BYTES:
        return None
    count = 0
    for _, line in read_lines(path):
        if isinstance(line, bytes) and b'"code_list"' in line:
            return None
        count += 1
    return count


def _expand(path: str | Path) -> list[Path]:
    name = os.fspath(path)
    file = Path(name)
    if "\0" in name or not name:
        raise InputError(f"{shown(name)} is not a path: {_REMEDY}")
    if file.is_dir():
        raise InputError(f"{name} is a folder: give a file of it, or a glob such as {name}/*.jsonl")
    if file.exists():
        return [file]
    if not glob.has_magic(name):
        raise InputError(f"{name} does not exist: {_REMEDY}")
    files = [Path(hit) for hit in sorted(glob.glob(name, recursive=True))]  # noqa: PTH207
    files = [hit for hit in files if not hit.is_dir()]
    if not files:
        raise InputError(f"no file matches {name}: quote the glob and check the folder")
    return files


# what a file that is no JSON lines begins with
_HEADS = {
    b"PAR1": "is a parquet file: export it as JSON lines (to_json, lines=True)",
    b"\x28\xb5\x2f\xfd": "is compressed by zstd: unzstd it, or compress it by gzip",
    **dict.fromkeys(_UTF16_OR_32, "is not UTF-8 but UTF-16 or UTF-32: save it as UTF-8"),
}


def _check_format(path: Path) -> None:
    """Raise InputError for a file without lines of text; a bad line is reported when it is read."""
    _check_kind(path)
    try:
        with path.open("rb") as raw:
            head = raw.read(4)
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror or error}") from error
    if why := next((why for start, why in _HEADS.items() if head.startswith(start)), ""):
        raise InputError(f"{path} {why}")
    if next(read_lines(path), None) is None:
        raise InputError(f"{path} is empty: {_REMEDY}")


def _check_kind(path: Path) -> None:
    """Raise InputError for a pipe or a device: a solutions file is read several times."""
    try:
        check_input_file(path)
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror or error}") from error


def _open(path: Path) -> IO[bytes]:
    """Open a file, decompressed if its first bytes are those of gzip, whatever its name."""
    raw = path.open("rb")
    try:
        magic = raw.read(2)
        raw.seek(0)
    except OSError:
        raw.close()
        raise
    if magic == _GZIP:
        raw.close()
        return cast("IO[bytes]", gzip.open(path, "rb"))
    return raw
