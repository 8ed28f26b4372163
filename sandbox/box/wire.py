"""The messages between the grader and a box process; c/protocol.h is the other half.

grader ──plan + descriptors──▶ box          once
grader ◀──born, ready─────────
grader ──request + descriptors──▶ box       for the runs of a program, and to load its files
grader ──abort──────────────▶ box           while they go on
grader ◀──idle, awake───────────            of a run that sleeps and wakes up, with LEND
grader ──go─────────────────▶ box           after awake: it may continue
grader ──pause, go──────────▶ box           a compiler, while its core belongs to another grader
grader ◀──busy──────────────────           of a run that talks with another one: its figures
grader ──expire, floods─────▶ box           it has used up its wall time, or its output limit
grader ◀──replies + descriptors──           one for each run, several in a message
"""

from __future__ import annotations

import signal
import struct
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

OP_RUN, OP_LOAD, OP_ABORT, OP_IDLE, OP_AWAKE, OP_GO, OP_BUSY, OP_EXPIRE = range(1, 9)
OP_FLOODS, OP_PAUSE = 9, 10
FRESH, EXEC_FD, STDIN_FD, STDOUT_FD, FORK, CODE_FD, INPUTS_FD, LEND = 1, 2, 4, 8, 16, 32, 64, 128
KILLED = {0: None, 1: "cpu", 2: "wall", 3: "memory", 4: "output", 5: "aborted"}
KILLED |= {6: "processes", 7: "disk"}
# State of a request after a reply: what has not run is asked for again; FAILED: unless the run that
# did not end well is the last one wanted.
MORE, OVER, FAILED = 0, 1, 2
HIT_MEMORY, HIT_PROCESSES, HIT_DISK, HIT_FILES = 1, 2, 4, 8

INLINE_CAP = 32 * 1024  # bytes of stdout within a reply; more comes as a descriptor
REPLIES_CAP = 128 * 1024  # bytes of a message of replies
INLINE_STDIN = 64 * 1024  # bytes of all inputs within a request; more comes as a descriptor
ERR_CAP = 64 * 1024
MAX_ARGS, MAX_FILES, MAX_COLLECT = 256, 60, 32

ORDER = struct.Struct("<II")  # OP_ABORT, OP_GO, OP_PAUSE, …; number of the request
NOTICE = struct.Struct("<IIqq")  # OP_IDLE, OP_AWAKE, OP_BUSY; number; with OP_BUSY: now, busy ns
REQUEST = struct.Struct("<II6qIIIIIII")
REPLY = struct.Struct("<iiII6qIIII5qII")
PLAN = struct.Struct("<14I9iq16s16s64s64s")


class Reply(NamedTuple):
    """The reply to a run: the fields of `struct reply`, stdout and stderr. Times in ns."""

    err: int
    wstatus: int
    killed: int
    hit: int
    cpu_ns: int
    wall_ns: int
    end_ns: int
    memory: int
    out_size: int
    err_total: int
    out_inline: int
    err_len: int
    collected: int
    needs_recycling: int
    rss: int
    file: int
    start_ns: int
    template_anon: int
    template_file: int
    forked: int
    state: int
    stdout: bytes
    stderr: bytes


def killed_for_memory(memory: int, wall_ns: int, end_ns: int) -> Reply:
    """Return the reply that a box would have given, had it outlived the end of its program."""
    killed = next(number for number, name in KILLED.items() if name == "memory")
    return Reply(
        err=0,
        wstatus=signal.SIGKILL,
        killed=killed,
        hit=HIT_MEMORY,
        cpu_ns=0,
        wall_ns=wall_ns,
        end_ns=end_ns,
        memory=memory,
        out_size=0,
        err_total=0,
        out_inline=0,
        err_len=0,
        collected=0,
        needs_recycling=1,
        rss=memory,
        file=-1,
        start_ns=0,
        template_anon=0,
        template_file=0,
        forked=0,
        state=FAILED,
        stdout=b"",
        stderr=b"",
    )


def pack_request(
    op: int,
    flags: int,
    limits: tuple[int, int, int, int, int, int],
    counts: tuple[int, int, int],
    argv: Sequence[str],
    files: Sequence[str],
    collect: Sequence[str],
    inputs: Sequence[tuple[int, int, int]] = (),
    data: bytes = b"",
    fork: Sequence[str] = (),
) -> bytes:
    """Return a request.

    limits  cpu ns, wall ns, memory, output, file size and disk bytes
    counts  stderr bytes, processes, open files
    inputs  of each run: the limit of its output, where its input begins in the data, its length
    data    of all inputs, unless a descriptor has it
    fork    with FORK: the modules that its template has imported, and the prologue
    """
    tail = b"".join(s.encode() + b"\0" for s in (*argv, *files, *collect, *fork))
    lengths = (len(argv), len(files), len(collect), len(inputs))
    table = struct.pack("<" + "qII" * len(inputs), *chain.from_iterable(inputs))
    return REQUEST.pack(op, flags, *limits, *counts, *lengths) + tail + table + data


_new = tuple.__new__  # Reply._make and Reply._replace take two and three times as long


def with_figures(reply: Reply, cpu_ns: int, memory: int) -> Reply:
    """Return a reply with another CPU time and memory."""
    return _new(Reply, (*reply[:4], cpu_ns, *reply[5:7], memory, *reply[8:]))


def unpack_replies(data: bytes) -> list[Reply]:
    """Return the replies in a message. Raises struct.error when it is cut."""
    replies = []
    at, end = 0, len(data)
    while at < end:
        head = REPLY.unpack_from(data, at)
        out = at + REPLY.size
        err = out + head[10]
        at = err + head[11]
        replies.append(_new(Reply, (*head, data[out:err], data[err:at])))
    if at > end or not replies:
        raise struct.error(f"a message of {end} bytes ends within a reply")
    return replies
