"""The launcher's side of a run: the files it is given and the report it prints.

gbx-launch.py   the launcher (box_launcher.py)
gbx-start       what starts it where the package runs no Python (packages.py)
gbx-job         what it is to do
gbx-stdin       the program's standard input
gbx-program     the program's binary, gzipped, when it is compiled
gbx-0, gbx-1 …  the program's other files; the launcher gives them their names

The frames of the report are documented in box_launcher.py.
"""

from __future__ import annotations

import base64
import functools
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, cast, get_args

from gradebox.sandbox.errors import BadRequest
from gradebox.sandbox.model import Limits
from gradebox.sandbox.piston.execute import SentFile
from gradebox.sandbox.piston.packages import LAUNCHER, STARTERS

OWN = "gbx-"  # begins the names of files of ours
JOB, STDIN, PROGRAM = f"{OWN}job", f"{OWN}stdin", f"{OWN}program"
BINARY = "main"  # the program's binary, once the launcher has unpacked it
MAGIC = "GBX1 "  # a report begins with this and its request's nonce

Why = Literal["-", "output", "wall", "short"]


@dataclass(frozen=True)
class Report:
    """What the launcher reported of the program.

    It comes from inside the box, so the server's figures bound it (evidence.py).

    why  "-" the program ended by itself; "output", "wall" the launcher killed it for that limit;
         "short" the server's output limit is too small for its output
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


def check_names(names: Sequence[str]) -> None:
    """Raise BadRequest for a file name that is not plain, or that the launcher uses itself."""
    for name in names:
        if not name or name in (".", "..") or "/" in name or "\0" in name or len(name) > 200:
            raise BadRequest(
                f"file name {name[:80]!r} is not a plain name: 1 to 200 characters, no / and no NUL"
            )
        if name.startswith(OWN):
            raise BadRequest(f"file name {name!r} is the launcher's own; begin it without {OWN}")


@functools.lru_cache(maxsize=1)
def _launcher() -> bytes:
    return Path(__file__).with_name("box_launcher.py").read_bytes()


def launcher_files(runtime: str) -> list[SentFile]:
    """Return the launcher, and before it what starts it in a box of this runtime."""
    starter = STARTERS.get(runtime)
    if starter is None:
        return [SentFile(LAUNCHER, _launcher(), source=True)]
    return [starter, SentFile(LAUNCHER, _launcher())]


def new_nonce() -> str:
    """Return a random word that tells one request's report from another's."""
    return secrets.token_hex(8)


def job_files(
    nonce: str,
    argv: Sequence[str],
    limits: Limits,
    *,
    stdin: bytes = b"",
    files: Mapping[str, bytes],
    collect: Sequence[str] = (),
    output_chars: int,
    fixed_addresses: bool,
) -> list[SentFile]:
    """Return the files that tell a launcher what to run, the launcher itself left out.

    argv             the command; `{python}` stands for the interpreter of the box
    files            real names and contents; they travel under names no package reacts to
    output_chars     characters of stdout the server can carry
    fixed_addresses  turn off address space randomisation
    """
    numbers = (
        limits.output_bytes,
        limits.stderr_bytes,
        output_chars,
        int(limits.wall_s * 1000),
        limits.processes,
        limits.open_files,
        limits.file_size_bytes,
        int(fixed_addresses),
        len(argv),
        len(files),
    )
    fields = [nonce, " ".join(map(str, numbers)), *argv, *files, *collect]
    job = b"\0".join(f.encode("utf-8", "surrogateescape") for f in fields)
    numbered = (SentFile(f"gbx-{i}", content) for i, content in enumerate(files.values()))
    return [SentFile(JOB, job), SentFile(STDIN, stdin), *numbered]


def decode_report(text: str, nonce_text: str) -> Report:
    """Read the frames of a run.

    Raises ValueError when they are not complete, or damaged by the transport or by a program that
    forged frames.
    """
    data, nonce = text.encode("utf-8", "replace"), nonce_text.encode()
    head = MAGIC.encode() + nonce + b"\n"
    if not data.startswith(head):
        raise ValueError("no report at the start of the output")
    out, err = bytearray(), bytearray()
    files: dict[str, bytes] = {}
    at = len(head)
    while True:
        end = data.find(b"\n", at)
        if end < 0:
            raise ValueError("the report ends in the middle")
        kind, *words = data[at:end].split() or [b""]
        if kind == b"Z":
            return _last_line(words, nonce, bytes(out), bytes(err), files)
        if not words or not words[-1].isdigit():
            raise ValueError("a frame has no size")
        size = int(words[-1])
        body = data[end + 1 : end + 1 + size]
        at = end + 2 + size
        if len(body) != size or data[at - 1 : at] != b"\n":
            raise ValueError("a frame is shorter than its stated size")
        if kind == b"B":
            out += base64.b64decode(body, validate=True)
        elif kind == b"E":
            err += base64.b64decode(body, validate=True)
        elif kind == b"F" and len(words) == 2:
            name = bytes.fromhex(words[0].decode("ascii")).decode("utf-8", "surrogateescape")
            files[name] = base64.b64decode(body, validate=True)
        else:
            raise ValueError("a frame is of unknown kind")


def _last_line(
    words: list[bytes], nonce: bytes, out: bytes, err: bytes, files: dict[str, bytes]
) -> Report:
    if len(words) != 9 or words[0] != nonce:
        raise ValueError("the last line is not the launcher's")
    code, sig, cpu_us, rss_kib, stdout_bytes, stderr_bytes, wall_us = map(int, words[1:8])
    why = words[8].decode("ascii", "replace")
    if why not in get_args(Why) or min(cpu_us, rss_kib, wall_us) < 0:
        raise ValueError("the last line holds a value that no launcher prints")
    if why == "-" and len(out) != stdout_bytes:
        raise ValueError(f"the program printed {stdout_bytes} bytes and {len(out)} arrived")
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
        why=cast("Why", why),
        files=files,
    )
