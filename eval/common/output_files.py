"""Write output files whole, with errors that a user understands."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from gradebox.eval.common.errors import InputError
from gradebox.sandbox.common.whole_file import whole_file


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


def write_json(path: Path, value: Any, *, indent: int | None = 2) -> None:
    """Write `value` as a JSON file, whole or not at all; make its folder.

    Raises InputError when the file can't be written, ValueError for NaN or infinity.
    """
    text = json.dumps(value, indent=indent, allow_nan=False)
    with contextlib.suppress(OSError):  # opening the file reports the error
        path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        file.write(text.encode() + b"\n")
