"""The job a launcher gets, and what it reports: both ends of the frames in box_launcher.py."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from sandbox.model import Limits

Why = Literal["-", "output", "wall", "short", "compile"]

# The first and last lines, and the report of a run without output, fit in this many bytes.
REPORT_BYTES = 400


class BadReport(ValueError):
    """The frames are damaged: by the transport, or by a program that forged them."""


@dataclass(frozen=True)
class Report:
    """What the launcher said of the program. Said from inside the box: believed only
    as far as the server's own figures allow (see sandbox/piston/evidence.py).

    why  "-" it ended by itself; "output", "wall" the launcher ended it for that;
         "short" the server's output limit is too small to carry what it printed;
         "compile" it was compiled in the same box, and refused
    """

    exit_code: int | None
    signal: int | None
    cpu_s: float
    wall_s: float
    memory_bytes: int
    stdout: bytes
    stderr: bytes
    stdout_bytes: int
    stderr_bytes: int
    why: Why
    files: Mapping[str, bytes] = field(default_factory=dict)


def encode_job(
    nonce: str,
    argv: Sequence[str],
    limits: Limits,
    *,
    budget: int,
    files: Sequence[str] = (),
    collect: Sequence[str] = (),
    only_base64: bool,
    fixed_addresses: bool,
) -> bytes:
    """The contents of gbx-job.

    budget  characters of stdout the server can carry
    files   the real names of the files sent as gbx-0, gbx-1, …
    """
    numbers = (
        limits.output_bytes,
        limits.stderr_bytes,
        budget,
        int(limits.wall_s * 1000),
        limits.processes,
        limits.open_files,
        limits.file_size_bytes,
        int(only_base64),
        int(fixed_addresses),
        len(argv),
        len(files),
    )
    fields = [nonce, " ".join(map(str, numbers)), *argv, *files, *collect]
    return b"\0".join(f.encode("utf-8", "surrogateescape") for f in fields)


def decode_report(text: str, nonce: str) -> Report:
    """Reads the frames of a run; BadReport when they are not whole."""
    data = text.encode("utf-8", "replace")
    head = f"GBX1 {nonce}\n".encode()
    if not data.startswith(head):
        raise BadReport("no report at the start of the output")
    out: list[bytes] = []
    err: list[bytes] = []
    files: dict[str, bytes] = {}
    at = len(head)
    while True:
        end = data.find(b"\n", at)
        if end < 0:
            raise BadReport("the report ends in the middle")
        words = data[at:end].split()
        if not words:
            raise BadReport("an empty line in the report")
        if words[0] == b"Z":
            return _last_line(words, nonce, b"".join(out), b"".join(err), files)
        size = _natural(words[-1])
        body = data[end + 1 : end + 1 + size]
        at = end + 2 + size
        if len(body) != size or data[at - 1 : at] != b"\n":
            raise BadReport("a frame is shorter than it says")
        if words[0] == b"R":
            if not body.isascii():
                raise BadReport("a frame of plain text is not ASCII")
            out.append(body)
        elif words[0] == b"B":
            out.append(_base64(body))
        elif words[0] == b"E":
            err.append(_base64(body))
        elif words[0] == b"F" and len(words) == 3:
            files[_name(words[1])] = _base64(body)
        else:
            raise BadReport("an unknown frame")


def _last_line(
    words: list[bytes], nonce: str, out: bytes, err: bytes, files: dict[str, bytes]
) -> Report:
    if len(words) != 10 or words[1] != nonce.encode():
        raise BadReport("the last line is not the launcher's")
    try:
        code, sig, cpu_us, rss_kib, stdout_bytes, stderr_bytes, wall_us = map(int, words[2:9])
    except ValueError as error:
        raise BadReport("the last line has no numbers") from error
    why = words[9].decode("ascii", "replace")
    if why not in get_args(Why) or min(cpu_us, rss_kib, wall_us) < 0:
        raise BadReport("the last line says what no launcher says")
    if why == "-" and len(out) != stdout_bytes:
        raise BadReport(f"{stdout_bytes} bytes were printed and {len(out)} came")
    return Report(
        exit_code=None if code < 0 else code,
        signal=sig if sig > 0 else None,
        cpu_s=cpu_us / 1e6,
        wall_s=wall_us / 1e6,
        memory_bytes=rss_kib * 1024,
        stdout=out,
        stderr=err,
        stdout_bytes=stdout_bytes,
        stderr_bytes=stderr_bytes,
        why=why,  # type: ignore[arg-type]
        files=files,
    )


def _natural(word: bytes) -> int:
    if not word.isdigit() or len(word) > 12:
        raise BadReport("a frame has no size")
    return int(word)


def _base64(body: bytes) -> bytes:
    try:
        return base64.b64decode(body, validate=True)
    except binascii.Error as error:
        raise BadReport(f"a frame is not base64: {error}") from error


def _name(word: bytes) -> str:
    try:
        return bytes.fromhex(word.decode("ascii")).decode("utf-8", "surrogateescape")
    except ValueError as error:
        raise BadReport(f"a file name is not hexadecimal: {error}") from error
