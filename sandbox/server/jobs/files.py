"""The files of a request: their names, inside the working folder, and their contents as bytes."""

from __future__ import annotations

import base64
import binascii
import contextlib
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from gradebox.sandbox.errors import BadRequest
from gradebox.sandbox.server.jobs.limits import check_text

RESERVED = ".gradebox-"  # names that begin so are the server's own
MAX_NAME_BYTES, MAX_PATH_BYTES = 255, 1000
_FROM_URL = str.maketrans("-_", "+/")


@dataclass(frozen=True)
class File:
    """One file; `utf8` files are sources, as in Piston, all others data.

    name  relative to the working folder, with `/` between folders, without `.` and `..`
    """

    name: str
    content: bytes
    utf8: bool


def read_files(value: Any, most: int) -> list[File]:
    """Return the files of a request, at most `most`. Raises BadRequest."""
    if not isinstance(value, list):
        raise BadRequest("files is required as an array")
    if len(value) > most:
        raise BadRequest(f"the request has {len(value)} files; at most {most}")
    files = []
    for i, item in enumerate(value):
        if not isinstance(item, dict) or not isinstance(item.get("content"), str):
            raise BadRequest(f"files[{i}].content is required as a string")
        encoding = item.get("encoding", "utf8")
        name = plain_name(item.get("name") or f"file{i}.code", i)
        content = _decode(item["content"], encoding, i)
        files.append(File(name, content, encoding not in ("base64", "hex")))
    check_folders({file.name for file in files})
    return files


def plain_name(name: Any, i: int) -> str:
    """Return a file's name in its plainest spelling. Raises BadRequest."""
    field = f"files[{i}].name"
    parts = name.split("/") if isinstance(name, str) else ["/"]
    kept = [part for part in parts if part not in ("", ".")]
    if parts[0] in ("", "/") or parts[-1] in ("", ".") or ".." in parts or "\0" in name:
        raise BadRequest(
            f"{field} is {str(name)[:80]!r}; it must be a path inside the working folder, "
            "without '..'"
        )
    check_text(name, field)
    sizes = [len(part.encode()) for part in kept]
    if max(sizes) > MAX_NAME_BYTES or sum(sizes) + len(sizes) > MAX_PATH_BYTES:
        raise BadRequest(
            f"{field} begins with {name[:40]!r} and is too long; names have at most "
            f"{MAX_NAME_BYTES} bytes, paths {MAX_PATH_BYTES}"
        )
    if kept[0].startswith(RESERVED):
        raise BadRequest(f"{field} is {name[:80]!r}; names with {RESERVED} are the server's own")
    return "/".join(kept)


def check_folders(names: set[str]) -> None:
    """Raise BadRequest when a file is a folder of another one."""
    for name in names:
        for folder in PurePosixPath(name).parents:
            if str(folder) in names:
                raise BadRequest(f"{str(folder)[:80]!r} is a file and the folder of {name[:80]!r}")


def _decode(content: str, encoding: Any, i: int) -> bytes:
    try:
        if encoding == "base64":
            return _base64(content)
        if encoding == "hex":
            return bytes.fromhex(content)
        return content.encode()
    except (binascii.Error, ValueError) as error:
        raise BadRequest(f"files[{i}].content is not {encoding}: {error}") from error


def _base64(text: str) -> bytes:
    """Decode base64 as Node does: line breaks, the URL alphabet and no padding are allowed."""
    with contextlib.suppress(binascii.Error):
        return strict_base64(text)  # without the copies below
    packed = "".join(text.split()).rstrip("=").translate(_FROM_URL)
    return base64.b64decode(packed + "=" * (-len(packed) % 4), validate=True)


def strict_base64(text: str) -> bytes:
    """Decode base64 in pieces, so that other threads run in between. Raises binascii.Error."""
    size = 4 << 20
    pieces = [text[i : i + size] for i in range(0, len(text), size)]
    if any("=" in piece for piece in pieces[:-1]):
        raise binascii.Error("there is padding before the end")
    return b"".join(base64.b64decode(piece, validate=True) for piece in pieces)
