"""Files: those installed with gradebox; lines read in flat memory; files written whole."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from gradebox.eval.common.errors import InputError
from gradebox.sandbox.common.whole_file import whole_file

DATA = Path(__file__).resolve().parents[1] / "models" / "data"
_BOM = b"\xef\xbb\xbf"
_BLOCK = 1 << 16


def limited_lines(file: IO[bytes], most_bytes: int) -> Iterator[tuple[int, int, bytes | None]]:
    """Yield the 1-based number, the offset and the bytes of every line, None for a longer one.

    A byte order mark at the start is left out. Raises what reading the file does.
    """
    number = end = 0
    while line := file.readline(most_bytes + 1):
        number, end = number + 1, end + len(line)
        if len(line) <= most_bytes or line.endswith(b"\n"):
            line = line.removeprefix(_BOM) if number == 1 else line
            yield number, end - len(line), line
            continue
        del line  # before the rest is read
        while part := file.readline(_BLOCK):
            end += len(part)
            if part.endswith(b"\n"):
                break
        yield number, end, None


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that replaces `path` at the end of the block, as `whole_file` does.

    Raises InputError when the file can't be written; then the old file is unchanged.
    """
    try:
        with whole_file(path) as file:
            yield file
    except OSError as error:
        raise InputError(
            f"{path}: can't be written: {error.strerror}; make room or choose another folder, "
            "then start the command again"
        ) from None


def write_json(path: Path, value: Any) -> None:
    """Write `value` as a JSON file, whole or not at all; make its folder.

    Raises InputError when the file can't be written, ValueError for NaN or infinity.
    """
    text = json.dumps(value, indent=2, allow_nan=False)
    with contextlib.suppress(OSError):  # opening the file reports the error
        path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        file.write(text.encode() + b"\n")


def remove_cut_line(fd: int) -> int:
    """Truncate a last line that has no newline; return the size of the file."""
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


def working_folder() -> str | None:
    """Return this process's folder; None for one that was removed."""
    with contextlib.suppress(OSError):
        return str(Path.cwd())
    return None
