"""A process and its descendants."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

PROC = Path("/proc")
TURNS = 3  # over a tree that grows meanwhile


def move_to_cpu(pid: int, cpu: int) -> None:
    """Bind all threads of a process and of its descendants to a CPU, as far as this is possible."""
    moved: set[int] = set()
    for _ in range(TURNS):
        new = set(threads(pid)) - moved
        for thread in new:
            with contextlib.suppress(OSError):
                os.sched_setaffinity(thread, (cpu,))
        moved |= new
        if not new:
            return


def threads(pid: int) -> Iterator[int]:
    """Yield the threads of a process and of its descendants."""
    left = [pid]  # no recursion: a program chooses how deep the tree is
    while left:
        one = left.pop()
        with contextlib.suppress(OSError):
            for entry in (PROC / str(one) / "task").iterdir():
                yield int(entry.name)
        left += children(one)


def children(pid: int) -> list[int]:
    """Return the children of a process: from the kernel's list, or by looking at all processes."""
    found: list[int] = []
    try:
        for entry in (PROC / str(pid) / "task").iterdir():
            found += map(int, (entry / "children").read_text().split())
    except FileNotFoundError:
        return [one for one in _all_processes() if _parent(one) == pid]
    except OSError:
        pass
    return found


def _all_processes() -> list[int]:
    return [int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit()]


def _parent(pid: int) -> int:
    try:
        stat = (PROC / str(pid) / "stat").read_text(errors="replace")
        return int(stat.rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 0
