"""The messages between the driver and a box process; the other half is launcher.h.

driver ──plan + descriptors──▶ box          once
driver ◀──born, ready─────────
driver ──request + descriptors──▶ box       each run
driver ◀──reply + descriptors────
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

OP_RUN, OP_LOAD, OP_ABORT = 1, 2, 3
FRESH, EXEC_FD, STDIN_FD, STDOUT_FD = 1, 2, 4, 8
KILLED = {0: None, 1: "cpu", 2: "wall", 3: "memory", 4: "output", 5: "aborted"}
KILLED |= {6: "processes", 7: "disk"}
HIT_MEMORY, HIT_PROCESSES, HIT_DISK, HIT_FILES = 1, 2, 4, 8

MESSAGE_CAP = 160 * 1024
INLINE_CAP = 32 * 1024  # of stdout in a reply
INLINE_STDIN = 64 * 1024
ERR_CAP = 64 * 1024
MAX_ARGS, MAX_FILES, MAX_COLLECT = 256, 60, 32

ABORT = struct.Struct("<II")  # OP_ABORT and the number of the run it means
REQUEST = struct.Struct("<II6qIIIiIIII")
REPLY = struct.Struct("<iiII8qIIII")
PLAN = struct.Struct("<13I8iq16s16s64s64s")


@dataclass(frozen=True)
class Reply:
    """What the box said of a run; times in nanoseconds, sizes in bytes."""

    err: int
    wstatus: int
    killed: int
    hit: int
    cpu_ns: int
    wall_ns: int
    waited_ns: int
    end_ns: int
    memory: int
    peak_raw: int
    out_size: int
    err_total: int
    stdout: bytes
    stderr: bytes
    collected: int
    worn: bool


def pack_request(
    op: int,
    flags: int,
    limits: tuple[int, int, int, int, int, int],
    counts: tuple[int, int, int],
    core: int,
    argv: Sequence[str],
    files: Sequence[str],
    collect: Sequence[str],
    stdin: bytes,
) -> bytes:
    """One request. `limits`: cpu ns, wall ns, memory, output, file size, disk bytes;
    `counts`: stderr bytes, processes, open files."""
    strings = [*argv, *files, *collect]
    tail = b"".join(s.encode() + b"\0" for s in strings)
    lengths = (len(argv), len(files), len(collect), len(stdin))
    return REQUEST.pack(op, flags, *limits, *counts, core, *lengths) + tail + stdin


def unpack_reply(data: bytes | memoryview) -> Reply:
    """The reply in one message; struct.error when it is cut."""
    (
        err,
        wstatus,
        killed,
        hit,
        cpu,
        wall,
        waited,
        end,
        memory,
        peak,
        size,
        err_total,
        n_out,
        n_err,
        collected,
        worn,
    ) = REPLY.unpack_from(data)
    at = REPLY.size
    stdout = bytes(data[at : at + n_out])
    stderr = bytes(data[at + n_out : at + n_out + n_err])
    return Reply(
        err,
        wstatus,
        killed,
        hit,
        cpu,
        wall,
        waited,
        end,
        memory,
        peak,
        size,
        err_total,
        stdout,
        stderr,
        collected,
        bool(worn),
    )
