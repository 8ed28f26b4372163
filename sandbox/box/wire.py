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

import os
import signal
import struct
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple, cast, get_args

from gradebox.sandbox.box.built_program import read_all
from gradebox.sandbox.model import FOLDER, Execution, LimitName, Limits

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


_EMPTY = Reply._make([*[0] * 21, b"", b""])


def killed_for_memory(memory: int, wall_ns: int, end_ns: int) -> Reply:
    """Return the reply that a box would have given, had it outlived the end of its program."""
    killed = next(number for number, name in KILLED.items() if name == "memory")
    return _EMPTY._replace(
        wstatus=signal.SIGKILL,
        killed=killed,
        hit=HIT_MEMORY,
        wall_ns=wall_ns,
        end_ns=end_ns,
        memory=memory,
        rss=memory,
        file=-1,
        needs_recycling=1,
        state=FAILED,
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


# ---- from a reply to an Execution ------------------------------------------------------------

# Which limit ended a run is derived from counters, sizes and signals, never from what the program
# printed.

LIMIT_NAMES = frozenset(get_args(LimitName))
NONE: frozenset[LimitName] = frozenset()


def read_execution(
    reply: Reply,
    fds: list[int],
    limits: Limits,
    collect: Sequence[str],
    output_bytes: int | None = None,
    *,
    piped: bool = False,
    contended: bool = False,
) -> Execution:
    """Return the execution that a reply describes; read and close its descriptors.

    output_bytes  the limit of this run's output; None: that of `limits`
    piped         stdout went into a pipe of the grader and is not in the reply
    """
    if output_bytes is None:
        output_bytes = limits.output_bytes
    stdout = reply.stdout
    files: dict[str, bytes] = {}
    too_large = reply.out_size > output_bytes
    try:
        rest = iter(fds)
        if reply.out_size > len(stdout) and not piped:
            stdout = read_all(next(rest), min(reply.out_size, output_bytes))
        for i, name in enumerate(collect):
            if reply.collected >> i & 1:
                fd = next(rest)
                size = os.fstat(fd).st_size
                too_large = too_large or size > output_bytes
                data = read_all(fd, min(size, output_bytes))
                files |= _unpacked(data) if name == FOLDER else {name: data}
    finally:
        for fd in fds:
            os.close(fd)
    signaled = os.WIFSIGNALED(reply.wstatus)
    number = os.WTERMSIG(reply.wstatus) if signaled else None
    if signaled and _limit_of_kill(reply) == "output":
        # The kernel and the watching box stop a program at this limit, whichever is first.
        number = signal.SIGXFSZ
    hit = _limits_hit(reply, limits, number, too_large)
    return Execution(
        exit_code=None if signaled else os.WEXITSTATUS(reply.wstatus),
        signal=number,
        cpu_s=reply.cpu_ns / 1e9,
        wall_s=reply.wall_ns / 1e9,
        memory_bytes=reply.memory if reply.memory >= 0 else None,
        stdout=stdout[:output_bytes],
        stderr=reply.stderr,
        stdout_bytes=reply.out_size,
        stdout_cut=reply.out_size > output_bytes,
        stderr_cut=reply.err_total > len(reply.stderr),
        killed_for=_killed_for(reply, hit, number) if hit else None,
        limits_hit=hit,
        files=files,
        contended=contended,
        forked=bool(reply.forked),
    )


def _unpacked(data: bytes) -> dict[str, bytes]:
    """Return the files that the launcher put into one (`archive_folder` in c/files.c).

    Each is preceded by "<length of its name> <size>\\n" and its name; one that is cut is left out.
    """
    files, at = dict[str, bytes](), 0
    while (end := data.find(b"\n", at, at + 64)) >= 0:
        length, size = map(int, data[at:end].split())
        start = end + 1 + length
        at = start + size
        if at > len(data):
            break
        files[data[end + 1 : start].decode("utf-8", "surrogateescape")] = data[start:at]
    return files


def _limit_of_kill(reply: Reply) -> LimitName | None:
    """Return the limit for which the box itself killed the program."""
    name = KILLED.get(reply.killed)
    return cast("LimitName", name) if name in LIMIT_NAMES else None


def _limits_hit(
    reply: Reply, limits: Limits, number: int | None, too_large: bool
) -> frozenset[LimitName]:
    over = reply.cpu_ns > limits.cpu_s * 1e9 or reply.memory > limits.memory_bytes
    if not (over or too_large or number or reply.hit or reply.killed):
        return NONE
    tests: dict[LimitName, object] = {
        "cpu": reply.cpu_ns > limits.cpu_s * 1e9,
        "memory": reply.hit & HIT_MEMORY or reply.memory > limits.memory_bytes,
        "processes": reply.hit & HIT_PROCESSES,
        "disk": reply.hit & HIT_DISK,
        "open_files": reply.hit & HIT_FILES,
        "output": too_large,
        "file_size": number == signal.SIGXFSZ and not too_large,
    }
    hit = frozenset(name for name, reached in tests.items() if reached)
    killed = _limit_of_kill(reply)
    return hit | {killed} if killed else hit


def _killed_for(reply: Reply, hit: frozenset[LimitName], number: int | None) -> LimitName | None:
    """Return the limit that ended the program: the box's own kill first, then the kernel's."""
    killed = _limit_of_kill(reply)
    if killed:
        return killed
    if "output" in hit:
        return "output"
    if number == signal.SIGXFSZ:
        return "file_size"
    if number == signal.SIGKILL and "memory" in hit:
        return "memory"
    return None
