"""From a box's reply to an `Execution`.

Which limit ended a run is derived from counters, sizes and signals, never from what the program
printed.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from typing import cast, get_args

from gradebox.sandbox.box import wire
from gradebox.sandbox.box.built_program import read_all
from gradebox.sandbox.model import FOLDER, Execution, LimitName, Limits

LIMIT_NAMES = frozenset(get_args(LimitName))
NONE: frozenset[LimitName] = frozenset()


def read_execution(
    reply: wire.Reply,
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


def _limit_of_kill(reply: wire.Reply) -> LimitName | None:
    """Return the limit for which the box itself killed the program."""
    name = wire.KILLED.get(reply.killed)
    return cast("LimitName", name) if name in LIMIT_NAMES else None


def _limits_hit(
    reply: wire.Reply, limits: Limits, number: int | None, too_large: bool
) -> frozenset[LimitName]:
    over = reply.cpu_ns > limits.cpu_s * 1e9 or reply.memory > limits.memory_bytes
    if not (over or too_large or number or reply.hit or reply.killed):
        return NONE
    tests: dict[LimitName, object] = {
        "cpu": reply.cpu_ns > limits.cpu_s * 1e9,
        "memory": reply.hit & wire.HIT_MEMORY or reply.memory > limits.memory_bytes,
        "processes": reply.hit & wire.HIT_PROCESSES,
        "disk": reply.hit & wire.HIT_DISK,
        "open_files": reply.hit & wire.HIT_FILES,
        "output": too_large,
        "file_size": number == signal.SIGXFSZ and not too_large,
    }
    hit = frozenset(name for name, reached in tests.items() if reached)
    killed = _limit_of_kill(reply)
    return hit | {killed} if killed else hit


def _killed_for(
    reply: wire.Reply, hit: frozenset[LimitName], number: int | None
) -> LimitName | None:
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
