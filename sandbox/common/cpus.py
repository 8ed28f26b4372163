"""The cores that this process may use."""

from __future__ import annotations

import os
from pathlib import Path

QUOTA = Path("/sys/fs/cgroup/cpu.max")


def physical_cpus() -> list[int]:
    """Return one logical CPU number for each physical core this process may use, sorted."""
    first_of: dict[str, int] = {}
    for cpu in sorted(os.sched_getaffinity(0)):
        path = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        try:
            siblings = path.read_text().strip()
        except OSError:
            siblings = str(cpu)
        first_of.setdefault(siblings, cpu)
    return list(first_of.values())


def usable_cores() -> int:
    """Return the physical cores this process may use, fewer where its cgroup has less CPU time."""
    cores = len(physical_cpus())
    quota = _quota()
    return max(1, min(cores, int(quota))) if quota else cores


def _quota() -> float | None:
    """Return the CPUs' worth of time that the cgroup (v2) grants; None without a limit."""
    try:
        quota, period = QUOTA.read_text().split()
        return int(quota) / int(period)
    except (OSError, ValueError):
        return None
