"""From a box's raw answer to an `Execution`: which limit ended the run is read off the
evidence (counters, sizes, signals), never guessed from what the program printed."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence

from sandbox.box import wire
from sandbox.box.blob import read_all
from sandbox.model import Execution, LimitName, Limits

NAMES: dict[str, LimitName] = {
    "cpu": "cpu",
    "wall": "wall",
    "memory": "memory",
    "output": "output",
    "processes": "processes",
    "disk": "disk",
}


def execution(
    reply: wire.Reply, fds: list[int], limits: Limits, collect: Sequence[str], piped: bool = False
) -> Execution:
    """Reads the descriptors of an answer, closes them, and states what was seen."""
    try:
        rest = list(fds)
        stdout = reply.stdout
        if reply.out_size > len(stdout) and not piped:
            stdout = read_all(rest.pop(0), min(reply.out_size, limits.output_bytes))
        files = {}
        over = reply.out_size > limits.output_bytes
        for i, name in enumerate(collect):
            if reply.collected >> i & 1:
                fd = rest.pop(0)
                size = os.fstat(fd).st_size
                over = over or size > limits.output_bytes
                files[name] = read_all(fd, min(size, limits.output_bytes))
    finally:
        for fd in fds:
            os.close(fd)
    code, number = _ending(reply.wstatus)
    hit = _limits_hit(reply, limits, number, over)
    return Execution(
        exit_code=code,
        signal=number,
        cpu_s=reply.cpu_ns / 1e9,
        wall_s=reply.wall_ns / 1e9,
        memory_bytes=reply.memory if reply.memory >= 0 else None,
        stdout=stdout[: limits.output_bytes],
        stderr=reply.stderr,
        stdout_bytes=reply.out_size,
        stdout_cut=reply.out_size > limits.output_bytes,
        stderr_cut=reply.err_total > len(reply.stderr),
        killed_for=_killed_for(reply, hit, number),
        limits_hit=frozenset(hit),
        files=files,
    )


def _ending(wstatus: int) -> tuple[int | None, int | None]:
    if os.WIFSIGNALED(wstatus):
        return None, os.WTERMSIG(wstatus)
    return os.WEXITSTATUS(wstatus), None


def _limits_hit(
    reply: wire.Reply, limits: Limits, number: int | None, over: bool
) -> set[LimitName]:
    hit: set[LimitName] = set()
    name = wire.KILLED.get(reply.killed)
    if name in NAMES:
        hit.add(NAMES[name])
    if reply.cpu_ns > limits.cpu_s * 1e9:
        hit.add("cpu")
    if reply.hit & wire.HIT_MEMORY or reply.memory > limits.memory_bytes:
        hit.add("memory")
    if reply.hit & wire.HIT_PROCESSES:
        hit.add("processes")
    if reply.hit & wire.HIT_DISK:
        hit.add("disk")
    if reply.hit & wire.HIT_FILES:
        hit.add("open_files")
    if over:
        hit.add("output")
    elif number == signal.SIGXFSZ:
        hit.add("file_size")
    return hit


def _killed_for(reply: wire.Reply, hit: set[LimitName], number: int | None) -> LimitName | None:
    """The limit that ended the program: the box's own kill first, then the kernel's."""
    name = wire.KILLED.get(reply.killed)
    if name in NAMES:
        return NAMES[name]
    if "output" in hit:
        return "output"
    if number == signal.SIGXFSZ:
        return "file_size"
    if number == signal.SIGKILL and "memory" in hit:
        return "memory"
    return None
