"""The cores that this process may use, and how much memory is free."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

QUOTA = Path("/sys/fs/cgroup/cpu.max")
CPUS = Path("/sys/devices/system/cpu")
MEMORY = Path("/proc/meminfo")


class Core(NamedTuple):
    """A physical core.

    cpu   number of the logical CPU to use: the first one of the core that this process may use
    name  number of the first logical CPU of the core: the same for every process of the host
    node  number of its NUMA node
    """

    cpu: int
    name: int
    node: int = 0


def allowed_cpus() -> set[int]:
    """Return the logical CPUs that are online and that affinity and cpusets leave this process."""
    return os.sched_getaffinity(os.getpid())


def physical_cores(cpus: Iterable[int] | None = None, folder: Path = CPUS) -> list[Core]:
    """Return the physical cores of these logical CPUs (default: the allowed ones), by number."""
    found: dict[int, Core] = {}
    for cpu in sorted(allowed_cpus() if cpus is None else cpus):
        name = _first_sibling(folder / f"cpu{cpu}", cpu)
        found.setdefault(name, Core(cpu, name, _node(folder / f"cpu{cpu}")))
    return list(found.values())


def _first_sibling(folder: Path, cpu: int) -> int:
    try:
        text = (folder / "topology" / "thread_siblings_list").read_text()
        return int(text.replace("-", ",").split(",")[0])  # "0,64" or "0-1"
    except (OSError, ValueError):
        return cpu


def _node(folder: Path) -> int:
    for path in folder.glob("node[0-9]*"):
        return int(path.name.removeprefix("node"))
    return 0


def physical_cpus() -> list[int]:
    """Return one logical CPU number for each physical core this process may use, sorted."""
    return [core.cpu for core in physical_cores()]


def usable_cores() -> int:
    """Return the physical cores this process may use, fewer where its cgroup has less CPU time."""
    cores = len(physical_cores())
    quota = _quota()
    return max(1, min(cores, int(quota))) if quota else cores


def _quota() -> float | None:
    """Return the CPUs' worth of time that the cgroup (v2) grants; None without a limit."""
    try:
        quota, period = QUOTA.read_text().split()
        return int(quota) / int(period)
    except (OSError, ValueError):
        return None


def free_memory() -> float:
    """Return the part of the machine's memory that programs could still get; 1 when unknown."""
    try:
        rows = (line.split() for line in MEMORY.read_text().splitlines())
        kilobytes = {row[0]: int(row[1]) for row in rows if len(row) > 1}
        return kilobytes["MemAvailable:"] / kilobytes["MemTotal:"]
    except (OSError, ValueError, KeyError, ZeroDivisionError):
        return 1.0


# ---- a process and its descendants ----

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
    """Return the children of a process."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for entry in (PROC / str(pid) / "task").iterdir():
            found += map(int, (entry / "children").read_text().split())
    return found
